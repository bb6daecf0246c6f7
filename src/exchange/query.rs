//! What clients put into paths and queries.

use alloy_primitives::Address;

use crate::web::RestError;

/// How far back a history may reach, and what clients call that.
const TIMEFRAMES: [(&str, u64); 4] = [("1h", 3_600), ("24h", 86_400), ("7d", 604_800), ("30d", 2_592_000)];
/// The one that is meant when none is named.
const DEFAULT_TIMEFRAME: (&str, u64) = TIMEFRAMES[1];
/// Prices that a history holds if nobody says how many.
const DEFAULT_LIMIT: u64 = 100;
/// Prices that a history may hold: a day by the minute.
const MAX_LIMIT: u64 = 1_440;

/// A token's address in any case: clients write it in lower case or as a wallet shows it, and a wrong checksum is for
/// wallets to complain about.
pub(super) fn address(text: &str) -> Result<Address, RestError> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let parsed = digits.filter(|digits| digits.len() == 40).and_then(|digits| digits.parse().ok());
    parsed.ok_or_else(|| RestError::parameter("address", "expected 0x with 40 hex digits"))
}

/// The timeframe and the number of prices that a query for a history asks for. Parameters that nobody knows are nobody's
/// business.
pub(super) fn history_query(query: &[(String, String)]) -> Result<((&'static str, u64), u64), RestError> {
    let value = |name: &str| query.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str());
    let timeframe = |name: &'static str| {
        let known = |value| TIMEFRAMES.into_iter().find(|(name, _)| *name == value);
        value(name)
            .map(|value| known(value).ok_or_else(|| RestError::parameter(name, "expected 1h, 24h, 7d or 30d")))
            .transpose()
    };
    let (period, alias) = (timeframe("period")?, timeframe("timeframe")?);
    if period.zip(alias).is_some_and(|(period, alias)| period != alias) {
        return Err(RestError::parameter("timeframe", "differs from period, which means the same"));
    }
    let limit = match value("limit") {
        None => DEFAULT_LIMIT,
        Some(text) => {
            let number = text.parse().ok().filter(|number| (1..=MAX_LIMIT).contains(number));
            number.ok_or_else(|| RestError::parameter("limit", format!("expected 1 to {MAX_LIMIT}")))?
        }
    };
    Ok((period.or(alias).unwrap_or(DEFAULT_TIMEFRAME), limit))
}
