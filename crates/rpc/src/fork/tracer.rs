//! Traces on the other node: what an execution will read, by the best method that the node has.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use alloy_eips::eip2930::AccessList;
use alloy_primitives::{Address, B256, Bytes, U64, U256};
use serde::Deserialize;
use serde_json::{Value, json};
use tetrad_primitives::state::{TracedCall, Wanted};

use super::client::{ForkCall, ForkCallError, ForkClient, read_result};

/// The time limit of a request. Without an answer, guesses find the accounts and slots.
const TRACE_TIMEOUT: Duration = Duration::from_secs(5);
/// The number of failures in a row that ends the use of a method.
const MAX_FAILURES: usize = 3;

/// The methods, the best first.
const METHODS: [Method; 2] = [
    Method {
        name: "debug_traceCall",
        params: |call, block| json!([call, block, {"tracer": "prestateTracer"}]),
        read: read_prestate,
    },
    Method {
        name: "eth_createAccessList",
        params: |call, block| json!([call, block]),
        read: read_access_list,
    },
];

struct Method {
    name: &'static str,
    params: fn(Value, &Value) -> Value,
    read: fn(&[u8]) -> Result<TracedReads, String>,
}

/// The reads of an execution.
#[derive(Debug, Default)]
pub(super) struct TracedReads {
    /// Accounts as they are before it, with some of their slots.
    pub(super) before: BTreeMap<Address, Before>,
    /// Accounts and slots that are only named.
    pub(super) named: BTreeSet<Wanted>,
}

/// An account before an execution.
#[derive(Debug, Default)]
pub(super) struct Before {
    pub(super) balance: U256,
    pub(super) nonce: u64,
    pub(super) code: Bytes,
    pub(super) storage: Vec<(U256, U256)>,
}

/// Requests traces of the other node by the methods that it has.
#[derive(Debug, Default)]
pub(super) struct RemoteTracer {
    /// The position of the first method that may work.
    method: AtomicUsize,
    failures: AtomicUsize,
}

impl RemoteTracer {
    /// The reads of an execution after a block; none if the other node cannot trace it.
    pub(super) fn trace(
        &self,
        client: &ForkClient,
        execution: &TracedCall,
        block: &Value,
    ) -> Option<TracedReads> {
        let first = self.method.load(Ordering::Relaxed);
        for (at, method) in METHODS.iter().enumerate().skip(first) {
            let params = (method.params)(call_object(execution), block);
            let call = ForkCall::new(method.name, params);
            let answers = client.call_many(vec![call], Some(TRACE_TIMEOUT));

            match answers.results.first()? {
                Ok(json) => match (method.read)(json) {
                    Ok(reads) => {
                        self.failures.store(0, Ordering::Relaxed);
                        return Some(reads);
                    }
                    // It may be too long.
                    Err(_) => self.count_failure(at),
                },
                Err(ForkCallError::ErrorResponse { code, message, .. }) => {
                    // Other errors may be about this execution.
                    if is_method_missing(*code, message) {
                        self.give_up(at);
                    } else {
                        self.failures.store(0, Ordering::Relaxed);
                    }
                }
                // The failure has nothing to do with the method.
                Err(ForkCallError::Abandoned { .. }) => return None,
                Err(_) => {
                    self.count_failure(at);
                    return None;
                }
            }
        }
        None
    }

    fn count_failure(&self, at: usize) {
        if self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= MAX_FAILURES {
            self.give_up(at);
        }
    }

    /// Uses the method after the one at a position from now on.
    fn give_up(&self, at: usize) {
        self.failures.store(0, Ordering::Relaxed);
        self.method.fetch_max(at + 1, Ordering::Relaxed);
    }
}

/// Whether an error says that there is no such method, or not for this client.
fn is_method_missing(code: i64, message: &str) -> bool {
    const METHOD_NOT_FOUND: i64 = -32_601;
    /// The code of a call that reverts, whose reason may be any text.
    const REVERTED: i64 = 3;

    let message = message.to_ascii_lowercase();
    let says_missing = [
        "not supported",
        "unsupported",
        "not available",
        "does not exist",
    ]
    .iter()
    .any(|words| message.contains(words));
    code == METHOD_NOT_FOUND || (says_missing && code != REVERTED)
}

fn call_object(execution: &TracedCall) -> Value {
    let mut call = json!({
        "from": execution.from,
        "gas": U64::from(execution.gas),
        "value": execution.value,
        "data": execution.input,
    });
    if let Some(to) = execution.to {
        call["to"] = json!(to);
    }
    call
}

/// Reads the result of geth's `prestateTracer`. An account without a balance or a nonce, which
/// other nodes leave out, is one of which only the slots are known.
fn read_prestate(json: &[u8]) -> Result<TracedReads, String> {
    #[derive(Deserialize)]
    struct RawAccount {
        balance: Option<U256>,
        nonce: Option<u64>,
        #[serde(default)]
        code: Bytes,
        #[serde(default)]
        storage: BTreeMap<B256, B256>,
    }

    let accounts: BTreeMap<Address, RawAccount> = read_result(json)?;
    let before = accounts.into_iter().map(|(address, raw)| {
        let storage = raw.storage.into_iter();
        let known = raw.balance.zip(raw.nonce);
        let (balance, nonce) = known.unwrap_or_default();
        let before = Before {
            balance,
            nonce,
            // One without code is requested by itself.
            code: known.map_or_else(Bytes::new, |_| raw.code),
            storage: storage
                .map(|(index, value)| (index.into(), value.into()))
                .collect(),
        };
        (address, before)
    });
    Ok(TracedReads {
        before: before.collect(),
        named: BTreeSet::new(),
    })
}

fn read_access_list(json: &[u8]) -> Result<TracedReads, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct RawAccessList {
        access_list: AccessList,
    }

    let RawAccessList { access_list } = read_result(json)?;
    let named = access_list.0.into_iter().flat_map(|item| {
        let slots = item.storage_keys.into_iter();
        let slots = slots.map(move |key| Wanted::Slot(item.address, key.into()));
        std::iter::once(Wanted::Account(item.address)).chain(slots)
    });
    Ok(TracedReads {
        before: BTreeMap::new(),
        named: named.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_without_balance_or_nonce_has_its_slots_alone() {
        let address = Address::repeat_byte(7);
        let slot = B256::with_last_byte(1);
        let fields = [
            (json!({"balance": "0x2", "nonce": 3, "code": "0x01"}), 1),
            (json!({"nonce": 3, "code": "0x01"}), 0),
            (json!({"balance": "0x2", "code": "0x01"}), 0),
        ];
        for (mut account, length) in fields {
            account["storage"] = json!({slot.to_string(): slot});
            let traced = json!({address.to_string(): account}).to_string();
            let reads = read_prestate(traced.as_bytes()).expect("a trace");

            let before = &reads.before[&address];
            // One without code is requested by itself.
            assert_eq!(before.code.len(), length, "{account}");
            assert_eq!(before.storage, [(slot.into(), slot.into())]);
        }
    }
}
