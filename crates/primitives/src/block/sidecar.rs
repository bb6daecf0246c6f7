//! The blobs of a transaction with their commitments and proofs (EIP-4844, EIP-7594), which a block
//! does not hold.

use std::fmt::Display;

use alloy_eips::{
    eip4844::{
        AsCkzg, Blob, BlobTransactionSidecar, Bytes48, VersionedHashIter, kzg_to_versioned_hash,
    },
    eip7594::{BlobTransactionSidecarEip7594, BlobTransactionSidecarVariant, CELLS_PER_EXT_BLOB},
};
use alloy_primitives::B256;

/// The setting of the trusted setup without the tables that make the computation of cell proofs
/// faster: verification does not use them, and they take seconds to compute.
const NO_TABLES: u64 = 0;

/// The points with which commitments and proofs are computed and verified.
pub(super) fn trusted_setup() -> &'static c_kzg::KzgSettings {
    c_kzg::ethereum_kzg_settings(NO_TABLES)
}

/// The reason why blobs cannot belong to a transaction.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, thiserror::Error)]
#[error("invalid blob sidecar: {0}")]
pub struct InvalidBlobs(pub String);

impl InvalidBlobs {
    pub(super) fn new(reason: impl Display) -> Self {
        Self(reason.to_string())
    }
}

/// The blobs of a transaction, as a client sends them. The node computes the rest.
#[derive(Clone, Debug)]
pub struct Blobs {
    /// The blobs.
    pub blobs: Vec<Blob>,
    /// A commitment for each blob.
    pub commitments: Option<Vec<Bytes48>>,
    /// A proof for each blob (EIP-4844), or one for each of its 128 cells (EIP-7594).
    pub proofs: Option<Vec<Bytes48>>,
}

impl Blobs {
    /// Returns the versioned hashes, in order. Computes the commitments if there are none, which takes
    /// milliseconds for each blob.
    pub fn versioned_hashes(&self) -> Result<Vec<B256>, InvalidBlobs> {
        if let Some(commitments) = &self.commitments {
            return Ok(VersionedHashIter::new(commitments).collect());
        }

        let hashes = self.blobs.iter().map(|blob| {
            let commitment = trusted_setup().blob_to_kzg_commitment(blob.as_ckzg())?;
            Ok(kzg_to_versioned_hash(commitment.as_slice()))
        });
        hashes
            .collect::<Result<_, c_kzg::Error>>()
            .map_err(InvalidBlobs::new)
    }

    /// Returns the blobs with all commitments and proofs. Those that are given are verified. Proofs
    /// that are missing are those of cells where `has_cells`, which take a fraction of a second for
    /// each blob.
    pub fn into_sidecar(
        self,
        has_cells: bool,
    ) -> Result<BlobTransactionSidecarVariant, InvalidBlobs> {
        let (commitments, proofs) = match (self.commitments, self.proofs) {
            (Some(commitments), Some(proofs)) => (commitments, proofs),
            (commitments, _) => {
                let sidecar = computed(self.blobs, has_cells).map_err(InvalidBlobs::new)?;
                if commitments.is_some_and(|given| given != sidecar.commitments()) {
                    return Err(InvalidBlobs::new(
                        "the commitments are not those of the blobs",
                    ));
                }
                return Ok(sidecar);
            }
        };

        let sidecar = with_proofs(self.blobs, commitments, proofs)?;
        let hashes: Vec<B256> = sidecar.versioned_hashes().collect();
        sidecar
            .validate(&hashes, trusted_setup())
            .map_err(InvalidBlobs::new)?;
        Ok(sidecar)
    }
}

/// The blobs with the commitments and proofs that follow from them.
fn computed(
    blobs: Vec<Blob>,
    has_cells: bool,
) -> Result<BlobTransactionSidecarVariant, c_kzg::Error> {
    let setup = trusted_setup();
    Ok(if has_cells {
        BlobTransactionSidecarEip7594::try_from_blobs_with_settings(blobs, setup)?.into()
    } else {
        BlobTransactionSidecar::try_from_blobs_with_settings(blobs, setup)?.into()
    })
}

/// The blobs with proofs, whose number determines their kind.
fn with_proofs(
    blobs: Vec<Blob>,
    commitments: Vec<Bytes48>,
    proofs: Vec<Bytes48>,
) -> Result<BlobTransactionSidecarVariant, InvalidBlobs> {
    // In geth's words.
    if commitments.len() != blobs.len() {
        return Err(InvalidBlobs::new(format_args!(
            "number of blobs and commitments mismatch (have={}, want={})",
            commitments.len(),
            blobs.len()
        )));
    }

    if proofs.len() == blobs.len() {
        return Ok(BlobTransactionSidecar::new(blobs, commitments, proofs).into());
    }
    if proofs.len() == blobs.len() * CELLS_PER_EXT_BLOB {
        return Ok(BlobTransactionSidecarEip7594::new(blobs, commitments, proofs).into());
    }
    Err(InvalidBlobs::new(format_args!(
        "number of blobs and proofs mismatch (have={}, want={})",
        proofs.len(),
        blobs.len()
    )))
}
