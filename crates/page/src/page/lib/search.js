// What a search term may mean.

import { indexed } from './index.js';
import { exact } from './searchexact.js';
import { named } from './searchnames.js';
import { SHOWN } from './searchresults.js';

/** A text that may be pasted with quotes, spaces or without its 0x. */
function tidy(text) {
  const bare = text.trim().replace(/^["'`]+|["'`,;]+$/g, '');
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(bare) && /[a-f]/i.test(bare) ? `0x${bare}` : bare;
}

/** Why nothing has a name, as a sentence. */
async function absence(text) {
  const name = text.slice(0, 60);
  if (!(await indexed()))
    return `No token, function, event, label or contract of the network is called “${name}”.`;
  return `No token, contract, function, event, label or block is called “${name}”. Contracts of compiler artifacts are found where they are deployed.`;
}

/** The results of a term, best first, and the reason if there are none. */
export async function search(given) {
  const text = tidy(given);
  if (!text) return { found: [], reason: '' };
  const { found = null, reason = null } = await exact(text);
  if (found) return { found, reason: '' };
  if (reason) return { found: [], reason };

  const seen = new Set();
  const distinct = (await named(text)).filter(
    ({ href }) => !seen.has(href.toLowerCase()) && seen.add(href.toLowerCase()),
  );
  if (distinct.length) return { found: distinct.slice(0, SHOWN), reason: '' };
  return { found: [], reason: await absence(text) };
}
