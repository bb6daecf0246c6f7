//! Integers of a smallest unit as decimal text. Nothing here passes through a float.

use alloy_primitives::U256;

/// A fixed-point number without superfluous zeros: `97000`, `0.17`. Exact, whatever its size.
///
/// ```
/// use alloy_primitives::U256;
///
/// assert_eq!(tetrad::decimal::shortest(U256::from(351_235_000_000u64), 8), "3512.35");
/// assert_eq!(tetrad::decimal::shortest(U256::from(300_000_000u64), 8), "3");
/// ```
pub fn shortest(raw: U256, decimals: u8) -> String {
    let (whole, fraction) = parts(raw, decimals);
    if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }
}

/// The same with at least one decimal: `97000.0`, `0.17`.
///
/// ```
/// use alloy_primitives::U256;
///
/// assert_eq!(tetrad::decimal::with_point(U256::ZERO, 18), "0.0");
/// assert_eq!(tetrad::decimal::with_point(U256::from(1_500_000), 6), "1.5");
/// ```
pub fn with_point(raw: U256, decimals: u8) -> String {
    let (whole, fraction) = parts(raw, decimals);
    format!("{whole}.{}", if fraction.is_empty() { "0" } else { &fraction })
}

/// Hundredths with two decimals: `5.21`, `-0.05`.
///
/// ```
/// assert_eq!(tetrad::decimal::hundredths(-5), "-0.05");
/// ```
pub fn hundredths(hundredths: i128) -> String {
    let size = hundredths.unsigned_abs();
    format!("{}{}.{:02}", if hundredths < 0 { "-" } else { "" }, size / 100, size % 100)
}

fn parts(raw: U256, decimals: u8) -> (String, String) {
    let width = usize::from(decimals) + 1;
    let digits = format!("{:0>width$}", raw.to_string());
    let (whole, fraction) = digits.split_at(digits.len() - usize::from(decimals));
    (whole.to_owned(), fraction.trim_end_matches('0').to_owned())
}
