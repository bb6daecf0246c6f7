//! The program itself, as a user starts it.

use std::process::Command;

use crate::support::{
    golden::assert_golden,
    process::{Running, output, tetrad},
};

#[tokio::test]
async fn the_program_serves_until_a_signal_ends_it() {
    for signal in ["-TERM", "-INT"] {
        let node = Running::start(&[]).await;
        assert_eq!(node.ready["pid"], node.child.id());
        for key in ["rpc", "ws", "exchange_ws", "rest"] {
            assert!(
                node.ready[key].as_str().unwrap().contains("127.0.0.1:"),
                "{key}"
            );
        }
        assert_eq!(node.chain_id().await, "0x7d");
        let (success, printed) = node.end(signal);
        assert!(success);
        for part in [
            "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
            "pax17w0adeg64ky0daxwd2ugyuneellmjgnxljx2cg",
            "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
            "10000 HPX",
            "0x49B0f9a0554da1A7243A9C8ac5B45245A66D90ff",
            "/rpc",
        ] {
            assert!(printed.contains(part), "{part} is not in\n{printed}");
        }
    }
}

#[test]
fn a_ready_file_of_an_earlier_run_is_removed_even_if_the_start_fails() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("ready.json");
    std::fs::write(&file, "{}").unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (success, _, error) =
        output(&["--listen", &address, "--ready-file", file.to_str().unwrap()]);
    assert!(!success && error.contains(&address), "{error}");
    assert!(!file.exists());
}

#[tokio::test]
async fn quiet_prints_nothing() {
    let node = Running::start(&["serve", "--quiet"]).await;
    assert_eq!(node.chain_id().await, "0x7d");
    assert_eq!(node.end("-TERM"), (true, String::new()));
}

#[tokio::test]
async fn production_prints_no_keys() {
    let node = Running::start(&["--profile", "production"]).await;
    let (success, printed) = node.end("-TERM");
    assert!(success && !printed.contains("Mnemonic"), "{printed}");
}

/// The lines of a printed configuration without the origins of the values.
fn without_origins(text: &str) -> Vec<&str> {
    text.lines()
        .map(|line| line.split("  #").next().unwrap())
        .collect()
}

#[test]
fn config_prints_the_effective_settings_as_a_valid_file() {
    let (success, printed, _) = output(&[
        "config",
        "--chain-id",
        "229",
        "--rpc-gas-cap",
        "30000000",
        "--no-mining",
    ]);
    assert!(success);

    for line in [
        "chain-id = 229  # --chain-id",
        "no-mining = true  # --no-mining",
        "gas-cap = 30000000  # --rpc-gas-cap",
        "[exchange]",
        "# genesis is not set",
    ] {
        assert!(
            printed.lines().any(|printed| printed == line),
            "{line} is not in\n{printed}"
        );
    }

    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &printed).unwrap();
    let (success, again, error) = output(&["config", "--config", file.path().to_str().unwrap()]);
    assert!(success, "{error}");
    assert_eq!(without_origins(&printed), without_origins(&again));
}

#[test]
fn errors_are_printed_on_standard_error() {
    for (arguments, expected) in [
        (
            &["--chain-id", "x"][..],
            "error: --chain-id: expected a whole number, got `x`\n",
        ),
        (
            &["config", "--config", "/nonexistent.toml"],
            "error: config /nonexistent.toml: cannot be read: No such file or directory (os error 2)\n",
        ),
        (
            &[
                "--listen",
                "127.0.0.1:0",
                "--ws-listen",
                "off",
                "--genesis",
                "/nonexistent.json",
            ],
            "error: --genesis /nonexistent.json: No such file or directory (os error 2)\n",
        ),
        (
            &["--listen", "192.0.2.1:1"],
            "error: --listen: cannot listen on 192.0.2.1:1: ",
        ),
    ] {
        let (success, printed, error) = output(arguments);
        assert!(!success && printed.is_empty(), "{arguments:?} {printed}");
        assert!(error.starts_with(expected), "{arguments:?}: {error}");
    }

    let (success, _, error) = output(&["--chain-idd", "5"]);
    assert!(!success && error.contains("--chain-id"), "{error}");
}

