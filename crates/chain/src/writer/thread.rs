//! The writer's thread, which processes commands one by one.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tetrad_store::{log::AppendError, store::SnapshotInfo};
use tokio::sync::oneshot;

use super::{
    ChainWriter,
    change::{Change, Reply},
    journal::FollowTo,
    schedule::SealReason,
};
use crate::{ChangeError, Head, Pooled, SubmitError};

/// Most transactions that are stored with one write.
const MAX_KEPT: usize = 1_024;

/// Time for which a change waits, at least, before it shares the failure of an earlier one that had
/// no answer.
const SHARED_FAILURE: Duration = Duration::from_secs(2);

/// A command to the writer.
pub(crate) enum WriterCommand {
    /// Look for transactions to put into a block.
    Wake,
    /// Store a pending transaction on disk.
    Store(StoreRequest),
    /// Rewrite the file of pending transactions.
    TidyPool,
    /// Write a checkpoint of the newest head.
    Checkpoint,
    /// Change the chain. In a cluster, a request for a change has an id.
    Change {
        change: Change,
        request: Option<u64>,
        asked: Instant,
        reply: Reply,
    },
    /// Follow the log. Return the height of the published head.
    Follow {
        to: FollowTo,
        reply: Option<oneshot::Sender<Result<u64, ChangeError>>>,
    },
    /// Begin to lead the cluster with this epoch. Return the height of the published head.
    Lead {
        epoch: u64,
        node: String,
        reply: oneshot::Sender<Result<u64, ChangeError>>,
    },
    /// Cease to lead the cluster.
    Resign(oneshot::Sender<()>),
    /// Return the snapshots.
    Snapshots(oneshot::Sender<Vec<SnapshotInfo>>),
    /// Return the reason why no block can be sealed, if there is one.
    Obstacle(oneshot::Sender<Option<String>>),
    /// Return the head, and the number of seconds by which the chain's time is ahead of the clock.
    Present(oneshot::Sender<(Arc<Head>, i64)>),
    /// Stop the thread.
    Stop,
}

/// A transaction to store on disk, and the channel for the outcome.
pub(crate) struct StoreRequest {
    pub(crate) pooled: Arc<Pooled>,
    pub(crate) stored: oneshot::Sender<Result<(), SubmitError>>,
}

/// The handle of the writer's thread.
#[derive(Debug)]
pub struct WriterThread(thread::JoinHandle<()>);

/// The queue of commands, in order of arrival.
struct Inbox {
    commands: Receiver<WriterCommand>,
    /// Commands that were received ahead of their turn.
    deferred: VecDeque<WriterCommand>,
}

impl WriterThread {
    /// Starts the thread. It runs until it receives [`WriterCommand::Stop`] or all senders are
    /// dropped.
    pub(crate) fn start(
        writer: Arc<Mutex<ChainWriter>>,
        commands: Receiver<WriterCommand>,
    ) -> io::Result<Self> {
        let inbox = Inbox {
            commands,
            deferred: VecDeque::new(),
        };
        let thread = thread::Builder::new()
            .name("chain".to_owned())
            .spawn(move || run(&writer, inbox))?;
        Ok(Self(thread))
    }

    /// Waits until the writer has ended.
    pub fn join(self) {
        if self.0.join().is_err() {
            tracing::error!("the chain's writer panicked");
        }
    }
}

fn run(writer: &Mutex<ChainWriter>, mut inbox: Inbox) {
    writer.lock().schedule();
    loop {
        // Commands alternate with pieces of scheduled work, so that neither delays the other for
        // long.
        let timeout = take_turn(&mut writer.lock(), &mut inbox, |writer, inbox| {
            writer.proceed(|| inbox.has_any())
        });

        let command = match inbox.next(timeout) {
            Ok(WriterCommand::Stop) | Err(RecvTimeoutError::Disconnected) => {
                return writer.lock().end();
            }
            Err(RecvTimeoutError::Timeout) => continue,
            Ok(command) => command,
        };

        take_turn(&mut writer.lock(), &mut inbox, |writer, inbox| {
            execute(writer, inbox, command)
        });
    }
}

