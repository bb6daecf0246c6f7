// Contracts for tests: their code and ABIs, and how to deploy them.

import { encodeCall, fragment, selector, topic } from '../../crates/page/src/page/lib/abi.js';

const bare = (hex) => hex.slice(2);

/**
 * A contract that keeps a number: `store(uint256)` sets it and emits `Stored`, `value()` returns
 * it, anything else reverts.
 */
export const BOX = {
  abi: [
    {
      type: 'function',
      name: 'store',
      inputs: [{ name: 'number', type: 'uint256' }],
      outputs: [],
      stateMutability: 'nonpayable',
    },
    {
      type: 'function',
      name: 'value',
      inputs: [],
      outputs: [{ name: '', type: 'uint256' }],
      stateMutability: 'view',
    },
    {
      type: 'event',
      name: 'Stored',
      inputs: [
        { name: 'who', type: 'address', indexed: true },
        { name: 'number', type: 'uint256', indexed: false },
      ],
      anonymous: false,
    },
  ],
  runtime: [
    // The selector; jumps to `store` at 0x1e and `value` at 0x4e.
    `5f3560e01c8063${bare(selector(fragment('store(uint256)')))}14601e578063${bare(selector(fragment('value()')))}14604e575f5ffd0000`,
    `5b600435805f555f52337f${bare(topic(fragment('event Stored(address indexed who, uint256 number)')))}60205fa200`,
    '5b5f545f5260205ff3',
  ].join(''),
};

/** Creation code that deploys runtime code of less than 256 bytes. */
export function creationOf(runtime) {
  return `0x60${(runtime.length / 2).toString(16).padStart(2, '0')}8060095f395ff3${runtime}`;
}

/** The runtime code of a minimal proxy (EIP-1167). */
export function cloneOf(implementation) {
  return `363d3d373d3d3d363d73${bare(implementation).toLowerCase()}5af43d82803e903d91602b57fd5bf3`;
}

/** Runtime code that returns an address to every call, as a beacon does. */
export function beaconOf(implementation) {
  return `73${bare(implementation).toLowerCase()}5f5260205ff3`;
}

/** Deploys runtime code and returns the address. */
export async function deploy(node, from, runtime) {
  const hash = await node.rpc('eth_sendTransaction', { from, data: creationOf(runtime) });
  return (await node.rpc('eth_getTransactionReceipt', hash)).contractAddress;
}

/** Sends a call of a function, given by its signature, and returns the hash. */
export function send(node, from, to, signature, values, more = {}) {
  return node.rpc('eth_sendTransaction', {
    from,
    to,
    data: encodeCall(fragment(signature), values),
    ...more,
  });
}
