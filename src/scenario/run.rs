//! A running scenario: performs its steps when they are due, and releases what it holds.

use std::{sync::Arc, time::Duration};

use alloy_primitives::B256;
use parking_lot::Mutex;
use tetrad_chain::Chain;
use tetrad_primitives::block::Status;
use tokio::{
    sync::watch,
    time::{MissedTickBehavior, interval},
};

use super::{
    actions::{ActiveEffect, StepMoment},
    document::{Scenario, ScenarioStep, StepAction, When},
    node::ScenarioNode,
};

/// Interval at which due steps are looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The state of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunState {
    Running,
    Finished,
    Stopped,
}

/// The state of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StepState {
    Waiting,
    /// Its transaction was accepted, and is in no block yet.
    Sent(B256),
    Done(String),
    Failed(String),
    /// The scenario ended before the step was due.
    Skipped,
}

/// Ends a run whose task has ended without doing so, for example in a panic.
struct RunGuard(Arc<ScenarioRun>);

impl Drop for RunGuard {
    fn drop(&mut self) {
        if self.0.state() == RunState::Running {
            self.0.end(RunState::Stopped);
        }
    }
}

/// A scenario that was started.
pub(super) struct ScenarioRun {
    pub(super) id: u64,
    pub(super) scenario: Scenario,
    /// Milliseconds since the Unix epoch.
    pub(super) started_ms: u64,
    progress: Mutex<Vec<StepState>>,
    state: watch::Sender<RunState>,
    /// Whether it is to be stopped.
    stopping: watch::Sender<bool>,
}

impl ScenarioRun {
    pub(super) fn new(id: u64, scenario: Scenario, started_ms: u64) -> Self {
        let progress = Mutex::new(vec![StepState::Waiting; scenario.steps.len()]);
        Self {
            id,
            scenario,
            started_ms,
            progress,
            state: watch::Sender::new(RunState::Running),
            stopping: watch::Sender::new(false),
        }
    }

    pub(super) fn state(&self) -> RunState {
        *self.state.borrow()
    }

    /// The steps with their states.
    pub(super) fn progress(&self) -> Vec<(&ScenarioStep, StepState)> {
        self.scenario
            .steps
            .iter()
            .zip(self.progress.lock().clone())
            .collect()
    }

    /// Stops the scenario, and waits until it has released what it holds.
    pub(super) async fn stop(&self) {
        self.stopping.send_replace(true);
        // The sender is this run's own. Its task always sets the state.
        let _ = self
            .state
            .subscribe()
            .wait_for(|state| *state != RunState::Running)
            .await;
    }

    /// Performs the steps until the end, a stop, or the shutdown of the node.
    pub(super) async fn play(self: Arc<Self>, node: Arc<ScenarioNode>) {
        let _guard = RunGuard(self.clone());
        let mut shutdown = node.shutdown.clone();
        let mut stopping = self.stopping.subscribe();
        let first_block = node.chain.head().number();
        let mut timer = interval(POLL_INTERVAL);
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);

        let mut effects: Vec<(Duration, ActiveEffect)> = Vec::new();
        let state = loop {
            let elapsed =
                Duration::from_millis(node.clock.now_ms().saturating_sub(self.started_ms));
            let blocks = node.chain.head().number().saturating_sub(first_block);

            for (position, due) in self.due(elapsed, blocks) {
                self.perform(&node, position, StepMoment { elapsed, due }, &mut effects)
                    .await;
            }

            self.complete_sent_steps(&node.chain);
            // After the steps, so that prices do not jump back between two effects.
            effects.retain(|(until, _)| *until > elapsed);

            if elapsed >= self.scenario.lasts {
                break RunState::Finished;
            }
            if *stopping.borrow_and_update() {
                break RunState::Stopped;
            }

            tokio::select! {
                _ = timer.tick() => {}
                _ = stopping.changed() => {}
                () = shutdown.begun() => break RunState::Stopped,
            }
        };

