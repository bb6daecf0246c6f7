//! Closed-loop load over many connections.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{client::Request, server::Server};

/// Number of concurrent connections.
pub const CONNECTIONS: usize = 16;

/// The result of a measurement.
#[derive(Clone, Copy)]
pub struct Measured {
    /// Operations per second.
    pub per_second: f64,
    /// The server's CPU time per operation, in microseconds.
    pub cpu: f64,
}

impl Measured {
    /// Computes the result from the number of operations, the elapsed time and the CPU time.
    pub fn of(count: u64, elapsed: Duration, cpu: Duration) -> Self {
        let count = count.max(1) as f64;
        Self { per_second: count / elapsed.as_secs_f64(), cpu: cpu.as_secs_f64() * 1e6 / count }
    }
}

/// Sends the same request repeatedly for the given time.
pub fn repeat(server: &Server, request: &Request, time: Duration) -> Measured {
    let (stop, count) = (AtomicBool::new(false), AtomicU64::new(0));
    let (cpu, began) = (server.cpu(), Instant::now());
    thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| {
                let mut client = server.client();
                while !stop.load(Ordering::Relaxed) {
                    client.exchange(request).unwrap();
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
    });
    Measured::of(count.into_inner(), began.elapsed(), server.cpu() - cpu)
}

/// Sends each request once, with one connection per share. Returns when all have been answered.
pub fn each(server: &Server, shares: Vec<Vec<Request>>) {
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
pub fn expect_accepted(answer: &[u8]) {
    let refused = answer.windows(8).any(|window| window == b"\"error\":");
    assert!(!refused, "{}", String::from_utf8_lossy(answer));
}
