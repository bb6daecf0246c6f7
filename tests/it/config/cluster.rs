//! The settings of a cluster.

use tetrad::{
    Config,
    config::{ClusterRole, ValueOrigin, Values, settings},
};

use crate::support::process::output;

fn read(flags: &[(&str, &str)]) -> Result<Config, String> {
    let mut values = Values::default();
    for (name, text) in flags {
        let setting = settings().find(|setting| setting.flag() == *name).unwrap();
        values
            .read(setting, text, ValueOrigin::Flag(setting.flag()))
            .map_err(|error| error.to_string())?;
    }
    Config::from_values(&values).map_err(|error| error.to_string())
}

#[test]
fn cluster_settings_have_the_documented_flags_and_variables() {
    for (name, flag, variable) in [
        ("cluster.servers", "cluster", "TETRAD_CLUSTER"),
        ("cluster.name", "cluster-name", "TETRAD_CLUSTER_NAME"),
        (
            "cluster.replicas",
            "cluster-replicas",
            "TETRAD_CLUSTER_REPLICAS",
        ),
        ("cluster.role", "cluster-role", "TETRAD_CLUSTER_ROLE"),
        (
            "cluster.credentials-file",
            "cluster-credentials-file",
            "TETRAD_CLUSTER_CREDENTIALS_FILE",
        ),
        (
            "cluster.tls-ca-file",
            "cluster-tls-ca-file",
            "TETRAD_CLUSTER_TLS_CA_FILE",
        ),
        (
            "cluster.tls-cert-file",
            "cluster-tls-cert-file",
            "TETRAD_CLUSTER_TLS_CERT_FILE",
        ),
        (
            "cluster.tls-key-file",
            "cluster-tls-key-file",
            "TETRAD_CLUSTER_TLS_KEY_FILE",
        ),
        ("cluster.node-name", "node-name", "TETRAD_NODE_NAME"),
    ] {
        let setting = settings().find(|setting| setting.name == name).unwrap();
        assert_eq!(
            (setting.flag(), setting.variable()),
            (flag.to_owned(), variable.to_owned())
        );
    }
}

#[test]
fn cluster_settings_are_read() {
    let alone = read(&[]).unwrap().cluster;
    assert!(!alone.is_enabled() && alone.name == "tetrad" && alone.role == ClusterRole::Auto);

    let config = read(&[
        ("data-dir", "data"),
        (
            "cluster",
            "tls://10.0.0.1:4222, tls://nats.example.org,tls://[::1]:4222",
        ),
        ("cluster-name", "staging_2"),
        ("cluster-replicas", "5"),
        ("cluster-role", "follower"),
        ("cluster-credentials-file", "nats.creds"),
        ("cluster-tls-ca-file", "ca.pem"),
        ("cluster-tls-cert-file", "cert.pem"),
        ("cluster-tls-key-file", "key.pem"),
        ("node-name", "node-1"),
    ])
    .unwrap()
    .cluster;

    let servers: Vec<_> = config.servers.iter().map(ToString::to_string).collect();
    assert_eq!(
        servers,
        [
            "tls://10.0.0.1:4222",
            "tls://nats.example.org",
            "tls://[::1]:4222"
        ]
    );

    assert_eq!(
        (config.name.as_str(), config.replicas, config.role),
        ("staging_2", Some(5), ClusterRole::Follower)
    );
    assert_eq!(config.node_name().as_deref(), Some("node-1"));
    assert_eq!(config.tls_cert_file.as_deref(), Some("cert.pem".as_ref()));
}

