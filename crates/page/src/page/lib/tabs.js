// Tabs (WAI-ARIA).

import { failure, h, replace } from './dom.js';

/** Scrolls a bar of tabs, once it is shown, to one of them. */
export function scrollToTab(bar, tab) {
  requestAnimationFrame(
    () => (bar.scrollLeft = Math.max(0, (tab?.offsetLeft ?? 0) - bar.offsetLeft - 24)),
  );
}

/**
 * Tabs: `tabs` are { id, title, make(signal) }. The content of a tab is made when it is opened
 * first. `chosen(id)` is called at each change.
 */
export function tabList({ label, tabs, selected, signal, chosen }) {
  const panels = new Map();
  const list = h('div.tabs', { role: 'tablist', 'aria-label': label });
  const box = h('div');
  const prefix = `tab-${Math.random().toString(36).slice(2, 8)}`;
  const buttons = tabs.map((tab) =>
    h(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `${prefix}-${tab.id}`,
        'aria-controls': `${prefix}-panel-${tab.id}`,
      },
      tab.title,
    ),
  );
  const open = (at, focus) => {
    const tab = tabs[at];
    buttons.forEach((button, other) => {
      button.setAttribute('aria-selected', String(other === at));
      button.tabIndex = other === at ? 0 : -1;
    });
    if (!panels.has(tab.id)) {
      const panel = h('div.stack', {
        role: 'tabpanel',
        id: `${prefix}-panel-${tab.id}`,
        'aria-labelledby': `${prefix}-${tab.id}`,
      });
      panels.set(tab.id, panel);
      box.append(panel);
      Promise.resolve()
        .then(() => tab.make(signal))
        .then(
          (content) => replace(panel, content),
          (error) => replace(panel, failure(error)),
        );
    }
    for (const [id, panel] of panels) panel.hidden = id !== tab.id;
    if (focus) buttons[at].focus();
    const [left, width] = [buttons[at].offsetLeft - list.offsetLeft, buttons[at].offsetWidth];
    if (left < list.scrollLeft || left + width > list.scrollLeft + list.clientWidth)
      list.scrollLeft = left - 24;
  };
  buttons.forEach((button, at) =>
    button.addEventListener('click', () => {
      open(at, false);
      chosen?.(tabs[at].id);
    }),
  );
  list.append(...buttons);
  list.addEventListener('keydown', (event) => {
    const at = buttons.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 }[
      event.key
    ];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const wrapped = (to + buttons.length) % buttons.length;
    open(wrapped, true);
    chosen?.(tabs[wrapped].id);
  });
  open(
    Math.max(
      0,
      tabs.findIndex((tab) => tab.id === selected),
    ),
    false,
  );
  scrollToTab(list, list.querySelector('[aria-selected="true"]'));
  return h('section.card', list, box);
}