/// Does a part of the writer's work. Changes that wait share its failure if it had no answer.
fn take_turn<R>(
    writer: &mut ChainWriter,
    inbox: &mut Inbox,
    work: impl FnOnce(&mut ChainWriter, &mut Inbox) -> R,
) -> R {
    writer.recorder.unanswered = None;
    let result = work(writer, inbox);

    // A writer that no longer leads refuses them at once, so that the next leader is asked.
    if let Some(reason) = writer.recorder.unanswered.take()
        && writer.leads
    {
        let error = || ChangeError::Append(AppendError::Unavailable(reason.clone()));
        writer.refuse_orders(SHARED_FAILURE, error);
        inbox.refuse_changes(error);
    }
    result
}

fn execute(writer: &mut ChainWriter, inbox: &mut Inbox, command: WriterCommand) {
    match command {
        WriterCommand::Wake => {
            // Before the pool is read, so that a transaction that comes later wakes the writer
            // again.
            writer.shared.woken.store(false, Ordering::Release);
            writer.schedule.request_seal(SealReason::Preamble);
        }
        WriterCommand::Store(waiting) => writer.store_pending(inbox.all_to_store(waiting)),
        WriterCommand::TidyPool => writer.tidy_pool(true),
        WriterCommand::Checkpoint => writer.demand_checkpoint(),
        WriterCommand::Change {
            change,
            request,
            reply,
            ..
        } => writer.change(change, request, reply),
        WriterCommand::Follow { to, reply } => {
            // Before the log is read, so that an entry that comes later is announced again.
            writer.shared.summoned.store(false, Ordering::Release);
            let followed = writer.follow(to);

            match reply {
                // The caller may have disconnected.
                Some(reply) => drop(reply.send(followed.map(|()| writer.published_height()))),
                None => {
                    if let Err(error) = followed {
                        tracing::debug!(%error, "failed to follow the log");
                    }
                }
            }
        }
        WriterCommand::Lead { epoch, node, reply } => {
            let led = writer.lead(epoch, node);
            let _ = reply.send(led.map(|()| writer.published_height()));
        }
        WriterCommand::Resign(reply) => {
            writer.resign();
            let _ = reply.send(());
        }
        // The callers may have disconnected.
        WriterCommand::Snapshots(reply) => drop(reply.send(writer.snapshots())),
        WriterCommand::Obstacle(reply) => drop(reply.send(writer.obstacle())),
        WriterCommand::Present(reply) => {
            let ahead = writer.shared.timing.lock().ahead();
            drop(reply.send((writer.head(), ahead)));
        }
        // Ends the thread.
        WriterCommand::Stop => {}
    }
}

impl Inbox {
    /// Waits for the next command, for `timeout` at the longest if it is given.
    fn next(&mut self, timeout: Option<Duration>) -> Result<WriterCommand, RecvTimeoutError> {
        if let Some(command) = self.deferred.pop_front() {
            return Ok(command);
        }

        match timeout {
            Some(timeout) => self.commands.recv_timeout(timeout),
            None => self
                .commands
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Returns whether a command waits.
    fn has_any(&mut self) -> bool {
        // A channel has no peek, so the command is received ahead of its turn.
        self.deferred.extend(self.commands.try_recv());
        !self.deferred.is_empty()
    }

    /// Answers the changes that have waited for a while with an error.
    fn refuse_changes(&mut self, error: impl Fn() -> ChangeError) {
        self.deferred.extend(self.commands.try_iter());

        for command in std::mem::take(&mut self.deferred) {
            match command {
                // The caller may have disconnected.
                WriterCommand::Change { asked, reply, .. } if asked.elapsed() >= SHARED_FAILURE => {
                    drop(reply.send(Err(error())));
                }
                other => self.deferred.push_back(other),
            }
        }
    }

    /// Returns this transaction and those of the commands that follow, so that they share one
    /// write.
    fn all_to_store(&mut self, first: StoreRequest) -> Vec<StoreRequest> {
        let mut all = vec![first];
        while all.len() < MAX_KEPT
            && let Some(command) = self
                .deferred
                .pop_front()
                .or_else(|| self.commands.try_recv().ok())
        {
            match command {
                WriterCommand::Store(waiting) => all.push(waiting),
                other => {
                    // Commands are executed in order of arrival.
                    self.deferred.push_front(other);
                    break;
                }
            }
        }
        all
    }
}
