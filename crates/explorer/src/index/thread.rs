//! The thread that follows the chain, and the handle to it.

use std::{
    fs, io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use alloy_primitives::Address;
use arc_swap::ArcSwapOption;
use parking_lot::{Condvar, Mutex};
use tetrad_chain::{Chain, Head};
use tokio::sync::watch;

use super::{
    database::{FILE, IndexError, Rows},
    follow::{Follower, Progress},
    reader::IndexReader,
};

/// The time between two looks at a chain that is indexed up to its head.
const POLL: Duration = Duration::from_millis(100);

/// The time after the start at which the index begins, unless a request needs it.
const START_DELAY: Duration = Duration::from_secs(2);

/// The time between two looks while requests wait: the head was published a moment ago, or the
/// request is about to see that it is indexed.
const HURRIED_POLL: Duration = Duration::from_millis(1);

/// The length of a step.
const STEP: Duration = Duration::from_millis(20);

/// The parts of rest for each part of work while blocks keep coming, so that the index takes 2 % of
/// one processor.
const REST_PER_WORK: u32 = 49;

/// The longest rest, which bounds the number of blocks of the next step.
const LONGEST_REST: Duration = Duration::from_secs(1);

/// The pause after an error.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The time for which a request waits until the index has reached the head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The options of the index.
#[derive(Clone, Debug, Default)]
pub struct IndexOptions {
    /// The directory of the chain; `None` for a chain in memory.
    pub directory: Option<PathBuf>,
    /// The tokens that genesis gives out.
    pub tokens: Vec<Address>,
}

/// The reason why the index cannot answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Waiting {
    /// It has not reached the head.
    #[error("the index of addresses has reached block {tip} of {head}: try again")]
    Behind {
        /// The newest indexed block.
        tip: u64,
        /// The newest block.
        head: u64,
    },
    /// The index failed.
    #[error("{0}")]
    Failed(String),
}

/// The progress of the index.
#[derive(Clone, Debug, Default)]
struct Reached {
    /// The version of the newest head that is indexed whole.
    version: Option<u64>,
    tip: u64,
    failed: Option<String>,
}

struct SharedIndex {
    chain: Chain,
    /// The rows; none once the index has ended.
    rows: ArcSwapOption<Rows>,
    reached: watch::Sender<Reached>,
    /// The number of requests that wait for the index.
    waiting: AtomicUsize,
    ending: Arc<AtomicBool>,
    lock: Mutex<()>,
    woken: Condvar,
}

/// A handle to the index. Clones share it.
#[derive(Clone)]
pub struct Index {
    shared: Arc<SharedIndex>,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
}

/// A request that waits; the index hurries as long as there is one.
struct Hurry<'a>(&'a SharedIndex);

impl<'a> Hurry<'a> {
    fn new(shared: &'a SharedIndex) -> Self {
        shared.waiting.fetch_add(1, Ordering::AcqRel);
        // Counted first: the thread that wakes looks at the count.
        shared.wake();
        Self(shared)
    }
}

impl Drop for Hurry<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

impl SharedIndex {
    fn wake(&self) {
        // Under the lock, so that a thread that is about to wait does not miss it.
        let _held = self.lock.lock();
        self.woken.notify_all();
    }

    fn is_hurried(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }

    /// Waits where there is nothing to do: until a request arrives, which may be for a newer head, or
    /// for a while.
    fn await_change(&self) {
        let mut held = self.lock.lock();
        if self.is_ending() {
            return;
        }
        let time = if self.is_hurried() {
            HURRIED_POLL
        } else {
            POLL
        };
        self.woken.wait_for(&mut held, time);
    }

    /// Waits until a request needs the index, the node shuts down, or the time is over.
    fn rest(&self, time: Duration) {
        let mut held = self.lock.lock();
        if !self.is_hurried() && !self.is_ending() {
            self.woken.wait_for(&mut held, time);
        }
    }
}

impl Index {
    /// Opens the index and starts to follow the chain.
    ///
    /// # Errors
    /// If the file or the thread cannot be created.
    pub fn start(chain: Chain, options: IndexOptions) -> io::Result<Self> {
        let rows = Arc::new(Rows::open(options.directory.as_deref()).map_err(io::Error::other)?);
        let ending = Arc::new(AtomicBool::new(false));
        let shared = Arc::new(SharedIndex {
            chain: chain.clone(),
            rows: ArcSwapOption::new(Some(rows.clone())),
            reached: watch::Sender::default(),
            waiting: AtomicUsize::new(0),
            ending: ending.clone(),
            lock: Mutex::new(()),
            woken: Condvar::new(),
        });

        let is_kept = options.directory.is_some();
        let mut follower = Follower::new(chain, rows, options.directory, options.tokens, ending);
        let own = shared.clone();
        let thread = thread::Builder::new()
            .name("explorer".to_owned())
            .spawn(move || {
                run(&own, &mut follower, is_kept);
                // The file is closed, even while handles remain.
                own.rows.store(None);
            })?;

        Ok(Self {
            shared,
            thread: Arc::new(Mutex::new(Some(thread))),
        })
    }

