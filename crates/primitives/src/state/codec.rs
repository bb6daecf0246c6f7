//! The encoding of changes on disk. Hashes of addresses and slots are left out: computing them
//! costs less than reading.

use alloy_primitives::{Address, Bytes, keccak256};
use revm::bytecode::Bytecode;
use tetrad_stdx::codec::{Malformed, Reader, Writer};

use super::{AccountChange, AccountFields, Changes};
use crate::block::CompressedKey;

impl Changes {
    /// Encodes the changes.
    pub fn write(&self, out: &mut Writer) {
        out.number(self.0.len() as u64);
        for change in &self.0 {
            out.raw(change.address.as_slice());
            out.option(change.after.as_ref(), |out, fields| {
                out.number(fields.nonce);
                out.wide(fields.balance);
                out.option(fields.code.as_ref(), |out, (hash, code)| {
                    out.raw(hash.as_slice());
                    out.string(code.original_byte_slice());
                });
            });

            out.byte(u8::from(change.storage_wiped));
            out.number(change.storage.len() as u64);
            for &(index, value) in &change.storage {
                out.wide(index);
                out.wide(value);
            }
            out.option(change.public_key, |out, key| out.raw(key.as_slice()));
        }
    }

    /// Decodes changes.
    pub fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        // No change takes less: an address, and a byte for each of the other parts.
        let count = from.count(24)?;
        (0..count)
            .map(|_| read_change(from))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

fn read_change(from: &mut Reader<'_>) -> Result<AccountChange, Malformed> {
    let address = Address::from(from.array()?);
    let after = from.option(|from| {
        Ok(AccountFields {
            nonce: from.number()?,
            balance: from.wide()?,
            code: from.option(|from| Ok((from.array()?.into(), read_code(from)?)))?,
        })
    })?;

    let storage_wiped = from.byte()? != 0;

    let count = from.count(2)?;
    let storage = (0..count)
        .map(|_| Ok((from.wide()?, from.wide()?)))
        .collect::<Result<_, _>>()?;

    let public_key = from.option(|from| from.array().map(CompressedKey::from))?;
    Ok(AccountChange {
        address,
        key: keccak256(address),
        after,
        storage_wiped,
        storage,
        public_key,
    })
}

/// Returns code, analysed for execution. Code that begins like a delegation (EIP-7702) without being
/// a valid one is ordinary code: genesis files, dumps, overrides and development methods hold any
/// bytes.
pub fn bytecode(code: Bytes) -> Bytecode {
    Bytecode::new_raw_checked(code.clone()).unwrap_or_else(|_| Bytecode::new_legacy(code))
}

pub(super) fn read_code(from: &mut Reader<'_>) -> Result<Bytecode, Malformed> {
    Ok(bytecode(from.string()?.to_vec().into()))
}
