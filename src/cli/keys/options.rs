//! Options that several commands share.

use std::{
    borrow::Cow,
    env,
    path::{Path, PathBuf},
};

use clap::Args;
use k256::elliptic_curve::rand_core::OsRng;
use tetrad_network::account::{DerivationPath, Kdf, Keystore, Mnemonic, PathError, SecretKey};
use zeroize::Zeroizing;

use super::{
    error::Error,
    secrets::Secrets,
    store::{keystore_error, read_keystore},
};

/// The directory of keys.
#[derive(Debug, Args)]
pub struct DirectoryArgs {
    /// Directory of keystore files [default: .tetrad/keystore in the home directory].
    #[arg(long = "keystore", value_name = "DIR", env = "TETRAD_KEYSTORE")]
    pub directory: Option<PathBuf>,
}

impl DirectoryArgs {
    pub(super) fn path(&self) -> Result<Cow<'_, Path>, Error> {
        match &self.directory {
            Some(path) => Ok(Cow::Borrowed(path)),
            None => Ok(Cow::Owned(
                env::home_dir()
                    .ok_or(Error::NoHome)?
                    .join(".tetrad")
                    .join("keystore"),
            )),
        }
    }
}

/// The encryption of a stored or exported key.
#[derive(Debug, Args)]
pub struct EncryptionArgs {
    /// Encrypt with 4 MiB of memory instead of 256 MiB: faster, and weaker against guessing. For
    /// throw-away keys.
    #[arg(long)]
    pub light_kdf: bool,
}

impl EncryptionArgs {
    pub(super) fn encrypt(&self, key: &SecretKey, password: &str) -> Result<Keystore, Error> {
        let kdf = if self.light_kdf {
            Kdf::LIGHT
        } else {
            Kdf::STANDARD
        };
        Keystore::encrypt(key, password.as_bytes(), kdf, &mut OsRng).map_err(Error::Encrypt)
    }
}

/// The options of [`DerivationArgs`], which apply to mnemonics only.
pub(super) const DERIVATION: [&str; 4] = ["index", "hd_path", "passphrase", "passphrase_file"];

/// The choice of a mnemonic's key.
#[derive(Debug, Args)]
pub struct DerivationArgs {
    /// Index of the account under m/44'/60'/0'/0.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        conflicts_with = "hd_path"
    )]
    pub index: u32,
    /// Full derivation path, for accounts of other wallets.
    #[arg(long, value_name = "PATH")]
    pub hd_path: Option<DerivationPath>,
    /// Ask for a BIP-39 passphrase; an empty one is none.
    #[arg(long, conflicts_with = "passphrase_file")]
    pub passphrase: bool,
    /// Read the BIP-39 passphrase from a file ("-": standard input).
    #[arg(long, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
}

impl DerivationArgs {
    pub(super) fn path(&self) -> Result<DerivationPath, PathError> {
        self.hd_path
            .clone()
            .map_or_else(|| DerivationPath::ethereum(self.index), Ok)
    }

    /// Returns the passphrase of a new mnemonic; empty without the option.
    pub(super) fn new_passphrase(
        &self,
        secrets: &mut Secrets<'_>,
    ) -> Result<Zeroizing<String>, Error> {
        if !self.has_passphrase() {
            return Ok(Zeroizing::default());
        }
        secrets.chosen("passphrase", self.passphrase_file.as_deref())
    }

    /// Derives the key of an existing mnemonic.
    pub(super) fn derive(
        &self,
        mnemonic: &Mnemonic,
        secrets: &mut Secrets<'_>,
    ) -> Result<SecretKey, Error> {
        let path = self.path()?;
        let passphrase = if self.has_passphrase() {
            secrets.existing("passphrase", self.passphrase_file.as_deref())?
        } else {
            Zeroizing::default()
        };
        Ok(mnemonic.to_seed(&passphrase).derive(&path)?)
    }

    fn has_passphrase(&self) -> bool {
        self.passphrase || self.passphrase_file.is_some()
    }
}

/// The source of a key that is not in the directory.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// Read a mnemonic from a file ("-": standard input).
    #[arg(long, value_name = "FILE", group = "source")]
    pub mnemonic_file: Option<PathBuf>,
    /// Read a private key in hex from a file ("-": standard input).
    #[arg(long, value_name = "FILE", group = "source", conflicts_with_all = DERIVATION)]
    pub private_key_file: Option<PathBuf>,
    /// Read a V3 keystore of another tool.
    #[arg(long, value_name = "FILE", group = "source", conflicts_with_all = DERIVATION)]
    pub keystore_file: Option<PathBuf>,
    /// Read the password of --keystore-file from a file ("-": standard input).
    // A requirement alone would be waived by clap once another source rules the keystore out.
    #[arg(
        long,
        value_name = "FILE",
        requires = "keystore_file",
        conflicts_with_all = ["mnemonic_file", "private_key_file"]
    )]
    pub source_password_file: Option<PathBuf>,
    /// The key of the mnemonic.
    #[command(flatten)]
    pub derivation: DerivationArgs,
}

impl SourceArgs {
    /// Returns the key; asks for a mnemonic or a private key when no source was given.
    pub(super) fn key(&self, secrets: &mut Secrets<'_>) -> Result<SecretKey, Error> {
        if let Some(path) = &self.mnemonic_file {
            let mnemonic = Mnemonic::from_phrase(&secrets.read(path)?)?;
            return self.derivation.derive(&mnemonic, secrets);
        }

        if let Some(path) = &self.private_key_file {
            return Ok(SecretKey::from_hex(secrets.read(path)?.trim())?);
        }

        if let Some(path) = &self.keystore_file {
            let keystore = read_keystore(path)?;
            let password = secrets.existing("password", self.source_password_file.as_deref())?;
            return keystore
                .decrypt(password.as_bytes())
                .map_err(keystore_error(path));
        }

        let secret = secrets.existing("mnemonic or private key", None)?;
        // A mnemonic has spaces between its words, and a private key has none.
        if secret.trim().contains(char::is_whitespace) {
            self.derivation
                .derive(&Mnemonic::from_phrase(&secret)?, secrets)
        } else {
            Ok(SecretKey::from_hex(secret.trim())?)
        }
    }
}
