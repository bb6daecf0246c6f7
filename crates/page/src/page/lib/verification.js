// The verification of sources: the node compiles a source and compares the code.

/** The formats of sources, as Etherscan calls them. */
export const STANDARD_JSON = 'solidity-standard-json-input';
export const SINGLE_FILE = 'solidity-single-file';
/**
 * Pause between two requests for the state of a verification, each of which waits at the node as
 * well, in milliseconds.
 */
const POLL_INTERVAL = 500;
/**
 * Most names of contracts that are suggested, and characters of a source that are searched for
 * them.
 */
const MOST_NAMES = 200;
const LONGEST_SEARCHED = 2_000_000;

/** Requests Etherscan's interface. Resolves to `{ status, result, message }`. */
async function etherscan(members, method) {
  const form = new URLSearchParams({ module: 'contract', ...members });
  const response = await (method === 'POST'
    ? fetch('api', { method, body: form })
    : fetch(`api?${form}`)
  ).catch(() => null);
  if (!response) throw new Error('the node is not responding');

  const body = await response.json().catch(() => null);
  if (!body || body.result === undefined)
    throw new Error(body?.message ?? `the node responded with status ${response.status}`);
  return body;
}

/**
 * Why a verification failed: the message says it, where it is not only Etherscan's word for a
 * refusal.
 */
const reasonIn = ({ message, result }) =>
  message && message !== 'NOTOK' ? message : String(result);

/** Begins a verification and waits for its end. */
export async function verify(members, signal) {
  const begun = await etherscan({ action: 'verifysourcecode', ...members }, 'POST');
  if (begun.status !== '1') throw new Error(reasonIn(begun));

  for (;;) {
    const state = await etherscan({ action: 'checkverifystatus', guid: begun.result }, 'GET');
    if (state.status === '1') return;
    if (!/pending/i.test(String(state.result))) throw new Error(reasonIn(state));

    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL));
    if (signal.aborted) throw new Error('the page was left');
  }
}

/** The sources of a text by the names of their files; null if it has none. */
function sourcesIn(text, format) {
  if (format !== STANDARD_JSON) return { 'Contract.sol': { content: text } };
  try {
    return JSON.parse(text).sources ?? null;
  } catch {
    return null;
  }
}

/** The contracts in the sources of a text, as `file:name`, so that they need not be typed. */
export function namesIn(text, format) {
  if (text.length > LONGEST_SEARCHED) return [];

  const names = Object.entries(sourcesIn(text, format) ?? {}).flatMap(([file, source]) => {
    const found = String(source?.content ?? '').matchAll(
      /^\s*(?:abstract\s+)?contract\s+([A-Za-z_$][\w$]*)/gm,
    );
    return [...found].map(([, name]) => `${file}:${name}`);
  });
  return names.slice(0, MOST_NAMES);
}
