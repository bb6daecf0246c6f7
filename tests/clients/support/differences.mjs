// Cases of anvil's own tests that fail on the node in its place, each with the difference. They
// run, and fail the suite once they pass.
export const DIFFERENCES = {
  // Time and limits of blocks.
  'sets the time back': 'a block is never earlier than its parent: time continues from there',
  'takes a time after the year 9999': 'the times of Cosmos end there',
  'mines several blocks with one time': 'blocks that are mined on demand are a second apart',
  'mines without a limit of gas': 'blocks keep the gas limit in their headers',
  'applies its gas limit, and none when that is disabled':
    'blocks keep the gas limit in their headers',
  // Forks.
  'forks before a transaction, and mines it and those that precede it':
    'the transactions are in a block of their own at once, instead of in the next one',
  // Transactions.
  'recovers the impersonated signer of a signature with the parity 17':
    'such a signature is not valid',
  'a delegation with an authorization that is impersonated runs its code as the account':
    'only ecrecover is impersonated',
  'a transaction is signed although its tip is above its fee':
    'fees that contradict each other are refused',
  'estimates run on the pending block, and need the value or an override':
    'errors have the words of geth',
  'the gas of a transaction is within that of the block': 'errors have the words of geth',
  'Osaka refuses more gas than the cap with --enable-tx-gas-limit': 'errors have the words of geth',
  'Berlin refuses the fees of London': 'errors have the words of geth',
  // Hardforks.
  'Cancun has no history contract': 'the system contracts of all hardforks are there',
  'describes itself': 'the newest hardfork is the default',
  'has the configuration of cancun': 'the fork id is that of EIP-2124',
  'has the configuration of prague': 'the fork id is that of EIP-2124',
  'has the configuration of osaka': 'the fork id is that of EIP-2124',
  'has the configuration of prague --celo': 'there are no rules of Celo',
  // Traces.
  'traces a call over other code, with a balance that has a leading zero':
    'quantities have no leading zeros, as in geth',
  'filters traces from the first block on':
    'trace_filter begins at the newest block by default, as in OpenEthereum',
  'filters the traces of 300 blocks at most': 'trace_filter takes more blocks',
  'lists the internal operations of transactions of london':
    'the transaction itself is not one of its internal operations',
  'lists the internal operations of transactions of cancun':
    'the transaction itself is not one of its internal operations',
  "lists a block's transactions in pages":
    'pages begin at the end of a block, and count all of its transactions, as in Erigon',
};