#[test]
fn invalid_cluster_settings_are_named() {
    let cluster = [("cluster", "nats://10.0.0.1:4222"), ("data-dir", "data")];

    for (flags, expected) in [
        (
            &[("cluster", "http://10.0.0.1:4222")][..],
            "--cluster: expected URLs such as nats://10.0.0.1:4222, got `http://10.0.0.1:4222` (neither nats nor tls)",
        ),
        (
            &[("cluster", "10.0.0.1:4222")],
            "--cluster: expected URLs such as nats://10.0.0.1:4222 (",
        ),
        (
            &[("cluster", "localhost:4222")],
            "--cluster: expected URLs such as nats://10.0.0.1:4222 (no scheme)",
        ),
        (&[("cluster", "nats://")], "got `nats://` (no host)"),
        (&[("cluster", "nats://a/b")], "got `nats://a/…` (a path)"),
        (
            &[("cluster", "nats://a?b")],
            "got `nats://a/…` (a query or fragment)",
        ),
        (
            &[("cluster", "nats://a:99999")],
            "got `nats://a:99999` (invalid port number)",
        ),
        (
            &[("cluster", "nats://b,nats://a:4222,tls://A")],
            "--cluster: tls://A is listed twice",
        ),
        // Names that would collide with those of another cluster.
        (
            &[("cluster", "nats://a"), ("cluster-name", "a-pool")],
            "`a-pool` may belong to another cluster: names do not end with `-pool`",
        ),
        (
            &[("cluster", "nats://a"), ("cluster-name", "a-keys")],
            "names do not end with `-keys`",
        ),
        // Settings that a node of a cluster requires, and those that it cannot have.
        (
            &[("cluster", "nats://a")],
            "cluster.servers: data-dir is missing: a node of a cluster keeps a copy of the log",
        ),
        (
            &[("cluster", "nats://a"), ("fork-url", "http://localhost")],
            "cluster.servers: cannot be combined with fork.url: a fork lives in memory",
        ),
        (
            &[
                ("cluster", "nats://a"),
                ("data-dir", "data"),
                ("import", "blocks.rlp"),
            ],
            "cluster.servers: cannot be combined with import: import into a data directory without a cluster, and make \
             it the first node with `tetrad cluster init`",
        ),
        // Values of the other settings.
        (
            &[("cluster-name", "a.b")],
            "--cluster-name: expected 1 to 32 letters, digits, `-` and `_`, got `a.b`",
        ),
        (
            &[("cluster-name", "")],
            "--cluster-name: expected 1 to 32 letters",
        ),
        (
            &[("cluster-name", "a12345678901234567890123456789012")],
            "--cluster-name: expected 1 to 32 letters",
        ),
        (
            &[("node-name", "a/b")],
            "--node-name: expected 1 to 64 letters, digits, `-` and `_`, got `a/b`",
        ),
        (
            &[("cluster-replicas", "2")],
            "--cluster-replicas: expected 1, 3 or 5, got 2",
        ),
        (
            &[("cluster-replicas", "7")],
            "--cluster-replicas: expected 1 to 5, got 7",
        ),
        (
            &[("cluster-role", "leader")],
            "--cluster-role: expected auto or follower, got `leader`",
        ),
        // Settings without effect if there are no servers.
        (
            &[("cluster-name", "staging")],
            "cluster.name: cluster.servers is missing",
        ),
        (
            &[("cluster-replicas", "3")],
            "cluster.replicas: cluster.servers is missing",
        ),
        (
            &[("cluster-role", "follower")],
            "cluster.role: cluster.servers is missing",
        ),
        (
            &[("cluster-credentials-file", "a")],
            "cluster.credentials-file: cluster.servers is missing",
        ),
        (
            &[("cluster-tls-ca-file", "a")],
            "cluster.tls-ca-file: cluster.servers is missing",
        ),
        (
            &[("node-name", "a")],
            "cluster.node-name: cluster.servers is missing",
        ),
        // TLS.
        (
            &[cluster[0], cluster[1], ("cluster-tls-ca-file", "a")],
            "cluster.tls-ca-file: requires tls:// in every URL of cluster.servers",
        ),
        (
            &[("cluster-tls-cert-file", "a")],
            "cluster.tls-cert-file: cluster.tls-key-file is missing",
        ),
        (
            &[("cluster-tls-key-file", "a")],
            "cluster.tls-key-file: cluster.tls-cert-file is missing",
        ),
    ] {
        let error = read(flags).unwrap_err();
        assert!(error.contains(expected), "{flags:?}: {error}");
    }
}

#[test]
fn passwords_of_nats_users_are_not_shown() {
    let data = ["--data-dir", "data"];
    let (ok, printed, _) = output(
        &[
            &["config", "--cluster", "nats://node:secret@10.0.0.1:4222"][..],
            &data,
        ]
        .concat(),
    );
    let expected =
        "# servers = [\"nats://10.0.0.1:4222\"]  # --cluster, shown without what may be secret";
    assert!(
        ok && printed.lines().any(|line| line == expected) && !printed.contains("secret@"),
        "{printed}"
    );
    for urls in [
        "http://node:secret@10.0.0.1",
        "nats://node:secret@a/b",
        "node:secret@10.0.0.1:4222",
        "secret@10.0.0.1",
        "nats://node:secret@:4222",
        "nats://node:secret@a,nats://node:secret@a",
    ] {
        let (ok, _, error) = output(&[&["config", "--cluster", urls][..], &data].concat());
        assert!(
            !ok && error.contains("--cluster: ") && !error.contains("secret"),
            "{error}"
        );
    }
}
