//! The encoding of changes and their outcomes, and of the transactions in them.

use alloy_eips::eip2718::Encodable2718;
use alloy_primitives::{Address, Bytes, U256};
use tetrad_chain::{
    Change, ChangeError, ChangeOutcome, DumpError, Edit, GenesisAccount, MAX_GAS_LIMIT,
    MAX_MINED_BLOCKS, MIN_GAS_LIMIT, Pace, Setting,
};
use tetrad_primitives::block::{Transaction, decode_envelope};
use tetrad_stdx::codec::{Malformed, Reader, Writer};
use tetrad_store::log::read_name;

const MINE: u8 = 1;
const EDIT: u8 = 2;
const SNAPSHOT: u8 = 3;
const REVERT: u8 = 4;
const ROLLBACK: u8 = 5;
const REORG: u8 = 6;
const RESET: u8 = 7;
// Earlier versions had a number for each setting, from 8 to 13.
const SET_NEXT_TIMESTAMP: u8 = 14;
const INCREASE_TIME: u8 = 15;
const SET_TIME: u8 = 16;
const SET_BLOCK_INTERVAL: u8 = 17;
const NAMED_SNAPSHOT: u8 = 18;
const SET: u8 = 19;
const REWIND: u8 = 20;

/// Encodes a change. Fails for those that the writer of a chain with a data directory always
/// refuses, with its error.
pub(super) fn write(change: &Change, out: &mut Writer) -> Result<(), ChangeError> {
    match change {
        Change::Mine { count, pace } => {
            out.byte(MINE);
            out.number(*count);
            out.option(pace.first, Writer::number);
            out.option(pace.interval, Writer::number);
            out.number(pace.at_least);
        }
        Change::Edit(edits) => {
            out.byte(EDIT);
            write_list(edits, out, write_edit);
        }
        Change::Snapshot { name: None } => out.byte(SNAPSHOT),
        Change::Snapshot { name: Some(name) } => {
            out.byte(NAMED_SNAPSHOT);
            out.string(name.as_bytes());
        }
        Change::Revert(id) => write_number(REVERT, *id, out),
        Change::Rollback { depth } => write_number(ROLLBACK, *depth, out),
        Change::Rewind(number) => write_number(REWIND, *number, out),
        Change::Reorg { blocks } => {
            out.byte(REORG);
            write_list(blocks, out, |block, out| {
                write_list(block, out, write_transaction)
            });
        }
        Change::Reset => out.byte(RESET),
        Change::Restart { .. } => return Err(ChangeError::Recorded),
        Change::Load(_) => return Err(DumpError::Recorded.into()),
        Change::Set(setting) => {
            out.byte(SET);
            setting.write(out);
        }
        Change::SetNextTimestamp(timestamp) => write_number(SET_NEXT_TIMESTAMP, *timestamp, out),
        Change::IncreaseTime(seconds) => {
            out.byte(INCREASE_TIME);
            out.signed(*seconds);
        }
        Change::SetTime(now) => write_number(SET_TIME, *now, out),
        Change::SetBlockInterval(seconds) => {
            out.byte(SET_BLOCK_INTERVAL);
            out.option(*seconds, Writer::number);
        }
    }
    Ok(())
}

