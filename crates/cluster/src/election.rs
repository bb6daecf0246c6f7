//! The election of the leader: a lease in the cluster's bucket that the leader renews.
//!
//! A node that sees the same revision of the lease for [`LEASE_TIMEOUT`], while the bucket answers,
//! takes it, follows the log to its end and begins an epoch. The lease only keeps two nodes from
//! trying to lead at the same time: a leader that was thought dead finds that the log no longer
//! takes its entries.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tetrad_chain::{Chain, ChangeError};
use tokio::{
    sync::{Notify, oneshot, watch},
    task::JoinHandle,
    time::{Instant, MissedTickBehavior, interval, timeout},
};

use super::{
    ClusterCounts, ClusterError, ClusterRole,
    bucket::{Claim, ClusterBucket, Versioned},
    clock::{self, ClockWatch},
    connection::Connection,
    process::NodeProcess,
    state::StateBoard,
};

/// Interval at which the lease is read, and renewed by its holder: several attempts fit into
/// [`LEASE_TIMEOUT`].
const LEASE_POLL: Duration = Duration::from_millis(250);
/// Time without a renewal after which another node may take the lease.
const LEASE_TIMEOUT: Duration = Duration::from_millis(1_500);
/// Interval at which a node checks its server and its clock, and a leader its writer.
const HEALTH_CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// Number of consecutive failed checks of the writer after which a leader steps down.
const MAX_FAILED_CHECKS: u32 = 3;
/// Time for which a node that stepped down does not lead again, so that another one can.
const STEP_DOWN_PAUSE: Duration = Duration::from_secs(10);
/// Time for which a node leaves a vacant lease to one that has more of the log. Clients wait
/// longer, so that a false announcement costs them no request.
const YIELD_TIMEOUT: Duration = Duration::from_secs(3);
/// Time without an answer after which a node reconnects: its server may be cut off from the
/// others.
const RECONNECT_AFTER: Duration = Duration::from_secs(4);
/// Time limit for the writer to stop leading, and for the lease to be released.
const RESIGN_TIMEOUT: Duration = Duration::from_secs(5);

/// A node's part in the election.
#[derive(Debug)]
pub(super) struct Election {
    node: String,
    instance: u64,
    /// Whether the node may lead.
    may_lead: AtomicBool,
    has_left: AtomicBool,
    /// The holder of the lease.
    leader: watch::Sender<Option<NodeProcess>>,
    /// Time until which the node does not lead, after it stepped down.
    paused_until: Mutex<Option<Instant>>,
    /// How the clock differs from the servers', if it is wrong.
    wrong_clock: Mutex<Option<String>>,
    /// When the bucket stopped answering.
    unanswered: Mutex<Option<Instant>>,
    /// A request to release the lease, and the channel on which to confirm it.
    release_request: Mutex<Option<oneshot::Sender<()>>>,
    release_requested: Notify,
}

impl Election {
    pub(super) fn new(node: String, instance: u64, role: ClusterRole) -> Self {
        Self {
            node,
            instance,
            may_lead: AtomicBool::new(role == ClusterRole::Auto),
            has_left: AtomicBool::new(false),
            leader: watch::Sender::new(None),
            paused_until: Mutex::default(),
            wrong_clock: Mutex::default(),
            unanswered: Mutex::default(),
            release_request: Mutex::default(),
            release_requested: Notify::new(),
        }
    }

    /// Returns the process that should lead, and its changes.
    pub(super) fn leader(&self) -> watch::Receiver<Option<NodeProcess>> {
        self.leader.subscribe()
    }

    fn claim(&self, epoch: u64) -> Claim {
        Claim {
            node: self.node.clone(),
            instance: self.instance,
            epoch,
        }
    }

    /// Returns whether the node has left the cluster.
    pub(super) fn has_left(&self) -> bool {
        self.has_left.load(Ordering::Acquire)
    }

    /// Returns how the clock differs from the servers', if it is wrong.
    pub(super) fn wrong_clock(&self) -> Option<String> {
        self.wrong_clock.lock().clone()
    }

