//! The process of a tracer, as the node sees it.

use std::{
    io::{self, Read, Write},
    os::fd::AsFd,
    path::Path,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio},
};

use parking_lot::Mutex;
use revm::DatabaseRef;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::value::RawValue;
use tetrad_evm::Overlay;
use tetrad_primitives::state::ReadError;

use super::{
    message::{self, FromNode, FromTracer, Outcome, Task},
    places::Place,
};
use crate::rpc::{RpcError, tracing::budget::Budget};

/// The hidden command of the program that runs scripts. Its argument is the memory limit in bytes.
pub const TRACER_COMMAND: &str = "javascript-tracer";

/// The time between two checks of the time limit.
const TICK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};
/// The number of bytes that can be written to a pipe that is ready without waiting: `PIPE_BUF` of
/// every system is larger.
const CHUNK: usize = 512;
/// The longest message except results.
const MAX_MESSAGE: usize = 64 << 10;
/// The most bytes of its error output that are read.
const MAX_REPORT: u64 = 4 << 10;

/// Held while a process is started, so that none inherits the pipes of another one. Where pipes
/// cannot be created close-on-exec in one step, two processes would otherwise keep each other from
/// noticing the node's end.
static STARTING: Mutex<()> = Mutex::new(());

/// A process that runs the scripts of one request. Dropping it ends it.
#[derive(Debug)]
pub(super) struct TracerProcess {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    errors: ChildStderr,
    _place: Place,
}

/// The reason why there is no trace.
#[derive(Debug)]
pub(super) enum Failure {
    /// The time is over.
    Time,
    /// The transaction cannot be executed.
    Rejected,
    /// The script failed.
    Script(String),
    /// The result is too long.
    TooLarge,
    /// The state could not be read.
    Read(ReadError),
    /// The process exceeded its memory limit.
    Memory,
    /// The process failed.
    Process(String),
}

impl TracerProcess {
    /// Starts `program` for a script that may use `memory` bytes.
    pub(super) fn start(program: &Path, memory: usize, budget: &Budget) -> Result<Self, RpcError> {
        let Some(place) = Place::take(|| budget.is_out_of_time()) else {
            return Err(budget.timeout());
        };

        let mut command = command(program, memory);
        let starting = STARTING.lock();
        let started = command.spawn();
        drop(starting);
        let mut child = started.map_err(|error| {
            RpcError::internal(format!("cannot start {}: {error}", program.display()))
        })?;

        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(RpcError::internal("the tracer's process has no pipes"));
        };

