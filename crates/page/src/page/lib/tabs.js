// Tabs (WAI-ARIA).

import { failure, h, replace } from './dom.js';

/** Scrolls a bar of tabs, once it is shown, to one of them. */
export function scrollToTab(bar, tab) {
  requestAnimationFrame(
    () => (bar.scrollLeft = Math.max(0, (tab?.offsetLeft ?? 0) - bar.offsetLeft - 24)),
  );
}

class TabList {
  /** The panels of the tabs that were opened, by the tabs' ids. */
  panels = new Map();
  /** Sets the ids of this list apart from those of others. */
  prefix = `tab-${Math.random().toString(36).slice(2, 8)}`;

  constructor({ label, tabs, signal, chosen }) {
    Object.assign(this, { tabs, signal, chosen });

    this.buttons = tabs.map((tab, at) => this.makeButton(tab, at));
    this.bar = h('div.tabs', { role: 'tablist', 'aria-label': label }, this.buttons);
    this.bar.addEventListener('keydown', (event) => this.press(event));
    this.box = h('div');
  }

  makeButton({ id, title }, at) {
    return h(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `${this.prefix}-${id}`,
        'aria-controls': `${this.prefix}-panel-${id}`,
        onclick: () => this.choose(at, false),
      },
      title,
    );
  }

  /** Opens the tab of an index, and reports it. */
  choose(at, focus) {
    this.open(at, focus);
    this.chosen?.(this.tabs[at].id);
  }

  open(at, focus) {
    const tab = this.tabs[at];
    const button = this.buttons[at];
    for (const other of this.buttons) {
      other.setAttribute('aria-selected', String(other === button));
      other.tabIndex = other === button ? 0 : -1;
    }

    if (!this.panels.has(tab.id)) this.addPanel(tab);
    for (const [id, panel] of this.panels) panel.hidden = id !== tab.id;

    if (focus) button.focus();
    this.reveal(button);
  }

  /** Adds the panel of a tab, whose content is made in a later turn of the event loop. */
  addPanel(tab) {
    const panel = h('div.stack', {
      role: 'tabpanel',
      id: `${this.prefix}-panel-${tab.id}`,
      'aria-labelledby': `${this.prefix}-${tab.id}`,
    });
    this.panels.set(tab.id, panel);
    this.box.append(panel);

    Promise.resolve()
      .then(() => tab.make(this.signal))
      .then(
        (content) => replace(panel, content),
        (error) => replace(panel, failure(error)),
      );
  }

  /** Scrolls the bar if a button is not in sight. */
  reveal(button) {
    const { bar } = this;
    const left = button.offsetLeft - bar.offsetLeft;
    const right = left + button.offsetWidth;
    if (left < bar.scrollLeft || right > bar.scrollLeft + bar.clientWidth)
      bar.scrollLeft = left - 24;
  }

  press(event) {
    const { buttons } = this;
    const at = buttons.indexOf(document.activeElement);
    const targets = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 };
    const to = targets[event.key];
    if (at < 0 || to === undefined) return;

    event.preventDefault();
    this.choose((to + buttons.length) % buttons.length, true);
  }
}

/**
 * Tabs: `tabs` are { id, title, make(signal) }. The content of a tab is made when it is opened
 * first. `chosen(id)` is called at each change.
 */
export function tabList({ selected, ...options }) {
  const list = new TabList(options);
  const at = list.tabs.findIndex((tab) => tab.id === selected);
  list.open(Math.max(0, at), false);
  scrollToTab(list.bar, list.bar.querySelector('[aria-selected="true"]'));
  return h('section.card', list.bar, list.box);
}
