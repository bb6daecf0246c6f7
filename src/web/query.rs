//! What clients put behind the question mark.

use std::ops::RangeInclusive;

use axum::{
    extract::{FromRequestParts, Query},
    http::request::Parts,
};

use super::RestError;

/// How far back a history may reach, in seconds, and what clients call that.
const TIMEFRAMES: [(&str, u64); 4] = [("1h", 3_600), ("24h", 86_400), ("7d", 604_800), ("30d", 2_592_000)];
/// The one that is meant when none is named.
const DEFAULT_TIMEFRAME: (&str, u64) = TIMEFRAMES[1];

/// The parameters of a query. Those that nobody knows are nobody's business; of those that come twice the first counts.
#[derive(Clone, Debug, Default)]
pub struct Queries(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Queries {
    type Rejection = RestError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, RestError> {
        Ok(Self(Query::from_request_parts(parts, state).await?.0))
    }
}

impl Queries {
    /// The text of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// The text of a parameter that must not be left out.
    pub fn required(&self, name: &'static str) -> Result<&str, RestError> {
        self.get(name).ok_or_else(|| RestError::parameter(name, "is missing"))
    }

    /// A whole number within `range`, or `default` if there is none.
    pub fn number(&self, name: &'static str, range: RangeInclusive<u64>, default: u64) -> Result<u64, RestError> {
        let Some(text) = self.get(name) else { return Ok(default) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| RestError::parameter(name, format!("expected {} to {}", range.start(), range.end())))
    }

    /// One of several words and what it stands for; the first if there is none.
    pub fn choice<T: Copy>(
        &self,
        name: &'static str,
        choices: &[(&'static str, T)],
    ) -> Result<Option<(&'static str, T)>, RestError> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let found = choices.iter().find(|(word, _)| *word == text).copied();
        let words: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
        found.map(Some).ok_or_else(|| RestError::parameter(name, format!("expected one of {}", words.join(", "))))
    }

    /// How far back a history is to reach, by its name and in seconds: `period`, or `timeframe`, which means the same.
    pub fn timeframe(&self) -> Result<(&'static str, u64), RestError> {
        let (period, alias) = (self.choice("period", &TIMEFRAMES)?, self.choice("timeframe", &TIMEFRAMES)?);
        if period.zip(alias).is_some_and(|(period, alias)| period != alias) {
            return Err(RestError::parameter("timeframe", "differs from period, which means the same"));
        }
        Ok(period.or(alias).unwrap_or(DEFAULT_TIMEFRAME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queries(pairs: &[(&str, &str)]) -> Queries {
        Queries(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn a_timeframe_has_two_names() {
        assert_eq!(queries(&[]).timeframe(), Ok(("24h", 86_400)));
        assert_eq!(queries(&[("timeframe", "1h")]).timeframe(), Ok(("1h", 3_600)));
        assert_eq!(queries(&[("period", "7d"), ("timeframe", "7d")]).timeframe(), Ok(("7d", 604_800)));
        assert!(queries(&[("period", "7d"), ("timeframe", "1h")]).timeframe().is_err());
        assert!(queries(&[("period", "2h")]).timeframe().is_err());
    }

    #[test]
    fn numbers_stay_within_their_range() {
        let query = queries(&[("a", "5"), ("b", "x"), ("a", "6"), ("c", "-1")]);
        assert_eq!(query.number("a", 1..=10, 3), Ok(5));
        assert_eq!(query.number("none", 1..=10, 3), Ok(3));
        assert!(query.number("a", 6..=10, 7).is_err());
        assert!(query.number("b", 0..=10, 7).is_err() && query.number("c", 0..=10, 7).is_err());
        assert!(query.required("none").is_err());
    }
}
