//! A call of the other node.

use serde_json::{Value, json};

/// One of many calls.
#[derive(Clone, Debug)]
pub(in crate::fork) struct Question {
    pub(in crate::fork) method: &'static str,
    pub(in crate::fork) params: Value,
}

impl Question {
    pub(in crate::fork) fn new(method: &'static str, params: Value) -> Self {
        Self { method, params }
    }
}

/// A JSON-RPC request.
pub(super) fn request_of(id: usize, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}
