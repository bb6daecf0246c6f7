//! The ledger: one writer, any number of readers.
//!
//! [`Chain`] is the handle that everything else holds. Reads take the current [`Head`], an
//! immutable value, and do not wait while a block is built; a [`Change`] goes to the writer's
//! thread. A genesis block is a value as well, before there is a chain.
//!
//! The crate knows nothing of the interfaces, neither of HTTP nor of wire codes, and nothing of
//! clusters: a node that does not lead forwards changes to its [`Peers`], of any kind.
//!
//! ```
//! use std::sync::Arc;
//!
//! use alloy_primitives::{Address, U256};
//! use tetrad_chain::{Genesis, GenesisAccount};
//! use tetrad_evm::{ChainParams, Fork, Forks};
//!
//! let params = ChainParams {
//!     chain_id: 125,
//!     forks: Forks::all_from_genesis(Fork::LATEST),
//!     deposit_contract: Address::ZERO,
//!     network_precompiles: true,
//!     standard: false,
//!     increasing_timestamps: false,
//!     limits: Default::default(),
//!     signers: Default::default(),
//!     cosmos: Default::default(),
//! };
//! let address = Address::repeat_byte(1);
//! let account = GenesisAccount { address, balance: U256::from(7), ..Default::default() };
//! let genesis = Genesis { accounts: vec![account], ..Genesis::empty(1_000, 30_000_000) };
//! let head = genesis.build(Arc::new(params)).expect("a genesis block");
//! assert_eq!(head.block.number(), 0);
//! assert_eq!(head.state.balance(address).expect("a readable state"), U256::from(7));
//! ```
//!
//! # History
//!
//! History in memory is bounded by blocks and by bytes. The newest 128 states are held whole, as
//! long as their blocks changed no more than 32,768 accounts and slots. Of older states one is held
//! for every 4,096 changes, with the changes in between; any other is one of these with the changes
//! since, and the last four that were requested are cached. Logs in memory are indexed by windows
//! of 64 blocks. With a data directory every older state can be read as well; states before the
//! oldest checkpoint are refused.
//!
//! # Scale
//!
//! The whole newest state is in memory. With 10,000,000 accounts (BENCHMARKS.md) each takes 390
//! bytes, an account lies below six branches, whose copying and hashing make transfers 22 % slower
//! than on an empty chain, and a start takes 5.4 s. The time of an empty block and of reads does
//! not depend on the number of accounts. Blocks are on disk, and their number affects only the
//! indexes.
//!
//! Estimates for 100,000,000 accounts:
//!
//! - **Memory**: 39 GB, and 4 GB more during a start, which reads the checkpoint's file at once.
//!   This is the limit that is reached first.
//! - **Blocks**: a seventh level of branches for two accounts of three, so a sixth more copying and
//!   hashing for each changed account. An empty block remains as fast.
//! - **Start**: a minute on two cores for the checkpoint, whose records are independent of each
//!   other and divided among the processors, and up to two minutes for the replay of the log after
//!   it, which the less frequent checkpoints below make longer.
//! - **Checkpoints**: 3.7 GB, due after every 450 MB of the log, as large ones are written less
//!   often. The thread encodes them for 10 to 80 s, from a snapshot that costs a block nothing to
//!   take; branches that change meanwhile exist twice, at most 4 GB at 5,000 transfers per second.
//! - **Account numbers**: 32 bits, enough for 4,000,000,000 accounts. Indexes grow with changes,
//!   not with accounts.
//!
//! Beyond the memory of a machine, leaves have to leave it. The five upper levels (1,118,481
//! branches, 600 MB) would remain as they are, and each of the subtrees below them, a hundred
//! accounts in 10 to 40 KB, would become a page of a file that is read when an account in it is
//! used. Snapshots would share pages as they share branches now, and a checkpoint would consist of
//! the pages that changed since the last one.

mod block;
mod clustered;
mod cosmos;
mod disk;
mod error;
mod event;
mod handle;
mod keyring;
mod peers;
mod per_head;
mod pool;
mod shared;
mod submit;
mod transaction_sender;
mod view;
mod writer;

pub use tetrad_primitives::block::{Mining, Setting};

pub use block::{
    apply::{AppliedBlock, ApplyError, apply, recover},
    build::{BuildError, BuildPlan, BuiltBlock, build},
    edit::{Edit, RawSignature},
    fees,
    foreign::ForeignBlock,
    genesis::{Genesis, GenesisAccount, GenesisError, Step},
    header::{MAX_GAS_LIMIT, MAX_START_NUMBER, MIN_GAS_LIMIT},
    replay::replay,
    simulate::{
        BlockPlan, MAX_SIMULATED_BLOCKS, PlannedCall, Simulated, SimulationError,
        SimulationOptions, simulate,
    },
};
pub use disk::{
    dump::{Dump, DumpError, PreparedDump},
    maintain::{MaintainError, canonical_blocks, compact, export_blocks, repair, verify},
    recover::{OpenError, Opening, Recovered, open},
};
pub use error::{ChangeError, Stopped, SubmitError};
pub use event::Event;
pub use handle::Chain;
pub use keyring::{Keyring, Signer, UnsignedTransaction, sign_transaction};
pub use peers::{Acknowledgement, Leadership, Peers, PoolSelection};
pub use per_head::PerHead;
pub use pool::{Accepted, Admission, Pool, PoolLimits, PoolOrder, Pooled};
pub use shared::{ChainConfig, Preamble};
pub use transaction_sender::{OutgoingCall, SendError, TransactionSender};
pub use view::{
    blobs::Blobs,
    block_view::{BlockId, View, ViewError},
    head::{Head, HistoryLimits, Pruned},
    held_blocks::HeldBlocks,
    lookup::block_in_place,
    updates::{ChainPosition, ChainUpdate, PositionExpired},
};
pub use writer::{
    change::{Change, ChangeOutcome, MAX_MINED_BLOCKS, Pace},
    journal::Journal,
    produced::Produced,
    thread::WriterThread,
};
