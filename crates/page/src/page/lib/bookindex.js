// The search through the book.

/** What a match is worth, by where it is. */
const WORTH = { title: 60, heading: 40, text: 4 };
/**
 * References generated from the interfaces, whose many sections would crowd out the chapters that
 * explain a subject.
 */
const GENERATED = /^interfaces\/(rest|rest-examples|methods)\.html$/;
/** The share that the heading of such a section keeps of its worth. */
const REFERENCE_SHARE = 0.3;
/** Words of a query that chapters call by another name. */
const SYNONYMS = new Map([
  ['operator', ['shared node']],
  ['operators', ['shared node']],
  ['coin', ['coins', 'funding']],
  ['coins', ['funding']],
  ['faucet', ['coins', 'funding']],
  ['verify', ['verification']],
  ['verified', ['verification']],
]);
/** What a synonym is worth of the word itself. */
const SYNONYM_SHARE = 0.8;
/** Characters of text that a result shows. */
const EXCERPT = 140;

/** The words of a query, in lower case. */
export function wordsOf(query) {
  return [...new Set(query.toLowerCase().split(/\s+/).filter(Boolean))];
}

/**
 * What a word in a text is worth, up to one: the most at the beginning, less within a word, and
 * nothing if it is absent.
 */
function fit(text, word) {
  let best = 0;
  for (let at = text.indexOf(word); at >= 0 && best < 1; at = text.indexOf(word, at + 1)) {
    const begins = at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]);
    const end = at + word.length;
    const ends = end === text.length || !/[\p{L}\p{N}]/u.test(text[end]);
    best = Math.max(best, begins && ends ? 1 : begins ? 0.7 : 0.3);
  }
  return best;
}

/** What a word or one of its synonyms in a text is worth. */
function fitAny(text, word) {
  return Math.max(
    fit(text, word),
    ...(SYNONYMS.get(word) ?? []).map((other) => fit(text, other) * SYNONYM_SHARE),
  );
}

/** Prepares the document `search.json` for `find`. */
export function prepare(chapters) {
  return chapters.flatMap(({ title, page, sections }) =>
    sections.map(([heading, id, text], at) => ({
      title,
      heading: at ? heading : title,
      href: id ? `${page}#${id}` : page,
      text,
      isChapter: at === 0,
      isReference: GENERATED.test(page),
      low: { title: title.toLowerCase(), heading: heading.toLowerCase(), text: text.toLowerCase() },
    })),
  );
}

/**
 * What a section is worth for a query: the sum of what the words are worth; null if one of them is
 * absent.
 */
function scoreOf(section, words) {
  const { title, heading, text } = section.low;
  const share = section.isReference && !section.isChapter ? REFERENCE_SHARE : 1;
  let score = 0;
  for (const word of words) {
    // The chapter's title counts in full for its beginning only, so that its other sections do
    // not crowd the list.
    const inTitle = fitAny(title, word) * WORTH.title * (section.isChapter ? 1 : 0.15);
    const worth =
      inTitle + fitAny(heading, word) * WORTH.heading * share + fitAny(text, word) * WORTH.text;
    if (!(worth > 0)) return null;
    score += worth;
  }

  const phrase = words.join(' ');
  if (heading === phrase || (section.isChapter && title === phrase)) score += 100 * share;
  if (words.length > 1 && (heading.includes(phrase) || text.includes(phrase))) score += 20;
  return score;
}

/** The sections that have all words of a query, best first: `{ title, heading, href, excerpt }`. */
export function find(sections, query, most = 12) {
  const words = wordsOf(query);
  if (!words.length) return [];

  const found = sections
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score !== null)
    .sort((one, other) => other.score - one.score);
  return found.slice(0, most).map(({ section: { title, heading, href, text, low } }) => ({
    title,
    heading,
    href,
    excerpt: excerpt(text, low.text, words),
  }));
}

/** The part of a text around the first word that it has. */
function excerpt(text, low, words) {
  const at = Math.min(
    ...words.map((word) => low.indexOf(word)).filter((found) => found >= 0),
    text.length,
  );
  const near = at === text.length ? 0 : Math.max(0, at - 40);
  const begin = near ? text.indexOf(' ', near) + 1 : 0;
  const end = begin + EXCERPT;
  return `${begin ? '…' : ''}${text.slice(begin, end)}${end < text.length ? '…' : ''}`;
}

/** A text in parts, `[part, matches]`, of which those that match a word of the query are marked. */
export function marked(text, query) {
  const words = wordsOf(query).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  if (!words.length) return [[text, false]];
  const parts = text.split(
    new RegExp(`(${words.sort((one, other) => other.length - one.length).join('|')})`, 'gi'),
  );
  return parts.map((part, at) => [part, at % 2 === 1]).filter(([part]) => part);
}
