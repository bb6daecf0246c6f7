//! Parsing and formatting addresses in every form that users paste.

use alloy_primitives::{Address, hex};

use super::{
    bech32_text::{Bech32Error, decode_bech32, encode_bech32},
    hrp::{Hrp, Kind},
};

/// Number of hex digits in an address.
const HEX_DIGITS: usize = 2 * Address::len_bytes();

/// An address and the form it was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ParsedAddress {
    /// The 20 bytes.
    pub address: Address,
    /// The form it was written in.
    pub form: Form,
}

/// The form of a written address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// 40 hex digits, with or without `0x`.
    Hex,
    /// A list of 20 numbers in brackets, as Cosmos tools print raw bytes.
    Bytes,
    /// Bech32 with the prefix of this kind.
    Bech32(Kind),
}

/// Parses an address in any form a user may paste.
///
/// - hex, with or without `0x` or `0X`; all lower or all upper case, or mixed case with the right
///   EIP-55 checksum;
/// - bech32 with this network's prefix of any kind, all lower or all upper case (BIP-173);
/// - `[243 159 …]`, twenty numbers separated by spaces or commas.
///
/// # Errors
/// The variant of [`AddressError`] that describes the fault. White space around the text is an
/// error too: trimming it silently would make two different texts the same account.
///
/// ```
/// use tetrad_network::account::{Form, Hrp, parse_address};
///
/// let hrp = Hrp::new("pax")?;
/// let hex = parse_address("0xDEADBEEFDEADBEEFDEADBEEFDEADBEEFDEADBEEF", &hrp)?;
/// assert_eq!(hex.form, Form::Hex);
/// assert_eq!(parse_address("pax1m6kmam774klwlh4dhmhaatd7al02m0h0aajl2k", &hrp)?.address, hex.address);
/// assert_eq!(
///     parse_address("cosmos1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqnrql8a", &hrp).unwrap_err().to_string(),
///     "wrong bech32 prefix \"cosmos\": expected \"pax\", \"paxvaloper\" or \"paxvalcons\""
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse_address(text: &str, hrp: &Hrp) -> Result<ParsedAddress, AddressError> {
    parse(text, hrp, &Kind::ALL)
}

/// Parses the address in a query for an account: hex, a list of bytes, or bech32 with the account
/// prefix.
///
/// # Errors
/// As [`parse_address`]; the operator and consensus prefixes are errors, too.
pub fn parse_account_address(text: &str, hrp: &Hrp) -> Result<Address, AddressError> {
    parse(text, hrp, &[Kind::Account]).map(|parsed| parsed.address)
}

fn parse(text: &str, hrp: &Hrp, kinds: &[Kind]) -> Result<ParsedAddress, AddressError> {
    if let Some(list) = text.strip_prefix('[') {
        return Ok(ParsedAddress {
            address: parse_list(list)?,
            form: Form::Bytes,
        });
    }

    check_not_blank(text)?;

    if strip_0x(text).is_some() {
        return parse_hex(text);
    }

    // With a prefix made of the letters a to f, bech32 may consist of hex digits only; the checksum
    // then decides.
    let bech32 = from_bech32(text, hrp, kinds);
    if !text.chars().all(|c| c.is_ascii_hexdigit()) {
        return match bech32 {
            Err(AddressError::Bech32(Bech32Error::NoSeparator)) => {
                Err(AddressError::Unrecognised {
                    prefixes: prefixes(hrp, kinds),
                })
            }
            other => other,
        };
    }

    match (parse_hex(text), bech32) {
        (Ok(_), Ok(_)) => Err(AddressError::Ambiguous),
        (Err(_), Ok(parsed)) => Ok(parsed),
        (hex, Err(_)) => hex,
    }
}

fn parse_hex(text: &str) -> Result<ParsedAddress, AddressError> {
    Ok(ParsedAddress {
        address: address_from_hex(text)?,
        form: Form::Hex,
    })
}

/// Parses 40 hex digits, with or without `0x` or `0X`. Mixed case must be the EIP-55 checksum.
///
/// # Errors
/// [`AddressError::HexLength`], [`AddressError::HexDigit`], [`AddressError::Eip55`],
/// [`AddressError::Empty`] or [`AddressError::Whitespace`].
pub fn address_from_hex(text: &str) -> Result<Address, AddressError> {
    check_not_blank(text)?;
    let (digits, offset) = strip_0x(text).map_or((text, 0), |digits| (digits, 2));
    if let Some((index, character)) = digits
        .chars()
        .enumerate()
        .find(|(_, c)| !c.is_ascii_hexdigit())
    {
        return Err(AddressError::HexDigit {
            character,
            position: offset + index + 1,
        });
    }

    let mut address = Address::ZERO;
    if digits.len() != HEX_DIGITS || hex::decode_to_slice(digits, address.as_mut_slice()).is_err() {
        return Err(AddressError::HexLength {
            digits: digits.len(),
        });
    }

    // Only mixed case carries a checksum (EIP-55).
    let mixed_case = digits.contains(|c: char| c.is_ascii_lowercase())
        && digits.contains(|c: char| c.is_ascii_uppercase());
    if mixed_case {
        let expected = address.to_checksum(None);
        if let Some(index) = expected[2..]
            .bytes()
            .zip(digits.bytes())
            .position(|(right, given)| right != given)
        {
            return Err(AddressError::Eip55 {
                position: offset + index + 1,
            });
        }
    }
    Ok(address)
}

