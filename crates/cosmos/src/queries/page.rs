//! Pages of lists.

use prost_reflect::DynamicMessage;
use serde_json::{Value, json};

use super::number_in;

/// Items on a page unless the request says otherwise, and at most.
pub(super) const DEFAULT_LIMIT: u64 = 100;
pub(super) const MAX_LIMIT: u64 = 1_000;

/// The page that a request asks for.
pub(super) struct PageRequest {
    /// The `next_key` of the page before; empty on the first one.
    pub(super) key: Vec<u8>,
    pub(super) offset: u64,
    pub(super) limit: u64,
}

impl PageRequest {
    pub(super) fn of(request: &DynamicMessage) -> Self {
        let field = request.get_field_by_name("pagination");
        let page: Option<&DynamicMessage> = field.as_ref().and_then(|page| page.as_message());
        let number = |name| page.map_or(0, |page| number_in(page, name));
        let key = page.and_then(|page| {
            page.get_field_by_name("key")?
                .as_bytes()
                .map(|key| key.to_vec())
        });
        let limit = match number("limit") {
            0 => DEFAULT_LIMIT,
            limit => limit.min(MAX_LIMIT),
        };
        Self {
            key: key.unwrap_or_default(),
            offset: number("offset"),
            limit,
        }
    }
}

/// A list that fits on one page, under its name.
pub(super) fn page(name: &str, items: Vec<Value>) -> Value {
    let total = items.len().to_string();
    json!({ name: items, "pagination": { "total": total } })
}
