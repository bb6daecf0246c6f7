//! Times as dates of the Gregorian calendar.

/// The last second that has a date of four digits, which Cosmos' times need:
/// `9999-12-31T23:59:59Z`, in seconds since the Unix epoch. No block is later.
pub const LAST_SECOND: u64 = 253_402_300_799;

/// Seconds in a day.
const DAY: u64 = 86_400;
/// Days in 400 years of the Gregorian calendar.
const ERA: u64 = 146_097;
/// Days from the first of March of the year 0 to the Unix epoch.
const TO_EPOCH: u64 = 719_468;

/// Returns seconds since the Unix epoch as `2026-11-20T12:00:00Z` (RFC 3339).
pub fn rfc3339(seconds: u64) -> String {
    let days = seconds / DAY + TO_EPOCH;
    let second = seconds % DAY;

    // Years are counted from March, so that the odd day is the last of a year.
    let era = days / ERA;
    let day = days % ERA;
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = era * 400 + year + u64::from(month <= 2);

    let hour = second / 3_600;
    let minute = second / 60 % 60;
    let second = second % 60;
    format!("{year:04}-{month:02}-{day_of_month:02}T{hour:02}:{minute:02}:{second:02}Z")
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

        // The standard library's clocks and httpdate agree on every day of four centuries.
        for day in 0..146_097u64 {
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(day * DAY + 61);
            let date = httpdate::fmt_http_date(time);
            let text = rfc3339(day * DAY + 61);
            assert_eq!(
                (&text[..4], &text[8..10]),
                (&date[12..16], &date[5..7]),
                "{date}"
            );
        }
    }
}
