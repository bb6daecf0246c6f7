//! Conversion between integers of a smallest unit and decimal text, without floats.

use alloy_primitives::U256;

/// Formats a fixed-point number without trailing zeros: `97000`, `0.17`. The result is exact.
///
/// ```
/// use alloy_primitives::U256;
///
/// assert_eq!(tetrad_stdx::decimal::shortest(U256::from(351_235_000_000u64), 8), "3512.35");
/// assert_eq!(tetrad_stdx::decimal::shortest(U256::from(300_000_000u64), 8), "3");
/// ```
pub fn shortest(raw: U256, decimals: u8) -> String {
    let (whole, fraction) = parts(raw, decimals);
    if fraction.is_empty() {
        whole
    } else {
        format!("{whole}.{fraction}")
    }
}

/// Formats a fixed-point number with at least one decimal: `97000.0`, `0.17`.
///
/// ```
/// use alloy_primitives::U256;
///
/// assert_eq!(tetrad_stdx::decimal::with_point(U256::ZERO, 18), "0.0");
/// assert_eq!(tetrad_stdx::decimal::with_point(U256::from(1_500_000), 6), "1.5");
/// ```
pub fn with_point(raw: U256, decimals: u8) -> String {
    let (whole, fraction) = parts(raw, decimals);
    format!(
        "{whole}.{}",
        if fraction.is_empty() { "0" } else { &fraction }
    )
}

/// Formats hundredths with two decimals: `5.21`, `-0.05`.
///
/// ```
/// assert_eq!(tetrad_stdx::decimal::hundredths(-5), "-0.05");
/// ```
pub fn hundredths(hundredths: i128) -> String {
    let size = hundredths.unsigned_abs();
    format!(
        "{}{}.{:02}",
        if hundredths < 0 { "-" } else { "" },
        size / 100,
        size % 100
    )
}

fn parts(raw: U256, decimals: u8) -> (String, String) {
    let width = usize::from(decimals) + 1;
    let digits = format!("{:0>width$}", raw.to_string());
    let (whole, fraction) = digits.split_at(digits.len() - usize::from(decimals));
    (whole.to_owned(), fraction.trim_end_matches('0').to_owned())
}

/// The most digits before the cut of a parsed number. It bounds the text that is built; a `u128`
/// has at most 39 digits.
const MAX_EXPONENT: i64 = 60;

/// Parses a decimal number such as `3512.35` or `1.7e-1` as an integer in units of its
/// `decimals`-th place, and truncates further digits. Returns `None` if the text is not a number,
/// is negative or is too large.
///
/// ```
/// assert_eq!(tetrad_stdx::decimal::parse("3512.35", 8), Some(351_235_000_000));
/// assert_eq!(tetrad_stdx::decimal::parse("17e-2", 2), Some(17));
/// ```
pub fn parse(text: &str, decimals: u8) -> Option<u128> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };

    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty()
        || (fraction.is_empty() && number.contains('.'))
        || !is_number(whole)
        || !is_number(fraction)
    {
        return None;
    }

    // The number of digits before the cut.
    let places = i64::try_from(whole.len())
        .ok()?
        .checked_add(exponent)?
        .checked_add(decimals.into())?;

    let all = [whole, fraction].concat();
    let digits = all.trim_start_matches('0');
    let kept = places - (all.len() - digits.len()) as i64;

    if digits.is_empty() || kept <= 0 {
        return Some(0);
    }
    if kept > MAX_EXPONENT {
        return None;
    }

    let kept = kept as usize;
    let taken = &digits[..kept.min(digits.len())];
    let zeros = kept.saturating_sub(digits.len());
    format!("{taken}{:0<zeros$}", "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_exactly() {
        for (text, expected) in [
            ("0", Some(0)),
            ("0.000000009", Some(0)),
            ("97000", Some(9_700_000_000_000)),
            ("0.17", Some(17_000_000)),
            ("000.170", Some(17_000_000)),
            ("1.23456789999", Some(123_456_789)),
            ("1e3", Some(100_000_000_000)),
            ("1.5E-3", Some(150_000)),
            ("1.5e+2", Some(15_000_000_000)),
            ("0e99999", Some(0)),
            ("1e-99999", Some(0)),
            ("1e99999", None),
            ("1e9223372036854775807", None),
            ("34028236692093846346337460743177", None),
            ("", None),
            (".5", None),
            ("5.", None),
            ("-1", None),
            ("+1", None),
            ("1e", None),
            ("1.2.3", None),
            ("NaN", None),
            ("0x10", None),
            ("1_000", None),
        ] {
            assert_eq!(parse(text, 8), expected, "{text}");
        }
    }
}
