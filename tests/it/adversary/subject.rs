//! The node under attack: a separate process, which is restarted whenever it ends.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use serde_json::Value;

use crate::support::{process, process::Running};

/// `limits.transit-megabytes` of the node.
pub(super) const TRANSIT_MEGABYTES: u64 = 64;
/// `rpc.max-trace-megabytes` of the node.
pub(super) const TRACE_MEGABYTES: u64 = 16;
/// `limits.history-megabytes` of the node.
const HISTORY_MEGABYTES: u64 = 32;
/// Megabytes that one attack may add to the memory of a node. All requests and responses in transit
/// share the transit limit; each byte may exist twice for a moment, as a document and as its text.
/// A trace has a separate limit. The rest is for connections, buffers of the system and the
/// allocator.
pub(super) const GROWTH_LIMIT: u64 = 2 * TRANSIT_MEGABYTES + TRACE_MEGABYTES + 112;
/// Megabytes that all attacks together may add: in addition to one attack's share, the growing
/// history of the chain, and the caches of the indexes.
pub(super) const TOTAL_LIMIT: u64 = GROWTH_LIMIT + HISTORY_MEGABYTES + 160;

/// How long a node may take to start.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The profile of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Profile {
    Production,
    /// Clients may change the chain's past, its time and the rules of its pool.
    Development,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Production => "production",
            Self::Development => "development",
        }
    }
}

/// The node.
pub(super) struct Subject {
    pub profile: Profile,
    directory: tempfile::TempDir,
    running: Mutex<Option<Running>>,
}

