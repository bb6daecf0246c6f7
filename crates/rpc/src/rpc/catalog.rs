//! The parts of `rpc.discover` that concern several methods: namespaces, errors, names of
//! parameters.

use serde_json::{Map, Value, json};

use super::error::{
    HISTORY_PRUNED, INTERNAL_ERROR, INVALID_PARAMS, NO_RECEIPT, RESOURCE_NOT_FOUND, REVERTED,
    SERVER_ERROR, TIMEOUT, TOO_LARGE,
};

/// A namespace: the methods whose names begin with its name.
#[derive(Debug)]
pub(super) struct Namespace {
    pub(super) name: &'static str,
    /// Its description.
    about: &'static str,
    /// Whether tools call its methods with JSON integers, which count in every dialect then.
    pub(super) takes_integers: bool,
}

/// All namespaces.
const NAMESPACES: &[Namespace] = &[
    Namespace {
        name: "admin",
        about: "The node as peers would see it.",
        takes_integers: false,
    },
    Namespace {
        name: "anvil",
        about: "Development: accounts, time, mining, snapshots, forks, as in anvil. Not available \
                in production.",
        takes_integers: true,
    },
    Namespace {
        name: "debug",
        about: "Traces, raw blocks, state ranges, as in geth.",
        takes_integers: true,
    },
    Namespace {
        name: "erigon",
        about: "Methods of Erigon that explorers use.",
        takes_integers: false,
    },
    Namespace {
        name: "eth",
        about: "Blocks, accounts, transactions, calls, logs and fees.",
        takes_integers: false,
    },
    Namespace {
        name: "evm",
        about: "Development: time, mining and snapshots, as in Ganache and Hardhat. Not available \
                in production.",
        takes_integers: true,
    },
    Namespace {
        name: "hardhat",
        about: "Development: accounts and mining, as in Hardhat. Not available in production.",
        takes_integers: true,
    },
    Namespace {
        name: "net",
        about: "The network's id, and peers.",
        takes_integers: false,
    },
    Namespace {
        name: "ots",
        about: "Otterscan: search by address, internal operations, contract creators.",
        takes_integers: true,
    },
    Namespace {
        name: "personal",
        about: "Signatures of the node's accounts.",
        takes_integers: false,
    },
    Namespace {
        name: "rpc",
        about: "Descriptions of the methods.",
        takes_integers: false,
    },
    Namespace {
        name: "tenderly",
        about: "Development: balances, as in Tenderly. Not available in production.",
        takes_integers: false,
    },
    Namespace {
        name: "testing",
        about: "Blocks built on demand, for tests of consensus rules.",
        takes_integers: false,
    },
    Namespace {
        name: "tetrad",
        about: "Methods that only this node has.",
        takes_integers: false,
    },
    Namespace {
        name: "trace",
        about: "Call traces and state differences, as in OpenEthereum and Erigon.",
        takes_integers: true,
    },
    Namespace {
        name: "txpool",
        about: "Pending and queued transactions.",
        takes_integers: false,
    },
    Namespace {
        name: "web3",
        about: "The client's version, and Keccak-256.",
        takes_integers: false,
    },
];

impl Namespace {
    /// The namespace of a method, which has to be in the table.
    pub(super) fn of(method: &str) -> &'static Self {
        let name = method.split(['_', '.']).next().unwrap_or(method);
        NAMESPACES
            .iter()
            .find(|namespace| namespace.name == name)
            .unwrap_or_else(|| panic!("the namespace of {method} is not in the table"))
    }
}

/// The errors of methods: name, code and meaning.
const ERRORS: &[(&str, i32, &str)] = &[
    ("InvalidParams", INVALID_PARAMS, "Invalid params"),
    ("InternalError", INTERNAL_ERROR, "Internal error"),
    (
        "ServerError",
        SERVER_ERROR,
        "The request was understood and refused, for the reason in the message.",
    ),
    (
        "ResourceNotFound",
        RESOURCE_NOT_FOUND,
        "The block, transaction or filter does not exist.",
    ),
    (
        "HistoryPruned",
        HISTORY_PRUNED,
        "The block is older than what the node holds.",
    ),
    ("ExecutionReverted", REVERTED, "execution reverted"),
    ("ExecutionTimeout", TIMEOUT, "The execution took too long."),
    (
        "ResponseTooLarge",
        TOO_LARGE,
        "The response exceeds the node's limit.",
    ),
    (
        "NoReceipt",
        NO_RECEIPT,
        "The transaction is in the pool, but in no block in time.",
    ),
];

