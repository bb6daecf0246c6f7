// Non-fungible tokens for tests.

import { encode, fragment, topic } from '../../crates/page/src/page/lib/abi.js';

/** A number as a word of 32 bytes in hex. */
export const word = (value) => BigInt(value).toString(16).padStart(64, '0');
const size = (number) => number.toString(16).padStart(4, '0');

/** Code that emits the transfer of a new item to its owner. */
function mintCode(owner, id) {
  const transfer = topic(fragment('event Transfer(address,address,uint256)')).slice(2);
  const topics = [word(id), word(owner), word(0), transfer];
  return `${topics.map((one) => `7f${one}`).join('')}5f5fa4`;
}

/** Code of a token that mints items in a call without data, and returns this otherwise. */
function tokenCode(owner, ids, output) {
  const logs = `${ids.map((id) => mintCode(owner, id)).join('')}00`;
  // With call data, jumps behind the logs.
  const before = `3661${size(logs.length / 2 + 5)}57${logs}5b`;
  const length = size(output.length / 2);
  return `${before}61${length}61${size(before.length / 2 + 13)}5f3961${length}5ff3${output}`;
}

/**
 * Deploys a token that mints items when it is called without data, and returns this URI to every
 * other call.
 */
export async function mint(node, uri, ids = [1]) {
  const [owner] = await node.rpc('eth_accounts');
  const output = encode([{ name: '', type: 'string' }], [uri]).slice(2);
  const code = tokenCode(owner, ids, output);
  const creation = `0x61${size(code.length / 2)}80600a5f395ff3${code}`;

  const deployed = await node.rpc('eth_sendTransaction', {
    from: owner,
    data: creation,
    gas: '0x1c9c380',
  });
  const { contractAddress } = await node.rpc('eth_getTransactionReceipt', deployed);
  await node.rpc('eth_sendTransaction', { from: owner, to: contractAddress });
  return contractAddress;
}

/** An item with the id 1, as the explorer API has it. */
export async function instance(node, token) {
  return (await fetch(`${node.url}/api/v2/tokens/${token}/instances/1`)).json();
}