/// Parses bech32 with the prefix of one kind.
///
/// # Errors
/// [`AddressError::Bech32`], [`AddressError::WrongPrefix`] or [`AddressError::WrongLength`].
pub fn address_from_bech32(text: &str, hrp: &Hrp, kind: Kind) -> Result<Address, AddressError> {
    check_not_blank(text)?;
    from_bech32(text, hrp, &[kind]).map(|parsed| parsed.address)
}

/// Formats an address as bech32 with the prefix of a kind.
///
/// ```
/// use alloy_primitives::Address;
/// use tetrad_network::account::{Hrp, Kind, address_to_bech32};
///
/// let operator = address_to_bech32(&Address::ZERO, &Hrp::new("pax")?, Kind::ValidatorOperator);
/// assert_eq!(operator, "paxvaloper1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqyp4n3k");
/// # Ok::<(), tetrad_network::account::HrpError>(())
/// ```
#[must_use]
pub fn address_to_bech32(address: &Address, hrp: &Hrp, kind: Kind) -> String {
    encode_bech32(&hrp.address_prefix(kind), address.as_slice())
        .expect("a checked prefix and 20 bytes stay within bech32's limits")
}

fn from_bech32(text: &str, hrp: &Hrp, kinds: &[Kind]) -> Result<ParsedAddress, AddressError> {
    let decoded = decode_bech32(text)?;
    let Some(kind) = kinds
        .iter()
        .copied()
        .find(|kind| hrp.address_prefix(*kind) == decoded.prefix)
    else {
        return Err(AddressError::WrongPrefix {
            expected: prefixes(hrp, kinds),
            got: decoded.prefix,
        });
    };

    let address =
        Address::try_from(decoded.data.as_slice()).map_err(|_| AddressError::WrongLength {
            got: decoded.data.len(),
        })?;

    Ok(ParsedAddress {
        address,
        form: Form::Bech32(kind),
    })
}

/// Parses the rest of a list after its `[`.
fn parse_list(rest: &str) -> Result<Address, AddressError> {
    let items = rest.strip_suffix(']').ok_or(AddressError::ListEnd)?;
    let mut bytes = Vec::new();

    for item in items.split([' ', ',']).filter(|item| !item.is_empty()) {
        let position = bytes.len() + 1;
        let byte = item.parse().map_err(|_| AddressError::ListItem {
            item: item.to_owned(),
            position,
        })?;
        bytes.push(byte);
    }
    Address::try_from(bytes.as_slice()).map_err(|_| AddressError::WrongLength { got: bytes.len() })
}

fn check_not_blank(text: &str) -> Result<(), AddressError> {
    if text.is_empty() {
        return Err(AddressError::Empty);
    }
    match text.chars().position(char::is_whitespace) {
        Some(index) => Err(AddressError::Whitespace {
            position: index + 1,
        }),
        None => Ok(()),
    }
}

fn strip_0x(text: &str) -> Option<&str> {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
}

fn prefixes(hrp: &Hrp, kinds: &[Kind]) -> String {
    let quoted: Vec<_> = kinds
        .iter()
        .map(|kind| format!("{:?}", hrp.address_prefix(*kind)))
        .collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The error of a text that is not an address. Positions are characters of the text as given,
/// counting from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// An empty text.
    #[error("the address is empty")]
    Empty,
    /// White space before, in or after the address.
    #[error("white space at character {position} of the address")]
    Whitespace {
        /// Position of the first white space.
        position: usize,
    },
    /// Neither hex, nor bech32, nor a list of bytes.
    #[error("not an address: expected 0x with 40 hex digits, or bech32 with the prefix {prefixes}")]
    Unrecognised {
        /// The accepted prefixes, quoted.
        prefixes: String,
    },
    /// 40 hex digits without `0x` that are also valid bech32 of this network; write `0x` in front
    /// if hex is meant.
    #[error("this is both hex and bech32: write 0x in front if hex is meant")]
    Ambiguous,
    /// The number of hex digits is not 40.
    #[error("an address has 40 hex digits (20 bytes), this one has {digits}")]
    HexLength {
        /// Digits given, `0x` not counted.
        digits: usize,
    },
    /// Something other than a hex digit.
    #[error("{character:?} at character {position} is not a hex digit")]
    HexDigit {
        /// The character.
        character: char,
        /// Its position.
        position: usize,
    },
    /// Mixed case that is not the EIP-55 checksum.
    ///
    /// The message deliberately omits the right spelling: pasting it would turn a mistyped address
    /// into a valid one.
    #[error(
        "wrong EIP-55 checksum: the letter at character {position} has the wrong case, the address is probably mistyped"
    )]
    Eip55 {
        /// Position of the first letter with the wrong case.
        position: usize,
    },
    /// Not bech32, or with a wrong checksum.
    #[error(transparent)]
    Bech32(#[from] Bech32Error),
    /// Valid bech32 with the prefix of another network or of another kind.
    #[error("wrong bech32 prefix {got:?}: expected {expected}")]
    WrongPrefix {
        /// The accepted prefixes, quoted.
        expected: String,
        /// The prefix found, in lower case.
        got: String,
    },
    /// A number of bytes other than 20, in bech32 or in a list.
    #[error("an address has 20 bytes, this one has {got}")]
    WrongLength {
        /// Bytes given.
        got: usize,
    },
    /// A list of bytes without its closing bracket.
    #[error("the list of bytes does not end in ']'")]
    ListEnd,
    /// An item of a list that is not a number from 0 to 255.
    #[error("{item:?}, item {position} of the list, is not a byte (0 to 255)")]
    ListItem {
        /// The item.
        item: String,
        /// Number of the item, counting from 1.
        position: usize,
    },
}