        // The steps at the end act on a node without the scenario's effects.
        drop(effects);
        // They have as long as requests have at shutdown.
        tokio::select! {
            () = self.perform_last(&node) => {}
            () = shutdown.cut() => {}
        }
        self.end(state);
    }

    /// Performs the steps at the end.
    async fn perform_last(&self, node: &Arc<ScenarioNode>) {
        let moment = StepMoment {
            elapsed: self.scenario.lasts,
            due: self.scenario.lasts,
        };
        for (position, step) in self.scenario.steps.iter().enumerate() {
            if step.when == When::End {
                self.perform(node, position, moment, &mut Vec::new()).await;
            }
        }
        self.complete_sent_steps(&node.chain);
    }

    /// Completes the steps whose transactions are in a block.
    pub(super) fn complete_sent_steps(&self, chain: &Chain) {
        let head = chain.head();
        for (step, state) in self.progress.lock().iter_mut().enumerate() {
            let StepState::Sent(hash) = *state else {
                continue;
            };
            let Some((block, index)) = chain.transaction(&head, hash) else {
                continue;
            };

            let receipt = block.receipts.get(index);
            *state = if receipt.is_some_and(|receipt| receipt.status == Status::Success) {
                StepState::Done(hash.to_string())
            } else {
                tracing::warn!(scenario = self.scenario.name, step = step + 1, %hash, "a step's transaction reverted");
                StepState::Failed(format!("transaction {hash} reverted"))
            };
        }
    }

    fn end(&self, state: RunState) {
        let mut progress = self.progress.lock();
        let waiting = progress
            .iter_mut()
            .filter(|state| **state == StepState::Waiting);
        waiting.for_each(|state| *state = StepState::Skipped);
        drop(progress);

        tracing::info!(
            scenario = self.scenario.name,
            id = self.id,
            ?state,
            "a scenario has ended"
        );

        // Last: `stop` returns when the state changes.
        self.state.send_replace(state);
    }

    /// Returns the steps that are due, in order, with the time since the start at which each was.
    fn due(&self, elapsed: Duration, blocks: u64) -> Vec<(usize, Duration)> {
        let progress = self.progress.lock();
        let waiting = self.scenario.steps.iter().enumerate().zip(&*progress);
        let due = waiting
            .filter(|(_, state)| **state == StepState::Waiting)
            .filter_map(|((position, step), _)| match step.when {
                When::After(after) if after <= elapsed => Some((position, after)),
                When::Block(block) if block <= blocks => Some((position, elapsed)),
                When::After(_) | When::Block(_) | When::End => None,
            });
        let mut due: Vec<_> = due.collect();
        due.sort_by_key(|(position, time)| (*time, *position));
        due
    }

    async fn perform(
        &self,
        node: &Arc<ScenarioNode>,
        position: usize,
        moment: StepMoment,
        effects: &mut Vec<(Duration, ActiveEffect)>,
    ) {
        let Some(step) = self.scenario.steps.get(position) else {
            return;
        };

        let state = match self.act(node, &step.action, moment, effects).await {
            Ok(state) => state,
            Err(what) => {
                tracing::warn!(scenario = self.scenario.name, step = position + 1, %what, "a step failed");
                StepState::Failed(what)
            }
        };

        if let Some(slot) = self.progress.lock().get_mut(position) {
            *slot = state;
        }
    }

    /// Returns when an effect that began at this moment ends: after `lasts`, but no later than the
    /// scenario.
    fn effect_end(&self, moment: StepMoment, lasts: Option<Duration>) -> Duration {
        lasts.map_or(self.scenario.lasts, |lasts| {
            moment.due.saturating_add(lasts).min(self.scenario.lasts)
        })
    }

    async fn act(
        &self,
        node: &Arc<ScenarioNode>,
        action: &StepAction,
        moment: StepMoment,
        effects: &mut Vec<(Duration, ActiveEffect)>,
    ) -> Result<StepState, String> {
        match action {
            StepAction::Price {
                tokens,
                target,
                over_seconds,
                lasts,
            } => {
                let (effect, done) = node
                    .move_prices(tokens, *target, *over_seconds, moment)
                    .await?;
                effects.push((self.effect_end(moment, *lasts), effect));
                Ok(StepState::Done(done))
            }
            StepAction::Silence { tokens, lasts } => {
                let (effect, done) = node.silence(tokens)?;
                effects.push((self.effect_end(moment, *lasts), effect));
                Ok(StepState::Done(done))
            }
            StepAction::Transaction(transaction) => {
                node.send(transaction).await.map(StepState::Sent)
            }
            StepAction::Advance(seconds) => node.advance(*seconds).await.map(StepState::Done),
            StepAction::Reorg(depth) => node.reorg(*depth).await.map(StepState::Done),
            StepAction::Fault { fault, cut, lasts } => {
                effects.push((self.effect_end(moment, *lasts), node.fault(fault, *cut)));
                Ok(StepState::Done("in effect".to_owned()))
            }
        }
    }
}
