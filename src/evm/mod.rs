//! Execution: (state, circumstances, transactions) in, (changes, receipts) out. Knows nothing of how blocks are
//! ordered, stored or asked for.

mod block;
mod call;
mod environment;
mod estimate;
mod fork;
mod overlay;
mod overrides;
mod precompile;
mod requests;
mod signers;
mod transaction;

pub use block::{BlockError, BlockExecutor, Outcome, TransactionError, halt_message};
pub use call::{Call, CallContext};
pub use environment::{ChainParams, Environment, Evm};
pub use estimate::EstimateError;
pub use fork::{Activation, Fork, Forks, Rules, ScheduledFork, UnknownFork};
pub use overlay::{BlockHashes, Overlay};
pub use overrides::{AccountOverride, StateOverrides, apply_overrides};
pub use precompile::BECH32_ADDRESS;
pub use requests::MalformedDeposit;
pub use signers::{Precompiled, Signers};
pub use transaction::tx_env;