        Ok(Self {
            child,
            input,
            output,
            errors,
            _place: place,
        })
    }

    /// Traces one execution on `state`; returns the gas used and the script's result.
    pub(super) fn trace(
        &mut self,
        task: Task,
        state: &Overlay<'_>,
        budget: &Budget,
    ) -> Result<(u64, Box<RawValue>), Failure> {
        let mut unread = None;
        let traced = self.exchange(task, state, budget, &mut unread);

        match (traced, unread) {
            (Err(Failure::Time), _) => Err(Failure::Time),
            // An outcome without all of the state is not the script's doing.
            (_, Some(error)) => Err(Failure::Read(error)),
            (Err(Failure::Process(what)), None) => Err(self.cause(what)),
            (traced, None) => traced,
        }
    }

    /// Sends the task, and answers requests for state until it is done. State that cannot be read
    /// ends up in `unread`.
    fn exchange(
        &mut self,
        task: Task,
        state: &Overlay<'_>,
        budget: &Budget,
        unread: &mut Option<ReadError>,
    ) -> Result<(u64, Box<RawValue>), Failure> {
        let max_bytes = task.max_bytes;
        let pipes = &mut Pipes {
            input: &mut self.input,
            output: &mut self.output,
            budget,
        };
        let mut next = FromNode::Task(Box::new(task));

        loop {
            message::write(&next, pipes)?;

            let read = match message::parse(&message::read_bytes(pipes, MAX_MESSAGE)?)? {
                FromTracer::Account(address) => {
                    state.detached_account(address).map(FromNode::Account)
                }
                FromTracer::Slot(address, index) => {
                    state.storage_ref(address, index).map(FromNode::Slot)
                }
                FromTracer::BlockHash(number) => {
                    state.block_hash_ref(number).map(FromNode::BlockHash)
                }
                FromTracer::Done(Outcome::Rejected) => return Err(Failure::Rejected),
                FromTracer::Done(Outcome::Script(message)) => return Err(Failure::Script(message)),
                FromTracer::Done(Outcome::TooLarge) => return Err(Failure::TooLarge),
                FromTracer::Done(Outcome::Traced { gas_used }) => {
                    return Ok((gas_used, read_result(pipes, max_bytes)?));
                }
            };

            next =
                read.unwrap_or_else(|error| FromNode::Unavailable(unread.insert(error).0.clone()));
        }
    }

    /// The reason why a process did not answer, from what it printed when it ended.
    fn cause(&mut self, what: String) -> Failure {
        // It may still be running, and waiting for it would not end.
        let _ = self.child.kill();
        let status = self.child.wait();

        let mut report = Vec::new();
        // The other end is closed, so that this does not wait.
        let _ = self
            .errors
            .by_ref()
            .take(MAX_REPORT)
            .read_to_end(&mut report);
        let report = String::from_utf8_lossy(&report);

        // The words of Rust's runtime as it aborts.
        if report.contains("memory allocation of") {
            return Failure::Memory;
        }
        if report.contains("overflowed its stack") {
            return Failure::Script("functions call each other too deeply".to_owned());
        }

        let first = report.lines().map(str::trim).find(|line| !line.is_empty());
        match (first, status) {
            (Some(line), _) => Failure::Process(line.to_owned()),
            (None, Ok(status)) => Failure::Process(format!("{what} ({status})")),
            (None, Err(_)) => Failure::Process(what),
        }
    }
}

/// The command that starts a process that may use `memory` bytes.
fn command(program: &Path, memory: usize) -> Command {
    let mut command = Command::new(program);
    command
        .arg(TRACER_COMMAND)
        .arg(memory.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());

    command.env_clear();
    // By default the allocator reserves more than the limit at the start, and waits for memory
    // that is short.
    command.envs(
        ["ARENA_RESERVE", "ARENA_EAGER_COMMIT", "RETRY_ON_OOM"]
            .map(|name| (format!("MIMALLOC_{name}"), "0")),
    );
    command
}

/// Reads the script's result, which follows the outcome as a message of its own.
fn read_result(pipes: &mut Pipes<'_>, max_bytes: usize) -> Result<Box<RawValue>, Failure> {
    let bytes = message::read_bytes(pipes, max_bytes)?;
    String::from_utf8(bytes)
        .ok()
        .and_then(|text| RawValue::from_string(text).ok())
        .ok_or_else(|| Failure::Script("the result is not JSON".to_owned()))
}

impl Drop for TracerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        // A killed process ends at once.
        let _ = self.child.wait();
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::TimedOut => Self::Time,
            _ => Self::Process(error.to_string()),
        }
    }
}

/// The pipes of a process. Neither reading nor writing waits for longer than the budget allows.
struct Pipes<'p> {
    input: &'p mut ChildStdin,
    output: &'p mut ChildStdout,
    budget: &'p Budget,
}

impl Pipes<'_> {
    fn wait(&self, pipe: impl AsFd, until: PollFlags) -> io::Result<()> {
        loop {
            if self.budget.is_out_of_time() {
                return Err(io::ErrorKind::TimedOut.into());
            }

            match poll(&mut [PollFd::new(&pipe, until)], Some(&TICK)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Read for Pipes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait(&*self.output, PollFlags::IN)?;
        self.output.read(buffer)
    }
}

impl Write for Pipes<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wait(&*self.input, PollFlags::OUT)?;
        self.input.write(&bytes[..bytes.len().min(CHUNK)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