    /// Returns whether the servers have not answered for a while.
    pub(super) fn is_unanswered(&self) -> bool {
        self.unanswered
            .lock()
            .is_some_and(|since| since.elapsed() >= RECONNECT_AFTER)
    }

    fn may_lead(&self) -> bool {
        self.may_lead.load(Ordering::Acquire)
            && self.wrong_clock.lock().is_none()
            && self
                .paused_until
                .lock()
                .is_none_or(|until| Instant::now() >= until)
    }

    /// Ceases to lead for a while.
    pub(super) async fn step_down(&self, chain: &Chain) {
        *self.paused_until.lock() = Some(Instant::now() + STEP_DOWN_PAUSE);
        self.resign_and_request_release(chain).await;
    }

    /// Ceases to lead for good.
    pub(super) async fn leave(&self, chain: &Chain) {
        self.may_lead.store(false, Ordering::Release);
        self.has_left.store(true, Ordering::Release);
        self.resign_and_request_release(chain).await;
    }

    async fn resign_and_request_release(&self, chain: &Chain) {
        // The writer first: once the lease is free, another node begins to lead.
        let _ = timeout(RESIGN_TIMEOUT, chain.resign()).await;

        let (done, released) = oneshot::channel();
        *self.release_request.lock() = Some(done);
        self.release_requested.notify_one();
        let _ = timeout(RESIGN_TIMEOUT, released).await;
    }
}

/// Starts taking part in the election.
pub(super) fn run(
    election: Arc<Election>,
    bucket: ClusterBucket,
    connection: Connection,
    chain: Chain,
    board: Arc<StateBoard>,
    counts: Arc<ClusterCounts>,
) {
    let candidate = Candidate {
        election,
        board,
        bucket,
        connection,
        chain,
        counts,
        held: None,
        seen: None,
        yielding: None,
        beginning: None,
        failed_checks: 0,
        clock: ClockWatch::begin(),
        has_jumped: false,
        reconnected: None,
    };
    tokio::spawn(candidate.run());
}

/// The lease as this node holds it.
struct HeldLease {
    revision: u64,
    claim: Claim,
}

/// The lease of another node, as it was first seen.
struct Seen {
    revision: u64,
    since: Instant,
}

struct Candidate {
    election: Arc<Election>,
    board: Arc<StateBoard>,
    bucket: ClusterBucket,
    connection: Connection,
    chain: Chain,
    counts: Arc<ClusterCounts>,
    held: Option<HeldLease>,
    seen: Option<Seen>,
    /// When this node began to leave a vacant lease to one that has more of the log.
    yielding: Option<Instant>,
    /// The beginning of an epoch under way.
    beginning: Option<JoinHandle<Result<u64, ChangeError>>>,
    /// Number of consecutive failed checks of the writer.
    failed_checks: u32,
    clock: ClockWatch,
    /// Whether the clock has jumped, and has not been right since.
    has_jumped: bool,
    /// When this node last gave up its connection.
    reconnected: Option<Instant>,
}

