// The fields of a transaction.

import { dateAndAge } from '../lib/clock.js';
import { facts, h } from '../lib/dom.js';
import { count, fee, percent } from '../lib/format.js';
import { KINDS, accessListText } from '../lib/kinds.js';
import { addressLink, blockLink, coins, transactionLink } from '../lib/links.js';

/**
 * Rows about fees: the fee itself, what of it was burnt and what went to the proposer, and the
 * difference to the maximum.
 */
function feeRows(transaction, receipt, block) {
  const price = BigInt(receipt.effectiveGasPrice);
  const gas = BigInt(receipt.gasUsed);
  const base = block?.baseFeePerGas ? BigInt(block.baseFeePerGas) : null;
  const priority = base !== null && price > base ? price - base : 0n;
  const most = transaction.maxFeePerGas ? BigInt(transaction.maxFeePerGas) : null;
  const blobs = receipt.blobGasUsed
    ? BigInt(receipt.blobGasUsed) * BigInt(receipt.blobGasPrice ?? 0)
    : 0n;

  return [
    [
      'Transaction fee',
      coins(price * gas + blobs, 12),
      blobs > 0n && h('span.soft', ` · ${coins(blobs, 12)} of it for blobs`),
    ],
    [
      'Effective gas price',
      fee(price),
      base !== null && h('span.soft', ` · base fee ${fee(base)} + priority fee ${fee(priority)}`),
      most !== null && h('span.soft', ` · maximum ${fee(most)}`),
    ],
    base !== null && ['Burnt', coins(base * gas, 12)],
    base !== null && ['Priority fee paid', coins(priority * gas, 12)],
    most !== null && [
      'Savings',
      coins((most - price) * gas, 12),
      h('span.soft', ' below the maximum fee'),
    ],
  ];
}

/** A list as a row of facts; none if it is empty or missing. */
function listRow(name, items, content) {
  if (!items?.length) return null;
  return [
    name,
    h(
      'ul.plain',
      items.map((item) => h('li', content(item))),
    ),
  ];
}

/** What typed transactions have in addition. */
function typeRows({ accessList, blobVersionedHashes, authorizationList }) {
  return [
    accessList?.length ? ['Access list', accessListText(accessList)] : null,
    listRow('Blobs', blobVersionedHashes, (hash) => h('span.mono', hash)),
    listRow('Authorizations', authorizationList, ({ address, nonce }) => [
      'Delegates to ',
      addressLink(address),
      h('span.soft', ` · nonce ${count(Number(nonce))}`),
    ]),
  ];
}

/** The recipient, or the contract that was created. */
function recipientRow({ to }, receipt) {
  if (to) return ['To', addressLink(to, { full: true })];
  return [
    'Contract created',
    receipt ? addressLink(receipt.contractAddress, { full: true }) : h('span.soft', 'Pending'),
  ];
}

/** The gas that was used, or the most that may be. */
function gasRow(transaction, receipt) {
  const limit = Number(transaction.gas);
  if (!receipt) return ['Gas limit', count(limit)];
  const used = Number(receipt.gasUsed);
  return ['Gas used', `${count(used)} of ${count(limit)} (${percent(used / limit, 1)})`];
}

/** The fields of a transaction; `confirmations` is an element. */
export function transactionFacts({ transaction, receipt, cosmos, block }, confirmations) {
  const isCosmosWithoutRecipient = cosmos && !transaction.to;
  return facts([
    ['Transaction hash', transactionLink(transaction.hash, { full: true })],
    receipt && [
      'Block',
      blockLink(receipt.blockNumber),
      ' ',
      confirmations,
      h('span.soft', ` · index ${Number(receipt.transactionIndex)}`),
    ],
    block && ['Time', dateAndAge(block.timestamp)],
    ['From', addressLink(transaction.from, { full: true })],
    isCosmosWithoutRecipient ? null : recipientRow(transaction, receipt),
    ['Value', coins(transaction.value, 24)],
    ...(receipt
      ? feeRows(transaction, receipt, block)
      : [['Gas price', fee(BigInt(transaction.gasPrice ?? transaction.maxFeePerGas))]]),
    gasRow(transaction, receipt),
    ['Nonce', count(Number(transaction.nonce))],
    ['Type', cosmos ? 'Cosmos SDK' : (KINDS[Number(transaction.type)] ?? transaction.type)],
    ...typeRows(transaction),
  ]);
}
