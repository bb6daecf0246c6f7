// The frame around a chapter of the book: search, theme, list of chapters, examples for this node,
// and buttons that copy code. Chapters can be read without it.

import { describeNode, replaced, replacements, WRITTEN, WRITTEN_URL } from './lib/bookexamples.js';
import { listenToSearch } from './lib/booksearch.js';
import { copyButton, h, icon } from './lib/dom.js';
import { switchTheme } from './lib/theme.js';

const book = new URL(document.body.dataset.book, location.href);
const contents = document.getElementById('book-contents');

function listenToTheme() {
  const button = document.getElementById('book-theme');
  button.append(icon('theme'));
  button.addEventListener('click', switchTheme);
}

/** On a phone the list of chapters is behind a button. */
function listenToMenu() {
  const menu = document.getElementById('book-menu');
  const show = (open) => {
    contents.classList.toggle('open', open);
    menu.setAttribute('aria-expanded', String(open));
  };
  menu.addEventListener('click', () => show(!contents.classList.contains('open')));
  contents.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !contents.classList.contains('open')) return;
    show(false);
    menu.focus();
  });
  const current = contents.querySelector('[aria-current]');
  if (current && contents.scrollHeight > contents.clientHeight) {
    contents.scrollTop = current.offsetTop - contents.clientHeight / 2;
  }
}

function addCopyButtons() {
  for (const code of document.querySelectorAll('.code > pre > code')) {
    code.closest('.code').append(copyButton(() => code.textContent, 'Copy code'));
  }
}

/**
 * Languages of blocks whose text is not part of an example for this node, such as the output of a
 * program.
 */
const AS_WRITTEN = /language-(text|yaml)/;

/**
 * Writes what is different on this node into an element, if each difference is within one of its
 * texts.
 */
function writeOwn(element, node) {
  const found = replacements(element.textContent, node);
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let from = 0;
  while (walker.nextNode()) {
    const text = walker.currentNode;
    const to = from + text.length;
    const within = found.filter(([at, written]) => at >= from && at + written.length <= to);
    const own = replaced(text.data, within, from);
    if (own !== text.data) text.data = own;
    from = to;
  }
}

/**
 * The parts of a chapter that are examples: blocks of code, URLs within sentences, and links to the
 * node.
 */
function examples() {
  const blocks = [...document.querySelectorAll('.code > pre > code')].filter(
    (code) => !AS_WRITTEN.test(code.className),
  );
  const urls = [...document.querySelectorAll('article :not(pre) > code')].filter((code) =>
    WRITTEN_URL.test(code.textContent),
  );
  const links = [...document.querySelectorAll('article a[href]')].filter((link) =>
    WRITTEN_URL.test(link.getAttribute('href')),
  );
  return [...blocks, ...urls, ...links];
}

/** The note that examples are for a node, and what of them does not work there. */
function nodeNote(node, root) {
  const missing = [
    node.accounts?.length === 0 && 'It holds no accounts: send from your own.',
    node.contracts === null &&
      'It has neither exchange nor lending; examples that use them do not work here.',
  ];
  return h(
    'p.own-node',
    { role: 'note' },
    'Examples on this page are for this node: ',
    h('code', root.replace(/\/$/, '')),
    node.chainId && [', chain id ', h('code', node.chainId)],
    '. ',
    missing.filter(Boolean).join(' '),
  );
}

/** Writes the examples for this node, so that they work as they are copied, and says so. */
async function adaptExamples() {
  const shown = examples();
  const root = new URL('../', book).href;
  if (!shown.some((element) => replacements(element.textContent, { ...WRITTEN, root }).length))
    return;

  const node = await describeNode(root);
  for (const element of shown) {
    writeOwn(element, node);
    const href = element.getAttribute('href');
    if (href) element.href = replaced(href, replacements(href, node));
  }
  document.querySelector('article h1').after(nodeNote(node, root));
}

/** Lets the keyboard scroll what is wider or higher than its box. */
function reachScrollers() {
  for (const box of document.querySelectorAll('article pre, article .scroll')) {
    const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
    if (scrolls) {
      box.tabIndex = 0;
      box.setAttribute('role', 'group');
      box.setAttribute('aria-label', box.tagName === 'PRE' ? 'Code' : 'Table');
    } else {
      for (const name of ['tabindex', 'role', 'aria-label']) box.removeAttribute(name);
    }
  }
}

/** The heading that is being read: the last one in the upper part of the window. */
function readHeading(headings) {
  const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
  if (atEnd) return headings.at(-1);
  const limit = innerHeight / 4;
  return headings.findLast((heading) => heading.getBoundingClientRect().top < limit);
}

/** Marks the heading that is being read in the list of this page's headings. */
function followOutline() {
  const links = new Map(
    [...document.querySelectorAll('.outline a')].map((link) => [
      decodeURIComponent(link.hash.slice(1)),
      link,
    ]),
  );
  const headings = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
  if (!headings.length) return;

  const mark = () => {
    const read = readHeading(headings);
    for (const [id, link] of links) {
      if (id === read?.id) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  };
  const observer = new IntersectionObserver(mark, { rootMargin: '0px 0px -70% 0px' });
  for (const heading of headings) observer.observe(heading);
  mark();
}

listenToTheme();
listenToMenu();
listenToSearch(book);
addCopyButtons();
adaptExamples();
reachScrollers();
window.addEventListener('resize', reachScrollers);
followOutline();
