//! Ending in good order: everybody hears of it, and the end waits for everybody.

use std::time::Duration;

use tokio::sync::{mpsc, watch};

/// Held by whatever has to end before the node does. Clones belong to the same node.
#[derive(Clone, Debug)]
pub struct Shutdown {
    begun: watch::Receiver<bool>,
    _alive: mpsc::Sender<()>,
}

/// Starts the end and waits for it.
#[derive(Debug)]
pub struct ShutdownHandle {
    begin: watch::Sender<bool>,
    alive: mpsc::Receiver<()>,
}

impl ShutdownHandle {
    /// A handle and what to give to those who have to end.
    pub fn new() -> (Self, Shutdown) {
        let (begin, begun) = watch::channel(false);
        let (alive, all_gone) = mpsc::channel(1);
        (Self { begin, alive: all_gone }, Shutdown { begun, _alive: alive })
    }

    /// Tells everybody to end, and waits until they have or the time is up. Returns whether all ended.
    pub async fn shut_down(mut self, patience: Duration) -> bool {
        // Nobody may be there to hear it.
        let _ = self.begin.send(true);
        tokio::time::timeout(patience, self.alive.recv()).await.is_ok()
    }
}

impl Shutdown {
    /// Resolves when the end begins.
    pub async fn begun(&mut self) {
        // An error means that the handle is gone, which is an end, too.
        let _ = self.begun.wait_for(|begun| *begun).await;
    }

    /// Whether the end has begun.
    pub fn has_begun(&self) -> bool {
        *self.begun.borrow()
    }
}
