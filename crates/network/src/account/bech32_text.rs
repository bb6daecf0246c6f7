//! Strict bech32 (BIP-173) over whole bytes, with a separate error for each kind of fault.
//!
//! The `bech32` crate does the arithmetic. This module adds three things: it distinguishes the
//! checksum of bech32m (BIP-350) from a typing error, requires short padding of zeros as
//! `convertbits` of BIP-173 does, and reports positions.

use bech32::{
    Bech32, Bech32m, Checksum, Fe32, Hrp,
    primitives::{
        decode::{CharError, ChecksumError, UncheckedHrpstring, UncheckedHrpstringError},
        iter::{ByteIterExt, Fe32IterExt},
    },
};

/// Longest accepted text, in characters: the longest code word for which bech32's checksum is
/// defined.
///
/// BIP-173 stops at 90 because its guarantees end there. Cosmos tools accept longer texts, so this
/// module does, too.
const MAX_LENGTH: usize = Bech32::CODE_LENGTH;

/// The content of a bech32 text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// Everything before the last `1`, in lower case.
    pub prefix: String,
    /// The payload, any number of bytes.
    pub data: Vec<u8>,
}

/// Encodes bytes as lower-case bech32 with any prefix that BIP-173 allows.
///
/// # Errors
/// [`Bech32Error::Prefix`] when the prefix is empty, longer than 83 characters or not printable
/// ASCII of one case, and [`Bech32Error::TooLong`] when the text would not fit bech32's checksum.
///
/// ```
/// use tetrad_network::account::encode_bech32;
///
/// assert_eq!(encode_bech32("pax", &[0; 20])?, "pax1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq0va854");
/// # Ok::<(), tetrad_network::account::Bech32Error>(())
/// ```
pub fn encode_bech32(prefix: &str, data: &[u8]) -> Result<String, Bech32Error> {
    let hrp = Hrp::parse(prefix).map_err(|_| Bech32Error::Prefix)?;
    let length = prefix.len() + 1 + (data.len() * 8).div_ceil(5) + Bech32::CHECKSUM_LENGTH;
    if length > MAX_LENGTH {
        return Err(Bech32Error::TooLong { length });
    }

    Ok(data
        .iter()
        .copied()
        .bytes_to_fes()
        .with_checksum::<Bech32>(&hrp)
        .chars()
        .collect())
}

/// Decodes bech32 text, all lower or all upper case, with any prefix.
///
/// # Errors
/// The variant of [`Bech32Error`] that describes the fault.
///
/// ```
/// use tetrad_network::account::{Bech32Error, decode_bech32};
///
/// let decoded = decode_bech32("PAX1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ0VA854")?;
/// assert_eq!((decoded.prefix.as_str(), decoded.data), ("pax", vec![0; 20]));
/// assert_eq!(decode_bech32("pax1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq0va855"), Err(Bech32Error::Checksum));
/// # Ok::<(), Bech32Error>(())
/// ```
pub fn decode_bech32(text: &str) -> Result<Decoded, Bech32Error> {
    if text.len() > MAX_LENGTH {
        return Err(Bech32Error::TooLong { length: text.len() });
    }

    // Checked first, so that a text that is not bech32 at all is reported as such, not for one of
    // its characters.
    if !text.contains('1') {
        return Err(Bech32Error::NoSeparator);
    }

    let unchecked = UncheckedHrpstring::new(text).map_err(|error| explain(text, &error))?;
    match unchecked.validate_checksum::<Bech32>() {
        Ok(()) => {}
        Err(ChecksumError::InvalidLength) => return Err(Bech32Error::NoChecksum),
        Err(_) if unchecked.has_valid_checksum::<Bech32m>() => return Err(Bech32Error::Bech32m),
        Err(_) => return Err(Bech32Error::Checksum),
    }

    let checked = unchecked.remove_checksum::<Bech32>();
    check_padding(checked.data_part_ascii_no_checksum())?;
    Ok(Decoded {
        prefix: checked.hrp().to_lowercase(),
        data: checked.byte_iter().collect(),
    })
}

/// Checks that fewer than five bits follow the last whole byte, all of them zero.
fn check_padding(characters: &[u8]) -> Result<(), Bech32Error> {
    let padding_bits = characters.len() * 5 % 8;
    let last = characters
        .last()
        .and_then(|c| Fe32::from_char(char::from(*c)).ok())
        .map_or(0, Fe32::to_u8);

    if padding_bits > 4 || last & ((1 << padding_bits) - 1) != 0 {
        return Err(Bech32Error::Padding);
    }
    Ok(())
}

fn explain(text: &str, error: &UncheckedHrpstringError) -> Bech32Error {
    match error {
        UncheckedHrpstringError::Char(CharError::MissingSeparator) => Bech32Error::NoSeparator,
        UncheckedHrpstringError::Char(CharError::MixedCase) => Bech32Error::MixedCase,
        UncheckedHrpstringError::Char(CharError::InvalidChar(character)) => {
            // The crate reads from the end, so the character it reports is the last of its kind.
            let position = text.chars().count()
                - text
                    .chars()
                    .rev()
                    .position(|c| c == *character)
                    .unwrap_or_default();
            Bech32Error::Character {
                character: *character,
                position,
            }
        }
        UncheckedHrpstringError::Char(_) => Bech32Error::NoChecksum,
        _ => Bech32Error::Prefix,
    }
}

/// The error of a text that is not bech32.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Bech32Error {
    /// No `1` between prefix and data, or not bech32 at all.
    #[error("not bech32: there is no '1' between a prefix and the data")]
    NoSeparator,
    /// The part before the last `1` is empty, too long or not printable ASCII.
    #[error("not bech32: the part before the last '1' is not a usable prefix")]
    Prefix,
    /// Upper and lower case in one text, which BIP-173 forbids.
    #[error("bech32 text must be all lower or all upper case, this one mixes them")]
    MixedCase,
    /// A character that bech32 does not use (`1`, `b`, `i`, `o` and everything but letters and
    /// digits).
    #[error("{character:?} at character {position} is not used in bech32")]
    Character {
        /// The character.
        character: char,
        /// Its position, counting from 1.
        position: usize,
    },
    /// More characters than bech32's checksum covers.
    #[error("bech32 text of {length} characters is too long, at most {MAX_LENGTH} are possible")]
    TooLong {
        /// Characters in the text.
        length: usize,
    },
    /// Fewer characters after the prefix than the checksum alone takes.
    #[error("bech32 text too short: the checksum alone takes six characters after the '1'")]
    NoChecksum,
    /// A checksum that does not match the rest.
    #[error("wrong bech32 checksum: at least one character is mistyped")]
    Checksum,
    /// The checksum is that of bech32m, which neither Cosmos nor this network uses.
    #[error("this is bech32m (BIP-350), but bech32 (BIP-173) is expected")]
    Bech32m,
    /// Data that does not end at a whole byte: more than four left-over bits, or some of them set.
    #[error("the bech32 data does not end at a whole byte")]
    Padding,
}
