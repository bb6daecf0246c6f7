//! The process that runs the scripts of one request.

use std::{
    io,
    process::exit,
    sync::mpsc::{SyncSender, sync_channel},
    thread,
};

use revm_inspectors::tracing::TransactionContext;
use rustix::process::{Resource, Rlimit, setrlimit};

use super::{
    message::{self, FromNode, FromTracer, Outcome, Task},
    remote::Node,
    script::{inspector, message as shortened, unwrapped},
    writes::WithWrites,
};

/// The stack of the thread that runs scripts, in bytes: it has to hold recursions as deep as calls
/// nest in the EVM. It comes in addition to the memory limit.
const STACK: usize = 64 << 20;

/// Runs the tasks that arrive on standard input, until it is closed. The process may use about
/// `memory` bytes.
pub fn run(memory: u64) -> io::Result<()> {
    limit(memory)?;
    // The thread ends with the process only, unless it panics.
    start()?
        .join()
        .map_err(|_| io::Error::other("the tracer panicked"))
}

/// Limits the memory that the process can write to. A process that exceeds it is aborted, without a
/// core file.
fn limit(memory: u64) -> io::Result<()> {
    setrlimit(Resource::Core, at_most(0))?;
    setrlimit(Resource::Data, at_most(memory.saturating_add(STACK as u64)))?;
    Ok(())
}

fn at_most(amount: u64) -> Rlimit {
    Rlimit {
        current: Some(amount),
        maximum: Some(amount),
    }
}

fn start() -> io::Result<thread::JoinHandle<()>> {
    // A task arrives only after the last one is done, and an answer only after its request.
    let (sender, messages) = sync_channel(1);
    thread::Builder::new()
        .name("node".to_owned())
        .spawn(move || forward(&sender))?;

    let node = Node::new(messages);
    thread::Builder::new()
        .name("tracer".to_owned())
        .stack_size(STACK)
        .spawn(move || run_tasks(&node))
}

/// Runs one task after the other. Anything else that the node sends ends the process.
fn run_tasks(node: &Node) {
    loop {
        let FromNode::Task(task) = node.receive() else {
            exit(1)
        };

        match trace(*task, node) {
            Ok((gas_used, result)) => node.send(
                &FromTracer::Done(Outcome::Traced { gas_used }),
                Some(&result),
            ),
            Err(outcome) => node.send(&FromTracer::Done(outcome), None),
        }
    }
}

/// Passes messages on. The end of the input ends the process, whatever the script does.
fn forward(messages: &SyncSender<Vec<u8>>) {
    let mut input = io::stdin().lock();
    // Unlike a script, the node is trusted with the length of its messages.
    while let Ok(bytes) = message::read_bytes(&mut input, u32::MAX as usize) {
        if messages.send(bytes).is_err() {
            break;
        }
    }
    exit(0)
}

/// Returns the gas that the execution used and the script's result as JSON, or the outcome without
/// them.
fn trace(task: Task, node: &Node) -> Result<(u64, String), Outcome> {
    let place = TransactionContext {
        block_hash: task.block,
        tx_hash: task.transaction,
        tx_index: task.index,
    };
    let inspector = inspector(&task.script, task.config, place).map_err(Outcome::Script)?;
    let mut tracer = WithWrites::new(inspector);

    let mut inspected = task
        .execution
        .run(node, node, &mut tracer)
        .map_err(|_| Outcome::Rejected)?;
    let mut inspector = tracer
        .finish(&mut inspected)
        .map_err(|_| Outcome::Rejected)?;
    let gas_used = inspected.outcome.result.tx_gas_used();

    let returned = inspector
        .json_result(
            inspected.outcome,
            &inspected.tx,
            &inspected.block,
            &inspected.before,
        )
        .map_err(|error| Outcome::Script(shortened(&error.to_string())))?;
    let result = unwrapped(returned).map_err(Outcome::Script)?;

    if result.len() > task.max_bytes {
        Err(Outcome::TooLarge)
    } else {
        Ok((gas_used, result))
    }
}
