//! The names in paths, queries and messages of clients: tokens and the lengths of candles.

use alloy_primitives::Address;
use schemars::Schema;
use tetrad_network::network::Network;
use tetrad_stdx::calendar::{DAY, HOUR, MINUTE};
use tetrad_web::parameters::{Choice, NamedToken, ParameterValue, ValueError, parameters};

/// Reads a token's address in any case. A wrong checksum is accepted, as clients also write
/// addresses in lower case.
pub(super) fn address(text: &str) -> Option<Address> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    digits
        .filter(|digits| digits.len() == 40)
        .and_then(|digits| digits.parse().ok())
}

/// Whether a text has the form of a symbol.
fn is_symbol(text: &str) -> bool {
    (2..=12).contains(&text.len()) && text.bytes().all(|letter| letter.is_ascii_alphabetic())
}

/// A token of the network by its address or symbol: the position in the network's list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListedToken(pub(super) usize);

impl ParameterValue for ListedToken {
    const MAY_BE_UNKNOWN: bool = true;

    fn schema() -> Schema {
        NamedToken::schema()
    }

    fn parse(text: &str, network: &Network) -> Result<Self, ValueError> {
        let found = network.token(text);
        let found = found.and_then(|token| {
            network
                .tokens
                .iter()
                .position(|listed| listed.address == token.address)
        });
        found.map(Self).ok_or_else(|| match address(text) {
            Some(wanted) => ValueError::Unknown(format!("no token {wanted}")),
            None if is_symbol(text) => ValueError::unknown("token", text),
            None => ValueError::malformed("expected 0x with 40 hex digits, or a symbol"),
        })
    }
}

parameters! {
    /// The path of a route about one token.
    pub(super) struct TokenPath {
        /// The token's address in any case, or its symbol.
        #[param("address", example = "0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7")]
        pub(super) token: ListedToken,
    }
}

/// The length of a candle.
#[derive(Clone, Copy, Debug)]
pub(super) struct CandleLength {
    /// Its name on the wire.
    pub(super) name: &'static str,
    pub(super) seconds: u64,
}

impl Choice for CandleLength {
    const CHOICES: &'static [(&'static str, Self)] = &[
        (
            "1m",
            Self {
                name: "1m",
                seconds: MINUTE,
            },
        ),
        (
            "5m",
            Self {
                name: "5m",
                seconds: 5 * MINUTE,
            },
        ),
        (
            "1h",
            Self {
                name: "1h",
                seconds: HOUR,
            },
        ),
        (
            "1d",
            Self {
                name: "1d",
                seconds: DAY,
            },
        ),
    ];
    const DEFAULT: Option<&'static str> = Some("1m");
}