#[test]
fn help_names_every_setting() {
    let (success, printed, _) = output(&["--help"]);
    assert!(
        success && printed.starts_with("A whole network on your desk"),
        "{printed}"
    );
    for setting in tetrad::config::settings() {
        assert!(
            printed.contains(&format!("--{}", setting.flag()))
                && printed.contains(&setting.variable()),
            "{}",
            setting.name
        );
    }
    for command in ["serve", "config", "address", "keys"] {
        assert!(printed.contains(command));
    }
    for heading in [
        "Listeners:",
        "Chain and blocks:",
        "JSON-RPC:",
        "Fork:",
        "Examples:",
    ] {
        assert_eq!(
            printed.lines().filter(|line| *line == heading).count(),
            1,
            "{heading}"
        );
    }
}

#[test]
fn the_short_help_is_short_and_commands_list_only_their_own_flags() {
    let help = |arguments: &[&str]| output(arguments).1;
    let short = help(&["-h"]);
    assert!(short.lines().count() < 80, "{short}");
    assert!(
        short.contains("--fork-url")
            && short.contains("--port")
            && !short.contains("--limits-pool"),
        "{short}"
    );

    for (command, listed, hidden) in [
        (&["probe", "--help"][..], "--listen ", "--chain-id"),
        (&["cluster", "status", "--help"], "--cluster ", "--chain-id"),
        (&["config", "--help"], "--config ", "--chain-id"),
        (&["address", "--help"], "--json", "--chain-id"),
        (&["chain", "--help"], "--data-dir", "--chain-id"),
        (&["keys", "new", "--help"], "--keystore", "--chain-id"),
    ] {
        let printed = help(command);
        assert!(
            printed.contains(listed) && !printed.contains(hidden),
            "{command:?}: {printed}"
        );
        assert!(
            !printed.contains("Arguments of") && !printed.contains("parser"),
            "{command:?}: {printed}"
        );
    }

    // Unlisted flags are still accepted.
    let (success, printed, error) = output(&["config", "--chain-id", "7"]);
    assert!(success && printed.contains("chain-id = 7"), "{error}");
}

#[test]
fn flags_of_anvil_and_former_names_are_accepted() {
    for (arguments, line) in [
        (
            &["--port", "9545"][..],
            "listen = \"127.0.0.1:9545\"  # --port",
        ),
        (
            &["-p", "9545", "--host", "0.0.0.0"],
            "listen = \"0.0.0.0:9545\"  # --port",
        ),
        (
            &["--host", "localhost"],
            "listen = \"127.0.0.1:8545\"  # --host",
        ),
        (&["--host", "::1"], "listen = \"[::1]:8545\"  # --host"),
        (&["--silent"], "quiet = true  # --quiet"),
        (&["-q"], "quiet = true  # --quiet"),
        (&["-b", "2"], "block-time = 2.0  # --block-time"),
        (&["-a", "3"], "accounts = 3  # --accounts"),
        (&["--no-mine"], "no-mining = true  # --no-mining"),
        (&["--chain-id", "0x7e"], "chain-id = 126  # --chain-id"),
        (
            &[
                "-f",
                "http://localhost:1/",
                "--fork-block-number",
                "5",
                "--retries",
                "3",
            ],
            "block = \"5\"  # --fork-block",
        ),
        (
            &["--rpc-dialect", "ethereum"],
            "dialect = \"ethereum\"  # --rpc-dialect",
        ),
        (
            &["--rpc-errors", "ethereum"],
            "dialect = \"ethereum\"  # --rpc-dialect",
        ),
        (
            &["--allow-origin", "https://a.example"],
            "cors-origins = [\"https://a.example\"]  # --cors-origins",
        ),
    ] {
        let (success, printed, error) = output(&[&["config"][..], arguments].concat());
        assert!(success, "{arguments:?}: {error}");
        assert!(
            printed.lines().any(|printed| printed == line),
            "{line} is not in\n{printed}"
        );
    }

    let with_variable = tetrad(&["config", "--port", "9545"])
        .env("TETRAD_LISTEN", "0.0.0.0:1")
        .output()
        .unwrap();
    assert!(
        String::from_utf8(with_variable.stdout)
            .unwrap()
            .contains("listen = \"0.0.0.0:9545\"")
    );

    for wrong in [
        &["--port", "9545", "--listen", "9546"][..],
        &["--port", "x"],
        &["--host", "example.org"],
    ] {
        assert!(!output(&[&["config"][..], wrong].concat()).0, "{wrong:?}");
    }
}

