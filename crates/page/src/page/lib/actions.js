// Forms that run an action, for the developer controls.

import { failure, h, replace, toast } from './dom.js';
import { fromUnits } from './format.js';
import { node } from './node.js';
import { wallets } from './wallet.js';

/** A form that runs an action and reports its success or error. */
export function action(fields, button, run, { primary = false } = {}) {
  const problem = h('div', { 'aria-live': 'polite' });
  const submit = h(primary ? 'button.primary' : 'button', { type: 'submit' }, button);
  const form = h('form.stack', fields, h('div.row', submit), problem);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    submit.disabled = true;
    replace(problem);
    try {
      const done = await run();
      if (done) toast(done, 'good');
    } catch (error) {
      replace(problem, failure(error));
    }
    submit.disabled = false;
  });
  // What was wrong may be right now.
  form.addEventListener('input', () => replace(problem));
  return form;
}

/**
 * Has a form run something of the active account when it is submitted, once at a time: `submit` is
 * its button, and `run` shows its own errors. Returns a function that tells whether it runs.
 */
export function submitOnce(form, submit, run, signal) {
  let busy = false;
  const redraw = () => {
    submit.disabled = busy || !wallets.current;
    submit.title = wallets.current ? '' : 'Choose an account at the top';
  };

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    redraw();
    try {
      await run();
    } finally {
      busy = false;
      redraw();
    }
  });

  wallets.addEventListener('change', redraw, { signal });
  redraw();
  return () => busy;
}

/** A button that runs an action and reports its success or error as a toast. */
export function actionButton(text, run, properties = {}) {
  const button = h('button', { type: 'button', ...properties }, text);
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      const done = await run();
      if (done) toast(done, 'good');
    } catch (error) {
      toast(error.message, 'error');
    }
    button.disabled = false;
  });
  return button;
}

/**
 * A button that has to be pressed twice: the first time it asks. `label` is what screen readers say
 * in place of its text.
 */
export function confirmButton(text, question, run, label = text) {
  const button = h('button', { type: 'button', 'aria-label': label }, text);

  let asked = null;
  const calm = () => {
    clearTimeout(asked);
    asked = null;
    button.textContent = text;
    button.setAttribute('aria-label', label);
    button.classList.remove('danger');
  };

  button.addEventListener('click', async () => {
    if (asked === null) {
      button.textContent = question;
      button.setAttribute('aria-label', question);
      button.classList.add('danger');
      // Not all browsers focus a button that is clicked, and lists keep rows that have the focus.
      button.focus();
      asked = setTimeout(calm, 6_000);
      return;
    }

    calm();
    button.disabled = true;
    try {
      toast(await run(), 'good');
    } catch (error) {
      toast(error.message, 'error');
    }
    button.disabled = false;
  });

  button.addEventListener('blur', () => asked !== null && calm());
  return button;
}

/** A QUANTITY of JSON-RPC. */
export const quantity = (number) => `0x${BigInt(number).toString(16)}`;

/** A whole number in a field, in decimal or hex. */
export function wholeNumber(input, what) {
  const text = input.value.trim().replace(/,/g, '');
  if (!/^(\d+|0x[0-9a-f]+)$/i.test(text)) throw new Error(`${what}: expected a whole number`);
  return BigInt(text);
}

/**
 * The coins in the field of a call's value, in their smallest unit; none if it is empty, or if
 * there is no field.
 */
export function coinsIn(input) {
  try {
    return input?.value.trim() ? fromUnits(input.value, 18) : 0n;
  } catch (error) {
    throw new Error(`value: ${error.message}`);
  }
}

/** The first of several method names that the node supports, or null. */
export async function first(...names) {
  for (const name of names) if (await node.has(name)) return name;
  return null;
}