    /// Returns the rows once they include the present head.
    ///
    /// # Errors
    /// See [`Waiting`].
    pub async fn reader(&self) -> Result<IndexReader, Waiting> {
        let shared = &*self.shared;
        let wanted = shared.chain.head();
        let mut reached = shared.reached.subscribe();
        let hurry = Hurry::new(shared);
        let included = reached.wait_for(|reached| {
            reached.failed.is_some() || reached.version >= Some(wanted.version())
        });
        let outcome = tokio::time::timeout(HEAD_TIMEOUT, included).await;
        drop(hurry);

        match outcome {
            Ok(Ok(reached)) => {
                if let Some(failed) = &reached.failed {
                    return Err(Waiting::Failed(failed.clone()));
                }
            }
            _ => {
                return Err(Waiting::Behind {
                    tip: shared.reached.borrow().tip,
                    head: wanted.number(),
                });
            }
        }

        let ended = || Waiting::Failed("the index of addresses has ended".to_owned());
        let rows = shared.rows.load_full().ok_or_else(ended)?;
        let rows = rows
            .read()
            .map_err(|error| Waiting::Failed(error.to_string()))?;
        Ok(IndexReader::new(rows, shared.chain.clone()))
    }

    /// Returns the newest indexed block, without waiting.
    pub fn tip(&self) -> u64 {
        self.shared.reached.borrow().tip
    }

    /// Ends the thread and waits until its changes are on disk.
    pub fn stop(&self) {
        self.shared.ending.store(true, Ordering::Release);
        self.shared.wake();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that indexes addresses panicked");
        }
    }
}

fn run(shared: &SharedIndex, follower: &mut Follower, is_kept: bool) {
    // Leaves the processor to the node's start and its first clients. Many nodes of test suites end
    // before that.
    shared.rest(START_DELAY);
    let mut target: Option<Arc<Head>> = None;

    loop {
        let ending = shared.is_ending();
        if ending && !is_kept {
            return;
        }

        let head = target.take().unwrap_or_else(|| shared.chain.head());
        if !ending && shared.reached.borrow().version == Some(head.version()) {
            shared.await_change();
            continue;
        }

        let begun = Instant::now();
        let stepped = follower.step(&head, STEP);
        // The last step is durable, as the follower knows that the node is shutting down.
        if ending {
            if let Err(error) = stepped {
                tracing::error!(%error, "the index of addresses could not be written");
            }
            return;
        }

        match stepped {
            Ok(progress) => {
                shared.reached.send_modify(|reached| {
                    reached.tip = progress.tip;
                    reached.failed = None;
                    if progress.is_complete {
                        reached.version = Some(head.version());
                    }
                });

                if !progress.is_complete && !progress.has_advanced {
                    shared.await_change();
                } else if shared.is_hurried() {
                    // Keeps to one head until it is reached, so that a chain that grows quickly
                    // cannot run away.
                    target = (!progress.is_complete).then_some(head);
                } else {
                    let pause = pause(shared, &head, progress, begun.elapsed());
                    if !pause.is_zero() {
                        shared.rest(pause);
                    }
                }
            }
            Err(error) => {
                if !recover(shared, follower, error) {
                    return;
                }
            }
        }
    }
}

/// Returns the time to rest after a step.
fn pause(shared: &SharedIndex, head: &Head, progress: Progress, worked: Duration) -> Duration {
    let now = shared.chain.head();
    let is_quiet = now.version() == head.version();
    let behind = now.number().saturating_sub(progress.tip);
    let held = now.number() - now.oldest().min(now.number());

    // A chain in memory drops its oldest blocks: they have to be indexed before.
    let is_pressed = behind > held / 2 && shared.chain.oldest(&now) > now.genesis.number() + 1;
    if is_pressed || (is_quiet && !progress.is_complete) {
        Duration::ZERO
    } else {
        (worked * REST_PER_WORK).clamp(POLL, LONGEST_REST)
    }
}

/// Reports an error and opens the rows again, as often as it takes; returns false if the node shuts
/// down meanwhile.
fn recover(shared: &SharedIndex, follower: &mut Follower, mut error: IndexError) -> bool {
    loop {
        tracing::error!(%error, "the index of addresses failed");
        shared.reached.send_modify(|reached| {
            reached.version = None;
            reached.failed = Some(error.to_string());
        });
        thread::sleep(RETRY_PAUSE);

        match reopen(shared, follower, error.is_damage()) {
            Ok(()) => return true,
            Err(_) if shared.is_ending() => return false,
            Err(failed) => error = failed,
        }
    }
}

/// Opens the rows again after an error. A damaged file is deleted first, and built again.
fn reopen(
    shared: &SharedIndex,
    follower: &mut Follower,
    is_damaged: bool,
) -> Result<(), IndexError> {
    // Closes the file.
    shared.rows.store(None);
    follower.rows = Arc::new(Rows::open(None)?);

    let directory = follower.directory.as_deref();
    if is_damaged && let Some(directory) = directory {
        fs::remove_file(directory.join(FILE))?;
    }
    follower.rows = Arc::new(Rows::open(directory)?);
    shared.rows.store(Some(follower.rows.clone()));
    Ok(())
}
