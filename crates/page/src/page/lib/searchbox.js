// The search box: results while the user types.

import { h, replace } from './dom.js';
import { search } from './search.js';

const RECENT = 'tetrad.searches';
/** Number of remembered searches. */
const REMEMBERED = 6;
/** Pause in typing after which the node is asked, in milliseconds. */
const PAUSE = 120;

function recent() {
  try {
    const list = JSON.parse(localStorage.getItem(RECENT) ?? '[]');
    return Array.isArray(list)
      ? list
          .filter(
            (one) =>
              typeof one?.href === 'string' &&
              one.href.startsWith('#/') &&
              typeof one.title === 'string',
          )
          .slice(0, REMEMBERED)
      : [];
  } catch {
    return [];
  }
}

function remember({ kind, title, detail, href }) {
  const list = [{ kind, title, detail, href }, ...recent().filter((one) => one.href !== href)];
  try {
    localStorage.setItem(RECENT, JSON.stringify(list.slice(0, REMEMBERED)));
  } catch {
    // Storage may be disabled.
  }
}

/** Makes an input a combobox (WAI-ARIA) whose list shows results while the user types. */
export function searchBox(form, input) {
  const list = h('ul.options', {
    id: 'results',
    role: 'listbox',
    'aria-label': 'Results',
    hidden: true,
  });
  const said = h('div.options.message', { hidden: true }, h('p.said'));
  form.append(list, said);
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-controls': 'results',
    'aria-expanded': 'false',
    'aria-autocomplete': 'list',
    'aria-haspopup': 'listbox',
  }))
    input.setAttribute(name, value);
  let [results, active, turn, timer, latest] = [[], -1, 0, null, null];

  const close = () => {
    turn++;
    clearTimeout(timer);
    [list.hidden, said.hidden, active, latest] = [true, true, -1, null];
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  };
  const go = (result) => {
    remember(result);
    close();
    input.value = '';
    input.blur();
    if (location.hash === result.href) window.dispatchEvent(new HashChangeEvent('hashchange'));
    else location.hash = result.href;
  };
  const mark = (at) => {
    active = at;
    [...list.querySelectorAll('[role="option"]')].forEach((option, each) =>
      option.setAttribute('aria-selected', String(each === at)),
    );
    const option = at < 0 ? null : list.querySelector(`#result-${at}`);
    if (option) {
      input.setAttribute('aria-activedescendant', option.id);
      option.scrollIntoView({ block: 'nearest' });
    } else input.removeAttribute('aria-activedescendant');
  };
  const draw = (found, reason) => {
    results = found;
    replace(
      list,
      found.map((one, at) =>
        h(
          'li',
          {
            id: `result-${at}`,
            role: 'option',
            'aria-selected': 'false',
            // Keeps the focus in the input.
            onpointerdown: (event) => event.preventDefault(),
            onclick: () => go(one),
          },
          h('b', one.title),
          one.detail && h('small', one.detail),
          h('span.tag', one.kind),
        ),
      ),
    );
    list.hidden = !found.length;
    said.hidden = Boolean(found.length) || !reason;
    replace(said, h('p.said', { role: 'status' }, reason));
    input.setAttribute('aria-expanded', String(Boolean(found.length)));
    mark(-1);
  };
  /** Looks a term up, once for each term. */
  const look = (text) => {
    if (latest?.text === text) return latest.outcome;
    const outcome = search(text).catch((error) => ({
      found: [],
      reason: `The search failed: ${error.message}`,
    }));
    latest = { text, outcome };
    return outcome;
  };
  const update = async () => {
    const mine = ++turn;
    const text = input.value.trim();
    if (!text) return draw(recent(), '');
    const { found, reason } = await look(text);
    if (mine === turn && document.activeElement === input) draw(found, reason);
  };

  input.addEventListener('input', () => {
    // A search that is under way would take the new term away.
    turn++;
    clearTimeout(timer);
    timer = setTimeout(update, PAUSE);
  });
  input.addEventListener('focus', update);
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      if (list.hidden && said.hidden) input.value = '';
      else event.preventDefault();
      return close();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return null;
    event.preventDefault();
    if (list.hidden) return update();
    const count = results.length + 1;
    return mark(((active + 1 + step + count) % count) - 1);
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (active >= 0 && results[active]) return go(results[active]);
    const text = input.value.trim();
    if (!text) return null;
    clearTimeout(timer);
    const mine = ++turn;
    const { found } = await look(text);
    if (mine !== turn) return null;
    if (found.length) return go(found[0]);
    close();
    input.value = '';
    input.blur();
    location.hash = `#/search/${encodeURIComponent(text)}`;
    return null;
  });
  if (document.activeElement === input) update();
}
