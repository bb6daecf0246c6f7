// Ages of what is on the chain, by the chain's clock, and the choice between ages and dates in
// lists.

import { h, setText } from './dom.js';
import { date, span } from './format.js';
import { node } from './node.js';

const TIMES = 'tetrad.times';
/** How often ages are drawn again, in milliseconds. */
const PACE = 5_000;

/** The age of a Unix time in seconds. */
export function age(time) {
  const seconds = Math.round(node.now - Number(time));
  if (seconds < -1) return `in ${span(-seconds)}`;
  return seconds < 2 ? 'just now' : `${span(seconds)} ago`;
}

function timeElement(time, isDate) {
  const seconds = Number(time);
  const [shown, other] = isDate ? [date(seconds), age(seconds)] : [age(seconds), date(seconds)];
  return h(
    isDate ? 'time.date' : 'time.age',
    { datetime: new Date(seconds * 1_000).toISOString(), title: other },
    shown,
  );
}

/** The age of a Unix time in seconds, with the date as its title. */
export function moment(time) {
  return timeElement(time, false);
}

/** The date of a Unix time in seconds, with its age beside it. */
export function dateAndAge(time) {
  return [timeElement(time, true), ' (', timeElement(time, false), ')'];
}

/** Whether lists show dates instead of ages. */
function showsDates() {
  try {
    return localStorage.getItem(TIMES) === 'exact';
  } catch {
    return false;
  }
}

/** The age or the date of a time, in seconds, for a list. */
export function timeCell(time) {
  return time === null || time === undefined
    ? h('span.soft', '–')
    : timeElement(time, showsDates());
}

/** The heading of a column of times, which switches between ages and dates. */
export function timeHeading() {
  const button = h(
    'button.link-button',
    { type: 'button', title: 'Switch between age and date' },
    showsDates() ? 'Date' : 'Age',
  );
  button.addEventListener('click', () => {
    try {
      localStorage.setItem(TIMES, showsDates() ? 'age' : 'exact');
    } catch {
      // Storage may be disabled.
    }
    for (const other of document.querySelectorAll('.times button'))
      setText(other, showsDates() ? 'Date' : 'Age');
    for (const one of document.querySelectorAll('td.times time'))
      one.replaceWith(timeCell(Date.parse(one.dateTime) / 1_000));
  });
  return button;
}

/** Keeps the ages on the page up to date. */
export function followClock() {
  setInterval(() => {
    for (const one of document.querySelectorAll('time.age'))
      setText(one, age(Date.parse(one.dateTime) / 1_000));
  }, PACE);
}

/** What the chain's clock is ahead of the browser's, such as `+3 d`; empty if they agree. */
export function clockText() {
  const { clockOffset: offset } = node;
  return offset ? `${offset < 0 ? '−' : '+'}${span(Math.abs(offset)).replace(' days', ' d')}` : '';
}
