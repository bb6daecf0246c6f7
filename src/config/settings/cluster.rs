//! The settings of `[cluster]`.

use reqwest::Url;
use tetrad_cluster::{ClusterConfig, ClusterRole};
use tetrad_stdx::redact;

use crate::config::{
    node::Config,
    setting::{Kind, Section, Setting, reject_if},
    show,
};

const ROLES: [(&str, ClusterRole); 2] = [
    ("auto", ClusterRole::Auto),
    ("follower", ClusterRole::Follower),
];

/// The port of NATS servers.
const PORT: u16 = 4222;

pub(super) const SECTION: Section = Section {
    name: "cluster",
    about: "Several nodes that serve one chain. NATS JetStream replicates the log; one node leads and seals blocks, the \
            others follow it and forward writes. The nodes of a cluster differ in their names only.",
    settings: &[
        Setting {
            name: "cluster.servers",
            flag: "cluster",
            kind: Kind::List,
            placeholder: "URL,…",
            help: "URLs of NATS servers with JetStream (nats:// or tls://), to serve one chain with other nodes; requires \
                   data-dir",
            details: "For example [\"nats://10.0.0.1:4222\", \"nats://10.0.0.2:4222\", \"nats://10.0.0.3:4222\"]. Name \
                      and password of a NATS user may stand in the URLs. Flag and variable are --cluster and \
                      TETRAD_CLUSTER.",
            read: |config, given| {
                let servers: Vec<Url> = given.each(server)?;
                for (at, url) in servers.iter().enumerate() {
                    if servers
                        .iter()
                        .take(at)
                        .any(|other| address(other) == address(url))
                    {
                        return Err(format!("{} is listed twice", redact::origin(url.as_str())));
                    }
                }
                config.cluster.servers = servers;
                Ok(())
            },
            show: |config| show::list(&config.cluster.servers),
            redact: Some(|config| {
                show::list(
                    config
                        .cluster
                        .servers
                        .iter()
                        .map(|url| redact::origin(url.as_str())),
                )
            }),
            check: |config| {
                let why = match config {
                    _ if !config.cluster.is_enabled() => return Ok(()),
                    _ if config.fork.url.is_some() => {
                        "cannot be combined with fork.url: a fork lives in memory"
                    }
                    _ if !config.import.is_empty() => {
                        "cannot be combined with import: import into a data directory without a cluster, and make it \
                         the first node with `tetrad cluster init`"
                    }
                    _ if config.data_dir.is_none() => {
                        "data-dir is missing: a node of a cluster keeps a copy of the log"
                    }
                    _ if config.cluster.node_name().is_none() => {
                        "cluster.node-name is missing, and the host's name cannot be read"
                    }
                    _ => return Ok(()),
                };
                Err(why.to_owned())
            },
            ..Setting::BLANK
        },
        Setting {
            name: "cluster.name",
            placeholder: "NAME",
            help: "Name of the cluster: at most 32 letters, digits, - and _",
            details: "Part of the names of streams, buckets and subjects: clusters with different names can share NATS \
                      servers.",
            read: |config, given| {
                given.checked(ClusterConfig::check_name, &mut config.cluster.name)
            },
            show: |config| show::text(&config.cluster.name),
            check: |config| {
                only_in_a_cluster(config, config.cluster.name != ClusterConfig::default().name)
            },
            ..Setting::BLANK
        },
        Setting {
            name: "cluster.replicas",
            kind: Kind::Integer,
            placeholder: "1|3|5",
            help: "Number of NATS servers that store the log, chosen when the cluster is created; by default 3 if the \
                   servers are clustered, otherwise 1",
            example: "3",
            read: |config, given| {
                let mut replicas = 0;
                given.integer(1..=5, &mut replicas)?;
                match replicas % 2 {
                    0 => return Err(format!("expected 1, 3 or 5, got {replicas}")),
                    _ => config.cluster.replicas = Some(replicas),
                }
                Ok(())
            },
            show: |config| config.cluster.replicas.and_then(show::integer),
            check: |config| only_in_a_cluster(config, config.cluster.replicas.is_some()),
            ..Setting::BLANK
        },
        Setting {
            name: "cluster.role",
            placeholder: "auto|follower",
            help: "Whether the node may lead (auto), or never does (follower)",
            details: "A cluster in which all nodes are followers seals no blocks.",
            read: |config, given| given.choice(&ROLES, &mut config.cluster.role),
            show: |config| show::choice(&ROLES, &config.cluster.role),
            check: |config| only_in_a_cluster(config, config.cluster.role != ClusterRole::Auto),
            ..Setting::BLANK
        },
        Setting {
            name: "cluster.credentials-file",
            placeholder: "FILE",
            help: "Credentials of the NATS user (JWT and seed, as nsc writes them)",
            example: "\"/etc/tetrad/nats.creds\"",
            must_exist: true,
            read: |config, given| given.path(&mut config.cluster.credentials_file),
            show: |config| show::path(config.cluster.credentials_file.as_ref()),
            check: |config| only_in_a_cluster(config, config.cluster.credentials_file.is_some()),
            ..Setting::BLANK
        },
        Setting {
            name: "cluster.tls-ca-file",
            placeholder: "FILE",
            help: "Certificates (PEM) of authorities to trust for NATS servers in addition to the system's",
            example: "\"/etc/tetrad/nats-ca.pem\"",
            must_exist: true,
            read: |config, given| given.path(&mut config.cluster.tls_ca_file),
            show: |config| show::path(config.cluster.tls_ca_file.as_ref()),
            check: |config| only_over_tls(config, config.cluster.tls_ca_file.is_some()),
            ..Setting::BLANK
        },
        Setting {
            name: "cluster.tls-cert-file",
            placeholder: "FILE",
            help: "Certificate (PEM) that the node presents to NATS servers",
            example: "\"/etc/tetrad/nats-cert.pem\"",
            must_exist: true,
            read: |config, given| given.path(&mut config.cluster.tls_cert_file),
            show: |config| show::path(config.cluster.tls_cert_file.as_ref()),
            check: |config| match (&config.cluster.tls_cert_file, &config.cluster.tls_key_file) {
                (Some(_), None) => Err("cluster.tls-key-file is missing".to_owned()),
                (certificate, _) => only_over_tls(config, certificate.is_some()),
            },
            ..Setting::BLANK
        },
        Setting {
            name: "cluster.tls-key-file",
            placeholder: "FILE",
            help: "Private key (PEM) of cluster.tls-cert-file",
            example: "\"/etc/tetrad/nats-key.pem\"",
            must_exist: true,
            read: |config, given| given.path(&mut config.cluster.tls_key_file),
            show: |config| show::path(config.cluster.tls_key_file.as_ref()),
            check: |config| match (&config.cluster.tls_key_file, &config.cluster.tls_cert_file) {
                (Some(_), None) => Err("cluster.tls-cert-file is missing".to_owned()),
                (key, _) => only_over_tls(config, key.is_some()),
            },
            ..Setting::BLANK
        },
        Setting {
            name: "cluster.node-name",
            flag: "node-name",
            placeholder: "NAME",
            help: "Name of this node in the cluster: at most 64 letters, digits, - and _; by default the host's name",
            details: "No two nodes of a cluster have the same name. Flag and variable are --node-name and \
                      TETRAD_NODE_NAME.",
            example: "\"node-1\"",
            read: |config, given| {
                config.cluster.node_name = Some(ClusterConfig::check_node_name(&given.text())?);
                Ok(())
            },
            show: |config| config.cluster.node_name.as_ref().and_then(show::text),
            check: |config| only_in_a_cluster(config, config.cluster.node_name.is_some()),
            ..Setting::BLANK
        },
    ],
};

