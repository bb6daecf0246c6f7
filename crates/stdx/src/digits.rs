//! Whole numbers of up to 256 bits, read from nothing but digits. The parser of the type itself
//! skips underscores, and takes a text without digits for zero.

use alloy_primitives::U256;

/// Reads decimal digits; none if there are no digits, or anything else.
///
/// ```
/// use alloy_primitives::U256;
/// use tetrad_stdx::digits;
///
/// assert_eq!(digits::decimal("10"), Some(U256::from(10)));
/// assert_eq!(digits::decimal("1_0"), None);
/// assert_eq!(digits::decimal(""), None);
/// ```
pub fn decimal(text: &str) -> Option<U256> {
    read(text, 10, |digit| digit.is_ascii_digit())
}

/// Reads hexadecimal digits without a prefix; none if there are no digits, or anything else.
///
/// ```
/// use alloy_primitives::U256;
/// use tetrad_stdx::digits;
///
/// assert_eq!(digits::hex("fF"), Some(U256::from(255)));
/// assert_eq!(digits::hex("_"), None);
/// ```
pub fn hex(text: &str) -> Option<U256> {
    read(text, 16, |digit| digit.is_ascii_hexdigit())
}

fn read(text: &str, radix: u64, is_digit: impl Fn(u8) -> bool) -> Option<U256> {
    let is_number = !text.is_empty() && text.bytes().all(is_digit);
    is_number
        .then(|| U256::from_str_radix(text, radix).ok())
        .flatten()
}