impl Candidate {
    async fn run(mut self) {
        let mut ticks = interval(LEASE_POLL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut checked = Instant::now();
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.election.release_requested.notified() => {}
            }

            // Before the lease is renewed.
            let release_request = self.election.release_request.lock().take();
            if let Some(done) = release_request {
                self.release_lease().await;
                let _ = done.send(());
            }

            if self.held.is_some() {
                self.renew().await;
            } else {
                self.observe().await;
            }

            if checked.elapsed() >= HEALTH_CHECK_INTERVAL {
                checked = Instant::now();
                self.check_server().await;
                self.check_clock().await;
                if self.held.is_some() && self.beginning.is_none() {
                    self.check_writer().await;
                }
            }
        }
    }

    /// Renews the lease, unless this node no longer leads.
    async fn renew(&mut self) {
        if let Some(beginning) = self.beginning.take_if(|beginning| beginning.is_finished()) {
            match beginning.await {
                Ok(Ok(height)) => {
                    self.counts.terms.add(1);
                    let epoch = self.held.as_ref().map_or(0, |held| held.claim.epoch);
                    tracing::info!(epoch, height, "this node leads the cluster");
                }
                Ok(Err(error)) => {
                    tracing::warn!(%error, "this node cannot lead the cluster");
                    return self.release_lease().await;
                }
                Err(error) => tracing::error!(%error, "beginning to lead failed"),
            }
        }

        // Another node's epoch in the log has deposed the writer.
        if self.beginning.is_none() && !self.chain.leadership().borrow().leads {
            return self.release_lease().await;
        }

        let Some(HeldLease { revision, claim }) = &self.held else {
            return;
        };

        match self.bucket.take_lease(Some(*revision), claim).await {
            Ok(Some(revision)) => {
                self.answered();
                if let Some(held) = &mut self.held {
                    held.revision = revision;
                }
            }
            Ok(None) => match self.bucket.lease().await {
                // An earlier renewal was stored and not answered, or a server that is behind shows
                // an older one. The next attempt shows which.
                Ok(Some(found)) if found.value.as_ref() == Some(claim) => {
                    if let Some(held) = &mut self.held {
                        held.revision = held.revision.max(found.revision);
                    }
                }
                // Another node has taken it, because this one was away.
                Ok(_) => {
                    self.held = None;
                    self.seen = None;
                    let _ = timeout(RESIGN_TIMEOUT, self.chain.resign()).await;
                }
                Err(error) => {
                    tracing::debug!(%error, "failed to read the lease");
                    self.missed_answer().await;
                }
            },
            // The bucket does not answer. No other node can take the lease meanwhile.
            Err(error) => {
                tracing::debug!(%error, "failed to renew the lease");
                self.missed_answer().await;
            }
        }
    }

    fn answered(&mut self) {
        *self.election.unanswered.lock() = None;
    }

    /// Reconnects, to any of the servers, if this one has not answered for [`RECONNECT_AFTER`].
    async fn missed_answer(&mut self) {
        let since = *self
            .election
            .unanswered
            .lock()
            .get_or_insert_with(Instant::now);
        let before = self.reconnected.filter(|reconnected| *reconnected > since);
        if before.unwrap_or(since).elapsed() < RECONNECT_AFTER || !self.connection.is_connected() {
            return;
        }

        if before.is_none() {
            tracing::warn!(
                "the NATS server of this node does not answer: the node connects again until one \
                 does"
            );
        }
        self.reconnected = Some(Instant::now());
        self.connection.reconnect().await;
    }

    /// Leaves a server that loses messages, to which a later connection has led.
    async fn check_server(&mut self) {
        let Some(reason) = self.connection.unfit_server() else {
            return;
        };

        tracing::warn!(reason, "this node connects again");
        if self.held.is_some() {
            self.resign_and_release().await;
        }
        self.connection.reconnect().await;
    }

    /// Stops the writer, then releases the lease: once it is free, another node begins to lead.
    async fn resign_and_release(&mut self) {
        let _ = timeout(RESIGN_TIMEOUT, self.chain.resign()).await;
        self.release_lease().await;
    }

    async fn release_lease(&mut self) {
        self.beginning = None;
        if let Some(HeldLease { revision, claim }) = self.held.take() {
            let _ = self.bucket.release_lease(revision, &claim).await;
            self.election.leader.send_replace(None);
        }
        self.seen = None;
    }

    /// Looks at the lease, and takes it if no node holds it.
    async fn observe(&mut self) {
        let lease = match self.bucket.lease().await {
            Ok(lease) => lease,
            Err(error) => {
                // Time during which no holder could have renewed it does not count.
                self.seen = None;
                tracing::debug!(%error, "failed to read the lease");
                self.missed_answer().await;
                return;
            }
        };
        self.answered();

        let revision = lease.as_ref().map(|lease| lease.revision);
        let claim = lease.and_then(|Versioned { value, .. }| value);
        let holder = claim.as_ref().filter(|claim| !claim.node.is_empty());
        let is_vacant = self.is_vacant(holder, revision);
        let holder = holder.map(|holder| NodeProcess {
            node: holder.node.clone(),
            instance: holder.instance,
        });
        let holder = holder.filter(|_| !is_vacant);
        self.election.leader.send_if_modified(|leader| {
            let changed = *leader != holder;
            leader.clone_from(&holder);
            changed
        });

        if !is_vacant {
            self.yielding = None;
        } else if self.election.may_lead()
            && self.connection.is_connected()
            && self.connection.unfit_server().is_none()
            && !self.yields()
        {
            self.take(revision, claim.map_or(0, |claim| claim.epoch))
                .await;
        }
    }

    /// Returns whether no other node holds the lease. `holder` is the claim of its last one, if
    /// that did not give it up.
    fn is_vacant(&mut self, holder: Option<&Claim>, revision: Option<u64>) -> bool {
        let (Some(holder), Some(revision)) = (holder, revision) else {
            return true;
        };
        // This node's own, from an attempt without an answer or a release that failed.
        if *holder == self.election.claim(holder.epoch) {
            return true;
        }

        let seen = self.seen.take().filter(|seen| seen.revision == revision);
        let seen = seen.unwrap_or_else(|| Seen {
            revision,
            since: Instant::now(),
        });
        let has_lapsed = seen.since.elapsed() >= LEASE_TIMEOUT;
        self.seen = Some(seen);
        has_lapsed
    }

    /// Whether this node leaves the lease to one with more of the log, which completes a stream
    /// that has lost its end before anything else is appended. Limited to [`YIELD_TIMEOUT`],
    /// because an announcement proves nothing.
    fn yields(&mut self) -> bool {
        if !self.board.is_behind(&self.chain) {
            self.yielding = None;
            return false;
        }
        self.yielding.get_or_insert_with(Instant::now).elapsed() < YIELD_TIMEOUT
    }

    async fn take(&mut self, revision: Option<u64>, epoch: u64) {
        // Above both: the last holder may have claimed an epoch that never began.
        let epoch = epoch
            .max(self.chain.leadership().borrow().epoch)
            .saturating_add(1);
        let claim = self.election.claim(epoch);
        match self.bucket.take_lease(revision, &claim).await {
            Ok(Some(revision)) => {
                self.held = Some(HeldLease { revision, claim });
                self.failed_checks = 0;

                let chain = self.chain.clone();
                let node = self.election.node.clone();
                self.beginning = Some(tokio::spawn(async move { chain.lead(epoch, node).await }));

                let Election { node, instance, .. } = &*self.election;
                self.election.leader.send_replace(Some(NodeProcess {
                    node: node.clone(),
                    instance: *instance,
                }));
            }
            Ok(None) => self.seen = None,
            Err(error) => tracing::debug!(%error, "failed to take the lease"),
        }
    }

    /// Compares the clock with the servers' after it has jumped. A node whose clock is wrong does
    /// not lead: blocks have its time.
    async fn check_clock(&mut self) {
        self.has_jumped |= self.clock.has_jumped();
        if !self.has_jumped {
            return;
        }

        let wrong = match clock::check(&self.bucket, &self.election.node).await {
            Ok(()) => None,
            Err(ClusterError::Refused(reason)) => Some(reason),
            // Nothing is known without an answer. The next check retries.
            Err(_) => return,
        };

        self.has_jumped = wrong.is_some();
        if let Some(reason) = &wrong
            && self.election.wrong_clock().is_none()
        {
            tracing::error!("{reason}. Until then this node does not lead");
        }
        *self.election.wrong_clock.lock() = wrong;

        if self.has_jumped && self.held.is_some() {
            self.resign_and_release().await;
        }
    }

    /// Steps down if this node cannot seal blocks although the servers answer.
    async fn check_writer(&mut self) {
        let obstacle = match timeout(HEALTH_CHECK_INTERVAL, self.chain.obstacle()).await {
            Ok(Ok(obstacle)) => obstacle,
            // A busy writer is not an obstacle.
            _ => None,
        };
        let Some(reason) = obstacle else {
            self.failed_checks = 0;
            return;
        };

        self.failed_checks += 1;
        if self.failed_checks >= MAX_FAILED_CHECKS && self.connection.is_connected() {
            tracing::warn!(
                reason,
                "this node cannot seal blocks: another one may lead the cluster"
            );
            *self.election.paused_until.lock() = Some(Instant::now() + STEP_DOWN_PAUSE);
            self.resign_and_release().await;
        }
    }
}