#[tokio::test]
async fn a_second_price_websocket_is_optional_in_development_only() {
    // The default port, which another program may use.
    let _taken = std::net::TcpListener::bind("127.0.0.1:3001");
    let mut command = tetrad(&["--listen", "127.0.0.1:0"]);
    command.env("RUST_BACKTRACE", "0");
    let node = Running::run(command).await;
    let main = node.ready["ws"].as_str().unwrap().replace("/rpc", "/ws");
    assert_eq!(node.ready["exchange_ws"], main);
    let log = node.log();
    assert!(log.contains("--ws-listen"), "{log}");
    for arguments in [
        &["--ws-listen", "127.0.0.1:3001"][..],
        &["--profile", "production"],
    ] {
        let (success, _, error) = output(&[&["--listen", "127.0.0.1:0"][..], arguments].concat());
        assert!(
            !success && error.contains("--ws-listen: cannot listen on 127.0.0.1:3001"),
            "{error}"
        );
        assert!(error.contains("choose another address, or off"), "{error}");
    }
}

#[tokio::test]
async fn the_banner_begins_with_the_url_of_the_page() {
    let node = Running::start(&[]).await;
    let page = node.ready["rest"].as_str().unwrap().to_owned();
    let (success, printed) = node.end("-TERM");
    let first = printed.lines().next().unwrap_or_default();
    assert!(success, "{printed}");
    assert_eq!(first, format!("Page             {page}"), "{printed}");
}

#[tokio::test]
async fn the_banner_ends_with_the_urls_that_exist() {
    let (success, printed) = Running::start(&[]).await.end("-TERM");
    let last: Vec<_> = printed
        .lines()
        .rev()
        .skip_while(|line| line.is_empty())
        .collect();
    assert!(
        success && last[0].starts_with("Page ") && last[1].starts_with("Price WebSocket "),
        "{printed}"
    );

    let directory = tempfile::tempdir().unwrap();
    let genesis = directory.path().join("genesis.json");
    std::fs::write(
        &genesis,
        r#"{"config":{"chainId":7},"difficulty":"0x0","gasLimit":"0x1c9c380","alloc":{}}"#,
    )
    .unwrap();

    let (_, printed) = Running::start(&["--genesis", genesis.to_str().unwrap(), "--no-explorer"])
        .await
        .end("-TERM");
    assert!(printed.contains("chain id 7\n"), "{printed}");

    for absent in [
        "Vault",
        "Price WebSocket",
        "/api/prices",
        "/api/v2",
        "hyperpax",
    ] {
        assert!(!printed.contains(absent), "{printed}");
    }
}

#[tokio::test]
async fn the_banner_reports_persistence_and_funded_accounts() {
    let in_memory = ["--profile", "production"];
    let (_, printed) = Running::start(&in_memory).await.end("-TERM");
    for part in [
        "in memory: it ends with this process",
        "Treasury      0x",
        "Faucet        off",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let directory = tempfile::tempdir().unwrap();
    let kept = [
        "--faucet",
        "2.50",
        "--data-dir",
        directory.path().to_str().unwrap(),
    ];
    let (_, printed) = Running::start(&[&in_memory[..], &kept].concat())
        .await
        .end("-TERM");
    assert!(
        printed.contains("Faucet        2.5 HPX for a payment") && !printed.contains("in memory"),
        "{printed}"
    );
    let (_, printed) = Running::start(&[]).await.end("-TERM");
    assert!(!printed.contains("Production profile"), "{printed}");
}

#[test]
fn address_prints_all_forms() {
    let (success, printed, _) = output(&["address", "pax17w0adeg64ky0daxwd2ugyuneellmjgnxljx2cg"]);
    assert!(
        success && printed.contains("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"),
        "{printed}"
    );
}

#[test]
fn checking_a_file_reports_all_of_its_errors() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("wrong.toml");
    let text = "profile = \"production\"\naccounts = 3\nlisten = \"nowhere\"\nchain-ids = 7\ngenesis = \"missing.json\"\n\
                [rpc]\nmax-batch = \"many\"\ngas-cap = 1\n[exchange]\nrate-limit = 5\n";
    std::fs::write(&file, text).unwrap();
    let (ok, out, error) = output(&["config", "check", file.to_str().unwrap()]);
    assert!(!ok);
    for expected in [
        "holds no keys",
        "listen in",
        "did you mean `chain-id`?",
        "missing.json",
        "rpc.max-batch in",
        "rpc.gas-cap in",
    ] {
        assert_eq!(out.matches(expected).count(), 1, "{expected}: {out}");
    }
    assert_eq!(out.lines().count(), 6, "{out}");
    assert!(error.contains("cannot be used"));

    std::fs::write(
        &file,
        "listen = \"127.0.0.1:1\"\nws-listen = \"127.0.0.1:1\"\n",
    )
    .unwrap();
    let (ok, out, _) = output(&["config", "check", file.to_str().unwrap()]);
    assert!(!ok && out.contains("the same address as listen"), "{out}");

    for shipped in ["config/development.toml", "config/production.toml"] {
        let (ok, out, _) = output(&["config", "check", shipped]);
        assert!(ok, "{shipped}: {out}");
    }
    let (ok, out, _) = output(&["config", "check", "no/such/file"]);
    assert!(!ok && out.contains("cannot be read"));
}

