// The frame around a chapter of the book: search, theme, list of chapters, examples for this node,
// and buttons that copy code. Chapters can be read without it.

import { describeNode, replaced, replacements, WRITTEN, WRITTEN_URL } from './lib/bookexamples.js';
import { find, marked, prepare } from './lib/bookindex.js';
import { copyButton, h, icon, replace } from './lib/dom.js';
import { switchTheme } from './lib/theme.js';

const book = new URL(document.body.dataset.book, location.href);
const query = document.getElementById('book-query');
const results = document.getElementById('book-results');
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
  const missing = [
    node.accounts?.length === 0 && 'It holds no accounts: send from your own.',
    node.contracts === null &&
      'It has neither exchange nor lending; examples that use them do not work here.',
  ];
  const note = h(
    'p.own-node',
    { role: 'note' },
    'Examples on this page are for this node: ',
    h('code', root.replace(/\/$/, '')),
    node.chainId && [', chain id ', h('code', node.chainId)],
    '. ',
    missing.filter(Boolean).join(' '),
  );
  document.querySelector('article h1').after(note);
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
    const limit = innerHeight / 4;
    const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const read = atEnd
      ? headings.at(-1)
      : headings.findLast((heading) => heading.getBoundingClientRect().top < limit);
    for (const [id, link] of links) {
      if (id === read?.id) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  };
  const observer = new IntersectionObserver(mark, { rootMargin: '0px 0px -70% 0px' });
  for (const heading of headings) observer.observe(heading);
  mark();
}

/** The index, loaded once; a failure is not kept. */
let loading = null;
function index() {
  loading ??= fetch(new URL('search.json', book))
    .then((response) => {
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      return response.json();
    })
    .then(prepare)
    .catch((error) => {
      loading = null;
      throw error;
    });
  return loading;
}

let chosen = -1;

function options() {
  return [...results.querySelectorAll('[role=option]')];
}

function choose(at) {
  const all = options();
  chosen = all.length ? (at + all.length) % all.length : -1;
  all.forEach((option, own) => option.setAttribute('aria-selected', String(own === chosen)));
  if (chosen < 0) query.removeAttribute('aria-activedescendant');
  else {
    query.setAttribute('aria-activedescendant', all[chosen].id);
    all[chosen].scrollIntoView({ block: 'nearest' });
  }
}

function close() {
  results.hidden = true;
  query.setAttribute('aria-expanded', 'false');
  choose(-1);
  chosen = -1;
}

const highlighted = (text, words) =>
  marked(text, words).map(([part, matches]) => (matches ? h('mark', part) : part));

function optionFor({ title, heading, href, excerpt }, at, words) {
  const place = heading === title ? null : h('small.soft', title);
  return h(
    'a',
    {
      role: 'option',
      id: `book-result-${at}`,
      href: new URL(href, book).href,
      tabindex: '-1',
      'aria-selected': 'false',
    },
    h('strong', highlighted(heading, words)),
    place,
    excerpt && h('span', highlighted(excerpt, words)),
  );
}

async function search() {
  const words = query.value.trim();
  if (!words) return close();
  let shown;
  try {
    const found = find(await index(), words);
    if (words !== query.value.trim()) return undefined;
    shown = found.length
      ? found.map((one, at) => optionFor(one, at, words))
      : h('p.empty', { role: 'presentation' }, `Nothing found for “${words.slice(0, 60)}”`);
  } catch {
    shown = h(
      'p.empty',
      { role: 'presentation' },
      'The search could not be loaded. Check the connection to the node.',
    );
  }
  replace(results, shown);
  results.hidden = false;
  query.setAttribute('aria-expanded', 'true');
  if (options().length) choose(0);
  return undefined;
}

function listenToSearch() {
  query.addEventListener('focus', () => index().catch(() => {}), { once: true });
  query.addEventListener('input', search);
  query.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      if (results.hidden) query.value = '';
      close();
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !results.hidden) {
      event.preventDefault();
      choose(chosen + (event.key === 'ArrowDown' ? 1 : -1));
    }
  });
  document.getElementById('book-search').addEventListener('submit', (event) => {
    event.preventDefault();
    options()[chosen]?.click();
  });
  results.addEventListener('click', (event) => {
    if (event.target.closest('a')) close();
  });
  document.addEventListener('pointerdown', (event) => {
    if (!event.target.closest('#book-search')) close();
  });
  document.addEventListener('focusin', (event) => {
    if (!event.target.closest('#book-search')) close();
  });
  document.addEventListener('keydown', (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '');
    if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      query.focus();
    }
  });
}

listenToTheme();
listenToMenu();
listenToSearch();
addCopyButtons();
adaptExamples();
reachScrollers();
window.addEventListener('resize', reachScrollers);
followOutline();
