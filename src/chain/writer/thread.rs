//! The writer's thread: takes one command after another.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::{
    SnapshotInfo, Writer,
    change::{Change, Reply},
    schedule::Occasion,
};
use crate::chain::{Head, Pooled, SubmitError};

/// Transactions that are kept with one write.
const MOST_KEPT: usize = 1_024;

/// What the writer is asked to do.
pub(in crate::chain) enum Command {
    /// There may be something to put into a block.
    Wake,
    /// A transaction that has to wait is to outlive the process.
    Keep(WaitingTransaction),
    /// The file of transactions that wait is to be written anew.
    TidyPool,
    /// A change to the chain.
    Change(Change, Reply),
    /// The snapshots that can be gone back to are asked for.
    Snapshots(oneshot::Sender<Vec<SnapshotInfo>>),
    /// The reason why no block can be sealed is asked for, if there is any.
    Obstacle(oneshot::Sender<Option<String>>),
    /// The head is asked for, and by how many seconds the chain's time is ahead of the clock then.
    Present(oneshot::Sender<(Arc<Head>, i64)>),
    /// End.
    Stop,
}

/// A transaction to keep, and who wants to know when it is.
pub(in crate::chain) struct WaitingTransaction {
    pub(in crate::chain) pooled: Arc<Pooled>,
    pub(in crate::chain) kept: oneshot::Sender<Result<(), SubmitError>>,
}

/// The thread that writes the chain.
#[derive(Debug)]
pub struct WriterThread(thread::JoinHandle<()>);

/// Commands in the order in which they came.
struct Inbox {
    commands: Receiver<Command>,
    /// Received while looking for others.
    deferred: VecDeque<Command>,
}

impl WriterThread {
    /// Starts the thread. It works until it is told to stop, or nobody is left to tell it.
    pub(in crate::chain) fn start(writer: Arc<Mutex<Writer>>, commands: Receiver<Command>) -> io::Result<Self> {
        let inbox = Inbox { commands, deferred: VecDeque::new() };
        let thread = thread::Builder::new().name("chain".to_owned()).spawn(move || run(&writer, inbox))?;
        Ok(Self(thread))
    }

    /// Waits until the writer has ended.
    pub fn join(self) {
        if self.0.join().is_err() {
            tracing::error!("the chain's writer ended with a panic");
        }
    }
}

fn run(writer: &Mutex<Writer>, mut inbox: Inbox) {
    writer.lock().schedule();
    loop {
        // Between two commands comes whatever is due or under way, a piece of it: neither keeps the other waiting.
        let patience = writer.lock().proceed(|| inbox.has_any());
        let command = inbox.next(patience);
        let mut writer = writer.lock();
        match command {
            Ok(Command::Wake) => {
                writer.shared.woken.store(false, Ordering::Release);
                writer.schedule.look_for(Occasion::Preamble);
            }
            Ok(Command::Keep(waiting)) => writer.keep(inbox.all_to_keep(waiting)),
            Ok(Command::TidyPool) => writer.tidy_pool(true),
            Ok(Command::Change(change, reply)) => writer.change(change, reply),
            // The caller of any of these may have gone.
            Ok(Command::Snapshots(reply)) => drop(reply.send(writer.ledger.snapshots())),
            Ok(Command::Obstacle(reply)) => drop(reply.send(writer.obstacle())),
            Ok(Command::Present(reply)) => {
                let ahead = writer.shared.timing.lock().ahead();
                drop(reply.send((writer.head(), ahead)));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Command::Stop) | Err(RecvTimeoutError::Disconnected) => return writer.end(),
        }
    }
}

impl Inbox {
    /// The next command, unless none comes within `patience`; without any, there is no hurry.
    fn next(&mut self, patience: Option<Duration>) -> Result<Command, RecvTimeoutError> {
        match (self.deferred.pop_front(), patience) {
            (Some(command), _) => Ok(command),
            (None, None) => self.commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
            (None, Some(patience)) => self.commands.recv_timeout(patience),
        }
    }

    /// Whether a command waits.
    fn has_any(&mut self) -> bool {
        self.deferred.extend(self.commands.try_recv());
        !self.deferred.is_empty()
    }

    /// This transaction to keep and those that follow, so that all pay for one write together.
    fn all_to_keep(&mut self, first: WaitingTransaction) -> Vec<WaitingTransaction> {
        let mut all = vec![first];
        while all.len() < MOST_KEPT
            && let Some(command) = self.deferred.pop_front().or_else(|| self.commands.try_recv().ok())
        {
            match command {
                Command::Keep(waiting) => all.push(waiting),
                other => {
                    self.deferred.push_front(other);
                    break;
                }
            }
        }
        all
    }
}
