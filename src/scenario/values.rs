//! Values of a document that are written as text: times, changes, prices.

use std::{borrow::Cow, fmt, time::Duration};

use serde::{Deserialize, Deserializer, de};
use tetrad_exchange::feed::usd_e8;
use tetrad_stdx::{decimal, text::excerpt};

/// Units of time with their milliseconds.
const UNITS: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1_000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];
/// Hundredths of a per cent in the largest change: a hundredfold price.
const MAX_CHANGE_BPS: i64 = 1_000_000;

/// A duration such as `30s`, `1.5h` or `250ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DurationText(pub(super) Duration);

/// The time of a step: after a duration, or `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepTime {
    After(Duration),
    End,
}

/// A change such as `-40%`, in basis points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PriceChange(pub(super) i64);

/// A price in US dollars × 10^8, as a number or as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DollarPrice(pub(super) u64);

/// A share such as `30%`, in basis points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Percentage(pub(super) u32);

impl DurationText {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, unit) = text.split_at(digits);
        let (_, milliseconds) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let thousandths = decimal::parse(number, 3)?;
        let total = thousandths.checked_mul(u128::from(*milliseconds))? / 1_000;
        Some(Self(Duration::from_millis(total.try_into().ok()?)))
    }
}

impl PriceChange {
    fn parse(text: &str) -> Option<Self> {
        let (sign, number) = match text.strip_suffix('%')?.split_at_checked(1)? {
            ("-", number) => (-1, number),
            ("+", number) => (1, number),
            _ => (1, text.strip_suffix('%')?),
        };
        let bps = sign * i64::try_from(decimal::parse(number, 2)?).ok()?;
        (-10_000 < bps && bps <= MAX_CHANGE_BPS).then_some(Self(bps))
    }
}

impl StepTime {
    fn parse(text: &str) -> Option<Self> {
        if text == "end" {
            return Some(Self::End);
        }
        DurationText::parse(text).map(|DurationText(after)| Self::After(after))
    }
}

impl Percentage {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let bps = decimal::parse(text.strip_suffix('%')?, 2)?;
        u32::try_from(bps)
            .ok()
            .filter(|bps| *bps <= 10_000)
            .map(Self)
    }
}

/// Deserializes a value from its text; the error says what was expected.
fn from_text<'de, D, T>(
    deserializer: D,
    expected: &'static str,
    parse: fn(&str) -> Option<T>,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
{
    let text = Cow::<str>::deserialize(deserializer)?;
    parse(&text).ok_or_else(|| {
        de::Error::custom(format!("expected {expected}, got {:?}", shortened(&text)))
    })
}

/// A text, cut short for an error.
pub(super) fn shortened(text: &str) -> &str {
    excerpt(text, 60)
}

impl<'de> Deserialize<'de> for DurationText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(
            deserializer,
            "a duration such as \"30s\" (ms, s, m, h or d)",
            Self::parse,
        )
    }
}

impl<'de> Deserialize<'de> for StepTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(
            deserializer,
            "a duration such as \"30s\" (ms, s, m, h or d), or \"end\"",
            Self::parse,
        )
    }
}

impl<'de> Deserialize<'de> for PriceChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(
            deserializer,
            "a change such as \"-40%\", above -100% and up to 10000%",
            Self::parse,
        )
    }
}

impl<'de> Deserialize<'de> for Percentage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer, "a share such as \"30%\"", Self::parse)
    }
}

impl<'de> Deserialize<'de> for DollarPrice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = DollarPrice;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a price in US dollars above 0, such as 0.92")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<DollarPrice, E> {
                usd_e8(text)
                    .map(DollarPrice)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<DollarPrice, E> {
                // The shortest text of the number is what the document has.
                self.visit_str(&number.to_string())
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<DollarPrice, E> {
                self.visit_str(&number.to_string())
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        let ms =
            |text| DurationText::parse(text).map(|DurationText(duration)| duration.as_millis());
        assert_eq!(
            [ms("250ms"), ms("30s"), ms("1.5h"), ms("2d")],
            [250, 30_000, 5_400_000, 172_800_000].map(Some)
        );
        for text in [
            "",
            "30",
            "s",
            "-1s",
            "1 s",
            "1w",
            "1e3s",
            "99999999999999999999999d",
            "1..5s",
        ] {
            assert_eq!(ms(text), None, "{text}");
        }
    }

    #[test]
    fn changes_and_shares_are_per_cent() {
        let bps = |text| PriceChange::parse(text).map(|PriceChange(bps)| bps);
        assert_eq!(
            [bps("-40%"), bps("+12.5%"), bps("3%"), bps("-99.99%")],
            [-4_000, 1_250, 300, -9_999].map(Some)
        );
        for text in ["", "%", "-%", "-100%", "40", "--4%", "10001%", "é%"] {
            assert_eq!(bps(text), None, "{text}");
        }
        let share = |text| Percentage::parse(text).map(|Percentage(bps)| bps);
        assert_eq!(
            [share("0%"), share("33.33%"), share("100%")],
            [0, 3_333, 10_000].map(Some)
        );
        assert_eq!([share("101%"), share("-1%"), share("1")], [None; 3]);
    }
}
