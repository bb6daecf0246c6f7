//! `tetrad serve`: a node until somebody ends it.

use std::io::{self, Write};

use super::{Error, banner, notify};
use crate::{Config, Node, telemetry};

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
        }
        notify::notify(notify::READY);
        let signal = ended(&node).await?;
        notify::notify(notify::STOPPING);
        tracing::info!(signal, "shutting down");
        node.shut_down().await;
        Ok(())
    })
}

/// Resolves when the process is asked to end, with the name of the signal. SIGHUP means to read the certificate again.
async fn ended(node: &Node) -> io::Result<&'static str> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let mut hangup = signal(SignalKind::hangup())?;
        loop {
            tokio::select! {
                _ = interrupt.recv() => return Ok("SIGINT"),
                _ = terminate.recv() => return Ok("SIGTERM"),
                _ = hangup.recv() => match node.reload() {
                    Ok(()) => tracing::info!("the certificate was read again"),
                    Err(error) => tracing::error!(%error, "the certificate stays as it was"),
                },
            }
        }
    }
    #[cfg(not(unix))]
    {
        tokio::signal::ctrl_c().await?;
        Ok("Ctrl-C")
    }
}