/// Decodes a change. What would occupy the writer without end, or overflow in a block, is refused
/// here as the methods refuse it; the writer checks the rest.
pub(super) fn read(from: &mut Reader<'_>) -> Result<Change, Malformed> {
    Ok(match from.byte()? {
        MINE => {
            let count = from.number()?;
            if count > MAX_MINED_BLOCKS {
                return Err(Malformed("number of blocks"));
            }
            let first = from.option(Reader::number)?;
            let interval = from.option(Reader::number)?;
            Change::Mine {
                count,
                pace: Pace {
                    first,
                    interval,
                    at_least: from.number()?,
                },
            }
        }
        EDIT => Change::Edit(read_list(from, 2, read_edit)?),
        SNAPSHOT => Change::Snapshot { name: None },
        NAMED_SNAPSHOT => Change::Snapshot {
            name: Some(read_name(from)?.into()),
        },
        REVERT => Change::Revert(from.number()?),
        ROLLBACK => Change::Rollback {
            depth: from.number()?,
        },
        REWIND => Change::Rewind(from.number()?),
        REORG => Change::Reorg {
            blocks: read_list(from, 1, |from| read_list(from, 2, read_transaction))?,
        },
        RESET => Change::Reset,
        SET => match Setting::read(from)? {
            Setting::GasLimit(limit) if !(MIN_GAS_LIMIT..=MAX_GAS_LIMIT).contains(&limit) => {
                return Err(Malformed("gas limit"));
            }
            setting => Change::Set(setting),
        },
        SET_NEXT_TIMESTAMP => Change::SetNextTimestamp(from.number()?),
        INCREASE_TIME => Change::IncreaseTime(from.signed()?),
        SET_TIME => Change::SetTime(from.number()?),
        SET_BLOCK_INTERVAL => Change::SetBlockInterval(from.option(Reader::number)?),
        _ => return Err(Malformed("kind of change")),
    })
}

const BALANCE: u8 = 1;
const CREDIT: u8 = 2;
const NONCE: u8 = 3;
const CODE: u8 = 4;
const STORAGE: u8 = 5;
const ACCOUNTS: u8 = 6;
const CHAIN_ID: u8 = 7;
const SIGNATURE: u8 = 8;

fn write_edit(edit: &Edit, out: &mut Writer) {
    match edit {
        Edit::Balance(address, balance) => {
            write_kind_of(BALANCE, address, out);
            out.wide(*balance);
        }
        Edit::Credit(address, amount) => {
            write_kind_of(CREDIT, address, out);
            out.wide(*amount);
        }
        Edit::Nonce(address, nonce) => {
            write_kind_of(NONCE, address, out);
            out.number(*nonce);
        }
        Edit::Code(address, code) => {
            write_kind_of(CODE, address, out);
            out.string(code);
        }
        Edit::Storage(address, slot, value) => {
            write_kind_of(STORAGE, address, out);
            write_slot(&(*slot, *value), out);
        }
        Edit::Accounts(accounts) => {
            out.byte(ACCOUNTS);
            write_list(accounts, out, write_account);
        }
        Edit::ChainId(id) => write_number(CHAIN_ID, *id, out),
        Edit::Signature(signature, signer) => {
            write_kind_of(SIGNATURE, signer, out);
            out.raw(signature.as_slice());
        }
    }
}

/// Writes the kind of an edit, and the account that it is of.
fn write_kind_of(kind: u8, address: &Address, out: &mut Writer) {
    out.byte(kind);
    out.raw(address.as_slice());
}

fn read_edit(from: &mut Reader<'_>) -> Result<Edit, Malformed> {
    Ok(match from.byte()? {
        BALANCE => Edit::Balance(read_address(from)?, from.wide()?),
        CREDIT => Edit::Credit(read_address(from)?, from.wide()?),
        NONCE => Edit::Nonce(read_address(from)?, from.number()?),
        CODE => Edit::Code(read_address(from)?, Bytes::copy_from_slice(from.string()?)),
        STORAGE => {
            let address = read_address(from)?;
            let (slot, value) = read_slot(from)?;
            Edit::Storage(address, slot, value)
        }
        // No account takes less: an address, and a byte for each of the other parts.
        ACCOUNTS => Edit::Accounts(read_list(from, 24, read_account)?),
        CHAIN_ID => Edit::ChainId(from.number()?),
        SIGNATURE => {
            let signer = read_address(from)?;
            Edit::Signature(from.array()?.into(), signer)
        }
        _ => return Err(Malformed("kind of edit")),
    })
}

