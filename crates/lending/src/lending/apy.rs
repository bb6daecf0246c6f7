//! From rates per second to yields per year, in integers: the pool's own arithmetic.

use alloy_primitives::U256;
use tetrad_stdx::{calendar::YEAR, decimal::hundredths};

/// The unit of rates: 10^27.
pub(super) const RAY: U256 = U256::from_limbs([0x9fd0_803c_e800_0000, 0x033b_2e3c, 0, 0]);
/// The limit of the pool's growth factors.
const MAX_FACTOR: U256 = U256::from_limbs([u64::MAX, u64::MAX, 0, 0]);

/// `((1 + r)^31536000 - 1) · 100` with two decimals, halves rounded up. `per_second` is r, a ray.
///
/// ```
/// use alloy_primitives::U256;
///
/// assert_eq!(tetrad_lending::lending::yearly_percent(U256::from(1_585_489_599_188_229_325u64)), "5.13");
/// ```
pub fn yearly_percent(per_second: U256) -> String {
    let growth = power(RAY.saturating_add(per_second).min(MAX_FACTOR), YEAR) - RAY;
    // At most 2^128 · 20000: nothing overflows.
    let rounded = (growth * U256::from(20_000) + RAY) / (RAY * U256::from(2));
    hundredths(rounded.saturating_to())
}

/// `base^exponent` by repeated squaring, rounded down at every step, as `Ray.rpow` does it on
/// chain.
fn power(mut base: U256, mut exponent: u64) -> U256 {
    let mut result = if exponent.is_multiple_of(2) {
        RAY
    } else {
        base
    };
    exponent /= 2;

    while exponent > 0 {
        base = grow(base, base);
        if !exponent.is_multiple_of(2) {
            result = grow(result, base);
        }
        exponent /= 2;
    }
    result
}

fn grow(factor: U256, by: U256) -> U256 {
    (factor * by / RAY).min(MAX_FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ray_is_a_ray() {
        assert_eq!(RAY, U256::from(10).pow(U256::from(27)));
        assert_eq!(MAX_FACTOR, U256::from(u128::MAX));
    }

    #[test]
    fn no_rate_is_too_large() {
        assert_eq!(yearly_percent(U256::ZERO), "0.00");
        assert_eq!(yearly_percent(U256::MAX), yearly_percent(MAX_FACTOR));
    }
}
