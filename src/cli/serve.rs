//! `tetrad serve`: a node until somebody ends it.

use std::io::{self, IsTerminal, Write};

use super::{Error, banner};
use crate::{Config, Node, console::Console, telemetry};

/// Runs a node until SIGINT or SIGTERM.
pub(super) fn run(config: Config) -> Result<(), Error> {
    telemetry::install(&config);
    // Twice as many workers as processors: half of them may be busy with calls while the others serve.
    let workers = 2 * std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()?;
    runtime.block_on(async {
        let node = Node::spawn(config).await?;
        if !node.config().quiet {
            let mut out = io::stdout().lock();
            banner::print(&node, &mut out)?;
            out.flush()?;
            drop(out);
            let config = node.config();
            let colours = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            let (own, telling) = ([node.updater()], config.rpc.telling.clone());
            let console = Console::new(&config.console, &config.network, own, telling, colours)?;
            tokio::spawn(console.follow(node.chain().clone(), io::stdout()));
        }
        let signal = ended().await?;
        tracing::info!(signal, "shutting down");
        node.shut_down().await;
        Ok(())
    })
}

/// Resolves when the process is asked to end, with the name of the signal.
async fn ended() -> io::Result<&'static str> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        tokio::select! {
            _ = interrupt.recv() => Ok("SIGINT"),
            _ = terminate.recv() => Ok("SIGTERM"),
        }
    }
    #[cfg(not(unix))]
    {
        tokio::signal::ctrl_c().await?;
        Ok("Ctrl-C")
    }
}
