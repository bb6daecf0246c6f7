//! The network's bech32 prefix and the prefixes derived from it, as in the Cosmos SDK
//! (`types/address.go`).

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The default bech32 prefix of the configuration. Nothing else in this module uses it.
pub const DEFAULT_BECH32_PREFIX: &str = "pax";

/// The three kinds of bech32 text of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// `<hrp>1…`: an account, the default for queries and transactions.
    Account,
    /// `<hrp>valoper1…`: the operator of a validator, with the same bytes as its account.
    ValidatorOperator,
    /// `<hrp>valcons1…`: a consensus node, identified by its ed25519 key.
    Consensus,
}

impl Kind {
    /// Every kind, in the order in which tools print them.
    pub const ALL: [Self; 3] = [Self::Account, Self::ValidatorOperator, Self::Consensus];

    const fn suffix(self) -> &'static str {
        match self {
            Self::Account => "",
            Self::ValidatorOperator => "valoper",
            Self::Consensus => "valcons",
        }
    }
}

/// A valid bech32 prefix of a network: lower-case ASCII letters and digits, a letter first, at most
/// [`Hrp::MAX_LENGTH`] characters.
///
/// BIP-173 allows more. The narrower rule excludes prefixes that look like hex (`0x`) and
/// punctuation that shells and URLs treat specially.
///
/// ```
/// use tetrad_network::account::{Hrp, Kind};
///
/// let hrp: Hrp = "pax".parse()?;
/// assert_eq!(hrp.address_prefix(Kind::Consensus), "paxvalcons");
/// assert_eq!(hrp.public_key_prefix(Kind::ValidatorOperator), "paxvaloperpub");
/// assert!(Hrp::new("0x").is_err());
/// # Ok::<(), tetrad_network::account::HrpError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hrp(String);

impl Hrp {
    /// The longest prefix, in characters: `<hrp>valoper1` with 20 bytes and a checksum then stays
    /// within the 90 characters for which BIP-173 guarantees the detection of up to four wrong
    /// characters.
    pub const MAX_LENGTH: usize = 44;

    /// Checks a prefix.
    ///
    /// # Errors
    /// The first violated rule, as an [`HrpError`].
    pub fn new(prefix: &str) -> Result<Self, HrpError> {
        let Some(first) = prefix.chars().next() else {
            return Err(HrpError::Empty);
        };
        if let Some((index, character)) = prefix
            .chars()
            .enumerate()
            .find(|(_, c)| !c.is_ascii_lowercase() && !c.is_ascii_digit())
        {
            return Err(HrpError::Character {
                character,
                position: index + 1,
            });
        }

        if first.is_ascii_digit() {
            return Err(HrpError::DigitFirst);
        }
        if prefix.len() > Self::MAX_LENGTH {
            return Err(HrpError::TooLong {
                length: prefix.len(),
            });
        }
        Ok(Self(prefix.to_owned()))
    }

    /// Returns the prefix as configured, which is also the prefix of account addresses.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the prefix of addresses of a kind, such as `paxvaloper`.
    #[must_use]
    pub fn address_prefix(&self, kind: Kind) -> String {
        format!("{}{}", self.0, kind.suffix())
    }

    /// Returns the prefix of legacy public keys of a kind, such as `paxvaloperpub`.
    #[must_use]
    pub fn public_key_prefix(&self, kind: Kind) -> String {
        format!("{}{}pub", self.0, kind.suffix())
    }
}

impl Default for Hrp {
    /// Returns [`DEFAULT_BECH32_PREFIX`], for a configuration without a prefix.
    fn default() -> Self {
        Self(DEFAULT_BECH32_PREFIX.to_owned())
    }
}

impl fmt::Display for Hrp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Hrp {
    type Err = HrpError;

    fn from_str(prefix: &str) -> Result<Self, HrpError> {
        Self::new(prefix)
    }
}

impl TryFrom<String> for Hrp {
    type Error = HrpError;

    fn try_from(prefix: String) -> Result<Self, HrpError> {
        Self::new(&prefix)
    }
}

impl From<Hrp> for String {
    fn from(hrp: Hrp) -> Self {
        hrp.0
    }
}

/// The error of a text that is not a usable bech32 prefix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HrpError {
    /// An empty text.
    #[error("the bech32 prefix is empty")]
    Empty,
    /// A character other than `a`–`z` and `0`–`9`.
    #[error(
        "the bech32 prefix may hold lower-case letters and digits only, not {character:?} (character {position})"
    )]
    Character {
        /// The character.
        character: char,
        /// Its position, counting from 1.
        position: usize,
    },
    /// A digit as the first character.
    #[error("the bech32 prefix must begin with a letter")]
    DigitFirst,
    /// More than [`Hrp::MAX_LENGTH`] characters.
    #[error(
        "the bech32 prefix has {length} characters, at most {} are possible",
        Hrp::MAX_LENGTH
    )]
    TooLong {
        /// Characters given.
        length: usize,
    },
}
