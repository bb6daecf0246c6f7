//! Ten thousand listeners of the price WebSocket against the release binary: latency of a price
//! message to the last listener, beside that of a server which only writes, memory per connection,
//! and the time to reconnect all of them at once.
//!
//! `cargo bench --bench price_sockets`, with the number of listeners in `BENCH_SOCKETS` (10,000)
//! and the duration in seconds in `BENCH_SECONDS` (30). Both processes need as many file
//! descriptors: `ulimit -n`.

mod bare;
mod client;
mod server;

use std::{
    collections::HashMap,
    env,
    time::{Duration, Instant},
};

use tokio::{net::TcpStream, task::JoinSet};

use self::{client::Listener, server::Server};

/// Maximum number of concurrent connection attempts.
const AT_ONCE: usize = 200;
/// Number of connections that never read while the others are measured.
const SLOW: usize = 100;

fn number(name: &str, default: usize) -> usize {
    env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[tokio::main]
async fn main() {
    if env::args().any(|argument| argument == "--bare") {
        return bare::serve();
    }
    // `cargo test` runs benchmarks without `--bench`, for which a small run suffices.
    let is_bench = env::args().any(|argument| argument == "--bench");
    let (sockets, seconds) = if is_bench { (10_000, 30) } else { (50, 3) };
    let sockets = number("BENCH_SOCKETS", sockets);
    let seconds = number("BENCH_SECONDS", seconds);
    let bare = Server::bare();
    let (_, least) = measure(connect(&bare, sockets).await, seconds).await;
    println!("a message of a server that only writes, first to last listener: {least}");
    drop(bare);

    let server = Server::start().await;
    // The first listeners cause one-time allocations, such as the price history, which must not
    // count per connection.
    drop(connect(&server, 50).await);
    let empty = server.memory_kib();

    let started = Instant::now();
    let listeners = connect(&server, sockets).await;
    println!(
        "{sockets} listeners connected and received the prices in {:.2?}",
        started.elapsed()
    );
    let full = server.memory_kib();
    let each = (full.saturating_sub(empty)) as f64 / sockets as f64;
    println!("memory: {empty} KiB without listeners, {full} KiB with them: {each:.1} KiB each");

    let (listeners, quiet) = measure(listeners, seconds).await;
    println!("a price message, first to last listener: {quiet}");

    let mut slow = Vec::new();
    for _ in 0..SLOW {
        slow.push(
            TcpStream::connect(server.address)
                .await
                .expect("a connection"),
        );
    }
    for stream in &mut slow {
        client::upgrade(stream, server.address).await;
    }
    let (listeners, beside) = measure(listeners, seconds).await;
    println!("the same with {SLOW} connections that never read: {beside}");

    drop((listeners, slow));
    let started = Instant::now();
    let again = connect(&server, sockets).await;
    println!(
        "all reconnected in {:.2?}; memory {} KiB",
        started.elapsed(),
        server.memory_kib()
    );
    drop(again);
}

/// Opens connections, at most [`AT_ONCE`] concurrently, and waits until each has received the
/// prices.
async fn connect(server: &Server, sockets: usize) -> Vec<Listener> {
    let mut opening = JoinSet::new();
    let mut open = Vec::with_capacity(sockets);
    for _ in 0..sockets {
        if opening.len() >= AT_ONCE {
            open.extend(opening.join_next().await.into_iter().flatten());
        }
        opening.spawn(Listener::connect(server.address));
    }
    open.extend(opening.join_all().await);
    open
}

/// A percentile of times that are sorted; zero if there are none.
fn percentile(sorted: &[Duration], share: usize) -> Duration {
    let at = (sorted.len() * share / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or_default()
}

/// Delivery times of price messages, sorted.
struct Spread {
    deliveries: Vec<Duration>,
    last: Vec<Duration>,
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let half = percentile(&self.deliveries, 50);
        let most = percentile(&self.deliveries, 99);
        let last = percentile(&self.last, 99);
        write!(
            f,
            "p50 {half:.1?}, p99 {most:.1?} of {} deliveries; the last of a message within {last:.1?} (p99 of {} messages)",
            self.deliveries.len(),
            self.last.len()
        )
    }
}

/// Measures deliveries for some seconds. The time of a delivery counts from the first listener's
/// receipt of the same message.
async fn measure(listeners: Vec<Listener>, seconds: usize) -> (Vec<Listener>, Spread) {
    let end = tokio::time::Instant::now() + Duration::from_secs(seconds as u64);
    let all = listeners.len();
    let listening: JoinSet<_> = listeners
        .into_iter()
        .map(|listener| listener.listen(end))
        .collect();
    let mut listeners = Vec::with_capacity(all);
    let mut messages = HashMap::<u64, Vec<Instant>>::new();
    for (listener, deliveries) in listening.join_all().await {
        listeners.push(listener);
        for delivery in deliveries {
            messages
                .entry(delivery.timestamp)
                .or_default()
                .push(delivery.at);
        }
    }
    let mut deliveries = Vec::new();
    let mut last = Vec::new();
    // Messages that were in flight at the start or the end are incomplete.
    for times in messages.into_values().filter(|times| times.len() == all) {
        let first = times.iter().min().copied().unwrap_or_else(Instant::now);
        let spread: Vec<_> = times.iter().map(|at| at.duration_since(first)).collect();
        last.extend(spread.iter().max());
        deliveries.extend(spread);
    }
    deliveries.sort_unstable();
    last.sort_unstable();
    (listeners, Spread { deliveries, last })
}
