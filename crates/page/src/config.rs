//! From where the page may load metadata and pictures of NFTs, by the operator's choice.
//!
//! The browser loads them, never the node: contracts choose these URLs, and a node that followed
//! them would open its operator's network to anyone who deploys one. The policy of the page lets
//! browsers load from these origins and no others, so an origin is accepted only if it cannot mean
//! anything else in a `Content-Security-Policy`.

use std::{fmt, str::FromStr};

/// The longest name of a host (RFC 1035).
const MAX_HOST: usize = 253;
/// The most bytes of a gateway's path.
const MAX_PATH: usize = 1_024;
/// The only IP address that browsers match in a policy.
const LOOPBACK: &str = "127.0.0.1";

/// The origins that the operator allows the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageConfig {
    /// Origins from which it may load metadata and pictures of NFTs.
    pub media_origins: Vec<MediaOrigin>,
    /// The gateway from which it loads `ipfs:` URIs.
    pub ipfs_gateway: Option<IpfsGateway>,
}

/// An origin of metadata and pictures: `https://host`, `https://host:port`, `http://127.0.0.1:port`
/// or `http://localhost:port`; or `https:`, which stands for every origin with TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaOrigin(String);

/// The prefix of the URLs at which a gateway serves content of IPFS, such as
/// `https://ipfs.io/ipfs/`, to which a CID and a path are added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpfsGateway {
    origin: MediaOrigin,
    path: String,
}

impl PageConfig {
    /// The sources that the policy of the page has to allow, without repetitions.
    pub(super) fn media_sources(&self) -> Vec<&str> {
        let gateway = self.ipfs_gateway.iter().map(|gateway| &gateway.origin);
        let mut sources: Vec<&str> = Vec::new();
        for MediaOrigin(source) in self.media_origins.iter().chain(gateway) {
            if !sources.contains(&source.as_str()) {
                sources.push(source);
            }
        }
        sources
    }
}

impl FromStr for MediaOrigin {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "https:" {
            return Ok(Self(text.to_owned()));
        }

        let (origin, path) = split(text)?;
        if path.is_empty() {
            Ok(origin)
        } else {
            Err("a path, where an origin ends with the host or port")
        }
    }
}

impl fmt::Display for MediaOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for IpfsGateway {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (origin, path) = split(text)?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);

        if !path.ends_with('/') {
            return Err("no / at the end, before the CID");
        }
        if path.len() > MAX_PATH {
            return Err("a path of more than 1024 characters");
        }
        if !path.bytes().all(is_plain) {
            return Err("characters in the path other than letters, digits and -._~/");
        }
        // Browsers leave `.` and `..` out, and an empty segment is hardly meant.
        let is_strange = |segment: &str| matches!(segment, "" | "." | "..");
        if path != "/" && path[1..path.len() - 1].split('/').any(is_strange) {
            return Err("an empty segment, . or .. in the path");
        }

        Ok(Self {
            origin,
            path: path.to_owned(),
        })
    }
}

impl fmt::Display for IpfsGateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.path)
    }
}

/// Splits a URL into its origin, as browsers write it, and its path.
fn split(url: &str) -> Result<(MediaOrigin, &str), &'static str> {
    let (scheme, rest) = url.split_once("://").ok_or("no scheme")?;
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()));
    if authority.contains('@') {
        return Err("a name or password, which every visitor would see");
    }
    if path.contains(['?', '#']) {
        return Err("a query or fragment");
    }

    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port_number(port)?)),
        None => (authority, None),
    };
    let host = host.to_ascii_lowercase();
    check_host(&host)?;

    let default_port = match scheme {
        "https" => 443,
        "http" if host == LOOPBACK || host == "localhost" => 80,
        "http" => return Err("http, which is for 127.0.0.1 and localhost only"),
        _ => return Err("neither https nor http"),
    };
    let origin = match port {
        Some(port) if port != default_port => format!("{scheme}://{host}:{port}"),
        _ => format!("{scheme}://{host}"),
    };
    Ok((MediaOrigin(origin), path))
}

/// Accepts what every browser takes for the same host in a URL and in a policy.
fn check_host(host: &str) -> Result<(), &'static str> {
    if host.is_empty() {
        return Err("no host");
    }
    if host.starts_with('[') {
        return Err("an IPv6 address, which policies of browsers cannot name");
    }
    if host.len() > MAX_HOST {
        return Err("a host of more than 253 characters");
    }

    // URLs may have a `;` or a `*` in their host, which would be more than a host in the policy.
    if !host.split('.').all(is_label) {
        return Err("a host that is not made of letters, digits, - and dots");
    }

    // In URLs a host that ends in a number is an IPv4 address, in any of several notations.
    let last = host.rsplit('.').next().unwrap_or_default();
    if last.starts_with(|first: char| first.is_ascii_digit()) && host != LOOPBACK {
        return Err("an IP address other than 127.0.0.1, which policies of browsers do not match");
    }
    Ok(())
}

