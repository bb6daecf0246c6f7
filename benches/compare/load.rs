//! Load over many connections, at full speed or at a constant rate.

use std::{
    fs,
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    client::{Client, Request},
    report,
    server::Server,
};

/// Number of concurrent connections.
pub(crate) const CONNECTIONS: usize = 16;

/// Time between the creation of the threads of a load and its first request.
const LEAD: Duration = Duration::from_millis(10);

/// The result of a measurement.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    /// Operations per second.
    pub per_second: f64,
    /// The server's CPU time per operation, in microseconds.
    pub cpu: f64,
    /// Latency of a request in microseconds at p50, p99 and p99.9. NaN if requests were not timed.
    pub latency: [f64; 3],
}

impl Measured {
    /// Computes the result from the number of operations, the elapsed time and the CPU time.
    pub(crate) fn of(count: u64, elapsed: Duration, cpu: Duration) -> Self {
        let count = count.max(1) as f64;
        Self {
            per_second: count / elapsed.as_secs_f64(),
            cpu: cpu.as_secs_f64() * 1e6 / count,
            latency: [f64::NAN; 3],
        }
    }
}

/// Measures each node once a round, in turns, so that other load on the machine affects all.
/// Returns the results by node.
pub(crate) fn in_turns<T, R>(
    rounds: usize,
    nodes: &mut [T],
    mut measure: impl FnMut(&mut T) -> R,
) -> Vec<Vec<R>> {
    let mut results: Vec<Vec<R>> = nodes.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (node, results) in nodes.iter_mut().zip(&mut results) {
            results.push(measure(node));
        }
    }
    results
}

/// Sends the same request repeatedly for the given time.
pub(crate) fn repeat(server: &Server, request: &Request, time: Duration) -> Measured {
    run(
        server,
        std::slice::from_ref(request),
        CONNECTIONS,
        None,
        time,
    )
}

/// Sends requests in turn for the given time.
///
/// With a rate, they are due at constant intervals and divided evenly over the connections. Latency
/// then counts from the time at which a request was due, so that it includes waiting for late
/// responses to earlier ones. Without a rate, each connection sends a request as soon as it has the
/// previous response.
pub(crate) fn run(
    server: &Server,
    requests: &[Request],
    connections: usize,
    rate: Option<f64>,
    time: Duration,
) -> Measured {
    // The first request on a connection takes longer.
    let clients: Vec<Client> = (0..connections)
        .map(|lane| {
            let mut client = server.client();
            client.exchange(&requests[lane % requests.len()]).unwrap();
            client
        })
        .collect();

    let next = AtomicUsize::new(0);
    set_timer_slack(1);
    let cpu = server.cpu();
    let began = Instant::now() + LEAD;

    let run_lane = |lane: usize, mut client: Client| {
        let mut latencies = Vec::new();
        thread::sleep(began.saturating_duration_since(Instant::now()));

        for turn in 0.. {
            let (number, due) = match rate {
                None => (next.fetch_add(1, Ordering::Relaxed), began.elapsed()),
                Some(rate) => {
                    let number = turn * connections + lane;
                    (number, Duration::from_secs_f64(number as f64 / rate))
                }
            };
            if due >= time {
                break;
            }

            thread::sleep(due.saturating_sub(began.elapsed()));
            client.exchange(&requests[number % requests.len()]).unwrap();
            latencies.push((began.elapsed() - due).as_secs_f64() * 1e6);
        }
        latencies
    };
    let mut latencies: Vec<f64> = thread::scope(|scope| {
        let run_lane = &run_lane;
        let lanes: Vec<_> = clients
            .into_iter()
            .enumerate()
            .map(|(at, client)| scope.spawn(move || run_lane(at, client)))
            .collect();
        lanes
            .into_iter()
            .flat_map(|lane| lane.join().unwrap())
            .collect()
    });

    let measured = Measured::of(latencies.len() as u64, began.elapsed(), server.cpu() - cpu);
    set_timer_slack(0);

    Measured {
        latency: [0.5, 0.99, 0.999].map(|share| report::quantile(&mut latencies, share)),
        ..measured
    }
}

/// Sets by how many nanoseconds the kernel may delay the end of a sleep on the main thread and
/// those that it starts; 0 for the default of 50,000. Servers inherit it as well, so it has to be
/// the default when they start.
fn set_timer_slack(nanoseconds: u64) {
    // Where this is not possible, latencies at a constant rate are longer, on all servers alike.
    let _ = fs::write("/proc/self/timerslack_ns", nanoseconds.to_string());
}

/// Sends each request once, with one connection per share. Returns when all have been answered.
pub(crate) fn each(server: &Server, shares: Vec<Vec<Request>>) {
    let barrier = Barrier::new(shares.len());
    thread::scope(|scope| {
        for share in &shares {
            let barrier = &barrier;
            scope.spawn(move || {
                let mut client = server.client();
                barrier.wait();
                for request in share {
                    expect_accepted(client.exchange(request).unwrap());
                }
            });
        }
    });
}

/// Panics if the node refused a call.
pub(crate) fn expect_accepted(answer: &[u8]) {
    let refused = answer.windows(8).any(|window| window == b"\"error\":");
    assert!(!refused, "{}", String::from_utf8_lossy(answer));
}
