//! Machines in a separate network: network namespaces whose links meet in a bridge.
//!
//! A test that needs them runs again in a process whose network namespace has the bridge and the
//! test's clients. The computer's own network is unchanged, names do not collide with those of
//! another run, and the kernel removes everything once that process and its children have ended,
//! however they end.

use std::{
    env,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use tokio::{net::TcpStream, time::timeout};

use crate::support::{process::installed, skip};

/// Number of machines.
pub(super) const MACHINES: usize = 3;

/// Set in the process with the separate network.
const INSIDE: &str = "TETRAD_TEST_NETWORK";

/// The arguments of unshare for a separate network: as root, or where users may create namespaces
/// in which they are root.
const NAMESPACES: [&[&str]; 2] = [
    &["--net", "--mount"],
    &["--user", "--map-root-user", "--net", "--mount"],
];

/// Runs a program with its own names of namespaces.
const WITH_OWN_NAMES: &str = r#"mount -t tmpfs tmpfs /run && exec "$0" "$@""#;

/// A machine of the network, with one link to the others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Machine(usize);

impl Machine {
    /// The command of a program on the machine, without arguments.
    pub(super) fn command(self, program: &Path) -> Command {
        let mut command = tool("ip");
        command.args(["netns", "exec", &self.name()]).arg(program);
        command
    }

    pub(super) fn address(self, port: u16) -> SocketAddr {
        (Ipv4Addr::new(10, 0, 0, self.0 as u8 + 1), port).into()
    }

    fn name(self) -> String {
        format!("machine-{}", self.0)
    }

    /// The end of the machine's link at the bridge.
    fn port(self) -> String {
        format!("port-{}", self.0)
    }
}

/// Three machines, and the faults of their links.
pub(super) struct Network(());

impl Network {
    /// Returns the network in the process that runs in it. Elsewhere, runs this test again in such
    /// a process and returns none, or prints why it cannot.
    pub(super) fn enter(test: &str) -> Option<Self> {
        if env::var_os(INSIDE).is_some() {
            return Some(Self::new());
        }
        match namespaces() {
            Ok(namespaces) => run_again(test, namespaces),
            Err(why) => skip(&why),
        }
        None
    }

    fn new() -> Self {
        ip("link set lo up");
        ip("link add switch type bridge");
        ip("address add 10.0.0.254/24 dev switch");
        ip("link set switch up");
        for machine in (0..MACHINES).map(Machine) {
            let name = machine.name();
            let port = machine.port();
            let address = machine.address(0).ip();
            ip(&format!("netns add {name}"));
            ip(&format!(
                "link add {port} type veth peer name eth0 netns {name}"
            ));
            ip(&format!("link set {port} master switch up"));
            ip(&format!("-n {name} address add {address}/24 dev eth0"));
            ip(&format!("-n {name} link set eth0 up"));
            ip(&format!("-n {name} link set lo up"));
        }
        Self(())
    }

    pub(super) fn machine(&self, index: usize) -> Machine {
        assert!(index < MACHINES, "machine {index}");
        Machine(index)
    }

    /// Unplugs a machine, which notices it.
    pub(super) fn unplug(&self, machine: usize) {
        ip(&format!("link set {} down", self.machine(machine).port()));
    }

    /// Drops packets to a machine.
    pub(super) fn deafen(&self, machine: usize) {
        assert!(
            self.inbound(machine).set("blackhole"),
            "the kernel drops nothing"
        );
    }

    /// Drops packets from a machine.
    pub(super) fn mute(&self, machine: usize) {
        assert!(
            self.outbound(machine).set("blackhole"),
            "the kernel drops nothing"
        );
    }

    /// Drops packets from a machine and to it.
    pub(super) fn isolate(&self, machine: usize) {
        self.deafen(machine);
        self.mute(machine);
    }

    /// Delays packets in both directions, and loses some.
    pub(super) fn impair(&self, machine: usize) {
        for queue in [self.inbound(machine), self.outbound(machine)] {
            // A kernel without netem may have tbf, a link so narrow that packets wait, and are
            // dropped when many do.
            let is_impaired = queue.set("netem delay 50ms 20ms loss 5%")
                || queue.set("tbf rate 1mbit burst 5kb latency 100ms");
            assert!(is_impaired, "the kernel delays nothing");
        }
    }

    /// Ends all faults of a machine's link.
    pub(super) fn restore(&self, machine: usize) {
        self.inbound(machine).clear();
        self.outbound(machine).clear();
        ip(&format!("link set {} up", self.machine(machine).port()));
    }

    /// The queue of packets to a machine.
    fn inbound(&self, machine: usize) -> Queue {
        Queue {
            namespace: None,
            device: self.machine(machine).port(),
        }
    }

    /// The queue of packets from a machine.
    fn outbound(&self, machine: usize) -> Queue {
        Queue {
            namespace: Some(self.machine(machine).name()),
            device: "eth0".to_owned(),
        }
    }
}

/// The packets that wait to leave a device, in the test's namespace or another one.
struct Queue {
    namespace: Option<String>,
    device: String,
}

impl Queue {
    /// Sets a queueing discipline. Returns whether the kernel has it.
    fn set(&self, discipline: &str) -> bool {
        self.change("replace", discipline)
    }

    fn clear(&self) {
        // False if the queue was not changed before.
        self.change("delete", "");
    }

    fn change(&self, action: &str, discipline: &str) -> bool {
        let namespace = self
            .namespace
            .as_ref()
            .map(|name| format!("-n {name} "))
            .unwrap_or_default();
        let arguments = format!(
            "{namespace}qdisc {action} dev {} root {discipline}",
            self.device
        );
        run("tc", &arguments).is_ok()
    }
}

/// Whether such namespaces can be created here.
fn is_allowed(namespaces: &[&str]) -> bool {
    let mut command = in_namespaces(namespaces, &installed("ip").unwrap());
    let probe = command
        .args(["netns", "add", "probe"])
        .stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// The arguments of unshare that work here, or the reason why none do.
fn namespaces() -> Result<&'static [&'static str], String> {
    for program in ["ip", "tc", "unshare"] {
        installed(program).ok_or_else(|| format!("{program} is not installed"))?;
    }

    NAMESPACES
        .iter()
        .find(|namespaces| is_allowed(namespaces))
        .copied()
        .ok_or_else(|| "network namespaces are not allowed here".to_owned())
}

/// The command of a program in namespaces of its own.
fn in_namespaces(namespaces: &[&str], program: &Path) -> Command {
    let mut command = tool("unshare");
    command
        .args(namespaces)
        .args(["sh", "-c", WITH_OWN_NAMES])
        .arg(program);
    command
}

/// Runs a test of this binary in namespaces of its own.
fn run_again(test: &str, namespaces: &[&str]) {
    let binary = env::current_exe().unwrap();
    let listed = Command::new(&binary)
        .args(["--list", "--exact", test])
        .output()
        .unwrap();
    assert!(
        String::from_utf8(listed.stdout).unwrap().contains(test),
        "there is no test {test}"
    );

    let mut command = in_namespaces(namespaces, &binary);
    command
        .args(["--exact", test, "--include-ignored", "--nocapture"])
        .env(INSIDE, "1");
    let status = command.status().unwrap();
    assert!(status.success(), "{test} in a network of its own: {status}");
}

fn tool(name: &str) -> Command {
    Command::new(installed(name).unwrap_or_else(|| panic!("{name} is not installed")))
}

/// Runs a program with arguments between spaces, and returns its error output if it fails.
fn run(program: &str, arguments: &str) -> Result<(), String> {
    let output = tool(program)
        .args(arguments.split_whitespace())
        .output()
        .unwrap();
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn ip(arguments: &str) {
    run("ip", arguments).unwrap_or_else(|error| panic!("ip {arguments}: {error}"));
}

/// The number of packets that a machine has received.
fn packets_received(machine: Machine) -> u64 {
    let mut command = machine.command(&installed("cat").unwrap());
    let output = command
        .arg("/sys/class/net/eth0/statistics/rx_packets")
        .output()
        .unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap()
}

/// Whether a machine answers, and whether it received a packet meanwhile.
async fn answers_and_hears(machine: Machine) -> (bool, bool) {
    let before = packets_received(machine);
    // No process listens there: the machine itself answers.
    let refused = timeout(
        Duration::from_millis(500),
        TcpStream::connect(machine.address(9)),
    )
    .await;

    (refused.is_ok(), packets_received(machine) > before)
}

#[tokio::test]
#[ignore = "needs network namespaces"]
async fn links_of_machines_fail_in_one_direction_or_both() {
    const TEST: &str = "cluster::network::links_of_machines_fail_in_one_direction_or_both";
    let Some(network) = Network::enter(TEST) else {
        return;
    };
    let failing = network.machine(1);
    let other = network.machine(0);
    assert_eq!(answers_and_hears(failing).await, (true, true));

    network.deafen(1);
    assert_eq!(answers_and_hears(failing).await, (false, false));
    network.restore(1);
    assert_eq!(answers_and_hears(failing).await, (true, true));

    network.mute(1);
    assert_eq!(answers_and_hears(failing).await, (false, true));
    assert_eq!(answers_and_hears(other).await, (true, true));
    network.restore(1);
    assert_eq!(answers_and_hears(failing).await, (true, true));

    network.unplug(1);
    assert!(!answers_and_hears(failing).await.0);
    network.restore(1);
    assert_eq!(answers_and_hears(failing).await, (true, true));

    network.impair(1);
    network.restore(1);
    assert_eq!(answers_and_hears(failing).await, (true, true));
}