fn write_account(account: &GenesisAccount, out: &mut Writer) {
    let GenesisAccount {
        address,
        balance,
        nonce,
        code,
        storage,
    } = account;
    out.raw(address.as_slice());
    out.wide(*balance);
    out.number(*nonce);
    out.string(code);
    write_list(storage, out, write_slot);
}

fn read_account(from: &mut Reader<'_>) -> Result<GenesisAccount, Malformed> {
    Ok(GenesisAccount {
        address: read_address(from)?,
        balance: from.wide()?,
        nonce: from.number()?,
        code: Bytes::copy_from_slice(from.string()?),
        storage: read_list(from, 2, read_slot)?,
    })
}

fn write_slot((slot, value): &(U256, U256), out: &mut Writer) {
    out.wide(*slot);
    out.wide(*value);
}

fn read_slot(from: &mut Reader<'_>) -> Result<(U256, U256), Malformed> {
    Ok((from.wide()?, from.wide()?))
}

/// Encodes a transaction as it is in a block, without blobs. Only an impersonated sender is given.
pub(super) fn write_transaction(transaction: &Transaction, out: &mut Writer) {
    let sender = transaction.is_impersonated().then_some(transaction.sender);
    out.option(sender, |out, sender| out.raw(sender.as_slice()));
    let envelope = &transaction.envelope;
    out.string_with(envelope.encode_2718_len(), |bytes| {
        bytes.extend_from_slice(&transaction.encode())
    });
}

/// Decodes a transaction. The signature proves the sender, or is made that of an impersonated one.
pub(super) fn read_transaction(from: &mut Reader<'_>) -> Result<Transaction, Malformed> {
    let impersonated = from.option(read_address)?;
    let envelope = decode_envelope(from.string()?).map_err(|_| Malformed("transaction"))?;
    match impersonated {
        Some(sender) => Ok(Transaction::impersonated(
            envelope.into_typed_transaction(),
            sender,
        )),
        None => Transaction::recover(envelope, true).map_err(|_| Malformed("signature")),
    }
}

const DONE: u8 = 0;
const SNAPSHOT_ID: u8 = 1;
const FOUND: u8 = 2;
const SECONDS: u8 = 3;

pub(super) fn write_outcome(outcome: ChangeOutcome, out: &mut Writer) {
    match outcome {
        ChangeOutcome::Done => out.byte(DONE),
        ChangeOutcome::Snapshot(id) => write_number(SNAPSHOT_ID, id, out),
        ChangeOutcome::Found(found) => {
            out.byte(FOUND);
            out.byte(u8::from(found));
        }
        ChangeOutcome::Seconds(seconds) => {
            out.byte(SECONDS);
            out.signed(seconds);
        }
    }
}

pub(super) fn read_outcome(from: &mut Reader<'_>) -> Result<ChangeOutcome, Malformed> {
    match from.byte()? {
        DONE => Ok(ChangeOutcome::Done),
        SNAPSHOT_ID => from.number().map(ChangeOutcome::Snapshot),
        FOUND => super::read_bool(from).map(ChangeOutcome::Found),
        SECONDS => from.signed().map(ChangeOutcome::Seconds),
        _ => Err(Malformed("kind of outcome")),
    }
}

fn write_number(kind: u8, number: u64, out: &mut Writer) {
    out.byte(kind);
    out.number(number);
}

fn read_address(from: &mut Reader<'_>) -> Result<Address, Malformed> {
    from.array().map(Address::from)
}

fn write_list<T>(items: &[T], out: &mut Writer, write: impl Fn(&T, &mut Writer)) {
    out.number(items.len() as u64);
    items.iter().for_each(|item| write(item, out));
}

/// Reads a list of items, each of which takes no less than `least` bytes.
fn read_list<T>(
    from: &mut Reader<'_>,
    least: usize,
    read: impl Fn(&mut Reader<'_>) -> Result<T, Malformed>,
) -> Result<Vec<T>, Malformed> {
    let count = from.count(least)?;
    (0..count).map(|_| read(from)).collect()
}
