//! Key derivation from passwords, at a bounded cost.
//!
//! The cost is written in the file, so the author of the file decides how much time and memory
//! opening it takes. The costs that known tools write are accepted, and little more. They are
//! checked before any work is done.

use pbkdf2::pbkdf2_hmac;
use scrypt::Params;
use sha2::Sha256;
use zeroize::Zeroizing;

/// The output of a key derivation function: one half for the cipher, one for the check.
pub(super) type DerivedKey = Zeroizing<[u8; 32]>;

/// A key derivation function and its cost.
///
/// ```
/// use tetrad_network::account::{Kdf, KdfError};
///
/// assert!(Kdf::STANDARD.check().is_ok());
/// let hostile = Kdf::Scrypt { n: 1 << 40, r: 8, p: 1 };
/// assert!(matches!(hostile.check(), Err(KdfError::Memory { .. })));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kdf {
    /// scrypt (RFC 7914).
    Scrypt {
        /// The cost, a power of two above 1. Memory is `128 · n · r` bytes.
        n: u64,
        /// The size of a block, in units of 128 bytes.
        r: u64,
        /// The number of independent runs.
        p: u64,
    },
    /// PBKDF2 with HMAC-SHA256 (RFC 8018).
    Pbkdf2 {
        /// The number of applications of HMAC.
        iterations: u64,
    },
}

impl Kdf {
    /// The cost that geth writes: 256 MiB and about a second. The default for keys of value.
    pub const STANDARD: Self = Self::Scrypt {
        n: 1 << 18,
        r: 8,
        p: 1,
    };

    /// The cost that geth writes with `--lightkdf`: 4 MiB and a fraction of a second, with less
    /// protection of weak passwords.
    pub const LIGHT: Self = Self::Scrypt {
        n: 1 << 12,
        r: 8,
        p: 6,
    };

    /// The most memory that scrypt may take, in bytes: a quarter more than [`Kdf::STANDARD`] needs,
    /// the most expensive cost of known tools.
    pub const MAX_MEMORY_BYTES: u64 = 320 << 20;

    /// The most work that scrypt may take, as `n · r · p`: four times that of [`Kdf::STANDARD`].
    pub const MAX_SCRYPT_WORK: u64 = 1 << 23;

    /// The most iterations of PBKDF2, a second or two: 38 times as many as known tools write.
    pub const MAX_PBKDF2_ITERATIONS: u64 = 10_000_000;

    /// Checks the cost without doing any of the work.
    ///
    /// The upper bound on `n` in RFC 7914 is not checked: it is a mistake (errata 5971 to 5973),
    /// and it forbids `n = 262144, r = 1`, which the format's own example and eth-account use.
    ///
    /// # Errors
    /// [`KdfError::Parameter`] for a value that the function does not allow, [`KdfError::Memory`]
    /// or [`KdfError::Work`] for a cost beyond the bounds.
    pub fn check(&self) -> Result<(), KdfError> {
        self.cost().map(|_| ())
    }

    /// Derives 32 bytes from a password.
    pub(super) fn derive(&self, password: &[u8], salt: &[u8]) -> Result<DerivedKey, KdfError> {
        let cost = self.cost()?;
        let mut derived = Zeroizing::new([0; 32]);
        match cost {
            Cost::Scrypt(params) => scrypt::scrypt(password, salt, &params, derived.as_mut_slice())
                .expect("scrypt writes any number of bytes from 1 to 2^37"),
            Cost::Pbkdf2(rounds) => {
                pbkdf2_hmac::<Sha256>(password, salt, rounds, derived.as_mut_slice())
            }
        }
        Ok(derived)
    }

    /// Checks the cost and converts it to the parameters of the implementations.
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
        return Err(KdfError::Parameter {
            name: "n",
            expected: "a power of two above 1",
        });
    }
    for (name, value) in [("r", r), ("p", p)] {
        if value == 0 {
            return Err(KdfError::Parameter {
                name,
                expected: "above 0",
            });
        }
    }

    // n blocks to mix in and p blocks to start from, of 128 · r bytes each.
    let bytes = n.saturating_add(p).saturating_mul(r).saturating_mul(128);
    if bytes > Kdf::MAX_MEMORY_BYTES {
        return Err(KdfError::Memory { bytes });
    }

    let work = n.saturating_mul(r).saturating_mul(p);
    if work > Kdf::MAX_SCRYPT_WORK {
        return Err(KdfError::Work {
            name: "n·r·p",
            most: Kdf::MAX_SCRYPT_WORK,
            got: work,
        });
    }

    let log_n = n.trailing_zeros() as u8;
    Params::new(log_n, narrow("r", r)?, narrow("p", p)?).map_err(|_| KdfError::Parameter {
        name: "r·p",
        expected: "below 2^30",
    })
}

fn narrow(name: &'static str, value: u64) -> Result<u32, KdfError> {
    u32::try_from(value).map_err(|_| KdfError::Parameter {
        name,
        expected: "below 2^32",
    })
}

fn pbkdf2_cost(iterations: u64) -> Result<u32, KdfError> {
    match u32::try_from(iterations) {
        Ok(0) => Err(KdfError::Parameter {
            name: "c",
            expected: "above 0",
        }),
        Ok(rounds) if iterations <= Kdf::MAX_PBKDF2_ITERATIONS => Ok(rounds),
        _ => Err(KdfError::Work {
            name: "c",
            most: Kdf::MAX_PBKDF2_ITERATIONS,
            got: iterations,
        }),
    }
}

/// The error of a rejected key derivation function. Parameters have their names in the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KdfError {
    /// A function other than scrypt and PBKDF2.
    #[error("key derivation function {got:?} is not supported, only \"scrypt\" and \"pbkdf2\" are")]
    Function {
        /// The function found.
        got: String,
    },
    /// PBKDF2 with a function other than HMAC-SHA256.
    #[error("pseudo-random function {got:?} is not supported, only \"hmac-sha256\" is")]
    Prf {
        /// The function found.
        got: String,
    },
    /// A missing parameter.
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
        /// The accepted values.
        expected: &'static str,
    },
    /// More memory than [`Kdf::MAX_MEMORY_BYTES`].
    #[error(
        "opening this keystore would take {bytes} bytes of memory, at most {} are spent",
        Kdf::MAX_MEMORY_BYTES
    )]
    Memory {
        /// The bytes that scrypt would take.
        bytes: u64,
    },
    /// More work than [`Kdf::MAX_SCRYPT_WORK`] or [`Kdf::MAX_PBKDF2_ITERATIONS`].
    #[error(
        "opening this keystore would take too long: {name} is {got}, at most {most} is accepted"
    )]
    Work {
        /// The parameter or the product of parameters.
        name: &'static str,
        /// The bound.
        most: u64,
        /// The value found.
        got: u64,
    },
}
