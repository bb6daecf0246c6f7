//! The context that instructions, precompiles and inspectors see.

use revm::handler::MainnetContext;

use super::Overlay;

/// The context of an execution: block, transaction, limits, and an [`Overlay`] with its changes so
/// far.
pub type EvmContext<'a> = MainnetContext<Overlay<'a>>;
