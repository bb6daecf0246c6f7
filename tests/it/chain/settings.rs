//! Settings of development methods, tested below all interfaces.

use std::sync::Arc;

use alloy_primitives::Address;
use tetrad_chain::{Chain, Change, ChangeError, PoolLimits, Setting};
use tetrad_stdx::clock::ManualClock;

use super::pool::chain_with;

/// Most accounts that are impersonated individually.
const MAX_IMPERSONATED: u64 = 65_536;

fn account(index: u64) -> Address {
    Address::left_padding_from(&index.to_be_bytes())
}

async fn impersonate(chain: &Chain, index: u64, on: bool) -> Result<(), ChangeError> {
    chain
        .change(Change::Set(Setting::Impersonated(account(index), on)))
        .await
        .map(drop)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn individually_impersonated_accounts_are_limited() {
    let chain = chain_with(PoolLimits::default(), Arc::new(ManualClock::at(1_000_000)));
    for index in 0..MAX_IMPERSONATED {
        impersonate(&chain, index, true).await.unwrap();
    }
    assert!(matches!(
        impersonate(&chain, MAX_IMPERSONATED, true).await,
        Err(ChangeError::TooManyImpersonated(_))
    ));

    // A change without effect is not refused, and ending an impersonation makes room.
    impersonate(&chain, 0, true).await.unwrap();
    impersonate(&chain, 1, false).await.unwrap();
    impersonate(&chain, MAX_IMPERSONATED, true).await.unwrap();
    let impersonated = chain.impersonated().read().clone();
    assert!(
        impersonated.includes(account(MAX_IMPERSONATED), false)
            && !impersonated.includes(account(1), false)
    );

    chain.change(Change::Reset).await.unwrap();
    assert!(
        !chain
            .impersonated()
            .read()
            .includes(account(MAX_IMPERSONATED), false)
    );
}
