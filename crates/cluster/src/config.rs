//! Configuration of a node in a cluster.

use std::path::PathBuf;

use reqwest::Url;
use tetrad_stdx::text::excerpt;

/// Most characters of a node's name. A host's name has no more.
const NODE_NAME_LENGTH: usize = 64;

/// Settings of a node in a cluster.
#[derive(Clone, Debug)]
pub struct ClusterConfig {
    /// URLs of NATS servers, `nats://` or `tls://`, without a path. Empty if the node stands alone.
    pub servers: Vec<Url>,
    /// Name of the cluster, as a part of the names of streams, buckets and subjects: at most 32
    /// letters, digits, `-` and `_`.
    pub name: String,
    /// Replicas of the stream once it is created: 1, 3 or 5. None for 3 if the NATS servers are
    /// clustered, otherwise 1.
    pub replicas: Option<u8>,
    /// Whether the node may lead.
    pub role: ClusterRole,
    /// File with the credentials of a NATS user: a JWT and its seed.
    pub credentials_file: Option<PathBuf>,
    /// Certificates of the authorities of the NATS servers, in addition to the system's.
    pub tls_ca_file: Option<PathBuf>,
    /// Certificate that the node presents to NATS servers.
    pub tls_cert_file: Option<PathBuf>,
    /// Private key of this certificate.
    pub tls_key_file: Option<PathBuf>,
    /// Name of the node in the cluster, of the same characters as the cluster's; none for the
    /// host's name.
    pub node_name: Option<String>,
}

/// A node's part in the election of the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterRole {
    /// The node leads if no other node does.
    Auto,
    /// The node never leads.
    Follower,
}

impl Default for ClusterConfig {
    fn default() -> Self {
        Self {
            servers: Vec::new(),
            name: "tetrad".to_owned(),
            replicas: None,
            role: ClusterRole::Auto,
            credentials_file: None,
            tls_ca_file: None,
            tls_cert_file: None,
            tls_key_file: None,
            node_name: None,
        }
    }
}

impl ClusterConfig {
    /// Returns whether the node belongs to a cluster.
    pub fn is_enabled(&self) -> bool {
        !self.servers.is_empty()
    }

    /// Returns the name of the node: the configured one or, with `-` in place of characters that it
    /// may not have, the host's. None if the host's name cannot be read.
    pub fn node_name(&self) -> Option<String> {
        if let Some(name) = &self.node_name {
            return Some(name.clone());
        }
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
        sanitized(&host)
    }

    /// Checks the name of a cluster.
    pub fn check_name(text: &str) -> Result<String, String> {
        let name = checked(text, 32)?;
        // The streams of a cluster have its name with one of these.
        let reserved = ["-pool", "-keys"]
            .into_iter()
            .find(|end| name.ends_with(end));
        match reserved {
            Some(end) => Err(format!(
                "`{name}` may belong to another cluster: names do not end with `{end}`"
            )),
            None => Ok(name),
        }
    }

    /// Checks the name of a node.
    pub fn check_node_name(text: &str) -> Result<String, String> {
        checked(text, NODE_NAME_LENGTH)
    }
}

/// NATS gives other characters a meaning: `.`, `*` and `>` in subjects, `/` and blanks in the names
/// of streams.
fn allowed(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_')
}

fn checked(text: &str, most: usize) -> Result<String, String> {
    if (1..=most).contains(&text.len()) && text.chars().all(allowed) {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "expected 1 to {most} letters, digits, `-` and `_`, got `{text}`"
        ))
    }
}

fn sanitized(host: &str) -> Option<String> {
    let name: String = excerpt(host.trim(), NODE_NAME_LENGTH)
        .chars()
        .map(|one| if allowed(one) { one } else { '-' })
        .collect();
    Some(name).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_host_becomes_the_name_of_a_node() {
        for (host, name) in [
            ("node_1\n", Some("node_1")),
            ("a.example.org\n", Some("a-example-org")),
            ("grün", Some("gr-n")),
            ("\n", None),
        ] {
            assert_eq!(sanitized(host).as_deref(), name);
        }

        let long = sanitized(&"é".repeat(100)).unwrap();
        assert_eq!(
            checked(&long, NODE_NAME_LENGTH),
            Ok("-".repeat(NODE_NAME_LENGTH))
        );
    }

    #[test]
    fn the_configured_name_of_a_node_comes_first() {
        let config = ClusterConfig {
            node_name: Some("a".to_owned()),
            ..ClusterConfig::default()
        };
        assert_eq!(config.node_name().as_deref(), Some("a"));
    }
}
