//! The values that several interfaces take.

use alloy_primitives::{Address, U256};
use schemars::{Schema, json_schema};
use tetrad_network::{
    account::{address_from_hex, parse_account_address},
    network::{Network, Token},
};
use tetrad_stdx::{
    calendar::{DAY, HOUR},
    digits,
};

use super::{ParameterValue, ValueError};

/// A parameter that is one of several words.
pub trait Choice: Copy + 'static {
    /// The words and what they stand for.
    const CHOICES: &'static [(&'static str, Self)];
    /// The word of a parameter that is left out; none if it must not be.
    const DEFAULT: Option<&'static str>;

    /// The value of a word.
    fn of(word: &str) -> Option<Self> {
        Self::CHOICES
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, value)| *value)
    }
}

impl<C: Choice> ParameterValue for C {
    fn schema() -> Schema {
        let words: Vec<_> = C::CHOICES.iter().map(|(word, _)| *word).collect();
        match C::DEFAULT {
            Some(default) => json_schema!({ "type": "string", "enum": words, "default": default }),
            None => json_schema!({ "type": "string", "enum": words }),
        }
    }

    fn accepted() -> Option<String> {
        let words: Vec<_> = C::CHOICES.iter().map(|(word, _)| *word).collect();
        let (last, others) = words.split_last()?;
        Some(format!("{} or {last}", others.join(", ")))
    }

    fn absent() -> Option<Self> {
        C::DEFAULT.and_then(C::of)
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        C::of(text).ok_or_else(|| {
            let words: Vec<_> = C::CHOICES.iter().map(|(word, _)| *word).collect();
            ValueError::Malformed(format!("expected one of {}", words.join(", ")))
        })
    }
}

/// The time for which a history reaches back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeframe {
    /// Its name on the wire.
    pub name: &'static str,
    /// Its length.
    pub seconds: u64,
}

impl Timeframe {
    /// A day.
    pub const DAY: Self = Self {
        name: "24h",
        seconds: DAY,
    };
}

impl Choice for Timeframe {
    const CHOICES: &'static [(&'static str, Self)] = &[
        (
            "1h",
            Self {
                name: "1h",
                seconds: HOUR,
            },
        ),
        ("24h", Self::DAY),
        (
            "7d",
            Self {
                name: "7d",
                seconds: 7 * DAY,
            },
        ),
        (
            "30d",
            Self {
                name: "30d",
                seconds: 30 * DAY,
            },
        ),
    ];
    const DEFAULT: Option<&'static str> = Some("24h");
}

/// A whole number from `MIN` to `MAX`, `DEFAULT` if it is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<const MIN: u64, const MAX: u64, const DEFAULT: u64>(pub u64);

/// A number of results, at least one.
pub type Limit<const MAX: u64, const DEFAULT: u64> = Number<1, MAX, DEFAULT>;

impl<const MIN: u64, const MAX: u64, const DEFAULT: u64> ParameterValue
    for Number<MIN, MAX, DEFAULT>
{
    fn schema() -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX, "default": DEFAULT })
    }

    fn accepted() -> Option<String> {
        Some(format!("{MIN} to {MAX}"))
    }

    fn absent() -> Option<Self> {
        Some(Self(DEFAULT))
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        let number = text
            .parse()
            .ok()
            .filter(|number| (MIN..=MAX).contains(number));
        number
            .map(Self)
            .ok_or_else(|| ValueError::Malformed(format!("expected {MIN} to {MAX}")))
    }
}

/// A user's address: hex in any case, or bech32 of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserAddress(pub Address);

impl ParameterValue for UserAddress {
    fn schema() -> Schema {
        // No pattern can describe the checksum of bech32.
        json_schema!({ "type": "string", "format": "account-address" })
    }

    fn parse(text: &str, network: &Network) -> Result<Self, ValueError> {
        // Hex digits in lower case need no valid checksum (EIP-55).
        let is_hex = text.starts_with("0x") || text.starts_with("0X");
        let address = if is_hex {
            address_from_hex(&text.to_ascii_lowercase())
        } else {
            parse_account_address(text, &network.hrp)
        };
        address.map(Self).map_err(ValueError::malformed)
    }
}

/// A token by its address or symbol, in any case.
#[derive(Clone, Debug)]
pub struct NamedToken(pub Token);

impl ParameterValue for NamedToken {
    const MAY_BE_UNKNOWN: bool = true;

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^(0[xX][0-9a-fA-F]{40}|[A-Za-z]{2,12})$" })
    }

    fn parse(text: &str, network: &Network) -> Result<Self, ValueError> {
        network
            .token(text)
            .cloned()
            .map(Self)
            .ok_or_else(|| ValueError::unknown("token", text))
    }
}

/// An amount in a token's smallest unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount(pub U256);

impl ParameterValue for Amount {
    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]{1,78}$" })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        digits::decimal(text).map(Self).ok_or_else(|| {
            ValueError::malformed(
                "expected a whole number of the token's smallest unit, below 2^256",
            )
        })
    }
}
