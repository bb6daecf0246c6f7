//! Graceful shutdown: all tasks are notified, and the node waits for them.
//!
//! On SIGTERM and SIGINT the node stops accepting connections, finishes requests (eight seconds),
//! closes WebSockets with 1001 and cancels the rest, within ten seconds in all.

use std::time::Duration;

use tokio::{
    sync::{mpsc, watch},
    time::timeout,
};

/// The stages of a shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Running,
    /// Work in flight is finished.
    Begun,
    /// Work in flight is abandoned.
    Cut,
}

/// The time in which tasks have to notice that their work is abandoned.
const CUT_TIMEOUT: Duration = Duration::from_millis(500);

/// Held by every task that has to end before the node does. Clones belong to the same node.
#[derive(Clone, Debug)]
pub struct Shutdown {
    stage: watch::Receiver<Stage>,
    _alive: mpsc::Sender<()>,
}

/// Starts the shutdown and waits for it.
#[derive(Debug)]
pub struct ShutdownHandle {
    stage: watch::Sender<Stage>,
    alive: mpsc::Receiver<()>,
}

impl ShutdownHandle {
    /// A handle, and the value to give to tasks.
    pub fn new() -> (Self, Shutdown) {
        let (sender, stage) = watch::channel(Stage::Running);
        let (alive, all_gone) = mpsc::channel(1);
        (
            Self {
                stage: sender,
                alive: all_gone,
            },
            Shutdown {
                stage,
                _alive: alive,
            },
        )
    }

    /// Notifies all tasks, and waits until they have ended or the time is up. Work still in flight
    /// is then abandoned. Returns whether all tasks ended in time.
    pub async fn shut_down(mut self, time_limit: Duration) -> bool {
        // Fails if there are no tasks.
        let _ = self.stage.send(Stage::Begun);

        let ended = timeout(time_limit, self.alive.recv()).await.is_ok();
        if !ended {
            let _ = self.stage.send(Stage::Cut);
            let _ = timeout(CUT_TIMEOUT, self.alive.recv()).await;
        }
        ended
    }
}

impl Shutdown {
    /// Resolves when the shutdown begins.
    pub async fn begun(&mut self) {
        self.reached(Stage::Begun).await;
    }

    /// Resolves when work in flight has taken too long to finish.
    pub async fn cut(&mut self) {
        self.reached(Stage::Cut).await;
    }

    async fn reached(&mut self, stage: Stage) {
        // An error means that the handle was dropped, which counts as a shutdown.
        let _ = self.stage.wait_for(|now| *now >= stage).await;
    }

    /// Whether the shutdown has begun.
    pub(crate) fn has_begun(&self) -> bool {
        *self.stage.borrow() >= Stage::Begun
    }
}
