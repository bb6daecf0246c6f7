// Lists in pages.

import { exportButton } from './csv.js';
import { announce, failure, h, replace, setText } from './dom.js';
import { listTable, skeleton } from './listtable.js';
import { node, whenever } from './node.js';
import { keep, kept, placed, setPlace } from './place.js';

/**
 * How often lists of non-fungible tokens are loaded again, in milliseconds: the node calls a
 * contract for each row's metadata.
 */
export const ITEMS_PACE = 30_000;

/** The cursor of a page in a URL, or null. */
function cursorIn(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Identifies rows, so that the same page is not drawn again. */
function keyOf(rows) {
  return rows
    .map((row) => `${row.hash ?? row.key ?? ''}${row.ok ?? ''}${row.log ?? ''}${row.index ?? ''}`)
    .join();
}

function pagerButton(text) {
  return h('button', { type: 'button', disabled: true }, text);
}

class PagedList {
  /** Where the next older page begins. */
  next = null;
  /** Counts the loads, as an earlier page may come after a later one. */
  turn = 0;
  /** Identifies the rows that are shown. */
  shown = '';
  failed = false;
  /** A newer page that waits until the user no longer reads, or null. */
  pending = null;

  constructor({
    signal,
    label,
    columns,
    load,
    empty = 'No data',
    live = false,
    csv = null,
    controls = null,
    pace = 2_000,
    size = 5,
    brief = false,
  }) {
    Object.assign(this, { signal, label, columns, load, empty, brief });

    // The URL has the page, and the history's entry the pages before it.
    this.place = label.toLowerCase().replaceAll(' ', '-');
    this.cursor = brief ? null : cursorIn(placed(this.place));
    this.trail = this.cursor === null ? [] : (kept(this.place) ?? [null]);

    this.makeElement({ size, controls, csv });
    this.listen();
    if (live) this.follow(pace);
    node.addEventListener('status', () => node.connected && this.failed && this.show(), { signal });
    this.show();
  }

  makeElement({ size, controls, csv }) {
    this.area = h('div.list', { 'aria-busy': 'true' }, skeleton(size));
    this.note = h('p.soft.note-line', { role: 'status' });
    this.fresh = h('button.quiet.fresh-rows', { type: 'button', hidden: true }, 'Show newer rows');
    this.newest = pagerButton('Newest');
    this.newer = pagerButton('← Newer');
    this.older = pagerButton('Older →');
    this.pager = h(
      'nav.pager',
      { 'aria-label': `Pages of ${this.label}` },
      this.newest,
      this.newer,
      this.older,
    );

    const hasBar = controls || csv;
    const download = csv && exportButton(csv, this.columns, this.load);
    const bar = h('div.list-bar', controls, hasBar && this.fresh, download);
    const foot = !this.brief && h('div.list-foot', this.note, !hasBar && this.fresh, this.pager);
    this.element = h('div.stack', hasBar && bar, this.area, foot);
  }

  listen() {
    this.older.addEventListener('click', () => this.go(this.next, [...this.trail, this.cursor]));
    this.newer.addEventListener('click', () => this.go(this.trail.at(-1), this.trail.slice(0, -1)));
    this.newest.addEventListener('click', () => this.go(null, []));
    this.fresh.addEventListener('click', () => {
      document.activeElement?.blur();
      if (this.pending) this.draw(this.pending);
    });
  }

  /** Loads the first page again with new blocks. */
  follow(pace) {
    let first = true;
    const update = () => {
      const isLoading = this.area.matches('[aria-busy="true"]');
      if (!first && this.cursor === null && !isLoading && !document.hidden)
        this.show({ quiet: true });
      first = false;
    };
    whenever(node, 'head', this.signal, update, pace);
  }

  /** Whether the user would lose the place if rows moved. */
  isReading() {
    const { area } = this;
    const focused =
      area.contains(document.activeElement) && document.activeElement !== document.body;
    const selected = !getSelection().isCollapsed && area.contains(getSelection().anchorNode);
    return area.getBoundingClientRect().top < 0 || focused || selected || area.matches(':hover');
  }

  draw(page) {
    const { area, columns, label } = this;
    this.next = page.next;
    this.shown = keyOf(page.rows);
    this.failed = false;
    this.pending = null;

    this.fresh.hidden = true;
    const empty = page.paused ? 'None found yet' : this.empty;
    replace(area, listTable(columns, page.rows, empty, label));
    area.setAttribute('aria-busy', 'false');
    setText(this.note, page.note ?? '');

    this.newest.disabled = this.cursor === null;
    this.newer.disabled = this.trail.length === 0;
    this.older.disabled = !page.next;
    setText(this.older, page.paused ? 'Search older →' : 'Older →');
    this.pager.hidden = this.cursor === null && !page.next;
  }

  /**
   * Loads the page and draws it; a `quiet` load, which the user has not asked for, neither
   * disturbs nor reports a failure.
   */
  async show({ quiet = false } = {}) {
    const mine = ++this.turn;
    if (!quiet) this.area.setAttribute('aria-busy', 'true');
    try {
      const page = await this.load(this.cursor);
      if (mine !== this.turn || this.signal.aborted) return;
      if (quiet) this.drawQuietly(page);
      else this.draw(page);
    } catch (error) {
      if (mine !== this.turn || this.signal.aborted || (quiet && this.shown)) return;
      this.drawFailure(error);
    }
  }

  /** Draws a newer page, or offers it while the user is reading. */
  drawQuietly(page) {
    if (keyOf(page.rows) === this.shown) {
      // What the note counts, such as hidden rows, may have changed alone.
      setText(this.note, page.note ?? '');
    } else if (!this.isReading()) {
      this.draw(page);
    } else if (!this.brief) {
      this.pending = page;
      this.fresh.hidden = false;
    }
  }

  drawFailure(error) {
    this.failed = true;
    // A position that the node refuses must not be the end.
    this.newest.disabled = this.cursor === null;
    this.area.setAttribute('aria-busy', 'false');
    replace(
      this.area,
      failure(error),
      h('button', { type: 'button', onclick: () => this.show() }, 'Retry'),
    );
  }

  turnTo(cursor, trail) {
    this.cursor = cursor;
    this.trail = trail;
    if (this.signal.aborted || this.brief) return;
    setPlace({ [this.place]: cursor === null ? null : JSON.stringify(cursor) });
    keep(this.place, trail.length ? trail : undefined);
  }

  async go(cursor, trail) {
    this.turnTo(cursor, trail);
    await this.show();
    if (this.area.getBoundingClientRect().top < 0) this.element.scrollIntoView({ block: 'start' });
    announce(`${this.label}: page ${this.trail.length + 1}`);
  }

  /** Loads the first page. */
  reload() {
    this.turnTo(null, []);
    this.shown = '';
    return this.show();
  }
}

/**
 * A list in pages. A column's `phone` is the line of a row in which it is shown on phones, such as
 * `line-1` or `line-2.end`; without lines the table is scrolled there. `load(cursor)` resolves to {
 * rows, next, note, paused }. `live` reloads the first page when there are new blocks, unless the
 * user is reading: then the rows stay, and a button shows the newer ones. `size` is the number of
 * placeholder rows; a `brief` list has one page.
 */
export function pagedList(options) {
  const list = new PagedList(options);
  list.element.reload = () => list.reload();
  return list.element;
}
