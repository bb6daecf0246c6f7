//! The cost of durability: `cargo bench --bench durability [-- accounts]`.
//!
//! Appends to the log at each durability level, then writes a checkpoint of a large state and opens
//! it. Prints medians.

#![allow(
    clippy::unwrap_used,
    reason = "a panic reports where a benchmark failed"
)]

use std::{sync::Arc, time::Instant};

use alloy_primitives::{Address, B256, U256, keccak256};
use tetrad_chain::{Genesis, GenesisAccount, HistoryLimits, Opening, open};
use tetrad_evm::{ChainParams, Fork, Forks};
use tetrad_primitives::state::{AccountChange, AccountFields, Changes};
use tetrad_store::{
    log::{ChainIdentity, Durability, LocalLogs, LogEntry, LogStore},
    storage::{Directory, Storage},
    store::{ChainStore, Checkpoint, PART_BYTES, checkpoints},
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A log entry about as large as a block of `transfers` transfers.
fn entry(transfers: u64) -> LogEntry {
    LogEntry::Edit {
        changes: Arc::new(Changes((0..transfers).map(change).collect())),
        root: B256::ZERO,
        parameters: None,
    }
}

fn change(n: u64) -> AccountChange {
    let address = Address::from_word(B256::from(U256::from(n + 1)));
    let after = AccountFields {
        nonce: n,
        balance: U256::from(u128::MAX - u128::from(n)),
        code: None,
    };
    AccountChange {
        address,
        key: keccak256(address),
        after: Some(after),
        storage_wiped: false,
        storage: vec![(U256::from(n), U256::MAX); 3],
        public_key: None,
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn appends(transfers: u64, durability: Durability) -> f64 {
    let directory = tempfile::tempdir().unwrap();
    let storage = Arc::new(Directory::new(directory.path()).unwrap());
    let identity = ChainIdentity {
        chain_id: 125,
        genesis: B256::ZERO,
    };
    let mut log = LocalLogs::new(storage)
        .with_durability(durability)
        .open(identity, 0)
        .unwrap();
    let entry = entry(transfers);

    let times = (0..2_000).map(|_| {
        let start = Instant::now();
        log.append(log.end(), &entry.to_bytes()).unwrap();
        start.elapsed().as_secs_f64() * 1e6
    });
    median(times.collect())
}

fn opening(storage: &Arc<dyn Storage>, params: &Arc<ChainParams>) -> Opening {
    Opening {
        store: ChainStore {
            storage: storage.clone(),
            log: Arc::new(LocalLogs::new(storage.clone())),
        },
        directory: None,
        params: params.clone(),
        settings: Vec::new(),
        limits: HistoryLimits::default(),
        checkpoint_bytes: 32 << 20,
        index_bytes: PART_BYTES,
    }
}

fn genesis_account(n: u64) -> GenesisAccount {
    GenesisAccount {
        address: Address::from_slice(&keccak256(n.to_be_bytes())[12..]),
        balance: U256::from(n + 1),
        ..GenesisAccount::default()
    }
}

fn restart(accounts: u64) {
    let directory = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(Directory::new(directory.path()).unwrap());
    let params = Arc::new(ChainParams {
        chain_id: 125,
        forks: Forks::all_from_genesis(Fork::LATEST),
        deposit_contract: Address::ZERO,
        network_precompiles: true,
        standard: false,
        increasing_timestamps: false,
        limits: Default::default(),
        signers: Default::default(),
        cosmos: Default::default(),
    });

    let genesis = Genesis {
        accounts: (0..accounts).map(genesis_account).collect(),
        ..Genesis::empty(1_000, 30_000_000)
    };

    let first = open(opening(&storage, &params), false, || {
        genesis.build(params.clone())
    })
    .unwrap();
    drop(genesis);

    let identity = ChainIdentity {
        chain_id: 125,
        genesis: first.head.genesis.hash,
    };
    let genesis = first.head.genesis.clone();
    let block = first.head.block.clone();

    let checkpoint = Checkpoint {
        height: 0,
        shift: Default::default(),
        genesis,
        block,
        state: first.head.state.clone(),
        parameters: Default::default(),
        standing: Default::default(),
    };

    let start = Instant::now();
    let bytes = checkpoint.write(&*storage, identity).unwrap();
    println!(
        "checkpoint of {accounts} accounts: {:.2} s, {} MB",
        start.elapsed().as_secs_f64(),
        bytes >> 20
    );

    assert_eq!(checkpoints(&*storage).unwrap(), [0]);
    drop((checkpoint, first));

    let start = Instant::now();
    let again = open(opening(&storage, &params), false, || {
        unreachable!("the directory holds a chain")
    })
    .unwrap();
    println!(
        "start from it: {:.2} s, {} accounts",
        start.elapsed().as_secs_f64(),
        again.head.state.len()
    );
}

fn main() {
    for transfers in [1, 16, 200] {
        let os = appends(transfers, Durability::Os);
        let fsync = appends(transfers, Durability::Fsync);
        println!("append of {transfers} transfers: os {os:.1} µs, fsync {fsync:.1} µs");
    }
    let accounts = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(1_000_000);
    restart(accounts);
}
