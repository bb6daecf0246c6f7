//! Times as dates of the Gregorian calendar, and lengths of time in seconds.

use std::time::{Duration, UNIX_EPOCH};

/// The last second that has a date of four digits, which Cosmos' times need:
/// `9999-12-31T23:59:59Z`, in seconds since the Unix epoch. No block is later.
pub const LAST_SECOND: u64 = 253_402_300_799;

/// Seconds of a minute.
pub const MINUTE: u64 = 60;
/// Seconds of an hour.
pub const HOUR: u64 = 60 * MINUTE;
/// Seconds of a day.
pub const DAY: u64 = 24 * HOUR;
/// Seconds of a year of 365 days.
pub const YEAR: u64 = 365 * DAY;

/// Returns seconds since the Unix epoch, at most [`LAST_SECOND`], as `2026-11-20T12:00:00Z`
/// (RFC 3339).
pub fn rfc3339(seconds: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_secs(seconds.min(LAST_SECOND));
    humantime::format_rfc3339_seconds(time).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (LAST_SECOND, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(rfc3339(seconds), text);
        }
        assert_eq!(rfc3339(u64::MAX), rfc3339(LAST_SECOND));
    }
}
