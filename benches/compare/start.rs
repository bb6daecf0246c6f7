//! Time from the start of the process to its first response, and memory when idle.

use super::{
    Effort,
    load::in_turns,
    peers::{self, Peer},
    report,
    server::Server,
};

pub(crate) fn run(effort: Effort) {
    report::table("Start", &["Node", "ms to the first answer", "MB idle"]);
    let mut peers: Vec<Peer> = peers::builds("0")
        .into_iter()
        .chain(peers::anvil())
        .collect();
    let names: Vec<&str> = peers.iter().map(|peer| peer.name).collect();
    let runs = in_turns(effort.rounds.max(5), &mut peers, |peer| {
        let server = Server::start(&peer.command);
        [server.started.as_secs_f64() * 1e3, server.memory()]
    });
    report::rows(&[], &names, &runs);
    report::end();
}
