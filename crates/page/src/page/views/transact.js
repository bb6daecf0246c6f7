// Forms for what wallets, compilers and scripts do otherwise: sending, deploying, verifying, signing, broadcasting.

import { heading } from '../lib/dom.js';
import { setPlace } from '../lib/place.js';
import { tabList } from '../lib/tabs.js';
import { broadcastForm } from './broadcast.js';
import { deployForm } from './deploy.js';
import { sendForm } from './send.js';
import { signForm } from './sign.js';
import { verifyForm } from './verify.js';

/** The forms by the name that the URL has for them: title, function, and the parameters of the URL that it reads. */
const FORMS = {
  send: { title: 'Send', make: sendForm, parameters: ['asset', 'to', 'amount'] },
  deploy: { title: 'Deploy', make: deployForm, parameters: [] },
  verify: { title: 'Verify source', make: verifyForm, parameters: ['address', 'name', 'format'] },
  sign: { title: 'Sign', make: signForm, parameters: ['form'] },
  broadcast: { title: 'Broadcast', make: broadcastForm, parameters: [] },
};

/** The URL's parameters without those of other forms than the chosen one. */
function without(chosen) {
  const others = Object.entries(FORMS).filter(([id]) => id !== chosen);
  return Object.fromEntries(others.flatMap(([, { parameters }]) => parameters.map((name) => [name, null])));
}

export default async function view({ signal, query }) {
  const asked = query.get('tab');
  const tabs = Object.entries(FORMS).map(([id, { title, make }]) => ({ id, title, make }));
  return [
    heading('Transact'),
    tabList({ label: 'Forms', tabs, selected: asked in FORMS ? asked : 'send', signal, chosen: (tab) => setPlace({ ...without(tab), tab }) }),
  ];
}
