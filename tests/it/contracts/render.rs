//! Conversion of the views' numbers to the strings of the REST interfaces and of the vectors.

use alloy_primitives::U256;

/// A fixed-point number without trailing zeros, but with at least one decimal.
pub(crate) fn decimal(raw: U256, decimals: usize) -> String {
    let digits = format!("{raw:0>width$}", width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    let fraction = fraction.trim_end_matches('0');
    format!(
        "{whole}.{}",
        if fraction.is_empty() { "0" } else { fraction }
    )
}

/// An annual growth factor in ray as a yield in per cent, rounded half up to two decimals.
pub(crate) fn percent(factor: U256) -> String {
    let ray = U256::from(10).pow(U256::from(27));
    let hundredths: u128 =
        (((factor - ray) * U256::from(20_000) + ray) / (ray * U256::from(2))).to();
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}
