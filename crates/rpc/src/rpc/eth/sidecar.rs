//! The blobs of a transaction that the node signs (EIP-4844).

use std::sync::Arc;

use alloy_eips::eip7594::BlobTransactionSidecarVariant;
use tetrad_evm::{Environment, Fork};
use tetrad_primitives::block::{Blobs, InvalidBlobs};

use super::request::TransactionRequest;
use crate::rpc::{Context, RpcError};

/// Takes the blobs out of a request, which gets their versioned hashes instead. Commitments and proofs
/// that the client left out are computed, and all are verified.
pub(in crate::rpc) async fn take_sidecar(
    context: &Arc<Context>,
    request: &mut TransactionRequest,
) -> Result<Option<Box<BlobTransactionSidecarVariant>>, RpcError> {
    let Some(blobs) = request.blobs.take() else {
        return Ok(None);
    };

    let next = context.chain.next_environment(&context.chain.head());
    // Before they are verified, which takes long.
    check_count(&blobs, &next)?;
    let has_cells = next.rules.has(Fork::Osaka);

    let (hashes, sidecar) = context
        .apart_for_caller(move || {
            // Commitments alone say the hashes.
            if blobs.blobs.is_empty() {
                return Ok((blobs.versioned_hashes().map_err(refused)?, None));
            }

            let sidecar = Arc::unwrap_or_clone(blobs)
                .into_sidecar(has_cells)
                .map_err(refused)?;
            Ok((
                sidecar.versioned_hashes().collect(),
                Some(Box::new(sidecar)),
            ))
        })
        .await?;

    match &request.blob_versioned_hashes {
        Some(given) if *given != hashes => Err(RpcError::server(
            "blobVersionedHashes: they are not those of the blobs",
        )),
        _ => {
            request.blob_versioned_hashes = Some(hashes);
            Ok(sidecar)
        }
    }
}

/// Whether a transaction of the next block can have so many blobs.
fn check_count(blobs: &Blobs, next: &Environment) -> Result<(), RpcError> {
    let limits = next.rules.blobs.ok_or_else(|| {
        RpcError::server("blob transactions are not valid before Cancun is active")
    })?;

    let have = blobs.blobs.len();
    let permitted = limits.max_blobs_per_tx;
    if have as u64 > permitted {
        // In geth's words.
        return Err(RpcError::server(format!(
            "too many blobs in transaction (have={have}, max={permitted})"
        )));
    }
    Ok(())
}

fn refused(error: InvalidBlobs) -> RpcError {
    RpcError::server(error.to_string())
}
