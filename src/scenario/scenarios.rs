//! The scenarios of a node: starting, listing and stopping them.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use tetrad_network::network::Network;

use super::{
    document::{DocumentError, Scenario},
    node::ScenarioNode,
    run::{RunState, ScenarioRun},
};

/// Most scenarios that run at a time, and most that are listed.
const MAX_RUNNING: usize = 8;
const MAX_LISTED: usize = 32;

/// The scenarios of a node. Clones share them.
#[derive(Clone)]
pub struct Scenarios(Arc<SharedScenarios>);

struct SharedScenarios {
    node: Arc<ScenarioNode>,
    runs: Mutex<Runs>,
}

#[derive(Default)]
struct Runs {
    /// Oldest first.
    listed: VecDeque<Arc<ScenarioRun>>,
    started: u64,
}

/// The reason why a scenario was not started.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error(transparent)]
    Document(#[from] DocumentError),
    #[error("{MAX_RUNNING} scenarios are running; stop one of them first")]
    TooMany,
}

impl Scenarios {
    /// No scenarios yet.
    pub fn new(node: ScenarioNode) -> Self {
        Self(Arc::new(SharedScenarios {
            node: Arc::new(node),
            runs: Mutex::default(),
        }))
    }

    pub(super) fn network(&self) -> &Network {
        &self.0.node.network
    }

    /// Parses a document and starts its scenario.
    pub(super) fn start_document(&self, text: &str) -> Result<Arc<ScenarioRun>, StartError> {
        self.start(Scenario::parse(text, &self.0.node.context)?)
            .ok_or(StartError::TooMany)
    }

    /// Starts a scenario. Returns none if too many are running.
    pub(super) fn start(&self, scenario: Scenario) -> Option<Arc<ScenarioRun>> {
        let mut runs = self.0.runs.lock();
        let running = runs
            .listed
            .iter()
            .filter(|run| run.state() == RunState::Running)
            .count();
        if running >= MAX_RUNNING {
            return None;
        }

        // One that runs stays listed, or it could not be stopped.
        if runs.listed.len() >= MAX_LISTED
            && let Some(ended) = runs
                .listed
                .iter()
                .position(|run| run.state() != RunState::Running)
        {
            runs.listed.remove(ended);
        }
        runs.started += 1;
        let run = Arc::new(ScenarioRun::new(
            runs.started,
            scenario,
            self.0.node.clock.now_ms(),
        ));

        runs.listed.push_back(run.clone());
        tokio::spawn(run.clone().play(self.0.node.clone()));
        Some(run)
    }

    /// Starts the scenario that the node was started with.
    pub fn begin(&self, scenario: Scenario) {
        // No other one is running yet.
        let _ = self.start(scenario);
    }

    /// Returns all scenarios, the newest first.
    pub(super) fn list(&self) -> Vec<Arc<ScenarioRun>> {
        // Not under the lock: each transaction is looked up on the chain.
        let runs: Vec<_> = self.0.runs.lock().listed.iter().rev().cloned().collect();
        runs.iter()
            .for_each(|run| run.complete_sent_steps(&self.0.node.chain));
        runs
    }

    /// Returns a scenario by its id.
    pub(super) fn find(&self, id: u64) -> Option<Arc<ScenarioRun>> {
        self.0
            .runs
            .lock()
            .listed
            .iter()
            .find(|run| run.id == id)
            .cloned()
    }
}
