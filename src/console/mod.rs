//! The terminal output of a running node: a line for each transaction, `console.log` messages,
//! revert reasons, and, depending on the verbosity, arguments, events and calls. Of reads only
//! those that fail are shown, a few at a time.
//!
//! The chain does not wait for the terminal: blocks that come faster than it can show them are
//! counted instead.

mod abi;
mod anvil;
mod failed;
mod log;
mod replay;
mod style;
mod text;
mod trace;

use std::{
    collections::{BTreeMap, BTreeSet},
    future,
    io::Write,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::Instant,
};

use alloy_primitives::Address;
use tetrad_chain::{Chain, Event, Head};
use tetrad_contracts::sources::KnownContracts;
use tetrad_network::network::Network;
use tetrad_primitives::block::Block;
use tetrad_stdx::failed_calls::{FailedCall, FailedCalls};
use tokio::sync::broadcast::{self, error::RecvError};

pub use self::abi::AbiError;
use self::{abi::Decoder, failed::Limiter, replay::ReplayedTransaction, style::Styles};

/// Length of the queue of texts; further ones are dropped.
const BACKLOG: usize = 1_024;
/// Number of transactions of one block that are shown individually.
const MAX_LINES: usize = 200;

/// The form of the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineForm {
    /// A line for each transaction.
    #[default]
    Short,
    /// anvil's: the name of each method that is called, and a paragraph for each transaction and
    /// for each block.
    Anvil,
}

/// Settings of the terminal output.
#[derive(Clone, Debug, Default)]
pub struct ConsoleConfig {
    /// The form of the lines.
    pub form: LineForm,
    /// Whether there are colours; by default if a terminal shows the lines.
    pub colours: Option<bool>,
    /// Whether messages of `console.log` are left out.
    pub hides_logs: bool,
    /// Verbosity. 0: a line for each transaction; 1: with arguments; 2: with events; 3: with the
    /// calls of failed ones; 4: with the calls of all, and a line for each of the node's own
    /// transactions.
    pub verbosity: u8,
    /// Files and directories with ABIs, in addition to those of the network's contracts.
    pub abi: Vec<PathBuf>,
}

/// The terminal output of a chain.
pub struct Console {
    known: KnownContracts,
    /// Short names of tokens.
    names: BTreeMap<Address, String>,
    pub(self) styles: Styles,
    pub(self) verbosity: u8,
    form: LineForm,
    pub(self) hides_logs: bool,
    pub(self) coin: String,
    /// The node's own accounts.
    own: BTreeSet<Address>,
    logging: Arc<AtomicBool>,
}

impl Console {
    /// Reads the ABIs that `config` names, and adds them to the known contracts. Transactions of
    /// the node's `own` accounts are only shown at verbosity 4; nothing is shown while `logging` is
    /// off.
    pub fn new(
        config: &ConsoleConfig,
        network: &Network,
        known: KnownContracts,
        own: impl IntoIterator<Item = Address>,
        logging: Arc<AtomicBool>,
        colours: bool,
    ) -> Result<Self, AbiError> {
        config
            .abi
            .iter()
            .try_for_each(|path| abi::learn(&known, path))?;

        Ok(Self {
            known,
            names: abi::token_names(network),
            styles: Styles::new(colours),
            verbosity: config.verbosity,
            form: config.form,
            hides_logs: config.hides_logs,
            coin: network.coin.clone(),
            own: own.into_iter().collect(),
            logging,
        })
    }

    /// Follows the chain until it ends and writes to `out` on a separate thread, so that a blocked
    /// terminal does not block the node. Names of methods that are `called` are lines as well.
    pub async fn follow(
        self,
        chain: Chain,
        failed_calls: FailedCalls,
        mut called: Option<broadcast::Receiver<&'static str>>,
        out: impl Write + Send + 'static,
    ) {
        let mut events = chain.subscribe();
        let mut failures = failed_calls.subscribe();

        let (lines, waiting) = sync_channel(BACKLOG);
        let mut newest = chain.head();
        // Its events end only when there is no handle of the chain.
        drop(chain);

        if thread::Builder::new()
            .name("console".to_owned())
            .spawn(move || write(&waiting, out))
            .is_err()
        {
            return;
        }

        let console = Arc::new(self);
        let mut missed = 0;
        let mut limiter = Limiter::default();

        loop {
            tokio::select! {
                // A method is named before the block that it makes.
                biased;
                name = next_called(&mut called) => {
                    if console.logging.load(Ordering::Relaxed) {
                        // Those that a slow terminal does not show are not counted.
                        let _ = lines.try_send(format!("{name}\n"));
                    }
                }
                event = events.recv() => match event {
                    Ok(Event::Head { head, added, removed }) => {
                        newest = head.clone();
                        if console.logging.load(Ordering::Relaxed) {
                            let own = console.clone();
                            // Rendering executes the block again.
                            let render = move || own.render(&head, &added, &removed);
                            let rendered = tokio::task::spawn_blocking(render).await;
                            send(&lines, rendered.unwrap_or_default(), &mut missed);
                        }
                    }
                    Ok(_) => {}
                    Err(RecvError::Lagged(count)) => missed += count,
                    Err(RecvError::Closed) => return,
                },
                failure = failures.recv() => match failure {
                    Ok(call)
                        if console.logging.load(Ordering::Relaxed)
                            && limiter.admits(&call, Instant::now()) =>
                    {
                        let own = console.clone();
                        let head = newest.clone();
                        let render = move || own.render_failure(&head, &call);
                        let text = tokio::task::spawn_blocking(render).await.unwrap_or_default();
                        send(&lines, limiter.note() + &text, &mut missed);
                    }
                    Ok(_) => {}
                    Err(RecvError::Lagged(count)) => limiter.pass_over(count),
                    Err(RecvError::Closed) => return,
                },
            }
        }
    }

