// The values of functions without arguments, beside their names, so that they need not be opened
// one by one.

import { decode, selector } from '../lib/abi.js';
import { h, replace } from '../lib/dom.js';
import { probe } from '../lib/execution.js';
import { shorten } from '../lib/format.js';
import { tokenFor, decodedValue } from '../lib/links.js';
import { node, whenever } from '../lib/node.js';

/** Most getters whose values are read, which is one batch of requests. */
const MAX_GETTERS = 100;
/** Least time between two reads, in milliseconds. */
const PACE = 2_000;
/** The gas limit of a getter's call: some contracts loop for as long as the node lets them. */
const MOST_GAS = '0x1e8480';
/** Most characters of a value; the whole one is in the form. */
const LONGEST = 60;

const isGetter = ({ called }) => called.inputs.length === 0 && called.outputs.length > 0;

/** What a getter returned, in one line. Values that are more than one line are left to its form. */
function line(called, output, contract) {
  const [value, ...others] = decode(called.outputs, output);
  if (others.length || Array.isArray(value)) return '…';

  const [returned] = called.outputs;
  const text = decodedValue(
    value,
    returned,
    tokenFor(returned.name || called.name, contract),
  ).textContent;
  return text === '' ? '""' : shorten(text, LONGEST - 12, 10);
}

/** What a getter returns now, or that it fails; its form says why. */
async function currentValue(called, contract) {
  try {
    const output = await probe(contract.address, selector(called), MOST_GAS);
    if (output !== null) return line(called, output, contract.address);
  } catch {
    // The node did not answer, or not what the ABI says.
  }
  return h('span.soft', 'fails');
}

/**
 * Keeps the values of getters up to date: `entries` are functions with the element for their value.
 */
export function showGetters(contract, entries, signal) {
  const getters = entries.filter(isGetter).slice(0, MAX_GETTERS);
  if (!getters.length) return;

  const read = async ({ called, value }) => {
    const shown = await currentValue(called, contract);
    if (!signal.aborted) replace(value, shown);
  };

  // One batch at a time: a slow node would have more and more of them to answer, in any order.
  let isBusy = false;
  let isMissed = false;
  const readAll = async () => {
    isMissed = isBusy;
    if (isBusy) return;
    isBusy = true;
    await Promise.all(getters.map(read));
    isBusy = false;
    if (isMissed && !signal.aborted) readAll();
  };
  whenever(node, 'head', signal, readAll, PACE);
}