fn is_label(label: &str) -> bool {
    !label.is_empty()
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn port_number(text: &str) -> Result<u16, &'static str> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(port) if is_number && port != 0 => Ok(port),
        _ => Err("a port that is not a number from 1 to 65535"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(text: &str) -> Result<String, &'static str> {
        text.parse::<MediaOrigin>().map(|origin| origin.to_string())
    }

    fn gateway(text: &str) -> Result<String, &'static str> {
        text.parse::<IpfsGateway>()
            .map(|gateway| gateway.to_string())
    }

    #[test]
    fn origins_are_written_as_browsers_write_them() {
        for (given, expected) in [
            ("https:", "https:"),
            ("https://ipfs.io", "https://ipfs.io"),
            ("https://IPFS.io:8443", "https://ipfs.io:8443"),
            (
                "https://xn--bcher-kva.example",
                "https://xn--bcher-kva.example",
            ),
            ("https://a.example:443", "https://a.example"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://localhost:80", "http://localhost"),
        ] {
            assert_eq!(origin(given).as_deref(), Ok(expected), "{given}");
        }
    }

    #[test]
    fn what_would_mean_more_than_an_origin_in_a_policy_is_refused() {
        let long = format!("https://{}", "a".repeat(254));
        for given in [
            "",
            "*",
            "https",
            "http:",
            "https:/",
            "https://",
            "ipfs.io",
            "'unsafe-inline'",
            "https://*",
            "https://*.example",
            "https://a.example;script-src",
            "https://a.example,b",
            "https://a.example https:",
            "https://a.example\n",
            "https://a.example'",
            "https://a_b.example",
            "https://a..example",
            "https://a.example.",
            "https://bücher.example",
            "https://a%2eexample",
            &long,
            "https://a.example:",
            "https://a.example:0",
            "https://a.example:+1",
            "https://a.example:65536",
            "https://a.example:*",
            "https://a.example/",
            "https://a.example/path",
            "https://a.example?q",
            "https://a.example#f",
            "https://a.example\\b",
            "https://me:secret@a.example",
            "https://[::1]:8080",
            "https://10.0.0.1",
            "https://127.1",
            "https://0x7f000001",
            "http://a.example",
            "http://10.0.0.1:8080",
            "ftp://a.example",
            "data://a.example",
            "javascript://a.example",
        ] {
            assert!(origin(given).is_err(), "{given}");
        }
    }

    #[test]
    fn a_gateway_is_an_origin_and_a_plain_path() {
        for given in [
            "https://ipfs.io/ipfs/",
            "http://127.0.0.1:8080/ipfs/",
            "https://gateway.example/",
            "https://gateway.example/v1.0/~a_b-c/ipfs/",
        ] {
            assert_eq!(gateway(given).as_deref(), Ok(given));
        }

        for given in [
            "https:",
            "https://ipfs.io",
            "https://ipfs.io/ipfs",
            "https://ipfs.io//",
            "https://ipfs.io/a/../",
            "https://ipfs.io/./",
            "https://ipfs.io/%2e%2e/",
            "https://ipfs.io/\"/",
            "https://ipfs.io/a;b/",
            "https://ipfs.io/ipfs/?token=1/",
            "https://ipfs.io/ipfs/#/",
            "https://me@ipfs.io/ipfs/",
            "http://ipfs.io/ipfs/",
            "ipfs://ipfs/",
        ] {
            assert!(gateway(given).is_err(), "{given}");
        }
    }

    fn config(origins: &[&str], gateway: Option<&str>) -> PageConfig {
        PageConfig {
            media_origins: origins
                .iter()
                .map(|text| text.parse().expect("an origin"))
                .collect(),
            ipfs_gateway: gateway.map(|text| text.parse().expect("a gateway")),
        }
    }

    #[test]
    fn the_origin_of_the_gateway_is_allowed_once() {
        assert!(config(&[], None).media_sources().is_empty());
        let both = config(&["https://a.example"], Some("https://ipfs.io/ipfs/"));
        assert_eq!(
            both.media_sources(),
            ["https://a.example", "https://ipfs.io"]
        );
        let same = config(&["https://ipfs.io"], Some("https://ipfs.io/ipfs/"));
        assert_eq!(same.media_sources(), ["https://ipfs.io"]);
    }
}