impl Subject {
    /// Starts a node with every listener on a free port; in production, like a public node.
    /// Requests to its REST interfaces are not counted, as if they came from many addresses.
    pub(super) async fn start(profile: Profile) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("token"), "a-token-that-no-client-has").unwrap();
        let subject = Self {
            profile,
            directory,
            running: Mutex::new(None),
        };
        subject.restart().await;
        subject
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("log")
    }

    /// The directory of the chain.
    pub(super) fn chain(&self) -> PathBuf {
        self.directory.path().join("chain")
    }

    /// The Unix socket.
    pub(super) fn socket(&self) -> PathBuf {
        self.directory.path().join("socket")
    }

    /// Restarts the node with its directory.
    pub(super) async fn restart(&self) {
        let mut command = process::tetrad(&[
            "--profile",
            self.profile.name(),
            "--quiet",
            "--durability",
            "os",
        ]);

        command.arg("--data-dir").arg(self.chain());
        command
            .arg("--admin-token-file")
            .arg(self.directory.path().join("token"));

        for listener in [
            "listen",
            "ws-listen",
            "comet-listen",
            "cosmos-rest-listen",
            "grpc-listen",
        ] {
            command.args([&format!("--{listener}"), "127.0.0.1:0"]);
        }

        command.arg("--listen-unix").arg(self.socket());
        command.args(["--limits-transit-megabytes", &TRANSIT_MEGABYTES.to_string()]);
        command.args(["--rpc-max-trace-megabytes", &TRACE_MEGABYTES.to_string()]);
        command.args(["--limits-history-megabytes", &HISTORY_MEGABYTES.to_string()]);
        if self.profile == Profile::Production {
            command.args(["--block-time", "0.5"]);
        }
        command.args(["--exchange-rate-limit", "0", "--faucet", "1000"]);
        command.args([
            "--faucet-per-address",
            "0",
            "--faucet-per-client",
            "0",
            "--faucet-per-day",
            "10000",
        ]);

        let log = self.log();
        let started =
            tokio::time::timeout(START_TIMEOUT, Running::run_with_log(command, &log)).await;
        *self.running.lock() = Some(started.expect("the node starts in time"));
    }

    /// The URLs of the listeners by their names in the ready file.
    pub(super) fn listeners(&self) -> Vec<(String, String)> {
        let running = self.running.lock();
        let ready = &running.as_ref().expect("the node was started").ready;
        let urls = ready
            .as_object()
            .unwrap()
            .iter()
            .filter_map(|(name, url)| Some((name.clone(), url.as_str()?.to_owned())));
        urls.collect()
    }

    /// The address of a listener.
    pub(super) fn address(&self, listener: &str) -> SocketAddr {
        let running = self.running.lock();
        let ready = &running.as_ref().expect("the node was started").ready;
        let url = ready[listener]
            .as_str()
            .unwrap_or_else(|| panic!("no listener {listener}: {ready}"));
        let authority = url
            .split("//")
            .nth(1)
            .and_then(|rest| rest.split('/').next())
            .expect("a URL");
        authority.parse().expect("an address")
    }

    /// Whether the process runs.
    pub(super) fn is_alive(&self) -> bool {
        self.running
            .lock()
            .as_mut()
            .is_some_and(|running| running.child.try_wait().unwrap().is_none())
    }

    /// Kills the process.
    pub(super) fn kill(&self) {
        *self.running.lock() = None;
    }

    fn process(&self) -> u32 {
        self.running
            .lock()
            .as_ref()
            .expect("the node was started")
            .child
            .id()
    }

    /// A figure of the process's memory in megabytes; none where the system does not report it.
    fn memory(&self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: u64 = line
            .trim_start_matches(':')
            .trim()
            .split(' ')
            .next()?
            .parse()
            .ok()?;
        Some(kilobytes / 1024)
    }

    /// The resident memory of the process in megabytes.
    pub(super) fn resident(&self) -> Option<u64> {
        self.memory("VmRSS")
    }

    /// The peak memory of the process since [`Self::forget_peak`], in megabytes.
    pub(super) fn peak(&self) -> Option<u64> {
        self.memory("VmHWM")
    }

    /// Resets the peak memory.
    pub(super) fn forget_peak(&self) {
        // See proc(5).
        let _ = fs::write(format!("/proc/{}/clear_refs", self.process()), "5");
    }

    /// The processor time that the process has used; none where the system does not report it.
    pub(super) fn processor_time(&self) -> Option<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process())).ok()?;
        let ticks = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(2);
        let ticks = ticks
            .map(|ticks| ticks.parse::<u64>().unwrap())
            .sum::<u64>();
        // Every system with this file counts in hundredths of a second.
        Some(Duration::from_millis(10 * ticks))
    }

    /// Waits until the process is as idle as a node without requests. Returns false if it is busy
    /// for `at_most`.
    pub(super) async fn settle(&self, at_most: Duration) -> bool {
        const SAMPLE: Duration = Duration::from_millis(100);
        let began = Instant::now();
        while began.elapsed() < at_most {
            let before = self.processor_time();
            tokio::time::sleep(SAMPLE).await;
            match (before, self.processor_time()) {
                (Some(before), Some(after)) if after.saturating_sub(before) > SAMPLE / 2 => {}
                _ => return true,
            }
        }
        false
    }

    /// The lines of the log that report a panic or an abort.
    pub(super) fn accidents(&self) -> Vec<String> {
        const SIGNS: [&str; 4] = [
            "panicked",
            "overflowed its stack",
            "fatal runtime error",
            "memory allocation of",
        ];
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        log.lines()
            .filter(|line| SIGNS.iter().any(|sign| line.contains(sign)))
            .map(str::to_owned)
            .collect()
    }

    /// The node's log, which has errors only.
    pub(super) fn errors(&self) -> Vec<String> {
        fs::read_to_string(self.log())
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    }
}

/// The n-th client address of this machine, where it has more than one.
pub(super) fn client_address(n: u8) -> IpAddr {
    let last = if cfg!(target_os = "linux") { n } else { 1 };
    Ipv4Addr::new(127, 0, 0, last).into()
}

/// The address of the n-th attacker; attackers share a few.
pub(super) fn attacker_address(n: usize) -> IpAddr {
    const FIRST: u8 = 10;
    const SHARED: usize = 4;
    client_address(FIRST + (n % SHARED) as u8)
}

/// A value as text in a path or query.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
