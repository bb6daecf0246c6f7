//! The condition of a source.

use schemars::JsonSchema;
use serde::Serialize;

/// The condition of a source, as metrics and `/api/health` report it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PriceSource")]
pub struct Condition {
    /// The name of the source.
    pub name: String,
    /// Whether its prices are used.
    pub status: SourceHealth,
    /// Milliseconds since it last received a price; none if it receives none, or has not yet.
    pub age_ms: Option<u64>,
    /// Number of consecutive failures.
    pub failures: u64,
    /// The last failure.
    pub error: Option<String>,
}

/// Whether the prices of a source are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "PriceSourceStatus")]
pub enum SourceHealth {
    /// It has prices.
    Ok,
    /// It has not received any yet.
    Waiting,
    /// Its prices are too old.
    Stale,
    /// It failed so often that it is not contacted for a while.
    Broken,
}

impl Condition {
    /// The condition of a source that cannot fail.
    pub fn ok(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            status: SourceHealth::Ok,
            age_ms: None,
            failures: 0,
            error: None,
        }
    }
}
