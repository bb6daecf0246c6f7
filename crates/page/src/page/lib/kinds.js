// Words for what types of transactions have.

import { counted } from './format.js';

export const KINDS = [
  'Legacy',
  'Access list (EIP-2930)',
  'Dynamic fee (EIP-1559)',
  'Blob (EIP-4844)',
  'Set code (EIP-7702)',
];

/** What an access list has in it, such as `1 address, 2 storage keys`. */
export function accessListText(accessList) {
  const keys = accessList.reduce((sum, one) => sum + one.storageKeys.length, 0);
  return `${counted(accessList.length, 'address', 'addresses')}, ${counted(keys, 'storage key')}`;
}
