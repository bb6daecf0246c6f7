//! The writer's thread: takes one command after another and has the [`Executor`] do what it says.

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

use super::{Executor, Pooled, SubmitError, executor::Occasion};

/// Transactions that are kept with one write.
const MOST_KEPT: usize = 1_024;

/// What the writer is asked to do.
pub(super) enum Command {
    /// There may be something to put into a block.
    Wake,
    /// A transaction that has to wait is to outlive the process.
    Keep(Waiting),
    /// The file of transactions that wait is to be written anew.
    TidyPool,
    /// Anything else. Runs between blocks; what it returns tells whoever asked, once the change is recorded.
    Run(Box<dyn FnOnce(&mut Executor) -> Answer + Send>),
    /// End.
    Stop,
}

/// Tells the outcome of a change to whoever asked for it, and whether what it did to the time is recorded.
pub(super) type Answer = Box<dyn FnOnce(bool) + Send>;

/// A transaction to keep, and who wants to know when it is.
pub(super) struct Waiting {
    pub(super) pooled: Arc<Pooled>,
    pub(super) kept: oneshot::Sender<Result<(), SubmitError>>,
}

/// The thread that writes the chain.
#[derive(Debug)]
pub struct Writer(thread::JoinHandle<()>);

/// Commands in the order in which they came.
struct Inbox {
    commands: Receiver<Command>,
    /// Received while looking for others.
    deferred: VecDeque<Command>,
}

impl Writer {
    /// Starts the thread. It works until it is told to stop, or nobody is left to tell it.
    pub(super) fn start(executor: Arc<Mutex<Executor>>, commands: Receiver<Command>) -> io::Result<Self> {
        let inbox = Inbox { commands, deferred: VecDeque::new() };
        let thread = thread::Builder::new().name("chain".to_owned()).spawn(move || run(&executor, inbox))?;
        Ok(Self(thread))
    }

    /// Waits until the writer has ended.
    pub fn join(self) {
        if self.0.join().is_err() {
            tracing::error!("the chain's writer ended with a panic");
        }
    }
}

fn run(executor: &Mutex<Executor>, mut inbox: Inbox) {
    executor.lock().schedule();
    loop {
        // Between two commands comes whatever is due or under way, a piece of it: neither keeps the other waiting.
        let patience = executor.lock().proceed(|| inbox.has_any());
        let command = inbox.next(patience);
        let mut executor = executor.lock();
        match command {
            Ok(Command::Wake) => {
                executor.shared.woken.store(false, Ordering::Release);
                executor.look_for(Occasion::Preamble);
            }
            Ok(Command::Keep(waiting)) => executor.keep(inbox.all_to_keep(waiting)),
            Ok(Command::TidyPool) => executor.tidy_pool(true),
            Ok(Command::Run(change)) => {
                let answer = change(&mut executor);
                let recorded = executor.record_time();
                answer(recorded);
                // Who moves the time or goes back to a snapshot does not ask for a block.
                executor.look_for(Occasion::Transactions);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Command::Stop) | Err(RecvTimeoutError::Disconnected) => return executor.end(),
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
    fn all_to_keep(&mut self, first: Waiting) -> Vec<Waiting> {
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
