//! The rules of a proof-of-work block's uncles.

use std::{collections::HashSet, sync::Arc};

use alloy_consensus::Header;
use alloy_primitives::B256;
use tetrad_primitives::block::Block;

use super::{
    foreign::{ForeignBlock, InvalidBlock, check},
    header,
};
use crate::Head;

/// Most uncles of a block.
const MAX_OMMERS: usize = 2;
/// Most generations between a block and the parents of its uncles.
const GENERATIONS: u64 = 7;

/// Checks the uncles of a block on top of `head`: each is a sibling of a recent ancestor, is not
/// included yet, and is a valid child of another ancestor.
pub(crate) fn verify(head: &Head, block: &ForeignBlock) -> Result<(), InvalidBlock> {
    let ommers = &block.body.ommers;
    if ommers.is_empty() {
        return Ok(());
    }
    let found = ommers.len();
    check("uncles", found <= MAX_OMMERS, found, || {
        format!("at most {MAX_OMMERS}")
    })?;

    let ancestors: Vec<Arc<Block>> = (0..GENERATIONS)
        .map_while(|back| head.any_block(head.number().checked_sub(back)?))
        .collect();
    // No uncle may be included twice.
    let mut taken: HashSet<B256> = ancestors
        .iter()
        .flat_map(|ancestor| &ancestor.ommers)
        .map(Header::hash_slow)
        .collect();
    for (index, ommer) in ommers.iter().enumerate() {
        verify_ommer(head, ommer, &ancestors, &mut taken)
            .map_err(|reason| InvalidBlock::Ommer(index, reason))?;
    }
    Ok(())
}

/// Checks one uncle. `taken` are the uncles that are included already.
fn verify_ommer(
    head: &Head,
    ommer: &Header,
    ancestors: &[Arc<Block>],
    taken: &mut HashSet<B256>,
) -> Result<(), String> {
    let hash = ommer.hash_slow();
    if !taken.insert(hash) {
        return Err("is named twice".to_owned());
    }
    if ancestors.iter().any(|ancestor| ancestor.hash == hash) {
        return Err("is an ancestor".to_owned());
    }

    // The head's other children are the block's siblings, not its uncles.
    let parent = ancestors
        .iter()
        .skip(1)
        .find(|ancestor| ancestor.hash == ommer.parent_hash)
        .ok_or("its parent is not one of the last ancestors")?;
    header::verify(&head.params, &parent.header, ommer).map_err(|reason| reason.to_string())
}
