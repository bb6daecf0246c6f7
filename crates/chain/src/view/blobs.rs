//! The blobs of the newest blob transactions. A block holds their hashes only, and tests of rollups
//! want to see them.

use std::{collections::VecDeque, sync::Arc};

use alloy_eips::{eip4844::Blob, eip7594::BlobTransactionSidecarVariant};
use alloy_primitives::B256;
use parking_lot::Mutex;

use crate::Pooled;

/// Most blobs that are kept, of 128 KiB each.
const MAX_BLOBS: usize = 512;

/// A bounded cache of the newest blob transactions.
#[derive(Debug, Default)]
pub struct Blobs(Mutex<KeptBlobs>);

#[derive(Debug, Default)]
struct KeptBlobs {
    transactions: VecDeque<Arc<Pooled>>,
    /// Number of blobs of all `transactions`.
    count: usize,
}

impl Pooled {
    /// Returns the blobs of the transaction, in order, as they were submitted.
    pub fn blobs(&self) -> &[Blob] {
        self.sidecar.as_deref().map_or(&[], blobs_of)
    }
}

fn blobs_of(sidecar: &BlobTransactionSidecarVariant) -> &[Blob] {
    match sidecar {
        BlobTransactionSidecarVariant::Eip4844(sidecar) => &sidecar.blobs,
        BlobTransactionSidecarVariant::Eip7594(sidecar) => &sidecar.blobs,
    }
}

impl Blobs {
    /// Keeps the blobs of a transaction, if it has any.
    pub(crate) fn keep(&self, pooled: &Arc<Pooled>) {
        let Some(sidecar) = &pooled.sidecar else {
            return;
        };

        let kept = &mut *self.0.lock();
        kept.count += blobs_of(sidecar).len();
        kept.transactions.push_back(pooled.clone());

        while kept.count > MAX_BLOBS {
            let Some(sidecar) = kept
                .transactions
                .pop_front()
                .and_then(|oldest| oldest.sidecar.clone())
            else {
                break;
            };
            kept.count -= blobs_of(&sidecar).len();
        }
    }

    /// Returns a transaction with its blobs, or `None` if it has none or they are no longer kept.
    pub fn transaction(&self, hash: B256) -> Option<Arc<Pooled>> {
        let kept = self.0.lock();
        let mut newest = kept.transactions.iter().rev();
        newest
            .find(|pooled| pooled.transaction.hash() == hash)
            .cloned()
    }

    /// Returns the blob with this versioned hash, if it is kept.
    pub fn with_hash(&self, hash: B256) -> Option<Blob> {
        use alloy_consensus::Transaction as _;
        self.0.lock().transactions.iter().rev().find_map(|pooled| {
            let hashes = pooled.transaction.envelope.blob_versioned_hashes()?;
            let at = hashes.iter().position(|own| *own == hash)?;
            blobs_of(pooled.sidecar.as_deref()?).get(at).copied()
        })
    }
}
