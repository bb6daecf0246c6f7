//! Ending in good order: everybody hears of it, and the end waits for everybody.

use std::time::Duration;

use tokio::{
    sync::{mpsc, watch},
    time::timeout,
};

/// How far the end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Running,
    /// What is under way is finished.
    Begun,
    /// Nothing is.
    Cut,
}

/// How long what was under way has to notice that it is not waited for any more.
const CUT_PATIENCE: Duration = Duration::from_millis(500);

/// Held by whatever has to end before the node does. Clones belong to the same node.
#[derive(Clone, Debug)]
pub struct Shutdown {
    stage: watch::Receiver<Stage>,
    _alive: mpsc::Sender<()>,
}

/// Starts the end and waits for it.
#[derive(Debug)]
pub struct ShutdownHandle {
    stage: watch::Sender<Stage>,
    alive: mpsc::Receiver<()>,
}

impl ShutdownHandle {
    /// A handle and what to give to those who have to end.
    pub fn new() -> (Self, Shutdown) {
        let (sender, stage) = watch::channel(Stage::Running);
        let (alive, all_gone) = mpsc::channel(1);
        (Self { stage: sender, alive: all_gone }, Shutdown { stage, _alive: alive })
    }

    /// Tells everybody to end, and waits until they have or the time is up. What is still under way then is given up.
    /// Returns whether all ended by themselves.
    pub async fn shut_down(mut self, patience: Duration) -> bool {
        // Nobody may be there to hear it.
        let _ = self.stage.send(Stage::Begun);
        let ended = timeout(patience, self.alive.recv()).await.is_ok();
        if !ended {
            let _ = self.stage.send(Stage::Cut);
            let _ = timeout(CUT_PATIENCE, self.alive.recv()).await;
        }
        ended
    }
}

impl Shutdown {
    /// Resolves when the end begins.
    pub async fn begun(&mut self) {
        self.reached(Stage::Begun).await;
    }

    /// Resolves when what is under way has taken too long to finish.
    pub async fn cut(&mut self) {
        self.reached(Stage::Cut).await;
    }

    async fn reached(&mut self, stage: Stage) {
        // An error means that the handle is gone, which is an end, too.
        let _ = self.stage.wait_for(|now| *now >= stage).await;
    }

    /// Whether the end has begun.
    pub fn has_begun(&self) -> bool {
        *self.stage.borrow() >= Stage::Begun
    }
}
