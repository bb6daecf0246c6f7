//! A call of the other node.

use serde_json::{Value, json};

/// One of several calls of the other node's methods.
#[derive(Clone, Debug)]
pub(in crate::fork) struct ForkCall {
    pub(in crate::fork) method: &'static str,
    pub(in crate::fork) params: Value,
}

impl ForkCall {
    pub(in crate::fork) fn new(method: &'static str, params: Value) -> Self {
        Self { method, params }
    }
}

/// The request object of a call (JSON-RPC 2.0, section 4).
pub(super) fn request_object(id: usize, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The body of a request with a single call.
pub(super) fn request_body(method: &str, params: &Value) -> String {
    request_object(1, method, params).to_string()
}
