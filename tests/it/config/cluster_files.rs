//! The files in `config/cluster/`, for operators of a cluster.

use std::{path::Path, process::Command};

use crate::support::{
    process::{installed, tetrad},
    skip,
};

/// The values in a shipped file between `before`, at the beginning of a line, and `after`.
fn between<'a>(text: &'a str, before: &str, after: char) -> Vec<&'a str> {
    text.lines()
        .filter_map(|line| line.trim_start().strip_prefix(before)?.split(after).next())
        .collect()
}

const COMPOSE: &str = include_str!("../../../config/cluster/compose.yaml");
const ENVIRONMENT: &str = include_str!("../../../config/cluster/tetrad-node.env");
const UNIT: &str = include_str!("../../../config/cluster/tetrad-node.service");

/// The variables in a shipped file, with values in place of those that Compose substitutes.
fn assignments(text: &str, sign: &str) -> Vec<(String, String)> {
    text.lines()
        .map(str::trim)
        .filter(|line| line.starts_with("TETRAD_"))
        .map(|line| {
            let (name, value) = line.split_once(sign).unwrap();
            let value = value
                .replace("${NATS_PASSWORD}", "secret")
                .replace("${TETRAD_DOMAIN:-localhost}", "a");
            (name.to_owned(), value)
        })
        .collect()
}

#[test]
fn the_shipped_environments_of_nodes_are_valid() {
    let command = between(UNIT, "ExecStart=/usr/local/bin/tetrad ", '\n')[0];
    let command = command
        .replace("%S", "/var/lib")
        .replace("/etc/tetrad", "config");
    let arguments: Vec<_> = ["config"].into_iter().chain(command.split(' ')).collect();

    for (arguments, variables) in [
        (&["config"][..], assignments(COMPOSE, ": ")),
        (&arguments, assignments(ENVIRONMENT, "=")),
    ] {
        let variables = variables
            .into_iter()
            .map(|(name, value)| match name.as_str() {
                "TETRAD_CONFIG" => (name, "config/production.toml".to_owned()),
                _ => (name, value),
            });

        let output = tetrad(arguments).envs(variables).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && error.is_empty(), "{error}");

        for line in [
            "servers = [\"nats://nats-1:4222\", ",
            "name = \"staging\"",
            "data-dir = \"/",
        ] {
            assert!(printed.contains(line), "{line} is not in\n{printed}");
        }
    }
}

#[test]
fn the_shipped_files_of_a_cluster_are_consistent() {
    let haproxy = include_str!("../../../config/cluster/haproxy.cfg");
    let addresses = between(COMPOSE, "ipv4_address: ", '\n');
    let (proxy, nodes) = addresses.split_last().unwrap();
    assert_eq!(nodes.len(), 3);
    for address in nodes {
        assert_eq!(
            haproxy.matches(&format!(" {address}:8545 ")).count(),
            2,
            "{address}"
        );
    }
    assert!(COMPOSE.contains(&format!("TETRAD_EXCHANGE_TRUSTED_PROXIES: {proxy}\n")));
    for file in between(COMPOSE, "- .", ':') {
        let file = format!("{}/config/cluster/.{file}", env!("CARGO_MANIFEST_DIR"));
        assert!(Path::new(&file).is_file(), "{file}");
    }
}

#[test]
fn nats_server_accepts_the_shipped_configuration() {
    let Some(program) = installed("nats-server") else {
        return skip("nats-server is not installed");
    };

    let passwords = [
        "NATS_PASSWORD",
        "NATS_SYSTEM_PASSWORD",
        "NATS_ROUTE_PASSWORD",
    ]
    .map(|name| (name, "n1".to_owned()));
    let routes = [1, 2, 3].map(|n| {
        (
            format!("NATS_ROUTE_{n}"),
            format!("nats://route:n1@nats-{n}:6222"),
        )
    });

    // Version 2.9, which can only be a single server, does not have the setting.
    let version = String::from_utf8(
        Command::new(&program)
            .arg("--version")
            .output()
            .unwrap()
            .stdout,
    )
    .unwrap();
    let mut text = std::fs::read_to_string("config/cluster/nats.conf").unwrap();
    if version.contains("v2.9.") {
        text = text.replace("\n  sync_interval: always\n", "\n");
    }

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("nats.conf");
    std::fs::write(&file, text).unwrap();

    let mut command = Command::new(program);
    command
        .args(["-t", "-c"])
        .arg(&file)
        .envs(passwords)
        .envs(routes);
    let output = command
        .env("NATS_NAME", "nats-1")
        .env("NATS_STORE", "/var/lib/nats")
        .output()
        .unwrap();

    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
