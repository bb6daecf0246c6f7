//! How long the parts of making a block take.

use std::time::Instant;

use crate::metrics::{Distribution, Histogram};

/// A part of making a block, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The node's own transactions are made.
    Preamble,
    /// Transactions are taken from the pool and run.
    Execute,
    /// The trie takes the changes and gives the root.
    Root,
    /// The header and the next head are made.
    Seal,
    /// The log takes the block, and has it on disk if that was asked for.
    Append,
    /// The head is published, and whoever waits is answered.
    Publish,
}

const NAMES: [&str; 6] = ["preamble", "execute", "root", "seal", "append", "publish"];

/// What was measured so far.
#[derive(Debug, Default)]
pub(in crate::chain) struct Phases([Histogram; NAMES.len()]);

impl Phases {
    /// Does a part of the work, and takes its time.
    pub(super) fn time<T>(&self, phase: Phase, work: impl FnOnce() -> T) -> T {
        let at = phase as usize;
        let _span = tracing::trace_span!(target: "tetrad::span", "phase", otel.name = NAMES[at]).entered();
        let began = Instant::now();
        let outcome = work();
        self.0[at].since(began);
        outcome
    }

    pub(in crate::chain) fn distributions(&self) -> Vec<(&'static str, Distribution)> {
        NAMES.into_iter().zip(self.0.iter().map(Histogram::distribution)).collect()
    }
}