/// The names of parameters with their descriptions, where the name means the same in all methods.
const PARAMETERS: &[(&str, &str)] = &[
    ("address", "An account: 20 bytes."),
    (
        "block",
        "A block: its number, its hash, or `latest`, `safe`, `finalized`, `earliest`, `pending`.",
    ),
    ("block hash", "The hash of a block."),
    (
        "block overrides",
        "Fields of the block's environment to replace, such as `number`, `time`, `baseFee`.",
    ),
    ("code", "Bytecode."),
    ("filter", "Addresses, topics and a range of blocks."),
    ("filter id", "The id that the filter was created with."),
    (
        "full transactions",
        "Whether to include whole transactions rather than their hashes.",
    ),
    ("index", "A position, from 0."),
    (
        "nonce",
        "The number of transactions that the account has sent before.",
    ),
    ("options", "Options; each may be left out."),
    ("owner", "The account that holds the tokens."),
    (
        "percentiles",
        "Percentiles of the tips in a block, ascending.",
    ),
    ("seconds", "A number of seconds."),
    (
        "signed transaction",
        "A signed transaction in its binary encoding.",
    ),
    ("slot", "The position of a storage slot: 32 bytes."),
    ("snapshot", "The id of a snapshot."),
    ("spender", "The account that may spend the tokens."),
    (
        "state overrides",
        "Accounts whose balance, nonce, code or storage to replace for the call.",
    ),
    ("time", "A Unix time, in seconds."),
    ("token", "The address of an ERC-20 token."),
    (
        "transaction",
        "A transaction; what is left out is filled in.",
    ),
    ("transaction hash", "The hash of a transaction."),
    ("typed data", "Typed structured data (EIP-712)."),
    ("wei", "An amount in the smallest unit of the native coin."),
    (
        "what to trace",
        "`trace`, `vmTrace`, `stateDiff`: at least one of them.",
    ),
];

/// The components that methods refer to: their namespaces as tags, and errors.
pub(super) fn components(used: impl Iterator<Item = &'static Namespace>) -> Value {
    let mut tags = Map::new();
    for Namespace { name, about, .. } in used {
        let tag = json!({"name": name, "description": about});
        tags.insert((*name).to_owned(), tag);
    }

    let mut errors = Map::new();
    for (name, code, message) in ERRORS {
        let error = json!({"code": code, "message": message});
        errors.insert((*name).to_owned(), error);
    }

    json!({"tags": tags, "errors": errors})
}

/// The description of a parameter, if its name has one.
pub(super) fn parameter(name: &str) -> Option<&'static str> {
    PARAMETERS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, about)| *about)
}

/// How a method runs, as far as its errors depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effort {
    /// Whether it executes code.
    pub(super) executes: bool,
    /// Whether it may take long.
    pub(super) is_long: bool,
    /// Whether a parameter refers to the past.
    pub(super) looks_back: bool,
    /// Whether it waits for a receipt.
    pub(super) awaits_receipt: bool,
}

/// The names of the errors of a method.
pub(super) fn errors(effort: Effort) -> Vec<&'static str> {
    let mut found = vec!["InvalidParams", "ServerError", "InternalError"];
    if effort.looks_back {
        found.push("HistoryPruned");
    }
    if effort.executes {
        found.push("ExecutionReverted");
    }
    if effort.executes || effort.is_long {
        found.push("ExecutionTimeout");
    }
    if effort.is_long {
        found.push("ResponseTooLarge");
    }
    if effort.awaits_receipt {
        found.push("NoReceipt");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::{Rpc, error::Dialect};

    #[test]
    fn every_namespace_has_methods() {
        let described = Rpc::methods(true).describe(Dialect::Network);
        for Namespace { name, .. } in NAMESPACES {
            assert!(
                described
                    .iter()
                    .any(|method| method.namespace.name == *name),
                "{name}"
            );
        }
    }

    #[test]
    fn descriptions_are_of_parameters_that_exist() {
        let described = Rpc::methods(true).describe(Dialect::Network);
        for (name, _) in PARAMETERS {
            assert!(
                described
                    .iter()
                    .any(|method| method.parameters.contains(name)),
                "{name}"
            );
        }
    }
}
