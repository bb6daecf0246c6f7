//! From a password to 32 bytes, at a cost that is bounded.
//!
//! The cost is written in the file, so whoever made the file decides how much time and memory opening it takes. Every
//! cost that a known tool writes is accepted, and little more, before any work is done.

use pbkdf2::pbkdf2_hmac;
use scrypt::Params;
use sha2::Sha256;
use zeroize::Zeroizing;

/// What a key derivation function gives: half for the cipher, half for the check.
pub(super) type DerivedKey = Zeroizing<[u8; 32]>;

/// A key derivation function with its cost.
///
/// ```
/// use tetrad::account::{Kdf, KdfError};
///
/// assert!(Kdf::STANDARD.check().is_ok());
/// let hostile = Kdf::Scrypt { n: 1 << 40, r: 8, p: 1 };
/// assert!(matches!(hostile.check(), Err(KdfError::Memory { .. })));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kdf {
    /// scrypt (RFC 7914).
    Scrypt {
        /// Cost: a power of two above 1. Memory is `128 · n · r` bytes.
        n: u64,
        /// Size of a block, in units of 128 bytes.
        r: u64,
        /// How often the whole is done.
        p: u64,
    },
    /// PBKDF2 with HMAC-SHA256 (RFC 8018).
    Pbkdf2 {
        /// How often HMAC is applied.
        iterations: u64,
    },
}

impl Kdf {
    /// What geth writes: 256 MiB and about a second. The default for keys that are worth something.
    pub const STANDARD: Self = Self::Scrypt { n: 1 << 18, r: 8, p: 1 };

    /// What geth writes with `--lightkdf`: 4 MiB and a fraction of a second, at less protection for weak passwords.
    pub const LIGHT: Self = Self::Scrypt { n: 1 << 12, r: 8, p: 6 };

    /// Most memory that scrypt may take, in bytes: what [`Kdf::STANDARD`] needs, which is the most that known tools ask
    /// for, and a quarter more.
    pub const MAX_MEMORY_BYTES: u64 = 320 << 20;

    /// Most work that scrypt may take, as `n · r · p`: four times that of [`Kdf::STANDARD`].
    pub const MAX_SCRYPT_WORK: u64 = 1 << 23;

    /// Most iterations of PBKDF2: 38 times what tools that use it write, a second or two.
    pub const MAX_PBKDF2_ITERATIONS: u64 = 10_000_000;

    /// Checks the cost, without doing any of the work.
    ///
    /// The upper bound on `n` in RFC 7914 is not checked: it is a mistake (errata 5971 to 5973), and `n = 262144, r = 1`,
    /// which it forbids, is what the format's own example and eth-account use.
    ///
    /// # Errors
    /// [`KdfError::Parameter`] for a value that the function does not allow, [`KdfError::Memory`] or [`KdfError::Work`]
    /// for a cost beyond the bounds.
    pub fn check(&self) -> Result<(), KdfError> {
        self.cost().map(|_| ())
    }

    /// Makes 32 bytes of a password.
    pub(super) fn derive(&self, password: &[u8], salt: &[u8]) -> Result<DerivedKey, KdfError> {
        let cost = self.cost()?;
        let mut derived = Zeroizing::new([0; 32]);
        match cost {
            Cost::Scrypt(params) => scrypt::scrypt(password, salt, &params, derived.as_mut_slice())
                .expect("scrypt writes any number of bytes from 1 to 2^37"),
            Cost::Pbkdf2(rounds) => pbkdf2_hmac::<Sha256>(password, salt, rounds, derived.as_mut_slice()),
        }
        Ok(derived)
    }

    /// The cost in the terms of the functions' implementations, once it is known to be within the bounds.
    fn cost(&self) -> Result<Cost, KdfError> {
        match *self {
            Self::Scrypt { n, r, p } => scrypt_cost(n, r, p).map(Cost::Scrypt),
            Self::Pbkdf2 { iterations } => pbkdf2_cost(iterations).map(Cost::Pbkdf2),
        }
    }
}

enum Cost {
    Scrypt(Params),
    Pbkdf2(u32),
}

fn scrypt_cost(n: u64, r: u64, p: u64) -> Result<Params, KdfError> {
    if n < 2 || !n.is_power_of_two() {
        return Err(KdfError::Parameter { name: "n", expected: "a power of two above 1" });
    }
    for (name, value) in [("r", r), ("p", p)] {
        if value == 0 {
            return Err(KdfError::Parameter { name, expected: "above 0" });
        }
    }
    // n blocks to mix in and p blocks to start from, of 128 r bytes each.
    let bytes = n.saturating_add(p).saturating_mul(r).saturating_mul(128);
    if bytes > Kdf::MAX_MEMORY_BYTES {
        return Err(KdfError::Memory { bytes });
    }
    let work = n.saturating_mul(r).saturating_mul(p);
    if work > Kdf::MAX_SCRYPT_WORK {
        return Err(KdfError::Work { name: "n·r·p", most: Kdf::MAX_SCRYPT_WORK, got: work });
    }
    let narrow = |name, value| u32::try_from(value).map_err(|_| KdfError::Parameter { name, expected: "below 2^32" });
    Params::new(n.trailing_zeros() as u8, narrow("r", r)?, narrow("p", p)?)
        .map_err(|_| KdfError::Parameter { name: "r·p", expected: "below 2^30" })
}

fn pbkdf2_cost(iterations: u64) -> Result<u32, KdfError> {
    match u32::try_from(iterations) {
        Ok(0) => Err(KdfError::Parameter { name: "c", expected: "above 0" }),
        Ok(rounds) if iterations <= Kdf::MAX_PBKDF2_ITERATIONS => Ok(rounds),
        _ => Err(KdfError::Work { name: "c", most: Kdf::MAX_PBKDF2_ITERATIONS, got: iterations }),
    }
}

/// Why a key derivation function is refused. Parameters have the names that they have in the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KdfError {
    /// A function other than scrypt and PBKDF2.
    #[error("key derivation function {got:?} is not supported, only \"scrypt\" and \"pbkdf2\" are")]
    Function {
        /// The function found.
        got: String,
    },
    /// PBKDF2 with another function than HMAC-SHA256.
    #[error("pseudo-random function {got:?} is not supported, only \"hmac-sha256\" is")]
    Prf {
        /// The function found.
        got: String,
    },
    /// A parameter is missing.
    #[error("kdfparams.{name} is missing")]
    Missing {
        /// The parameter.
        name: &'static str,
    },
    /// A value that the function does not allow.
    #[error("kdfparams.{name} must be {expected}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// More memory than [`Kdf::MAX_MEMORY_BYTES`].
    #[error("opening this keystore would take {bytes} bytes of memory, at most {} are spent", Kdf::MAX_MEMORY_BYTES)]
    Memory {
        /// Bytes that scrypt would take.
        bytes: u64,
    },
    /// More work than [`Kdf::MAX_SCRYPT_WORK`] or [`Kdf::MAX_PBKDF2_ITERATIONS`].
    #[error("opening this keystore would take too long: {name} is {got}, at most {most} is accepted")]
    Work {
        /// The parameter or the product of parameters.
        name: &'static str,
        /// The bound.
        most: u64,
        /// The value found.
        got: u64,
    },
}
