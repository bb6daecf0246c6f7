//! Mnemonics of BIP-39, in English.

use std::fmt;

use bip0039::{English, Language};
use zeroize::{Zeroize, Zeroizing};

use super::{
    hd::{self, DerivationPath, DeriveError},
    key::SecretKey,
    random::{CryptoRngCore, RandomError, random_bytes},
};

/// How many words a new mnemonic has, and with them how many random bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WordCount {
    /// 12 words, 128 bits.
    Twelve,
    /// 15 words, 160 bits.
    Fifteen,
    /// 18 words, 192 bits.
    Eighteen,
    /// 21 words, 224 bits.
    TwentyOne,
    /// 24 words, 256 bits.
    TwentyFour,
}

impl WordCount {
    /// The count of a number of words, if mnemonics of that length exist.
    #[must_use]
    pub const fn from_words(words: usize) -> Option<Self> {
        match words {
            12 => Some(Self::Twelve),
            15 => Some(Self::Fifteen),
            18 => Some(Self::Eighteen),
            21 => Some(Self::TwentyOne),
            24 => Some(Self::TwentyFour),
            _ => None,
        }
    }

    const fn entropy_bytes(self) -> usize {
        match self {
            Self::Twelve => 16,
            Self::Fifteen => 20,
            Self::Eighteen => 24,
            Self::TwentyOne => 28,
            Self::TwentyFour => 32,
        }
    }
}

/// A mnemonic: 12 to 24 English words that stand for random bytes and a checksum of them (BIP-39). Erased from memory
/// when dropped, and never shown by `Debug`.
///
/// ```
/// use tetrad::account::{DerivationPath, Mnemonic};
///
/// let mnemonic = Mnemonic::from_phrase(
///     "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
/// )?;
/// let key = mnemonic.to_seed("").derive(&DerivationPath::ethereum(0)?)?;
/// assert_eq!(key.address().to_string(), "0x9858EfFD232B4033E47d90003D41EC34EcaEda94");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Mnemonic(bip0039::Mnemonic<English>);

impl Mnemonic {
    /// A new mnemonic.
    ///
    /// # Errors
    /// [`MnemonicError::Random`] when the source fails.
    pub fn random(words: WordCount, source: &mut impl CryptoRngCore) -> Result<Self, MnemonicError> {
        let bytes = random_bytes::<32>(source)?;
        Self::from_entropy(&bytes[..words.entropy_bytes()])
    }

    /// The mnemonic of 16, 20, 24, 28 or 32 random bytes.
    ///
    /// # Errors
    /// [`MnemonicError::EntropyLength`] for any other number of bytes.
    pub fn from_entropy(entropy: &[u8]) -> Result<Self, MnemonicError> {
        bip0039::Mnemonic::from_entropy(entropy)
            .map(Self)
            .map_err(|_| MnemonicError::EntropyLength { bytes: entropy.len() })
    }

    /// Reads a mnemonic. Case, and the amount and kind of white space, do not matter.
    ///
    /// # Errors
    /// [`MnemonicError::WordCount`], [`MnemonicError::UnknownWord`] or [`MnemonicError::Checksum`].
    pub fn from_phrase(phrase: &str) -> Result<Self, MnemonicError> {
        let lower = Zeroizing::new(phrase.to_lowercase());
        let words = lower.split_whitespace().count();
        if WordCount::from_words(words).is_none() {
            return Err(MnemonicError::WordCount { words });
        }
        if let Some(index) = lower.split_whitespace().position(|word| English::index_of(word).is_none()) {
            return Err(MnemonicError::UnknownWord { position: index + 1 });
        }
        bip0039::Mnemonic::from_normalized_phrase(lower.as_str()).map(Self).map_err(|_| MnemonicError::Checksum)
    }

    /// The words, one space between them: the whole secret.
    #[must_use]
    pub fn phrase(&self) -> &str {
        self.0.phrase()
    }

    /// The seed of every key of this mnemonic. A passphrase, empty for most wallets, leads to wholly different keys.
    #[must_use]
    pub fn to_seed(&self, passphrase: &str) -> Seed {
        let mut bytes = self.0.to_seed(passphrase);
        let seed = Seed::from_bytes(&bytes);
        bytes.zeroize();
        seed
    }
}

impl fmt::Debug for Mnemonic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mnemonic(..)")
    }
}

/// The 64 bytes that all keys of a mnemonic are derived from. Erased from memory when dropped, and never shown by `Debug`.
#[derive(Clone)]
pub struct Seed(Zeroizing<[u8; 64]>);

impl Seed {
    /// The seed of these 64 bytes, for one that was computed elsewhere.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 64]) -> Self {
        Self(Zeroizing::new(*bytes))
    }

    /// The 64 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    /// The key at a path (BIP-32).
    ///
    /// # Errors
    /// [`DeriveError`], for about one path in 2^127.
    pub fn derive(&self, path: &DerivationPath) -> Result<SecretKey, DeriveError> {
        hd::derive(self.0.as_slice(), path)
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(..)")
    }
}

/// Why a text or some bytes are no mnemonic. Nothing here repeats a word, because errors end up in logs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MnemonicError {
    /// A number of words that mnemonics do not have.
    #[error("a mnemonic has 12, 15, 18, 21 or 24 words, this one has {words}")]
    WordCount {
        /// Words given.
        words: usize,
    },
    /// A word outside the English list of BIP-39.
    #[error("word {position} of the mnemonic is not in the English list of BIP-39")]
    UnknownWord {
        /// Which word it is, counting from 1.
        position: usize,
    },
    /// Known words, but not in an order that belongs together.
    #[error("the checksum of the mnemonic is wrong: a word is mistyped, missing or out of place")]
    Checksum,
    /// A number of random bytes that no mnemonic stands for.
    #[error("a mnemonic stands for 16, 20, 24, 28 or 32 bytes, not {bytes}")]
    EntropyLength {
        /// Bytes given.
        bytes: usize,
    },
    /// No random numbers.
    #[error(transparent)]
    Random(#[from] RandomError),
}
