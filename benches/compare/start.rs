//! Time from the start of the process to its first response, and memory when idle.

use super::{Effort, peers, report, server::Server};

pub fn run(effort: Effort) {
    report::table("Start", &["Node", "ms to the first answer", "MB idle"]);
    for peer in [Some(peers::tetrad()), peers::baseline(), peers::anvil()].into_iter().flatten() {
        let runs: Vec<(f64, f64)> = (0..effort.rounds.max(5))
            .map(|_| {
                let server = Server::start(&peer.command);
                (server.started.as_secs_f64() * 1e3, server.memory())
            })
            .collect();
        let median = |of: fn(&(f64, f64)) -> f64| report::figure(report::median(runs.iter().map(of).collect()));
        report::row(&[peer.name.to_owned(), median(|run| run.0), median(|run| run.1)]);
    }
    report::end();
}
