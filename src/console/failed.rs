//! Calls that failed, the commonest failures of a dapp. A page may repeat one many times a second,
//! so no more than a few are shown at a time.

use std::time::{Duration, Instant};

use tetrad_contracts::sources::text::{clean, cut};
use tetrad_stdx::failed_calls::FailedCall;

use super::{
    Console,
    abi::{Decoder, short},
};

/// The length of a period.
const PERIOD: Duration = Duration::from_secs(5);
/// The most calls that are shown in a period.
const MAX_CALLS: usize = 10;

/// Decides which calls are shown: each only once in a period, and no more than a few.
#[derive(Debug, Default)]
pub(super) struct Limiter {
    began: Option<Instant>,
    /// Method, transaction and error of those shown in this period.
    shown: Vec<(&'static str, Option<String>, String)>,
    /// The number of others since the last one that was shown.
    passed_over: u64,
}

impl Limiter {
    /// Returns whether a call that failed now is shown.
    pub(super) fn admits(&mut self, call: &FailedCall, now: Instant) -> bool {
        if self
            .began
            .is_none_or(|began| now.saturating_duration_since(began) >= PERIOD)
        {
            self.began = Some(now);
            self.shown.clear();
        }

        let transaction = call.call.as_ref().map(|call| call.get().to_owned());
        let own = (call.method, transaction, call.message.clone());
        if self.shown.len() >= MAX_CALLS || self.shown.contains(&own) {
            self.passed_over += 1;
            return false;
        }

        self.shown.push(own);
        true
    }

    /// Counts calls that were missed.
    pub(super) fn pass_over(&mut self, count: u64) {
        self.passed_over += count;
    }

    /// Returns a line with the number of calls that were not shown since the last one, if there
    /// were any.
    pub(super) fn note(&mut self) -> String {
        match std::mem::take(&mut self.passed_over) {
            0 => String::new(),
            count => format!("… {count} more failed calls, repeated or too many to show\n"),
        }
    }
}

/// Formats `eth_call  0xf39F…2266 → USDC.transfer  reverted: …`.
pub(super) fn line(console: &Console, decoder: &Decoder<'_>, call: &FailedCall) -> String {
    let (from, to, input) = call.parties();
    let from = from
        .map(|from| format!("{} → ", short(from)))
        .unwrap_or_default();

    let target = match to {
        None if call.call.is_none() => String::new(),
        None => "new contract".to_owned(),
        Some(to) if input.is_empty() => decoder.account(to),
        Some(to) if console.verbosity > 0 => {
            format!("{}.{}", decoder.account(to), decoder.call(to, &input))
        }
        Some(to) => format!("{}.{}", decoder.account(to), decoder.function(to, &input)),
    };

    let reason = match (to, &call.data) {
        (Some(to), Some(data)) if call.message.starts_with("execution reverted") => {
            format!("reverted: {}", decoder.revert(to, data))
        }
        _ => format!("failed: {}", clean(&cut(call.message.clone()))),
    };

    let method = console.styles.faint(call.method);
    let name = console.styles.name(&clean(&target));
    format!(
        "{method}  {from}{name}  {}\n",
        console.styles.failure(&reason)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn failed(transaction: &str) -> FailedCall {
        FailedCall {
            time_ms: 0,
            method: "eth_call",
            call: Some(RawValue::from_string(format!("\"{transaction}\"")).unwrap()),
            block: None,
            state_overrides: None,
            block_overrides: None,
            code: 3,
            message: "execution reverted".to_owned(),
            data: None,
            reason: None,
        }
    }

    #[test]
    fn repeated_calls_and_floods_are_counted_instead_of_shown() {
        let mut limiter = Limiter::default();
        let begin = Instant::now();
        assert!(limiter.admits(&failed("a"), begin));
        assert_eq!(limiter.note(), "");
        assert!(!limiter.admits(&failed("a"), begin));
        assert!(limiter.admits(&failed("b"), begin));
        assert_eq!(
            limiter.note(),
            "… 1 more failed calls, repeated or too many to show\n"
        );
        let shown = (0..100)
            .filter(|number| limiter.admits(&failed(&number.to_string()), begin))
            .count();
        assert_eq!(shown, MAX_CALLS - 2);
        limiter.pass_over(8);
        assert!(limiter.admits(&failed("a"), begin + PERIOD));
        assert_eq!(
            limiter.note(),
            "… 100 more failed calls, repeated or too many to show\n"
        );
    }
}
