//! Compares the index with the chain in a directory.

use std::{collections::HashSet, path::Path, sync::Arc};

use alloy_primitives::B256;
use tetrad_primitives::block::Block;

use super::{
    database::{IndexError, Rows, meta},
    key::{RowKey, kind},
    rows::{BlockRecord, BlockRows},
};

/// The result of a verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexReport {
    /// Number of blocks that were compared.
    pub blocks: u64,
    /// Number of their rows.
    pub rows: u64,
}

/// Compares the rows of each indexed block that is on the chain with those derived from it anew;
/// `None` if there is no index. The node removes the rows of other blocks when it starts. Internal
/// calls are checked to be there, but not executed.
///
/// # Errors
/// If the file is damaged, or a row differs. Deleting the file repairs it: it is rebuilt from the
/// chain.
pub fn verify(
    directory: &Path,
    block: impl Fn(u64) -> Option<Arc<Block>>,
) -> Result<Option<IndexReport>, IndexError> {
    let Some(rows) = Rows::existing(directory)? else {
        return Ok(None);
    };
    let rows = rows.read()?;
    let mut report = IndexReport::default();
    let Some(meta) = meta(&rows)? else {
        return Ok(Some(report));
    };

    for number in meta.first..=meta.tip {
        let differs = |what: &str| IndexError::Differs(format!("block {number}: {what}"));
        let Some(block) = block(number) else { continue };

        let stored = rows
            .get(RowKey::new(kind::BLOCK).block(number).bytes())?
            .ok_or_else(|| differs("has no rows"))?;
        let record = BlockRecord::decode(stored.value())?;
        if record.hash != block.hash || record.hash == B256::ZERO {
            // Reverted after the index was written.
            continue;
        }

        let keys: HashSet<&[u8]> = record.keys.iter().map(|key| &key[..]).collect();
        for key in &keys {
            rows.get(*key)?.ok_or_else(|| differs("a row is missing"))?;
        }
        for (key, value) in BlockRows::of(&block, &[]).rows {
            let own = rows
                .get(&key[..])?
                .ok_or_else(|| differs("a row is missing"))?;
            if own.value() != value || !keys.contains(&key[..]) {
                return Err(differs("a row differs"));
            }
        }

        report.blocks += 1;
        report.rows += record.keys.len() as u64;
    }
    Ok(Some(report))
}