    /// Renders a call that failed.
    pub fn render_failure(&self, head: &Arc<Head>, call: &FailedCall) -> String {
        failed::line(self, &Decoder::new(&self.known, &self.names, head), call)
    }

    /// Renders the blocks that were added and removed.
    pub fn render(&self, head: &Arc<Head>, added: &[Arc<Block>], removed: &[Arc<Block>]) -> String {
        let mut out = String::new();
        if let Some(first) = removed.first() {
            let to = first.number().saturating_sub(1);
            out += &self.styles.faint(&format!(
                "back to block {to}: {} blocks removed",
                removed.len()
            ));
            out.push('\n');
        }
        for block in added {
            self.render_block(head, block, &mut out);
        }
        out
    }

    fn render_block(&self, head: &Arc<Head>, block: &Arc<Block>, out: &mut String) {
        let shown =
            |at: &usize| self.verbosity > 3 || !self.own.contains(&block.transactions[*at].sender);
        let all: Vec<usize> = (0..block.transactions.len()).filter(shown).collect();

        if all.len() > MAX_LINES && self.form == LineForm::Anvil {
            return anvil::end_of_block(block, out);
        }
        if all.len() > MAX_LINES {
            let gas = block.header.gas_used;
            out.push_str(&format!(
                "#{} {} transactions, {gas} gas\n",
                block.number(),
                all.len()
            ));
            return;
        }

        let seen = if all.is_empty() {
            Vec::new()
        } else {
            replay::replay(head, block)
        };
        let decoder = Decoder::new(&self.known, &self.names, head);
        if self.form == LineForm::Anvil {
            return anvil::block(self, &decoder, block, &seen, out);
        }
        for at in all {
            self.render_transaction(&decoder, block, at, seen.get(at), out);
        }
    }

    fn render_transaction(
        &self,
        decoder: &Decoder<'_>,
        block: &Block,
        at: usize,
        seen: Option<&ReplayedTransaction>,
        out: &mut String,
    ) {
        let failed = !block.receipts[at].succeeded();
        if self.own.contains(&block.transactions[at].sender) {
            return text::own_line(self, decoder, block, at, out);
        }

        text::line(self, decoder, block, at, seen, out);
        let Some(seen) = seen else { return };

        log::lines(self, seen, out);

        match self.verbosity {
            0 | 1 => {}
            2 => trace::events(self, decoder, seen, out),
            3 if !failed => trace::events(self, decoder, seen, out),
            _ => trace::calls(self, decoder, seen, out),
        }
    }
}

/// Waits for the next name of a method; for ever if none are sent.
async fn next_called(called: &mut Option<broadcast::Receiver<&'static str>>) -> &'static str {
    while let Some(names) = called {
        match names.recv().await {
            Ok(name) => return name,
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => *called = None,
        }
    }
    future::pending().await
}

/// Queues a text, or counts it if the terminal does not keep up.
fn send(lines: &SyncSender<String>, text: String, missed: &mut u64) {
    if text.is_empty() {
        return;
    }
    let note = if *missed > 0 {
        format!("… {missed} or more blocks are not shown\n")
    } else {
        String::new()
    };

    match lines.try_send(note + &text) {
        Ok(()) => *missed = 0,
        Err(_) => *missed += 1,
    }
}

fn write(lines: &Receiver<String>, mut out: impl Write) {
    while let Ok(text) = lines.recv() {
        // The terminal is closed.
        if out
            .write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .is_err()
        {
            return;
        }
    }
}
