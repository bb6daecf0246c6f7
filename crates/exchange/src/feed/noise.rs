//! Reproducible random numbers, derived from a seed and a position with integers alone.

/// Standard deviation of [`Noise::normal`].
pub(super) const DEVIATION: i128 = 1 << 16;

/// The mean of the sum of twelve 16-bit numbers.
const MEAN: i64 = 12 * 0xffff / 2;

/// A stream of random numbers for each token, with random access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise(u64);

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// A number with mean 0 and standard deviation [`DEVIATION`], nearly normally distributed and
    /// never further than six deviations out: the sum of twelve uniform ones (Irwin and Hall).
    pub(super) fn normal(&self, token: u64, position: u64) -> i128 {
        let start = mix(self.0 ^ mix(token ^ mix(position)));
        // SplitMix64's increment, 2^64 divided by the golden ratio.
        let words =
            (1..=3u64).map(|n| mix(start.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15))));
        let sum: i64 = words
            .flat_map(|word| [0, 16, 32, 48].map(|shift| (word >> shift & 0xffff) as i64))
            .sum();
        i128::from(sum - MEAN)
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_centred_and_as_wide_as_it_says() {
        let noise = Noise::new(7);
        let sample: Vec<_> = (0..20_000)
            .map(|position| noise.normal(3, position))
            .collect();
        let mean = sample.iter().sum::<i128>() / 20_000;
        let variance = sample.iter().map(|value| value * value).sum::<i128>() / 20_000;
        assert!(mean.abs() < DEVIATION / 50, "{mean}");
        assert!(
            (variance.isqrt() - DEVIATION).abs() < DEVIATION / 50,
            "{variance}"
        );
    }
}
