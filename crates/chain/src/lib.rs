//! The ledger: one writer, any number of readers.
//!
//! [`Chain`] is the handle that everything else holds. Reads take the current [`Head`], an
//! immutable value, and do not wait while a block is built; a [`Change`] goes to the writer's
//! thread. A genesis block is a value as well, before there is a chain.
//!
//! The crate knows nothing of the interfaces, neither of HTTP nor of wire codes, and nothing of
//! clusters: a node that does not lead forwards changes to its [`Peers`], whoever they are.
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
mod sender;
mod shared;
mod submit;
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
    header::{MAX_GAS_LIMIT, MIN_GAS_LIMIT},
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
pub use keyring::{Keyring, UnsignedTransaction, sign_transaction};
pub use peers::{Leadership, Peers, PoolSelection, Settled};
pub use per_head::PerHead;
pub use pool::{Accepted, Admission, Pool, PoolLimits, Pooled};
pub use sender::{OutgoingCall, SendError, Sender};
pub use shared::{ChainConfig, Preamble};
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
