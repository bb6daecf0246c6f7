// Results of a search: redirects to the only one, and says why there is none.

import { h, heading } from '../lib/dom.js';
import { network } from '../lib/network.js';
import { search } from '../lib/search.js';

export default async function view({ rest }) {
  const text = rest.join('/').trim();
  const { found, reason } = await search(text).catch((error) => ({
    found: [],
    reason: error.message,
  }));
  if (found.length) {
    location.replace(found[0].href);
    return [];
  }
  return [
    heading('No results'),
    h('p.failure', { role: 'alert' }, reason || 'Enter a search term.'),
    h(
      'p.lead',
      'Search by transaction hash, block hash, block number, ',
      h('code', 'latest'),
      ', name or symbol of a token or contract, or address in any format: ',
      h('code', '0x…'),
      ', ',
      h('code', `${network.prefix}1…`),
      ', ',
      h('code', `${network.prefix}valoper1…`),
      '.',
    ),
  ];
}
