// Columns of the explorer's lists: the cells of a row, and its texts for CSV.

import { timeCell } from './clock.js';
import { h } from './dom.js';
import { toUnits } from './format.js';
import {
  blockCell,
  direction,
  hashLink,
  idLink,
  method,
  outcome,
  party,
  recipient,
  shortCoins,
  symbolOf,
  tokenAmount,
  tokenLink,
} from './cells.js';

const HASH = {
  title: 'Transaction hash',
  phone: 'line-1',
  cell: (row) => hashLink(row.hash),
  csv: (row) => row.hash,
};
const TIME = { title: 'Age', time: true, phone: 'line-2.end' };

/**
 * Columns of transactions: the cells of a row, and its texts for CSV. `here` is the address whose
 * transactions they are.
 */
export function transactionColumns({ here = null, block = true, fee = false } = {}) {
  return [
    HASH,
    {
      title: 'Status',
      phone: 'line-1',
      cell: outcome,
      csv: (row) => (row.ok ? 'success' : row.ok === null ? 'pending' : 'failed'),
    },
    { title: 'Reason', csv: (row) => row.reason ?? '' },
    { title: 'Method', phone: 'line-1', cell: method, csv: (row) => row.method },
    { title: 'Block', cell: block ? (row) => blockCell(row.block) : null, csv: (row) => row.block },
    {
      ...TIME,
      cell: block ? (row) => timeCell(row.time) : null,
      csv: (row) => new Date(row.time * 1_000).toISOString(),
    },
    {
      title: 'From',
      phone: 'line-2',
      cell: (row) => party(row.from, here),
      csv: (row) => row.from,
    },
    here && { title: h('span.hidden', 'Direction'), cell: (row) => direction(row, here) },
    {
      title: 'To',
      phone: 'line-2.parties-to',
      cell: (row) => recipient(row, here),
      csv: (row) => row.to ?? '',
    },
    { title: 'Contract created', csv: (row) => row.created ?? '' },
    {
      title: 'Value',
      phone: 'line-1.end',
      number: true,
      cell: (row) => shortCoins(row.value, 6),
      csv: (row) => toUnits(row.value, 18),
    },
    {
      title: 'Fee',
      number: true,
      cell: fee ? (row) => (row.fee === null ? '–' : shortCoins(row.fee, 4)) : null,
      csv: (row) => (row.fee === null ? '' : toUnits(row.fee, 18)),
    },
  ].filter(Boolean);
}

/** Columns of token transfers. */
export function transferColumns({ here = null, token = true } = {}) {
  return [
    HASH,
    {
      title: 'Type',
      phone: 'line-1',
      cell: (row) => h('span.tag', row.kind),
      csv: (row) => row.kind,
    },
    { title: 'Block', cell: (row) => blockCell(row.block), csv: (row) => row.block },
    {
      ...TIME,
      cell: (row) => timeCell(row.time),
      csv: (row) => (row.time ? new Date(row.time * 1_000).toISOString() : ''),
    },
    {
      title: 'From',
      phone: 'line-2',
      cell: (row) => (row.kind === 'Mint' ? h('span.soft', 'New') : party(row.from, here)),
      csv: (row) => row.from,
    },
    here && { title: h('span.hidden', 'Direction'), cell: (row) => direction(row, here) },
    {
      title: 'To',
      phone: 'line-2.parties-to',
      cell: (row) => (row.kind === 'Burn' ? h('span.soft', 'Burnt') : party(row.to, here)),
      csv: (row) => row.to,
    },
    {
      title: 'Amount',
      phone: 'line-1.end',
      number: true,
      cell: (row) => (row.value === null ? h('span.soft', '1') : tokenAmount(row.value, row.token)),
      csv: (row) => (row.value === null ? 1 : toUnits(row.value, Number(row.token.decimals ?? 0))),
    },
    {
      title: 'Token',
      phone: 'line-1',
      cell: token
        ? (row) => [tokenLink(row.token), row.id !== null && [' ', idLink(row.token, row.id)]]
        : (row) => row.id !== null && idLink(row.token, row.id),
      csv: (row) => symbolOf(row.token),
      hidden: !token && ((row) => row.id === null),
    },
    { title: 'Token contract', csv: (row) => row.token.address_hash },
    { title: 'Token ID', csv: (row) => row.id ?? '' },
  ].filter(Boolean);
}

/** Columns of internal transactions. */
export function internalColumns(here = null) {
  return [
    HASH,
    {
      title: 'Type',
      phone: 'line-1',
      cell: (row) => [
        h('span.tag', row.kind),
        !row.ok && h('span.tag.bad', { title: row.reason ?? '' }, 'Failed'),
      ],
      csv: (row) => row.kind,
    },
    { title: 'Block', cell: (row) => blockCell(row.block), csv: (row) => row.block },
    {
      ...TIME,
      cell: (row) => timeCell(row.time),
      csv: (row) => new Date(row.time * 1_000).toISOString(),
    },
    {
      title: 'From',
      phone: 'line-2',
      cell: (row) => party(row.from, here),
      csv: (row) => row.from,
    },
    {
      title: 'To',
      phone: 'line-2.parties-to',
      cell: (row) => recipient(row, here),
      csv: (row) => row.to ?? row.created ?? '',
    },
    {
      title: 'Value',
      phone: 'line-1.end',
      number: true,
      cell: (row) => shortCoins(row.value, 8),
      csv: (row) => toUnits(row.value, 18),
    },
    { title: 'Error', csv: (row) => row.reason ?? '' },
  ];
}
