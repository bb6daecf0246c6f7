//! The JSON of Web3 secret storage, version 3.

use alloy_primitives::{Address, hex};
use serde::{Deserialize, Serialize};

use super::{Kdf, KdfError, Keystore, KeystoreError};

const VERSION: u64 = 3;
const CIPHER: &str = "aes-128-ctr";
const PRF: &str = "hmac-sha256";
/// Bytes derived from the password. Files may ask for more, but only these are used.
const DERIVED_BYTES: u64 = 32;

#[derive(Serialize, Deserialize)]
struct File {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    // Some old tools wrote a capital letter.
    #[serde(alias = "Crypto")]
    crypto: Crypto,
    #[serde(default)]
    id: String,
    version: u64,
}

#[derive(Serialize, Deserialize)]
struct Crypto {
    cipher: String,
    cipherparams: CipherParams,
    ciphertext: String,
    kdf: String,
    kdfparams: KdfParams,
    mac: String,
}

#[derive(Serialize, Deserialize)]
struct CipherParams {
    iv: String,
}

/// The parameters of all functions. Each function requires some of them.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct KdfParams {
    #[serde(skip_serializing_if = "Option::is_none")]
    dklen: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    c: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prf: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    salt: Option<String>,
}

impl Keystore {
    /// The longest accepted text, in bytes. Real keystores have about 500.
    pub const MAX_JSON_BYTES: usize = 64 << 10;

    /// Parses a keystore file. A file that cannot be opened or whose key derivation costs too much
    /// is rejected here, before any password is asked.
    ///
    /// In addition to the definition it accepts what tools write: a capital `Crypto`, `0x` before
    /// hex, a counter (`iv`) without its leading zero bytes, a missing `address` or `id`.
    ///
    /// # Errors
    /// The variant of [`KeystoreError`] that describes the fault.
    pub fn from_json(text: &str) -> Result<Self, KeystoreError> {
        if text.len() > Self::MAX_JSON_BYTES {
            return Err(KeystoreError::TooLong { bytes: text.len() });
        }
        if !text.trim_start().starts_with('{') {
            return Err(KeystoreError::NotAnObject);
        }

        let file: File = serde_json::from_str(text).map_err(|error| KeystoreError::Json {
            message: error.to_string(),
        })?;
        if file.version != VERSION {
            return Err(KeystoreError::Version { got: file.version });
        }

        let crypto = file.crypto;
        if crypto.cipher != CIPHER {
            return Err(KeystoreError::Cipher { got: crypto.cipher });
        }

        let (kdf, salt) = read_kdf(&crypto.kdf, crypto.kdfparams)?;

        let ciphertext = decode("ciphertext", &crypto.ciphertext)?;
        if ciphertext.is_empty() || ciphertext.len() > 32 {
            return Err(KeystoreError::Length {
                field: "ciphertext",
                expected: "1 to 32",
                got: ciphertext.len(),
            });
        }

        // Tools leave out the zeros at the beginning of the counter.
        let iv = decode("iv", &crypto.cipherparams.iv)?;
        let start = (16usize).checked_sub(iv.len());
        let start = start.ok_or(KeystoreError::Length {
            field: "iv",
            expected: "at most 16",
            got: iv.len(),
        })?;
        let mut counter = [0; 16];
        counter[start..].copy_from_slice(&iv);

        Ok(Self {
            address: file
                .address
                .filter(|text| !text.is_empty())
                .map(|text| array("address", &text))
                .transpose()?
                .map(Address::new),
            id: file.id,
            kdf,
            salt,
            iv: counter,
            ciphertext,
            mac: array("mac", &crypto.mac)?,
        })
    }

    /// Returns the keystore file: one line of JSON, with the address in lower case without `0x`, as
    /// geth writes it.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut params = KdfParams {
            dklen: Some(DERIVED_BYTES),
            salt: Some(hex::encode(&self.salt)),
            ..KdfParams::default()
        };
        let kdf = match self.kdf {
            Kdf::Scrypt { n, r, p } => {
                params.n = Some(n);
                params.r = Some(r);
                params.p = Some(p);
                "scrypt"
            }
            Kdf::Pbkdf2 { iterations } => {
                params.c = Some(iterations);
                params.prf = Some(PRF.to_owned());
                "pbkdf2"
            }
        };

        let crypto = Crypto {
            cipher: CIPHER.to_owned(),
            cipherparams: CipherParams {
                iv: hex::encode(self.iv),
            },
            ciphertext: hex::encode(&self.ciphertext),
            kdf: kdf.to_owned(),
            kdfparams: params,
            mac: hex::encode(self.mac),
        };
        let file = File {
            address: self.address.map(hex::encode),
            crypto,
            id: self.id.clone(),
            version: VERSION,
        };
        serde_json::to_string(&file).expect("strings and numbers always serialise")
    }
}

fn read_kdf(function: &str, params: KdfParams) -> Result<(Kdf, Vec<u8>), KeystoreError> {
    let required = |name, value: Option<u64>| value.ok_or(KdfError::Missing { name });
    let kdf = match function {
        "scrypt" => Kdf::Scrypt {
            n: required("n", params.n)?,
            r: required("r", params.r)?,
            p: required("p", params.p)?,
        },
        "pbkdf2" => {
            let prf = params.prf.ok_or(KdfError::Missing { name: "prf" })?;
            if prf != PRF {
                return Err(KdfError::Prf { got: prf }.into());
            }
            Kdf::Pbkdf2 {
                iterations: required("c", params.c)?,
            }
        }
        other => {
            return Err(KdfError::Function {
                got: other.to_owned(),
            }
            .into());
        }
    };

    // The first bytes of a derived key do not depend on its length, so only they are derived of a
    // longer one.
    if required("dklen", params.dklen)? < DERIVED_BYTES {
        return Err(KdfError::Parameter {
            name: "dklen",
            expected: "32 or more",
        }
        .into());
    }

    kdf.check()?;
    let salt = params.salt.ok_or(KdfError::Missing { name: "salt" })?;
    Ok((kdf, decode("salt", &salt)?))
}

fn decode(field: &'static str, text: &str) -> Result<Vec<u8>, KeystoreError> {
    hex::decode(text).map_err(|_| KeystoreError::Hex { field })
}

fn array<const N: usize>(field: &'static str, text: &str) -> Result<[u8; N], KeystoreError> {
    let bytes = decode(field, text)?;
    bytes.as_slice().try_into().map_err(|_| {
        let expected = if N == 20 { "20" } else { "32" };
        KeystoreError::Length {
            field,
            expected,
            got: bytes.len(),
        }
    })
}
