//! Errors of commands on keys.

use std::{io, path::PathBuf};

use alloy_primitives::Address;
use tetrad_network::account::{
    AddressError, ConsensusKeyError, DeriveError, KeyError, KeystoreError, MnemonicError, PathError,
};

/// The error of a command on keys. No message contains any part of a secret.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or directory could not be used.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// The attempted operation.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file to be written exists already.
    #[error("{} exists already and is not overwritten", .0.display())]
    Exists(PathBuf),
    /// A file with a secret is far longer than any secret.
    #[error("{} is too long to hold a secret", .0.display())]
    TooLong(PathBuf),
    /// A file with a secret is not UTF-8.
    #[error("{} is not text", .0.display())]
    NotText(PathBuf),
    /// A file with a password has more than one line.
    #[error("{} has more than one line, expected the password alone", .0.display())]
    PasswordLines(PathBuf),
    /// Two secrets were to be read from standard input.
    #[error("standard input can give one secret only; use a file for the other")]
    StandardInputTwice,
    /// A secret was needed, but there is no terminal to ask on.
    #[error("cannot ask for the {what} without a terminal ({source}); give it in a file instead")]
    NoTerminal {
        /// The secret.
        what: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The two entries of a new password differ.
    #[error("the two {what}s are not the same")]
    Different {
        /// The secret.
        what: &'static str,
    },
    /// The password of a new keystore is empty.
    #[error("the password is empty, and would protect nothing")]
    EmptyPassword,
    /// No keystore directory was given, and there is no home directory for the default one.
    #[error("there is no home directory; say where the keys are with --keystore")]
    NoHome,
    /// No file of the directory holds this account.
    #[error("no key of {address} in {}", directory.display())]
    NotFound {
        /// The account.
        address: Address,
        /// The directory.
        directory: PathBuf,
    },
    /// `--bech cons` without a consensus key.
    #[error("consensus keys are ed25519: name one with --consensus-key-file")]
    ConsensusKeyNeeded,
    /// A consensus key, but `--bech acc` or `--bech val`.
    #[error("a consensus key has the form \"cons\" only")]
    ConsensusKeyOnly,
    /// Not an address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Not a mnemonic.
    #[error(transparent)]
    Mnemonic(#[from] MnemonicError),
    /// Not a derivation path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A derivation path without a valid key.
    #[error(transparent)]
    Derive(#[from] DeriveError),
    /// Not a private key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Not a consensus key.
    #[error(transparent)]
    ConsensusKey(#[from] ConsensusKeyError),
    /// A keystore file that cannot be read or opened.
    #[error("{}: {source}", path.display())]
    Keystore {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: KeystoreError,
    },
    /// A key could not be encrypted.
    #[error("cannot encrypt the key: {0}")]
    Encrypt(KeystoreError),
    /// The output could not be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}

impl Error {
    /// Returns a function for `map_err` that makes an error about a file.
    pub(super) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File {
            action,
            path,
            source,
        }
    }
}
