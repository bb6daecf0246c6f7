//! A small chain, for the targets that need one and for the property tests of the same checks.

use std::sync::Arc;

use alloy_consensus::TxLegacy;
use alloy_primitives::{Address, TxKind, U256};
use tetrad_chain::{
    Chain, ChainConfig, Genesis, GenesisAccount, Head, HistoryLimits, Mining, Pace, PoolLimits,
};
use tetrad_contracts::sources::KnownContracts;
use tetrad_evm::{ChainParams, Fork, Forks};
use tetrad_primitives::block::{Submission, Transaction};
use tetrad_rpc::rpc::{GraphQueries, Rpc, RpcConfig};
use tetrad_stdx::clock::ManualClock;
use tetrad_web::Execution;
use tokio::runtime::{Builder, Runtime};

/// Code that emits a log with one topic and 32 bytes of data, and another contract's code with a
/// slot.
const EMITTER: [u8; 12] = [
    0x60, 0x2a, 0x60, 0x00, 0x52, 0x60, 0x07, 0x60, 0x20, 0x60, 0x00, 0xa1,
];

/// The parameters of a chain with the newest rules.
pub(super) fn params() -> Arc<ChainParams> {
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

/// A chain with its genesis block.
pub(super) fn genesis() -> Head {
    let account = |index: u8, code: &[u8], storage: Vec<(U256, U256)>| GenesisAccount {
        address: Address::repeat_byte(index),
        balance: U256::MAX >> 8,
        code: code.to_vec().into(),
        storage,
        ..Default::default()
    };
    let accounts = vec![
        account(1, &[], Vec::new()),
        account(2, &[], Vec::new()),
        account(3, &EMITTER, vec![(U256::ONE, U256::from(5))]),
    ];
    let genesis = Genesis {
        accounts,
        ..Genesis::empty(1_000, 30_000_000)
    };
    genesis.build(params()).expect("a genesis")
}

/// A runtime whose tasks run while something is waited for.
pub(super) fn runtime() -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

/// A chain that seals on demand, with blocks that have transactions and logs.
pub(super) fn chain(runtime: &Runtime) -> Chain {
    let config = ChainConfig {
        mining: Mining::Manual,
        gas_limit: 30_000_000,
        beneficiary: Address::ZERO,
        min_tip: 0,
        pool: PoolLimits::default(),
        history: HistoryLimits::default(),
        clock: Arc::new(ManualClock::at(2_000_000)),
        leads: true,
        continues_time: false,
        anvil_conventions: false,
        slots_in_an_epoch: 0,
    };
    let (chain, _) = Chain::spawn(genesis(), config, None).expect("a thread for the writer");
    for nonce in 0..3 {
        let transaction = |to: u8, from: u8| {
            let (gas_price, gas_limit, to) = (
                10_000_000_000,
                100_000,
                TxKind::Call(Address::repeat_byte(to)),
            );
            let tx = TxLegacy {
                nonce,
                gas_price,
                gas_limit,
                to,
                ..TxLegacy::default()
            };
            Transaction::impersonated(tx.into(), Address::repeat_byte(from))
        };
        for transaction in [transaction(3, 1), transaction(9, 2)] {
            chain
                .accept(Submission {
                    transaction,
                    sidecar: None,
                })
                .expect("a valid transaction");
        }
        runtime
            .block_on(chain.mine(1, Pace::default()))
            .expect("a block");
    }
    assert_eq!(chain.head().block.transactions.len(), 2);
    chain
}

/// GraphQL for such a chain.
pub(super) fn graphql(runtime: &Runtime) -> GraphQueries {
    let config = RpcConfig {
        gas_cap: 1_000_000,
        max_batch_response: 1 << 20,
        ..RpcConfig::default()
    };
    let known = KnownContracts::open(None, None).expect("no directory can fail");
    let chain = chain(runtime);
    let _entered = runtime.enter();
    let execution = Arc::new(Execution::new(config.max_executions));
    GraphQueries::new(&Rpc::new(
        chain,
        Arc::default(),
        config,
        known,
        None,
        execution,
    ))
}
