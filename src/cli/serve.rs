//! `tetrad serve`: runs a node until a signal ends it.

use std::{
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use tetrad_stdx::parallel;
use tetrad_web::Inherited;
use tokio::{sync::broadcast, task::JoinHandle};

use super::{Error, notify};
use crate::{Config, Node, console::Console, telemetry};

/// Time after which a thread for long work ends that has none. What it has allocated and others
/// have freed is returned to the system when it ends, or when it works again.
const THREAD_KEEP_ALIVE: Duration = Duration::from_millis(20);
/// Time that aborted threads may delay the end of the process.
const ABORTED_THREADS_TIMEOUT: Duration = Duration::from_millis(500);

/// Runs a node until SIGINT or SIGTERM. `announce` prints that it listens, and where.
pub(super) fn run(
    mut config: Config,
    warnings: &[String],
    announce: impl FnOnce(&Node, &mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    config.rpc.tracer_program = program();
    // Before other threads start: taking sockets over changes the environment.
    let inherited = Inherited::take()?;
    let _telemetry = telemetry::install(&config)?;
    for warning in warnings {
        tracing::warn!("{warning}");
    }

    // One serves connections while calls occupy all processors. With more than that, a worker that
    // holds a connection often waits for the others.
    let workers = parallel::processors() + 1;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime
        .worker_threads(workers)
        .thread_keep_alive(THREAD_KEEP_ALIVE)
        .enable_all();
    let runtime = runtime.build()?;

    let served = runtime.block_on(async {
        let mut signals = Signals::listen()?;
        // A task of its own: a start may occupy its thread for long.
        let mut starting = tokio::spawn(Node::spawn_on(config, inherited));
        let (node, early_signal) = tokio::select! {
            started = &mut starting => (started.map_err(io::Error::other)??, None),
            signal = signals.end() => {
                let signal = signal?;
                let Some(started) = aborted_start(starting).await else {
                    tracing::info!(signal, "ended while it was starting");
                    return Ok(());
                };
                (started?, Some(signal))
            }
        };
        announce(&node, &mut io::stdout().lock())?;
        io::stdout().flush()?;
        if !node.config.quiet {
            let config = &node.config;
            let colours = config.console.colours.unwrap_or_else(|| {
                io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
            });
            let console = Console::new(
                &config.console,
                &config.network,
                node.known.clone(),
                [node.updater],
                config.rpc.logging.clone(),
                colours,
            )?;
            tokio::spawn(console.follow(
                node.chain.clone(),
                config.rpc.failed_calls.clone(),
                config.rpc.called.as_ref().map(broadcast::Sender::subscribe),
                io::stdout(),
            ));
        }

        notify::notify(notify::READY);
        let signal = match early_signal {
            Some(signal) => signal,
            None => signals.end_of(&node).await?,
        };
        notify::notify(notify::STOPPING);
        tracing::info!(signal, "shutting down");
        Ok(node.shut_down().await?)
    });

    // An aborted call ends at its next check of the time.
    runtime.shutdown_timeout(ABORTED_THREADS_TIMEOUT);
    served
}

/// Aborts a start. Returns its result if it waited for nothing any more: the node may have answered
/// clients then, so that it is shut down as any other. Only what waits can be aborted, and nothing
/// in a start waits once the node serves.
async fn aborted_start<T>(starting: JoinHandle<T>) -> Option<T> {
    starting.abort();
    let result = tokio::time::timeout(ABORTED_THREADS_TIMEOUT, starting).await;
    result.ok()?.ok()
}

/// The program of this process, even if its file has been replaced meanwhile.
fn program() -> Option<PathBuf> {
    let link = Path::new("/proc/self/exe");
    if link.exists() {
        Some(link.to_owned())
    } else {
        std::env::current_exe().ok()
    }
}

/// The signals that the process handles.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for a signal to end, and returns its name.
    async fn end(&mut self) -> io::Result<&'static str> {
        tokio::select! {
            _ = self.interrupt.recv() => Ok("SIGINT"),
            _ = self.terminate.recv() => Ok("SIGTERM"),
        }
    }

    /// Waits for the signal to end a node, and returns its name. SIGHUP reloads the certificate.
    async fn end_of(&mut self, node: &Node) -> io::Result<&'static str> {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => return Ok("SIGINT"),
                _ = self.terminate.recv() => return Ok("SIGTERM"),
                _ = self.hangup.recv() => match node.reload() {
                    Ok(()) => tracing::info!("reloaded the certificate"),
                    Err(error) => tracing::error!(%error, "the certificate stays as it was"),
                },
            }
        }
    }
}

/// The signals that the process handles.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for Ctrl-C.
    async fn end(&mut self) -> io::Result<&'static str> {
        tokio::signal::ctrl_c().await.map(|()| "Ctrl-C")
    }

    /// Waits for Ctrl-C.
    async fn end_of(&mut self, _: &Node) -> io::Result<&'static str> {
        self.end().await
    }
}

#[cfg(test)]
mod tests {
    use std::{future, sync::mpsc, thread};

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_node_that_serves_when_its_start_is_aborted_is_not_lost() {
        // What the start does between serving and its end, without waiting.
        let (serving, served) = mpsc::channel();
        let starting = tokio::spawn(async move {
            serving.send(()).unwrap();
            thread::sleep(Duration::from_millis(20));
            "node"
        });
        served.recv().unwrap();
        assert_eq!(aborted_start(starting).await, Some("node"));
    }

    #[tokio::test]
    async fn a_start_that_waits_ends_when_it_is_aborted() {
        let starting = tokio::spawn(future::pending::<()>());
        assert_eq!(aborted_start(starting).await, None);
    }
}
