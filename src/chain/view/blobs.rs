//! Blobs of the newest transactions that had any: a block has their hashes only, and whoever tests wants to see them.

use std::{collections::VecDeque, sync::Arc};

use alloy_eips::{eip4844::Blob, eip7594::BlobTransactionSidecarVariant};
use alloy_primitives::B256;
use parking_lot::Mutex;

use crate::chain::Pooled;

/// Blobs that are kept, of 128 kB each.
const MAX_BLOBS: usize = 512;

/// The newest transactions with blobs.
#[derive(Debug, Default)]
pub struct Blobs(Mutex<KeptBlobs>);

#[derive(Debug, Default)]
struct KeptBlobs {
    transactions: VecDeque<Arc<Pooled>>,
    /// How many blobs they have.
    count: usize,
}

fn blobs_of(sidecar: &BlobTransactionSidecarVariant) -> &[Blob] {
    match sidecar {
        BlobTransactionSidecarVariant::Eip4844(sidecar) => &sidecar.blobs,
        BlobTransactionSidecarVariant::Eip7594(sidecar) => &sidecar.blobs,
    }
}

impl Blobs {
    /// Keeps the blobs of a transaction, if it has any.
    pub(in crate::chain) fn keep(&self, pooled: &Arc<Pooled>) {
        let Some(sidecar) = &pooled.sidecar else { return };
        let kept = &mut *self.0.lock();
        kept.count += blobs_of(sidecar).len();
        kept.transactions.push_back(pooled.clone());
        while kept.count > MAX_BLOBS {
            let Some(sidecar) = kept.transactions.pop_front().and_then(|oldest| oldest.sidecar.clone()) else { break };
            kept.count -= blobs_of(&sidecar).len();
        }
    }

    /// The blobs of a transaction, in order; none if they are not kept or it has none.
    pub fn of_transaction(&self, hash: B256) -> Option<Vec<Blob>> {
        let kept = self.0.lock();
        let found = kept.transactions.iter().rev().find(|pooled| pooled.transaction.hash() == hash)?;
        found.sidecar.as_deref().map(|sidecar| blobs_of(sidecar).to_vec())
    }

    /// The blob with this versioned hash, if it is kept.
    pub fn with_hash(&self, hash: B256) -> Option<Blob> {
        use alloy_consensus::Transaction as _;
        self.0.lock().transactions.iter().rev().find_map(|pooled| {
            let hashes = pooled.transaction.envelope.blob_versioned_hashes()?;
            let at = hashes.iter().position(|own| *own == hash)?;
            blobs_of(pooled.sidecar.as_deref()?).get(at).copied()
        })
    }
}
