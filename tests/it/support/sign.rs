//! Transactions signed outside of the node.

use alloy::{
    consensus::{
        EthereumTxEnvelope, SignableTransaction, TxEip1559, TxEip4844, TxEip4844WithSidecar,
        transaction::RlpEcdsaEncodableTx,
    },
    eips::{eip2718::Encodable2718, eip7594::BlobTransactionSidecarEip7594},
    primitives::{Address, B256, Bytes, Signature, TxKind, U256},
    signers::{SignerSync, local::PrivateKeySigner},
};

/// The key of the n-th development account.
pub(crate) fn signer(index: usize) -> PrivateKeySigner {
    const KEYS: [&str; 4] = [
        "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
        "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
        "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
        "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
    ];
    KEYS[index].parse().unwrap()
}

/// A valid transfer of 1 wei.
pub(crate) fn transfer(nonce: u64) -> TxEip1559 {
    TxEip1559 {
        chain_id: 125,
        nonce,
        gas_limit: 21_000,
        max_fee_per_gas: 10_000_000_000,
        max_priority_fee_per_gas: 1_000_000_000,
        to: TxKind::Call(Address::with_last_byte(0xaa)),
        value: U256::from(1),
        ..Default::default()
    }
}

/// The raw bytes of a transaction signed by the n-th development account.
pub(crate) fn raw<T>(transaction: T, index: usize) -> Bytes
where
    T: SignableTransaction<Signature> + RlpEcdsaEncodableTx,
    alloy::consensus::Signed<T>: Encodable2718,
{
    raw_of(transaction, &signer(index))
}

/// The raw bytes of a transaction with blobs, signed with this key. Its hashes become those of the
/// blobs.
pub(crate) fn raw_with_blobs(
    mut tx: TxEip4844,
    sidecar: BlobTransactionSidecarEip7594,
    signer: &PrivateKeySigner,
) -> (Bytes, Vec<B256>) {
    let hashes: Vec<_> = sidecar.versioned_hashes().collect();
    tx.blob_versioned_hashes.clone_from(&hashes);
    let signature = signer.sign_hash_sync(&tx.signature_hash()).unwrap();
    let signed = TxEip4844WithSidecar { tx, sidecar }.into_signed(signature);
    let whole =
        EthereumTxEnvelope::<TxEip4844WithSidecar<BlobTransactionSidecarEip7594>>::Eip4844(signed);
    (whole.encoded_2718().into(), hashes)
}

/// The raw bytes of a transaction signed with this key.
pub(crate) fn raw_of<T>(transaction: T, signer: &PrivateKeySigner) -> Bytes
where
    T: SignableTransaction<Signature> + RlpEcdsaEncodableTx,
    alloy::consensus::Signed<T>: Encodable2718,
{
    let signature = signer
        .sign_hash_sync(&transaction.signature_hash())
        .unwrap();
    transaction.into_signed(signature).encoded_2718().into()
}
