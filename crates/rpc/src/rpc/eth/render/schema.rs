//! JSON schemas of blocks, transactions, receipts and logs.

use serde_json::{Value, json};

use crate::rpc::schema::{array, data, object, or_null, quantity};

/// A header.
pub(super) fn header() -> Value {
    members_of_header([])
}

/// A block, with whole transactions or their hashes.
pub(super) fn block() -> Value {
    let withdrawal = object(
        [
            ("index", quantity()),
            ("validatorIndex", quantity()),
            ("address", data(Some(20))),
            ("amount", quantity()),
        ],
        [],
    );

    let transactions = array(json!({"anyOf": [data(Some(32)), transaction()]}));
    let mut schema = members_of_header([
        ("size", quantity()),
        ("transactions", transactions),
        ("uncles", array(data(Some(32)))),
    ]);
    // Blocks before Shanghai have none, so it is not required.
    schema["properties"]["withdrawals"] = array(withdrawal);
    schema
}

fn members_of_header<const N: usize>(others: [(&str, Value); N]) -> Value {
    let mut schema = object(
        [
            ("number", quantity()),
            // An unsealed block has neither.
            ("hash", or_null(data(Some(32)))),
            ("nonce", or_null(data(Some(8)))),
            ("parentHash", data(Some(32))),
            ("mixHash", data(Some(32))),
            ("sha3Uncles", data(Some(32))),
            ("logsBloom", data(Some(256))),
            ("transactionsRoot", data(Some(32))),
            ("stateRoot", data(Some(32))),
            ("receiptsRoot", data(Some(32))),
            ("miner", data(Some(20))),
            ("difficulty", quantity()),
            ("extraData", data(None)),
            ("gasLimit", quantity()),
            ("gasUsed", quantity()),
            ("timestamp", quantity()),
        ],
        [
            ("baseFeePerGas", quantity()),
            ("withdrawalsRoot", data(Some(32))),
            ("blobGasUsed", quantity()),
            ("excessBlobGas", quantity()),
            ("parentBeaconBlockRoot", data(Some(32))),
            ("requestsHash", data(Some(32))),
        ],
    );

    for (name, member) in others {
        schema["properties"][name] = member;
        if let Some(required) = schema["required"].as_array_mut() {
            required.push(name.into());
        }
    }
    schema
}

/// A transaction.
pub(super) fn transaction() -> Value {
    let access = object(
        [
            ("address", data(Some(20))),
            ("storageKeys", array(data(Some(32)))),
        ],
        [],
    );
    let authorization = object(
        [
            ("chainId", quantity()),
            ("address", data(Some(20))),
            ("nonce", quantity()),
            ("yParity", quantity()),
            ("r", quantity()),
            ("s", quantity()),
        ],
        [],
    );

    object(
        [
            ("blockHash", or_null(data(Some(32)))),
            ("blockNumber", or_null(quantity())),
            ("blockTimestamp", or_null(quantity())),
            ("from", data(Some(20))),
            ("gas", quantity()),
            ("gasPrice", quantity()),
            ("hash", data(Some(32))),
            ("input", data(None)),
            ("nonce", quantity()),
            ("to", or_null(data(Some(20)))),
            ("transactionIndex", or_null(quantity())),
            ("value", quantity()),
            ("type", quantity()),
            ("v", quantity()),
            ("r", quantity()),
            ("s", quantity()),
        ],
        [
            ("yParity", quantity()),
            ("chainId", quantity()),
            ("maxFeePerGas", quantity()),
            ("maxPriorityFeePerGas", quantity()),
            ("maxFeePerBlobGas", quantity()),
            ("accessList", array(access)),
            ("blobVersionedHashes", array(data(Some(32)))),
            ("authorizationList", array(authorization)),
        ],
    )
}

/// A receipt.
pub(super) fn receipt() -> Value {
    object(
        [
            ("blockHash", data(Some(32))),
            ("blockNumber", quantity()),
            ("contractAddress", or_null(data(Some(20)))),
            ("cumulativeGasUsed", quantity()),
            ("effectiveGasPrice", quantity()),
            ("from", data(Some(20))),
            ("gasUsed", quantity()),
            ("logs", array(log())),
            ("logsBloom", data(Some(256))),
            ("to", or_null(data(Some(20)))),
            ("transactionHash", data(Some(32))),
            ("transactionIndex", quantity()),
            ("type", quantity()),
        ],
        [
            ("status", quantity()),
            ("root", data(Some(32))),
            ("blobGasUsed", quantity()),
            ("blobGasPrice", quantity()),
        ],
    )
}

/// A log.
pub(crate) fn log() -> Value {
    object(
        [
            ("address", data(Some(20))),
            (
                "topics",
                json!({"type": "array", "items": data(Some(32)), "maxItems": 4}),
            ),
            ("data", data(None)),
            ("blockNumber", quantity()),
            ("transactionHash", data(Some(32))),
            ("transactionIndex", quantity()),
            ("blockHash", data(Some(32))),
            ("blockTimestamp", quantity()),
            ("logIndex", quantity()),
            ("removed", json!({"type": "boolean"})),
        ],
        [],
    )
}