#[test]
fn the_book_and_the_shipped_files_match_the_programs_output() {
    for (arguments, file) in [
        (
            &["config", "reference"][..],
            "docs/src/configuration/settings.md",
        ),
        (
            &["config", "defaults", "development"],
            "config/development.toml",
        ),
        (
            &["config", "defaults", "production"],
            "config/production.toml",
        ),
    ] {
        let (ok, out, error) = output(arguments);
        assert!(ok, "{error}");
        assert_golden(file, &out);
    }
}

#[test]
fn completions_and_the_manual_page_are_generated() {
    for (shell, sign) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef tetrad"),
        ("fish", "complete -c tetrad"),
    ] {
        let (ok, out, _) = output(&["completions", shell]);
        assert!(
            ok && out.contains(sign) && out.contains("block-time"),
            "{shell}"
        );
    }
    let (ok, out, _) = output(&["man"]);
    assert!(ok && out.contains(".TH tetrad 1") && out.contains("block\\-time"));
}

#[tokio::test]
async fn a_probe_reports_whether_a_node_is_ready() {
    let node = Running::start(&["--exchange-price-tick", "0"]).await;
    let listen = node.ready["rest"].as_str().unwrap().replace("http://", "");
    let (ok, out, _) = output(&["probe", "--listen", &listen]);
    assert!(ok && out == "ready\n");
    node.end("-TERM");
    let (ok, _, error) = output(&["probe", "--listen", &listen]);
    assert!(!ok && error.contains(&listen), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_probe_uses_tls_and_unix_sockets() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let certificate = file("cert.pem");
    let key = file("key.pem");
    let socket = file("node.sock");

    // Like nearly all certificates, it is not for an address.
    let made = rcgen::generate_simple_self_signed(vec!["node.example.org".to_owned()]).unwrap();
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();

    let tls = [
        "--tls-certificate-file",
        &certificate,
        "--tls-key-file",
        &key,
    ];
    let unix = ["--listen-unix", &socket];
    let node = Running::start(&[&["--exchange-price-tick", "0"][..], &tls, &unix].concat()).await;

    let listen = node.ready["rest"].as_str().unwrap().replace("https://", "");
    let encrypted = [&["probe", "--listen", &listen][..], &tls].concat();
    assert_eq!(
        output(&encrypted),
        (true, "ready\n".to_owned(), String::new())
    );

    // Other settings do not matter: every listener serves the same.
    let local = [&["probe", "--listen", "127.0.0.1:1"][..], &unix].concat();
    assert_eq!(output(&local), (true, "ready\n".to_owned(), String::new()));
    node.end("-TERM");

    let (ok, _, error) = output(&encrypted);
    assert!(
        !ok && error.contains(&format!("https://{listen}/ready")),
        "{error}"
    );

    let (ok, _, error) = output(&local);
    assert!(!ok && error.contains(&socket), "{error}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_service_manager_is_notified_when_the_node_is_ready() {
    use std::os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    };

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("notify");
    let name = format!("tetrad-notify-{}", std::process::id());
    let sockets = [
        (
            UnixDatagram::bind(&file).unwrap(),
            file.to_str().unwrap().to_owned(),
        ),
        (
            UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap(),
            format!("@{name}"),
        ),
    ];

    for (socket, address) in sockets {
        socket
            .set_read_timeout(Some(std::time::Duration::from_secs(60)))
            .unwrap();
        let mut command = tetrad(&["--quiet", "--listen", "127.0.0.1:0", "--ws-listen", "off"]);
        let mut child = command.env("NOTIFY_SOCKET", address).spawn().unwrap();

        let mut message = [0; 64];
        let size = socket.recv(&mut message).unwrap();
        assert_eq!(&message[..size], b"READY=1");
        Command::new("kill")
            .arg(child.id().to_string())
            .status()
            .unwrap();

        let size = socket.recv(&mut message).unwrap();
        assert_eq!(&message[..size], b"STOPPING=1");
        assert!(child.wait().unwrap().success());
    }
}

/// An error at the start comes with advice.
#[test]
fn errors_come_with_advice() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "listen = \"nowhere\"\n").unwrap();
    let file = file.to_str().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let quiet = ["--quiet", "--ws-listen", "off"];

    for (arguments, what, hint) in [
        (
            ["--listen", &taken],
            "--listen: cannot listen on 127.0.0.1:",
            "port 0 picks a free one",
        ),
        (
            ["--listen", "203.0.113.9:0"],
            "cannot listen on 203.0.113.9:0",
            "no interface of this machine",
        ),
        (["--data-dir", file], "--data-dir", "name a directory"),
        (
            ["--config", file],
            "expected an address and port",
            "for example --listen 127.0.0.1:8545; `tetrad config check",
        ),
        (
            ["--chain-id", "x"],
            "--chain-id: expected",
            "--chain-id N: EVM chain id; 125 on the live network; for example",
        ),
        (
            ["--fork-url", "ftp://x"],
            "--fork-url: expected",
            "for example --fork-url https://rpc.example.org\n",
        ),
        (
            ["--no-mining", "--block-time=2"],
            "--no-mining cannot be combined with --block-time: ",
            "--no-mining: Seal",
        ),
        (
            ["--block-time=2", "--listen"],
            "--listen <ADDR:PORT>",
            "--listen ADDR:PORT: Address of the main listener",
        ),
    ] {
        let (ok, _, error) = output(&[&quiet[..], &arguments].concat());
        assert!(
            !ok && error.contains(what) && error.contains("\nhint: ") && error.contains(hint),
            "{error}"
        );
    }
}

