//! Warns about NATS servers that do not catch up with the others. Nodes do not notice them, since a
//! stream works as long as a majority does, until another server fails.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use tetrad_chain::Chain;
use tokio::time::{MissedTickBehavior, interval};

use super::connection::{Connection, Lagging};

/// Interval at which the leader asks for the replicas.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);
/// Time without progress after which a warning is logged.
const WARN_AFTER: Duration = Duration::from_secs(60);

/// A server that does not catch up.
#[derive(Clone, Copy)]
struct Stuck {
    position: u64,
    since: Instant,
    is_reported: bool,
}

/// The servers whose replica of a stream lags behind.
#[derive(Default)]
struct Replicas(HashMap<String, Stuck>);

impl Replicas {
    /// Takes the replicas that lag now. Returns the servers to warn about, and the reported ones
    /// that have caught up. A replica that only follows closely, as those of busy streams do, makes
    /// progress, and is not stuck.
    fn update(&mut self, lagging: Vec<Lagging>, now: Instant) -> (Vec<String>, Vec<String>) {
        let mut known = std::mem::take(&mut self.0);
        let mut late = Vec::new();
        for Lagging { server, position } in lagging {
            let fresh = Stuck {
                position,
                since: now,
                is_reported: false,
            };
            let before = known.remove(&server).unwrap_or(fresh);

            // A reported server counts as stuck until it has caught up.
            let makes_progress = position > before.position && !before.is_reported;
            let mut stuck = if makes_progress { fresh } else { before };
            if !stuck.is_reported && now.duration_since(stuck.since) >= WARN_AFTER {
                stuck.is_reported = true;
                late.push(server.clone());
            }
            self.0.insert(server, stuck);
        }

        let caught_up = known
            .into_iter()
            .filter(|(_, stuck)| stuck.is_reported)
            .map(|(server, _)| server);
        (late, caught_up.collect())
    }
}

/// Starts to watch the replicas of the streams of the log and of waiting transactions while this
/// node leads.
pub(super) fn watch(connection: Connection, chain: Chain) {
    let mut streams = [connection.names.log(), connection.names.pool()]
        .map(|stream| (stream, Replicas::default()));
    tokio::spawn(async move {
        let mut ticks = interval(CHECK_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let leads = chain.leadership().borrow().leads;
            for (stream, replicas) in &mut streams {
                if !leads {
                    *replicas = Replicas::default();
                    continue;
                }
                match connection.lagging_replicas(stream).await {
                    Ok(lagging) => log_changes(stream, replicas.update(lagging, Instant::now())),
                    Err(error) => {
                        tracing::debug!(
                            %error,
                            stream,
                            "failed to read the state of a stream's replicas"
                        )
                    }
                }
            }
        }
    });
}

fn log_changes(stream: &str, (late, caught_up): (Vec<String>, Vec<String>)) {
    for server in late {
        tracing::warn!(
            stream,
            server,
            "a NATS server does not catch up with the others: if another one fails, the cluster \
             stops or loses what this one lacks. Restart it if it is running"
        );
    }
    for server in caught_up {
        tracing::info!(stream, server, "the NATS server has caught up");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn lagging(replicas: &[(&str, u64)]) -> Vec<Lagging> {
        replicas
            .iter()
            .map(|(server, position)| Lagging {
                server: (*server).to_owned(),
                position: *position,
            })
            .collect()
    }

    #[test]
    fn a_server_that_makes_no_progress_is_reported_once() {
        let begin = Instant::now();
        let after = |seconds| begin + Duration::from_secs(seconds);
        let nothing = (Vec::new(), Vec::new());
        let mut replicas = Replicas::default();
        assert_eq!(
            replicas.update(lagging(&[("n0", 5), ("n1", 5)]), after(0)),
            nothing
        );
        // In between it had everything.
        assert_eq!(replicas.update(lagging(&[("n0", 5)]), after(30)), nothing);
        assert_eq!(
            replicas.update(lagging(&[("n0", 5), ("n1", 5)]), after(59)),
            nothing
        );

        assert_eq!(
            replicas.update(lagging(&[("n0", 5), ("n1", 5)]), after(60)),
            (servers(&["n0"]), Vec::new())
        );
        assert_eq!(
            replicas.update(lagging(&[("n0", 5), ("n1", 5)]), after(90)),
            nothing,
            "it is known"
        );

        assert_eq!(
            replicas.update(lagging(&[("n1", 5)]), after(118)),
            (Vec::new(), servers(&["n0"]))
        );
        assert_eq!(
            replicas.update(lagging(&[("n1", 5)]), after(119)),
            (servers(&["n1"]), Vec::new())
        );
    }

    #[test]
    fn a_server_that_follows_a_busy_stream_closely_is_not_reported() {
        let begin = Instant::now();
        let mut replicas = Replicas::default();
        for seconds in (0..300).step_by(10) {
            let busy = lagging(&[("n0", 1_000 + seconds)]);
            assert_eq!(
                replicas.update(busy, begin + Duration::from_secs(seconds)),
                (Vec::new(), Vec::new())
            );
        }
    }
}
