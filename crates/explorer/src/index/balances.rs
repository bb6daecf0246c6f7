//! Answers reads that are due, and stores balances, holders and owners.

use alloy_primitives::{Address, U256};

use super::{
    database::{Batch, IndexError},
    due::DueRead,
    key::{Parts, RowKey, kind},
    rows::Counts,
    tokens::{TokenReads, TokenRecord},
    transfers::TokenKind,
};

/// Answers a read from the newest state.
pub(super) fn answer(
    batch: &mut Batch<'_>,
    reads: &TokenReads,
    read: DueRead,
) -> Result<(), IndexError> {
    match read {
        DueRead::Token { token } => {
            let key = RowKey::new(kind::TOKEN).address(token);
            if let Some(stored) = batch.get(&key)? {
                let mut record: TokenRecord = serde_json::from_slice(&stored)?;
                record.read(reads, token);
                batch.insert(key.bytes(), &serde_json::to_vec(&record)?)?;
            }
        }
        DueRead::Balance {
            token,
            holder,
            unique,
        } => {
            let kind = if unique {
                TokenKind::Erc721
            } else {
                TokenKind::Erc20
            };
            set_balance(
                batch,
                kind,
                token,
                holder,
                None,
                reads.balance(token, holder),
            )?;
        }
        DueRead::Owner { token, id } => set_owner(batch, token, id, reads.owner(token, id))?,
        DueRead::Amount { token, holder, id } => {
            let held = reads.amount(token, holder, id);
            set_balance(batch, TokenKind::Erc1155, token, holder, Some(id), held)?;
        }
    }

    batch.remove(read.key().bytes())?;
    Ok(())
}

fn set_balance(
    batch: &mut Batch<'_>,
    standard: TokenKind,
    token: Address,
    holder: Address,
    id: Option<U256>,
    held: U256,
) -> Result<(), IndexError> {
    let word = id.unwrap_or_default();
    let place = RowKey::new(kind::BALANCE)
        .address(holder)
        .address(token)
        .word(word);

    // The value is the code of the standard, then the balance.
    let before = batch
        .get(&place)?
        .map_or(U256::ZERO, |value| Parts(&value[1..]).word());
    if before == held {
        return Ok(());
    }

    let one = Counts {
        holders: 1,
        ..Counts::default()
    };
    if before.is_zero() {
        batch.add_counts(Some(token), one, 1);
    } else {
        // The balance is a part of the key.
        batch.remove(holder_key(token, before, holder, word).bytes())?;
    }

    if held.is_zero() {
        batch.remove(place.bytes())?;
        batch.add_counts(Some(token), one, -1);
        return Ok(());
    }

    batch.insert(
        place.bytes(),
        &[&[standard.code()][..], &held.to_be_bytes::<32>()].concat(),
    )?;
    batch.insert(holder_key(token, held, holder, word).bytes(), &[])
}

/// The balance is inverted, so that the largest one comes first.
fn holder_key(token: Address, held: U256, holder: Address, id: U256) -> RowKey {
    RowKey::new(kind::HOLDER)
        .address(token)
        .word(!held)
        .address(holder)
        .word(id)
}

fn set_owner(
    batch: &mut Batch<'_>,
    token: Address,
    id: U256,
    owner: Option<Address>,
) -> Result<(), IndexError> {
    let place = RowKey::new(kind::INSTANCE).address(token).word(id);

    if let Some(before) = batch.get(&place)? {
        let before = Parts(&before).address();
        batch.remove(owned_key(before, token, id).bytes())?;
    }

    match owner {
        Some(owner) => {
            batch.insert(place.bytes(), owner.as_slice())?;
            batch.insert(owned_key(owner, token, id).bytes(), &[])
        }
        None => batch.remove(place.bytes()).map(drop),
    }
}

fn owned_key(owner: Address, token: Address, id: U256) -> RowKey {
    RowKey::new(kind::OWNED)
        .address(owner)
        .address(token)
        .word(id)
}
