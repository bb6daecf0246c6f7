//! Numbers as clients of development methods write them: a QUANTITY, hex with leading zeros, a JSON
//! number, or decimal digits in a string.

use std::time::Duration;

use alloy_primitives::U256;
use serde_json::{Value, json};
use tetrad_stdx::digits;

use crate::rpc::params::{self, Param, ParamRules};

/// A number of up to 256 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnyNumber(pub(super) U256);

impl Param for AnyNumber {
    fn read(json: &str, _: ParamRules) -> Result<Self, String> {
        let is_quoted = json.starts_with('"');
        let text = if is_quoted {
            params::string(json)?
        } else {
            json.into()
        };

        let parsed = match text.strip_prefix("0x") {
            Some(text) if is_quoted => digits::hex(text),
            Some(_) => None,
            None => digits::decimal(&text),
        };
        if let Some(number) = parsed {
            Ok(Self(number))
        } else if is_quoted {
            Err(format!(
                "expected a number of at most 256 bits, got `{text}`"
            ))
        } else {
            Err(format!(
                "expected a number of at most 256 bits, got {}",
                params::kind(json)
            ))
        }
    }

    fn schema() -> Value {
        json!({"anyOf": [
            {"type": "string", "pattern": "^(0x[0-9a-fA-F]+|[0-9]+)$"},
            {"type": "integer", "minimum": 0},
        ]})
    }
}

/// A number of up to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SmallNumber(pub(super) u64);

impl Param for SmallNumber {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let AnyNumber(number) = AnyNumber::read(json, rules)?;
        u64::try_from(number)
            .map(Self)
            .map_err(|_| "expected a number of at most 64 bits".to_owned())
    }

    fn schema() -> Value {
        AnyNumber::schema()
    }
}

/// The longest interval, some 136 years.
pub(super) const MAX_INTERVAL: Duration = Duration::from_secs(u32::MAX as u64);

/// A time in seconds: a number as above, or a fraction. Longer ones are [`MAX_INTERVAL`], and
/// those above zero take a millisecond at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seconds(pub(super) Duration);

impl Param for Seconds {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        // JavaScript writes small fractions as 5e-7.
        let is_fraction = !json.starts_with('"') && json.contains(['.', 'e', 'E']);
        let seconds = match json.parse::<f64>() {
            Ok(seconds) if is_fraction && seconds >= 0.0 => seconds,
            _ => SmallNumber::read(json, rules)?.0 as f64,
        };
        if seconds == 0.0 {
            return Ok(Self(Duration::ZERO));
        }

        let time = Duration::try_from_secs_f64(seconds).unwrap_or(MAX_INTERVAL);
        Ok(Self(time.clamp(Duration::from_millis(1), MAX_INTERVAL)))
    }

    fn schema() -> Value {
        json!({"anyOf": [
            {"type": "string", "pattern": "^(0x[0-9a-fA-F]+|[0-9]+)$"},
            {"type": "number", "minimum": 0},
        ]})
    }
}
