//! A small recorded chain and its users.

use std::{sync::Arc, time::Duration};

use alloy::consensus::TxEip1559;
use alloy_primitives::{Address, B256, TxKind, U256};
use tetrad::account::SecretKey;
use tetrad_chain::{
    Chain, ChainConfig, Genesis, GenesisAccount, Head, HistoryLimits, Mining, OpenError, Opening,
    PoolLimits, Recovered, SubmitError, WriterThread, open, sign_transaction,
};
use tetrad_evm::{ChainParams, Fork, Forks};
use tetrad_primitives::block::Submission;
use tetrad_stdx::clock::ManualClock;
use tetrad_store::storage::Storage;

use super::kept_in;

pub(super) const ACCOUNTS: usize = 3;

pub(super) fn key(index: usize) -> SecretKey {
    SecretKey::from_hex(&format!("{:064x}", index + 1)).unwrap()
}

fn params() -> Arc<ChainParams> {
    Arc::new(ChainParams {
        chain_id: 125,
        forks: Forks::all_from_genesis(Fork::LATEST),
        deposit_contract: Address::ZERO,
        network_precompiles: true,
        standard: false,
        increasing_timestamps: false,
        limits: Default::default(),
        signers: Default::default(),
        cosmos: Default::default(),
    })
}

/// The entry of an account in genesis.
fn genesis_account(index: usize) -> GenesisAccount {
    GenesisAccount {
        address: key(index).address(),
        balance: U256::from(10u128.pow(24)),
        ..Default::default()
    }
}

pub(super) fn first_head() -> Head {
    let genesis = Genesis {
        accounts: (0..ACCOUNTS).map(genesis_account).collect(),
        ..Genesis::empty(1_000, 30_000_000)
    };
    genesis.build(params()).unwrap()
}

/// A chain with small segments between checkpoints.
pub(super) fn recover(storage: Arc<dyn Storage>) -> Result<Recovered, OpenError> {
    recover_with(storage, |_| {})
}

pub(super) fn recover_with(
    storage: Arc<dyn Storage>,
    change: impl FnOnce(&mut Opening),
) -> Result<Recovered, OpenError> {
    let mut opening = Opening {
        store: kept_in(storage),
        directory: None,
        params: params(),
        settings: vec![("--chain-id".to_owned(), "125".to_owned())],
        limits: HistoryLimits {
            blocks: 8,
            ..HistoryLimits::default()
        },
        checkpoint_bytes: 4_096,
        index_bytes: 8_192,
    };
    change(&mut opening);
    open(opening, false, || Ok(first_head()))
}

/// Starts the chain. Its clock stands still.
pub(super) fn start(recovered: Recovered, mining: Mining) -> (Chain, WriterThread) {
    let config = ChainConfig {
        mining,
        gas_limit: 30_000_000,
        beneficiary: Address::ZERO,
        min_tip: 0,
        pool: PoolLimits {
            transactions: 1_000,
            per_account: 1_000,
            ..PoolLimits::default()
        },
        history: HistoryLimits {
            blocks: 8,
            ..HistoryLimits::default()
        },
        clock: Arc::new(ManualClock::at(2_000_000)),
        leads: true,
        continues_time: false,
        anvil_conventions: false,
        slots_in_an_epoch: 0,
    };
    Chain::resume(recovered, config, None).unwrap()
}

/// A mode in which blocks are sealed only on a test's request, and transactions wait on disk until
/// then.
pub(super) fn never() -> Mining {
    Mining::Interval(Duration::from_secs(3_600))
}

/// A transfer of one unit to `to`.
pub(super) fn transfer(from: usize, nonce: u64, to: Address) -> Submission {
    let unsigned = TxEip1559 {
        chain_id: 125,
        nonce,
        gas_limit: 21_000,
        max_fee_per_gas: 100_000_000_000,
        max_priority_fee_per_gas: 1,
        to: TxKind::Call(to),
        value: U256::ONE,
        ..Default::default()
    };
    Submission {
        transaction: sign_transaction(&key(from), unsigned.into()).unwrap(),
        sidecar: None,
    }
}

/// Sends a transaction. Returns once it is acknowledged or refused.
pub(super) async fn send(chain: &Chain, submission: Submission) -> Result<B256, SubmitError> {
    let accepted = chain.accept(submission)?;
    chain.acknowledged(accepted).await
}

/// The next nonce of an account, as of the newest block.
pub(super) fn nonce(chain: &Chain, index: usize) -> u64 {
    chain.head().state.nonce(key(index).address()).unwrap()
}
