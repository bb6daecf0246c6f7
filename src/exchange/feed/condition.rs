//! How well a source does.

use schemars::JsonSchema;
use serde::Serialize;

/// What is to be known about a source from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PriceSource")]
pub struct Condition {
    /// Which one it is.
    pub name: String,
    /// Whether it can be believed.
    pub status: Health,
    /// Milliseconds since it last heard a price; none if it needs to hear none, or never did.
    pub age_ms: Option<u64>,
    /// How often in a row it has failed.
    pub failures: u64,
    /// Why it failed last.
    pub error: Option<String>,
}

/// Whether a source can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "PriceSourceStatus")]
pub enum Health {
    /// It knows prices.
    Ok,
    /// It has not heard any yet.
    Waiting,
    /// What it heard is too old.
    Stale,
    /// It failed so often that it is left alone for a while.
    Broken,
}

impl Condition {
    /// A source that cannot fail.
    pub fn ok(name: impl Into<String>) -> Self {
        Self { name: name.into(), status: Health::Ok, age_ms: None, failures: 0, error: None }
    }
}
