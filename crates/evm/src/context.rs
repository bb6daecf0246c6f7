//! The context that instructions, precompiles and inspectors see.

use revm::{Inspector, handler::MainnetContext};

use super::Overlay;

/// The context of an execution: block, transaction, limits, and an [`Overlay`] with its changes so
/// far.
pub type EvmContext<'a> = MainnetContext<Overlay<'a>>;

/// An inspector of any type. An EVM is compiled for each type of inspector: with this one it is
/// compiled once.
pub type AnyInspector<'i> = dyn for<'e> Inspector<EvmContext<'e>> + 'i;
