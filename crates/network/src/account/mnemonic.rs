//! English mnemonics (BIP-39).

use std::fmt;

use bip0039::{English, Language};
use zeroize::{Zeroize, Zeroizing};

use super::{
    hd::{self, DerivationPath, DeriveError},
    key::SecretKey,
    random::{CryptoRngCore, RandomError, random_bytes},
};

/// The number of words of a mnemonic, which determines its number of random bits.
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
    /// Returns the count for a number of words, if mnemonics of that length exist.
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

/// A mnemonic: 12 to 24 English words that encode random bytes and their checksum (BIP-39). Erased
/// from memory when dropped, and never shown by `Debug`.
///
/// ```
/// use tetrad_network::account::{DerivationPath, Mnemonic};
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
    /// Generates a mnemonic.
    ///
    /// # Errors
    /// [`MnemonicError::Random`] if the source fails.
    pub fn random(
        words: WordCount,
        source: &mut impl CryptoRngCore,
    ) -> Result<Self, MnemonicError> {
        let bytes = random_bytes::<32>(source)?;
        Self::from_entropy(&bytes[..words.entropy_bytes()])
    }

    /// Returns the mnemonic of 16, 20, 24, 28 or 32 random bytes.
    ///
    /// # Errors
    /// [`MnemonicError::EntropyLength`] for any other number of bytes.
    pub fn from_entropy(entropy: &[u8]) -> Result<Self, MnemonicError> {
        bip0039::Mnemonic::from_entropy(entropy)
            .map(Self)
            .map_err(|_| MnemonicError::EntropyLength {
                bytes: entropy.len(),
            })
    }

    /// Parses a mnemonic. Case and the amount and kind of white space do not matter.
    ///
    /// # Errors
    /// [`MnemonicError::WordCount`], [`MnemonicError::UnknownWord`] or [`MnemonicError::Checksum`].
    pub fn from_phrase(phrase: &str) -> Result<Self, MnemonicError> {
        let lower = Zeroizing::new(phrase.to_lowercase());
        let words = lower.split_whitespace().count();
        if WordCount::from_words(words).is_none() {
            return Err(MnemonicError::WordCount { words });
        }

        if let Some(index) = lower
            .split_whitespace()
            .position(|word| English::index_of(word).is_none())
        {
            return Err(MnemonicError::UnknownWord {
                position: index + 1,
            });
        }

        bip0039::Mnemonic::from_normalized_phrase(lower.as_str())
            .map(Self)
            .map_err(|_| MnemonicError::Checksum)
    }

    /// Returns the whole secret: the words, separated by single spaces.
    #[must_use]
    pub fn phrase(&self) -> &str {
        self.0.phrase()
    }

    /// Returns the seed of all keys of this mnemonic. Each passphrase gives other keys; most
    /// wallets use the empty one.
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

/// The 64 bytes from which all keys of a mnemonic are derived. Erased from memory when dropped, and
/// never shown by `Debug`.
#[derive(Clone)]
pub struct Seed(Zeroizing<[u8; 64]>);

impl Seed {
    /// Wraps the 64 bytes of a seed that was computed elsewhere.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 64]) -> Self {
        Self(Zeroizing::new(*bytes))
    }

    /// Returns the 64 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    /// Derives the key at a path (BIP-32).
    ///
    /// # Errors
    /// [`DeriveError`], for about one path in 2^127.
    pub fn derive(&self, path: &DerivationPath) -> Result<SecretKey, DeriveError> {
        hd::derive(self.0.as_slice(), path)
    }

    /// Derives the keys at `parent/0`, `parent/1` and so on, `count` in all.
    ///
    /// # Errors
    /// [`DeriveError`], for about one path in 2^127.
    pub fn derive_children(
        &self,
        parent: &DerivationPath,
        count: u32,
    ) -> Result<Vec<SecretKey>, DeriveError> {
        hd::derive_children(self.0.as_slice(), parent, count)
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(..)")
    }
}

/// The error of a text or of bytes that are not a mnemonic. It never repeats a word, because errors
/// end up in logs.
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
        /// Number of the word, counting from 1.
        position: usize,
    },
    /// Known words with a wrong checksum.
    #[error("the checksum of the mnemonic is wrong: a word is mistyped, missing or out of place")]
    Checksum,
    /// A number of random bytes that no mnemonic encodes.
    #[error("a mnemonic stands for 16, 20, 24, 28 or 32 bytes, not {bytes}")]
    EntropyLength {
        /// Bytes given.
        bytes: usize,
    },
    /// A failed source of random numbers.
    #[error(transparent)]
    Random(#[from] RandomError),
}
