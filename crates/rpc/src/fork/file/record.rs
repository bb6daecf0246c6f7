//! The contents of the file of a forked block: a header, then records, each with its length and a
//! checksum.

use alloy_primitives::{Address, B256, Bytes, U256};
use tetrad_stdx::codec::{Malformed, Reader, Writer};

/// The first bytes of a file, which name its format.
pub(super) const MAGIC: &[u8] = b"tetrad fork 1\n";
/// The length in bytes of the frame around a record: its own length, and the checksum.
const FRAME_BYTES: usize = 8;

/// An answer of the other node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::fork) enum Record {
    /// An account with the hash of its code; none if it does not exist.
    Account(Address, Option<(U256, u64, Option<B256>)>),
    /// Code by its hash. It precedes the accounts that have it.
    Code(B256, Bytes),
    /// A storage slot.
    Slot(Address, U256, U256),
    /// The hash of a block with this number.
    BlockHash(u64, B256),
    /// The JSON of a result by the hash of its method and parameters.
    Answer(B256, Bytes),
}

impl Record {
    fn write(&self, out: &mut Writer) {
        match self {
            Self::Account(address, account) => {
                out.byte(0);
                out.raw(address.as_slice());
                out.option(account.as_ref(), |out, (balance, nonce, code)| {
                    out.wide(*balance);
                    out.number(*nonce);
                    out.option(code.as_ref(), |out, code| out.raw(code.as_slice()));
                });
            }
            Self::Code(hash, code) => {
                out.byte(1);
                out.raw(hash.as_slice());
                out.string(code);
            }
            Self::Slot(address, index, value) => {
                out.byte(2);
                out.raw(address.as_slice());
                out.wide(*index);
                out.wide(*value);
            }
            Self::BlockHash(number, hash) => {
                out.byte(3);
                out.number(*number);
                out.raw(hash.as_slice());
            }
            Self::Answer(key, json) => {
                out.byte(4);
                out.raw(key.as_slice());
                out.string(json);
            }
        }
    }

    fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let record = match reader.byte()? {
            0 => Self::Account(
                Address::from(reader.array()?),
                reader.option(|reader| {
                    let balance = reader.wide()?;
                    let nonce = reader.number()?;
                    let code = reader.option(|reader| Ok(B256::from(reader.array()?)))?;
                    Ok((balance, nonce, code))
                })?,
            ),
            1 => Self::Code(
                reader.array()?.into(),
                Bytes::copy_from_slice(reader.string()?),
            ),
            2 => Self::Slot(
                Address::from(reader.array()?),
                reader.wide()?,
                reader.wide()?,
            ),
            3 => Self::BlockHash(reader.number()?, reader.array()?.into()),
            4 => Self::Answer(
                reader.array()?.into(),
                Bytes::copy_from_slice(reader.string()?),
            ),
            _ => return Err(Malformed("an unknown kind of record")),
        };
        reader.end("a record")?;
        Ok(record)
    }
}

/// Appends a record with its frame.
pub(super) fn write_framed(record: &Record, out: &mut Vec<u8>) {
    let mut writer = Writer::default();
    record.write(&mut writer);
    let bytes = writer.bytes();
    // A record is an answer, which is far shorter than 4 GiB.
    out.extend((bytes.len() as u32).to_be_bytes());
    out.extend(crc32fast::hash(bytes).to_be_bytes());
    out.extend(bytes);
}

/// The place at which a file is damaged.
pub(super) struct Damage {
    /// The end of the last whole record.
    pub(super) end: usize,
    pub(super) what: String,
}

/// The whole records of a file, and where the last of them ends.
pub(super) fn parse(bytes: &[u8]) -> (Vec<Record>, Result<usize, Damage>) {
    let mut records = Vec::new();
    let Some(mut rest) = bytes.strip_prefix(MAGIC) else {
        let what = "it does not begin like a cache of a fork".to_owned();
        return (records, Err(Damage { end: 0, what }));
    };

    while let Some((frame, after)) = rest.split_at_checked(FRAME_BYTES) {
        let end = bytes.len() - rest.len();
        let (length, checksum) = frame.split_at(FRAME_BYTES / 2);
        let length = big_endian(length) as usize;
        // A file whose end was lost in a crash may end with zeros.
        let Some((record, after)) = after.split_at_checked(length).filter(|_| length > 0) else {
            break;
        };

        let is_whole = crc32fast::hash(record) == big_endian(checksum);
        match Record::read(record) {
            Ok(record) if is_whole => records.push(record),
            _ => {
                let what = format!("the record at byte {end} is damaged");
                return (records, Err(Damage { end, what }));
            }
        }
        rest = after;
    }
    (records, Ok(bytes.len() - rest.len()))
}

fn big_endian(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |number, byte| number << 8 | u32::from(*byte))
}