/// Kubernetes sets variables for a service called tetrad in every container of the namespace, and
/// others do likewise.
#[tokio::test]
async fn unknown_variables_do_not_prevent_a_start() {
    let mut command = tetrad(&["--listen", "127.0.0.1:0", "--ws-listen", "off"]);
    command.envs([
        ("TETRAD_PORT", "tcp://10.0.0.7:8545"),
        ("TETRAD_SERVICE_HOST", "10.0.0.7"),
        ("TETRAD_SERVICE_PORT", "8545"),
        ("TETRAD_PORT_8545_TCP_ADDR", "10.0.0.7"),
        ("TETRAD_LISSTEN", "127.0.0.1:0"),
    ]);
    let node = Running::run(command).await;
    assert_eq!(node.chain_id().await, "0x7d");
    let log = node.log();
    assert!(
        log.contains("WARN") && log.contains("TETRAD_LISSTEN; did you mean `TETRAD_LISTEN`?"),
        "{log}"
    );
    assert!(
        !log.contains("TETRAD_PORT") && !log.contains("TETRAD_SERVICE"),
        "{log}"
    );

    let output = tetrad(&["config"])
        .env("TETRAD_LISSTEN", "x")
        .env("TETRAD_PORT", "tcp://10.0.0.7:1")
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success());
    assert_eq!(
        error,
        "warning: unknown environment variable TETRAD_LISSTEN; did you mean `TETRAD_LISTEN`?\n"
    );
}

#[test]
fn a_chain_does_not_begin_in_the_year_10000() {
    let genesis = tempfile::NamedTempFile::new().unwrap();
    let json = r#"{"config":{"chainId":7},"timestamp":"0x3afff44180","difficulty":"0x0","gasLimit":"0x1c9c380","alloc":{}}"#;
    std::fs::write(genesis.path(), json).unwrap();
    let (success, _, error) = output(&[
        "--listen",
        "127.0.0.1:0",
        "--genesis",
        genesis.path().to_str().unwrap(),
    ]);
    assert!(!success, "the node started");
    assert!(
        error.contains("timestamp: expected at most 253402300799, the end of the year 9999"),
        "{error}"
    );
}

/// A clock that is behind the chain is the likeliest reason for apparently stale prices.
#[tokio::test]
async fn a_warning_reports_a_chain_ahead_of_the_clock() {
    let genesis = tempfile::NamedTempFile::new().unwrap();
    let json = r#"{"config":{"chainId":7},"timestamp":"0xffffffff","difficulty":"0x0","gasLimit":"0x1c9c380","alloc":{}}"#;
    std::fs::write(genesis.path(), json).unwrap();
    let node = Running::start(&["--genesis", genesis.path().to_str().unwrap()]).await;
    let log = node.log();
    assert!(log.contains("later than this machine's clock"), "{log}");
}