/// Rejects a setting that has no meaning outside a cluster: a node that was meant to join one would
/// start a chain of its own.
fn only_in_a_cluster(config: &Config, set: bool) -> Result<(), String> {
    reject_if(
        set && !config.cluster.is_enabled(),
        "cluster.servers is missing",
    )
}

/// Rejects a file for TLS unless all servers are reached over TLS.
fn only_over_tls(config: &Config, set: bool) -> Result<(), String> {
    only_in_a_cluster(config, set)?;

    let mut servers = config.cluster.servers.iter();
    reject_if(
        set && servers.any(|url| url.scheme() != "tls"),
        "requires tls:// in every URL of cluster.servers",
    )
}

fn server(text: &str) -> Result<Url, String> {
    // Without a scheme it is not known which part is a password.
    let shown = if text.contains("://") {
        format!(", got `{}`", redact::url(text))
    } else {
        String::new()
    };

    let wrong = |what: &str| format!("expected URLs such as nats://10.0.0.1:4222{shown} ({what})");
    let url: Url = text.parse().map_err(|error| wrong(&format!("{error}")))?;

    match url.scheme() {
        _ if !text.contains("://") => Err(wrong("no scheme")),
        "nats" | "tls" if url.host_str().is_none_or(str::is_empty) => Err(wrong("no host")),
        "nats" | "tls" if !matches!(url.path(), "" | "/") => Err(wrong("a path")),
        "nats" | "tls" if url.query().is_some() || url.fragment().is_some() => {
            Err(wrong("a query or fragment"))
        }
        "nats" | "tls" => Ok(url),
        _ => Err(wrong("neither nats nor tls")),
    }
}

/// The host and port of a server.
fn address(url: &Url) -> (String, u16) {
    (
        url.host_str().unwrap_or_default().to_ascii_lowercase(),
        url.port().unwrap_or(PORT),
    )
}
