// The names of the accounts whose keys the node holds.

let held = [];

/** Names accounts by their positions in the list of the node. */
export function nameAccounts(addresses) {
  held = addresses.map((address) => address.toLowerCase());
}

/** The name of an account whose key the node holds, such as `Account 0`, or null. */
export function accountName(address) {
  const at = held.indexOf(address.toLowerCase());
  return at < 0 ? null : `Account ${at}`;
}
