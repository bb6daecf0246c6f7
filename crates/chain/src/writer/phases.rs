//! Timing of the phases of sealing a block.

use std::time::Instant;

use tetrad_stdx::metrics::{Distribution, Histogram};

/// A phase of sealing a block, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Building the node's own transactions.
    Preamble,
    /// Executing the pool's transactions.
    Execute,
    /// Applying the changes to the trie and computing the state root.
    Root,
    /// Building the header and the next head.
    Seal,
    /// Appending the block to the log, with the configured durability.
    Append,
    /// Publishing the head and answering submitters.
    Publish,
}

const NAMES: [&str; 6] = ["preamble", "execute", "root", "seal", "append", "publish"];

/// The histograms of the phases' durations.
#[derive(Debug, Default)]
pub(crate) struct Phases([Histogram; NAMES.len()]);

impl Phases {
    /// Runs the work of a phase and records its duration.
    pub(super) fn time<T>(&self, phase: Phase, work: impl FnOnce() -> T) -> T {
        let at = phase as usize;
        let _span =
            tracing::trace_span!(target: "tetrad::span", "phase", otel.name = NAMES[at]).entered();

        let began = Instant::now();
        let outcome = work();
        self.0[at].since(began);
        outcome
    }

    pub(crate) fn distributions(&self) -> Vec<(&'static str, Distribution)> {
        NAMES
            .into_iter()
            .zip(self.0.iter().map(Histogram::distribution))
            .collect()
    }
}
