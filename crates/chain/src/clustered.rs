//! A chain among the nodes of a cluster: what one node may not decide itself goes to the leader.
//!
//! A follower puts a transaction into its own pool, sends it to the leader, and answers its client
//! once its own head includes it. A transaction can be sent again because of its hash, a change
//! because of its id.

use std::{
    io,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use alloy_primitives::B256;
use k256::elliptic_curve::rand_core::{OsRng, RngCore};
use tetrad_store::{log::ReadLog, store::DiskHistory};
use tokio::{
    sync::{oneshot, watch},
    time::{Instant, sleep, sleep_until, timeout_at},
};

use super::{
    Accepted, Acknowledgement, Chain, Change, ChangeError, ChangeOutcome, Event, Leadership, Peers,
    PoolSelection, Pooled, Stopped, SubmitError,
    writer::{journal::FollowTo, thread::WriterCommand},
};

/// Time in which a transaction must be acknowledged, and a change forwarded: clients wait ten
/// seconds.
const ACKNOWLEDGE_TIMEOUT: Duration = Duration::from_secs(9);
/// Time after which an attempt that failed had reached a leader: without one it fails at once.
const REACHED_LEADER_AFTER: Duration = Duration::from_secs(1);
/// Pause before a request is sent to a leader again.
const RETRY_PAUSE: Duration = Duration::from_millis(25);

impl Chain {
    /// Joins a cluster: changes and transactions go to its leader from now on.
    pub fn join(&self, peers: Arc<dyn Peers>) {
        // A chain joins once.
        let _ = self.shared.peers.set(peers);
    }

    /// Returns who leads the cluster, and each change of that.
    pub fn leadership(&self) -> watch::Receiver<Leadership> {
        self.shared.leadership.subscribe()
    }

    /// Returns the height of the log that the newest head includes, in a cluster.
    pub fn height(&self) -> u64 {
        *self.shared.height.borrow()
    }

    /// Returns the number of entries that the log refused because another node was first, since the
    /// start.
    pub fn conflicts(&self) -> u64 {
        self.shared.conflicts.get()
    }

    /// Notifies the writer of entries of other nodes.
    pub fn entries_arrived(&self) {
        // A leader learns of other entries when its own are refused.
        if !self.shared.leadership.borrow().leads
            && !self.shared.summoned.swap(true, Ordering::AcqRel)
        {
            // Sending fails once the chain has stopped.
            let _ = self.commands.send(WriterCommand::Follow {
                to: FollowTo::Arrived,
                reply: None,
            });
        }
    }

    /// Follows the log to its end. Returns the height of the log that the newest head then
    /// includes.
    pub async fn follow(&self) -> Result<u64, ChangeError> {
        self.ask(|reply| WriterCommand::Follow {
            to: FollowTo::LogEnd,
            reply: Some(reply),
        })
        .await?
    }

    /// Begins to lead the cluster. Returns the height of the log at which this node does.
    pub async fn lead(&self, epoch: u64, node: String) -> Result<u64, ChangeError> {
        self.ask(|reply| WriterCommand::Lead { epoch, node, reply })
            .await?
    }

    /// Ceases to lead the cluster.
    pub async fn resign(&self) -> Result<(), Stopped> {
        self.ask(WriterCommand::Resign).await
    }

    /// Waits until the published head includes this height of the log.
    pub async fn reached(&self, height: u64) -> Result<(), Stopped> {
        let mut heights = self.shared.height.subscribe();
        heights
            .wait_for(|reached| *reached >= height)
            .await
            .map(drop)
            .map_err(|_| Stopped::Ended)
    }

    /// Makes a change on the leader, and waits until this node's head includes it.
    pub(super) async fn change_among(
        &self,
        peers: &dyn Peers,
        change: Change,
    ) -> Result<ChangeOutcome, ChangeError> {
        if matches!(change, Change::Reset) {
            // A reset clears the leader's pool. The other nodes have to forget its transactions as
            // well.
            let removed = self.remove(PoolSelection::All).await;
            removed.map_err(|error| ChangeError::Unavailable(error.to_string()))?;
        }

        // One id for all attempts: a leader that finds it in the log does not repeat the change.
        let request = OsRng.next_u64();
        let mut deadline = Instant::now() + ACKNOWLEDGE_TIMEOUT;
        loop {
            let began = Instant::now();
            let outcome = self.attempt_change(peers, &change, request).await;
            if began.elapsed() > REACHED_LEADER_AFTER {
                // A leader worked on it, and the next one goes on.
                deadline = Instant::now() + ACKNOWLEDGE_TIMEOUT;
            }

            match outcome {
                Err(ChangeError::NotLeading) if Instant::now() < deadline => {
                    sleep(RETRY_PAUSE).await;
                }
                Err(ChangeError::NotLeading) => {
                    return Err(ChangeError::Unavailable(
                        "no node leads the cluster".to_owned(),
                    ));
                }
                outcome => return outcome,
            }
        }
    }

    /// Makes a change here if this node leads, or else on the leader, and then waits until this
    /// node's head includes it.
    async fn attempt_change(
        &self,
        peers: &dyn Peers,
        change: &Change,
        request: u64,
    ) -> Result<ChangeOutcome, ChangeError> {
        // The borrow is a lock, which must not be held while waiting.
        let leads = self.shared.leadership.borrow().leads;
        if leads {
            return self.change_here(change.clone(), Some(request)).await;
        }

        let (outcome, height) = peers.change(change, request).await?;
        let reached = timeout_at(Instant::now() + ACKNOWLEDGE_TIMEOUT, self.reached(height)).await;
        reached.map_err(|_| {
            ChangeError::Unavailable("this node is behind the cluster's log".to_owned())
        })??;
        Ok(outcome)
    }

    /// Returns the heights of the checkpoints from which the chain can be replayed, in ascending
    /// order.
    pub fn checkpoints(&self) -> io::Result<Vec<u64>> {
        self.shared
            .history
            .as_ref()
            .map_or(Ok(Vec::new()), |history| history.bases())
    }

    /// Returns whether a checkpoint at this height is one from which the present chain can be
    /// replayed.
    pub fn is_base(&self, height: u64) -> bool {
        self.shared
            .history
            .as_ref()
            .is_some_and(|history| history.is_base(height))
    }

    /// Has a checkpoint of the newest head written.
    pub fn demand_checkpoint(&self) {
        // Sending fails once the chain has stopped.
        let _ = self.commands.send(WriterCommand::Checkpoint);
    }

    /// Returns this node's copy of the log, if it has a data directory.
    pub fn log(&self) -> Option<&dyn ReadLog> {
        self.shared.history.as_deref().map(DiskHistory::log)
    }

    /// Returns the height of the entry that this node cannot follow before it has a checkpoint
    /// after it, if there is one: it reverts the chain to before its oldest.
    pub fn needs_checkpoint_after(&self) -> Option<u64> {
        *self.shared.needs_checkpoint_after.lock()
    }

    /// Removes transactions from the pool: in a cluster from the leader's, and thereby from those
    /// of all nodes. Returns whether there were any.
    pub async fn remove(&self, selection: PoolSelection) -> Result<bool, SubmitError> {
        let deadline = Instant::now() + ACKNOWLEDGE_TIMEOUT;
        loop {
            let peers = self
                .shared
                .peers
                .get()
                .filter(|_| !self.shared.leadership.borrow().leads);
            let Some(peers) = peers else {
                let removed = self.remove_here(selection);
                if let Some(peers) = self.shared.peers.get() {
                    peers.forget(&removed).await;
                }
                return Ok(!removed.is_empty());
            };

            // Also here: the leader may not have the transaction yet.
            let here = !self.remove_here(selection).is_empty();
            match peers.remove(selection).await {
                Err(SubmitError::NotLeading) if Instant::now() < deadline => {
                    sleep(RETRY_PAUSE).await;
                }
                Err(SubmitError::NotLeading) => {
                    return Err(SubmitError::Unavailable(
                        "no node leads the cluster".to_owned(),
                    ));
                }
                removed => return Ok(removed? || here),
            }
        }
    }

    /// Removes transactions from this node's pool. Returns their hashes.
    pub(crate) fn remove_here(&self, selection: PoolSelection) -> Vec<B256> {
        let pool = self.pool();
        let hashes: Vec<_> = match selection {
            PoolSelection::Transaction(hash) => vec![hash],
            PoolSelection::Sender(sender) => pool
                .content_of(sender)
                .into_iter()
                .map(|(pooled, _)| pooled.transaction.hash())
                .collect(),
            PoolSelection::All => pool
                .content()
                .into_iter()
                .map(|(pooled, _)| pooled.transaction.hash())
                .collect(),
        };

        hashes
            .into_iter()
            .filter(|hash| {
                let reason = SubmitError::Dropped("transaction dropped".to_owned());
                pool.reject(*hash, reason)
            })
            .collect()
    }

    /// Waits until an accepted transaction is acknowledged by this node, which leads.
    pub async fn acknowledged_here(
        &self,
        accepted: Accepted,
    ) -> Result<Acknowledgement, SubmitError> {
        match self.shared.peers.get() {
            Some(peers) => self.acknowledged_among(&**peers, accepted, false).await,
            None => Err(SubmitError::NotLeading),
        }
    }

    /// Waits, in a cluster, until an accepted transaction is acknowledged: on the leader as on a
    /// single node, elsewhere by the leader, and then by this node's own head. Without `forward` a
    /// node that does not lead answers [`SubmitError::NotLeading`].
    pub(crate) async fn acknowledged_among(
        &self,
        peers: &dyn Peers,
        accepted: Accepted,
        forward: bool,
    ) -> Result<Acknowledgement, SubmitError> {
        let Accepted {
            pooled,
            mut included,
        } = accepted;
        let hash = pooled.transaction.hash();
        let deadline = Instant::now() + ACKNOWLEDGE_TIMEOUT;
        let mut leadership = self.leadership();
        let mut again = false;

        let outcome = loop {
            let leads = leadership.borrow_and_update().leads;
            if !leads && !forward {
                return Err(SubmitError::NotLeading);
            }

            if leads && (included.is_none() || !self.mining().is_instant()) {
                self.wake();
                // A block may have included it by now.
                if self.pool().get(hash).is_none() {
                    break Ok(Acknowledgement::Included);
                }
                match self.keep_as_leader(peers, &pooled).await {
                    Ok(true) => break Ok(Acknowledgement::Waiting),
                    Ok(false) => again = true,
                    Err(error) => break Err(error),
                }
                continue;
            }

            tokio::select! {
                outcome = inclusion(&mut included) => match outcome {
                    // The next block has no room for it, its fee cap is too low by now, or no block
                    // is sealed for it: it waits.
                    Ok(_) if self.pool().get(hash).is_some() => {
                        included = None;
                        again = true;
                    }
                    outcome => break outcome,
                },
                _ = leadership.changed() => again = true,
                () = sleep_until(deadline) => {
                    let reason = "no leader has acknowledged the transaction".to_owned();
                    break Err(SubmitError::Unavailable(reason));
                }
                outcome = self.acknowledged_by_leader(peers, &pooled, leads, again) => match outcome {
                    Err(SubmitError::NotLeading) => {
                        again = true;
                        sleep(RETRY_PAUSE).await;
                    }
                    outcome => break outcome,
                },
            }
        };
        outcome.or_else(|error| self.outcome_despite(error, hash, forward))
    }

    /// Sends a transaction to the leader, and waits until this node's head includes what the leader
    /// acknowledged. On the leader itself, wakes the writer and waits for ever.
    async fn acknowledged_by_leader(
        &self,
        peers: &dyn Peers,
        pooled: &Pooled,
        leads: bool,
        again: bool,
    ) -> Result<Acknowledgement, SubmitError> {
        if leads {
            self.wake();
            return std::future::pending().await;
        }

        let (acknowledgement, height) = peers.submit(pooled, again).await?;
        self.reached(height)
            .await
            .map_err(|_| SubmitError::Stopped)?;
        Ok(acknowledgement)
    }

    /// Returns the outcome of a transaction whose acknowledgement failed. One that this node's own
    /// client has sent leaves the pool.
    fn outcome_despite(
        &self,
        error: SubmitError,
        hash: B256,
        is_own: bool,
    ) -> Result<Acknowledgement, SubmitError> {
        // A leader that failed may have included it before.
        if self.transaction(&self.head(), hash).is_some() {
            return Ok(Acknowledgement::Included);
        }

        // A transaction of another node stays: that node retries, and may have an answer by now.
        if is_own {
            self.pool().reject(hash, error.clone());
        }
        Err(error)
    }

    /// Stores a transaction that waits where it survives this node. Returns whether this node still
    /// leads: a leader that was deposed without noticing it does not know what its transactions
    /// wait for.
    async fn keep_as_leader(
        &self,
        peers: &dyn Peers,
        pooled: &Pooled,
    ) -> Result<bool, SubmitError> {
        peers.keep(pooled).await?;
        self.follow()
            .await
            .map_err(|error| SubmitError::Unavailable(error.to_string()))?;
        Ok(self.shared.leadership.borrow().leads)
    }

    /// Returns whether a transaction of this node's pool is executable.
    fn is_ready(&self, pooled: &Arc<Pooled>) -> bool {
        self.pool()
            .content_of(pooled.transaction.sender)
            .iter()
            .any(|(own, is_ready)| *is_ready && Arc::ptr_eq(own, pooled))
    }

    /// Waits until a transaction that is already in this node's pool, or in a block, is
    /// acknowledged.
    pub async fn acknowledged_again(&self, hash: B256) -> Result<Acknowledgement, SubmitError> {
        let peers = self.shared.peers.get().ok_or(SubmitError::NotLeading)?;
        let mut events = self.subscribe();
        let deadline = Instant::now() + ACKNOWLEDGE_TIMEOUT;
        loop {
            if self.transaction(&self.head(), hash).is_some() {
                return Ok(Acknowledgement::Included);
            }

            let pooled = self
                .pool()
                .get(hash)
                .filter(|_| self.shared.leadership.borrow().leads);
            let Some(pooled) = pooled else {
                return Err(SubmitError::NotLeading);
            };

            let waits = !self.mining().is_instant() || !self.is_ready(&pooled);
            if waits || Instant::now() >= deadline {
                let leads = self.keep_as_leader(&**peers, &pooled).await?;
                return if leads {
                    Ok(Acknowledgement::Waiting)
                } else {
                    Err(SubmitError::NotLeading)
                };
            }

            self.wake();
            let published =
                async { while !matches!(events.recv().await, Ok(Event::Head { .. }) | Err(_)) {} };
            // A head may have been published before this call.
            let _ = timeout_at(deadline.min(Instant::now() + RETRY_PAUSE), published).await;
        }
    }
}

/// Waits for the outcome of a transaction that the next block may include; for ever for others.
async fn inclusion(
    included: &mut Option<oneshot::Receiver<Result<(), SubmitError>>>,
) -> Result<Acknowledgement, SubmitError> {
    let Some(included) = included else {
        return std::future::pending().await;
    };
    included
        .await
        .unwrap_or(Err(SubmitError::Stopped))
        .map(|()| Acknowledgement::Included)
}
