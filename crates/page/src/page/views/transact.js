// Forms for what wallets, compilers and scripts do otherwise: sending, deploying, verifying,
// signing, broadcasting.

import { heading } from '../lib/dom.js';
import { placed, setPlace } from '../lib/place.js';
import { tabList } from '../lib/tabs.js';
import { broadcastForm } from './broadcast.js';
import { deployForm } from './deploy.js';
import { sendForm } from './send.js';
import { signForm } from './sign.js';
import { verifyForm } from './verify.js';

/**
 * The forms by the name that the URL has for them: title, function, and the parameters of the URL
 * that it reads.
 */
const FORMS = {
  send: { title: 'Send', make: sendForm, parameters: ['asset', 'to', 'amount'] },
  deploy: { title: 'Deploy', make: deployForm, parameters: [] },
  verify: { title: 'Verify source', make: verifyForm, parameters: ['address', 'name', 'format'] },
  sign: { title: 'Sign', make: signForm, parameters: ['form'] },
  broadcast: { title: 'Broadcast', make: broadcastForm, parameters: [] },
};

/** What a form has in the URL. */
function placeOf(form) {
  return Object.fromEntries(FORMS[form].parameters.map((name) => [name, placed(name)]));
}

/**
 * Keeps the URL that of the open form: `open(form)` takes away what the form before had in it, and
 * gives back its own.
 */
function places(first) {
  const left = new Map();
  let current = first;
  return (form) => {
    left.set(current, placeOf(current));
    const nothing = Object.fromEntries(FORMS[current].parameters.map((name) => [name, null]));
    setPlace({ ...nothing, ...left.get(form), tab: form });
    current = form;
  };
}

export default async function view({ signal, query }) {
  const asked = query.get('tab');
  const selected = Object.hasOwn(FORMS, asked ?? '') ? asked : 'send';
  const tabs = Object.entries(FORMS).map(([id, { title, make }]) => ({ id, title, make }));
  return [
    heading('Transact'),
    tabList({ label: 'Forms', tabs, selected, signal, chosen: places(selected) }),
  ];
}
