// The search box: results while the user types.

import { h, replace } from './dom.js';
import { recentSearches, rememberSearch } from './recentsearches.js';
import { search } from './search.js';

/** Pause in typing after which the node is asked, in milliseconds. */
const PAUSE = 120;

const COMBOBOX = {
  role: 'combobox',
  'aria-controls': 'results',
  'aria-expanded': 'false',
  'aria-autocomplete': 'list',
  'aria-haspopup': 'listbox',
};

class SearchBox {
  results = [];
  /** The index of the marked result, or -1. */
  active = -1;
  /** Counts what the user did, as results for an earlier term are late. */
  turn = 0;
  timer = null;
  /** The term that was looked up last, and the promise of its outcome. */
  latest = null;

  constructor(form, input) {
    this.input = input;
    this.list = h('ul.options', {
      id: 'results',
      role: 'listbox',
      'aria-label': 'Results',
      hidden: true,
    });
    this.said = h('div.options.message', { hidden: true }, h('p.said'));
    form.append(this.list, this.said);
    for (const [name, value] of Object.entries(COMBOBOX)) input.setAttribute(name, value);

    input.addEventListener('input', () => this.updateSoon());
    input.addEventListener('focus', () => this.update());
    input.addEventListener('blur', () => this.close());
    input.addEventListener('keydown', (event) => this.press(event));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.submit();
    });
  }

  close() {
    this.turn++;
    clearTimeout(this.timer);
    this.list.hidden = true;
    this.said.hidden = true;
    this.active = -1;
    this.latest = null;
    this.input.setAttribute('aria-expanded', 'false');
    this.input.removeAttribute('aria-activedescendant');
  }

  /** Leaves the box, empty. */
  leave() {
    this.close();
    this.input.value = '';
    this.input.blur();
  }

  /** Opens a result. */
  go(result) {
    rememberSearch(result);
    this.leave();
    if (location.hash === result.href) window.dispatchEvent(new HashChangeEvent('hashchange'));
    else location.hash = result.href;
  }

  /** Marks the result of an index, or none with -1. */
  mark(at) {
    this.active = at;
    [...this.list.querySelectorAll('[role="option"]')].forEach((option, each) =>
      option.setAttribute('aria-selected', String(each === at)),
    );

    const option = at < 0 ? null : this.list.querySelector(`#result-${at}`);
    if (option) {
      this.input.setAttribute('aria-activedescendant', option.id);
      option.scrollIntoView({ block: 'nearest' });
    } else this.input.removeAttribute('aria-activedescendant');
  }

  /** Shows results, or the reason why there are none. */
  draw(found, reason) {
    const hasResults = found.length > 0;
    this.results = found;
    replace(
      this.list,
      found.map((one, at) => this.option(one, at)),
    );
    this.list.hidden = !hasResults;
    this.said.hidden = hasResults || !reason;
    replace(this.said, h('p.said', { role: 'status' }, reason));
    this.input.setAttribute('aria-expanded', String(hasResults));
    this.mark(-1);
  }

  option(result, at) {
    return h(
      'li',
      {
        id: `result-${at}`,
        role: 'option',
        'aria-selected': 'false',
        // Keeps the focus in the input.
        onpointerdown: (event) => event.preventDefault(),
        onclick: () => this.go(result),
      },
      h('b', result.title),
      result.detail && h('small', result.detail),
      h('span.tag', result.kind),
    );
  }

  /** Looks a term up, once for each term. */
  look(text) {
    if (this.latest?.text === text) return this.latest.outcome;
    const outcome = search(text).catch((error) => ({
      found: [],
      reason: `The search failed: ${error.message}`,
    }));
    this.latest = { text, outcome };
    return outcome;
  }

  updateSoon() {
    // A search that is under way would take the new term away.
    this.turn++;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.update(), PAUSE);
  }

  /** Shows the results for the term, or the remembered ones without a term. */
  async update() {
    const mine = ++this.turn;
    const text = this.input.value.trim();
    if (!text) return this.draw(recentSearches(), '');

    const { found, reason } = await this.look(text);
    if (mine === this.turn && document.activeElement === this.input) this.draw(found, reason);
  }

  press(event) {
    if (event.key === 'Escape') return this.dismiss(event);

    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return null;
    event.preventDefault();
    if (this.list.hidden) return this.update();

    // The step after the last result, and the one before the first, marks none.
    const count = this.results.length + 1;
    return this.mark(((this.active + 1 + step + count) % count) - 1);
  }

  /** Closes the list, or empties the input if the list is closed. */
  dismiss(event) {
    if (this.list.hidden && this.said.hidden) this.input.value = '';
    else event.preventDefault();
    this.close();
  }

  /** Opens the marked result or else the first one; without any, the page of all results. */
  async submit() {
    if (this.active >= 0 && this.results[this.active]) return this.go(this.results[this.active]);
    const text = this.input.value.trim();
    if (!text) return;

    clearTimeout(this.timer);
    const mine = ++this.turn;
    const { found } = await this.look(text);
    if (mine !== this.turn) return;
    if (found.length) return this.go(found[0]);
    this.leave();
    location.hash = `#/search/${encodeURIComponent(text)}`;
  }
}

/** Makes an input a combobox (WAI-ARIA) whose list shows results while the user types. */
export function searchBox(form, input) {
  const box = new SearchBox(form, input);
  if (document.activeElement === input) box.update();
}
