//! The ledger: one writer, any number of readers.
//!
//! [`Chain`] is the handle that everything else holds. Reads take the current [`Head`], an
//! immutable value, and do not wait while a block is built; a [`Change`] goes to the writer's
//! thread. Knows nothing of the interfaces: no HTTP, no wire codes.

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
pub use handle::{Chain, ChainConfig};
pub use keyring::{Keyring, UnsignedTransaction, sign_transaction};
pub use peers::{Leadership, Peers, PoolSelection, Settled};
pub use per_head::PerHead;
pub use pool::{Accepted, Admission, Pool, PoolLimits, Pooled};
pub use sender::{OutgoingCall, SendError, Sender};
pub use shared::Preamble;
pub use tetrad_primitives::block::{Mining, Setting};
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
