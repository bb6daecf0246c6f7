//! Signatures that a development method assigned to accounts that did not make them.

use std::{collections::BTreeMap, sync::Arc};

use alloy_primitives::{Address, FixedBytes};

/// Accounts by signature: `r`, `s` and `v` (27 or 28).
pub type Signers = Arc<BTreeMap<FixedBytes<65>, Address>>;

/// The account assigned to the signature in the input of `ecrecover`: hash, `v`, `r`, `s`, 32 bytes
/// each.
pub(super) fn signer(signers: &Signers, input: &[u8]) -> Option<Address> {
    let (zeros, v) = input.get(32..64)?.split_at(31);
    let mut signature = FixedBytes::<65>::ZERO;
    signature[..64].copy_from_slice(input.get(64..128)?);
    signature[64] = v[0];

    signers
        .get(&signature)
        .copied()
        .filter(|_| zeros.iter().all(|byte| *byte == 0))
}
