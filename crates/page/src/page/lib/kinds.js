// Names of the types of transactions.

export const KINDS = ['Legacy', 'Access list (EIP-2930)', 'Dynamic fee (EIP-1559)', 'Blob (EIP-4844)', 'Set code (EIP-7702)'];
