//! A recorded market.

mod file;

use std::{path::Path, sync::Arc};

use tetrad_network::network::Network;

pub use file::{Recording, ReplayError};

use super::{Condition, Moment, Source};

/// Replays a recording from the chain's first block on. Each row holds until the next one, the last
/// row for good.
#[derive(Clone, Debug)]
pub struct Replay {
    name: String,
    recording: Arc<Recording>,
}

impl Replay {
    /// Reads a recording from a file: CSV, or JSON if the name ends so.
    ///
    /// # Errors
    /// See [`ReplayError`].
    pub fn open(path: &Path, network: &Network) -> Result<Self, ReplayError> {
        let recording = Arc::new(Recording::read(path, network)?);
        Ok(Self {
            name: format!("replay:{}", path.display()),
            recording,
        })
    }
}

impl Source for Replay {
    fn prices(&self, moment: &Moment<'_>) -> Vec<Option<u64>> {
        self.recording
            .at(moment.time.saturating_sub(moment.genesis))
    }

    fn condition(&self) -> Condition {
        Condition::ok(&self.name)
    }
}
