//! Host names that requests may use for the node.
//!
//! A page can have its own name resolve to the node's address (DNS rebinding). Its browser then
//! takes the node for the page's own server, the same-origin policy does not apply, and only the
//! name in the request gives the attack away.
//!
//! The name must be one that no foreign page can resolve to the node, or one that the operator
//! lists. The connection checks this before everything else, so that no listener, route or fast
//! path can miss it.

use std::{
    convert::Infallible,
    net::{Ipv4Addr, Ipv6Addr},
    str::FromStr,
    sync::OnceLock,
};

use axum::{
    extract::FromRequestParts,
    http::{HeaderValue, Request, StatusCode, header, request::Parts, uri::Authority},
    response::{IntoResponse, Response},
};
use tetrad_stdx::text::excerpt;

use super::Input;

/// Names of the node in addition to addresses, `localhost` and names that end with `.localhost`,
/// none of which a page can redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// Every name.
    Any,
    /// These names.
    Listed(Vec<HostName>),
}

impl Default for Hosts {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

/// The name of a machine, without a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName(String);

impl FromStr for HostName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if (1..=253).contains(&text.len()) && !text.starts_with('.') && text.bytes().all(known) {
            return Ok(Self(text.trim_end_matches('.').to_ascii_lowercase()));
        }
        Err("expected a host name such as node.example.org, without scheme and port, or *")
    }
}

impl HostName {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Most characters of a name that a refusal repeats.
const SHOWN: usize = 100;

impl Hosts {
    /// The response to a request by a name that is not the node's; none if the request is
    /// permitted. Requests without a name come from programs. `permitted` caches the name of the
    /// connection's first request.
    pub(super) fn refusal<B>(
        &self,
        request: &Request<B>,
        permitted: &OnceLock<HeaderValue>,
    ) -> Option<Response> {
        let Self::Listed(listed) = self else {
            return None;
        };

        let headers = || request.headers().get_all(header::HOST).iter();

        // HTTP/2, and requests to a proxy, have the name in the URI.
        let authority = request
            .uri()
            .authority()
            .map(|authority| authority.as_str().as_bytes());

        // A connection's requests nearly always name the same host, so one comparison suffices.
        if authority.is_none()
            && permitted
                .get()
                .is_some_and(|known| headers().all(|value| value == known))
        {
            return None;
        }

        let mut names = headers().map(HeaderValue::as_bytes).chain(authority);
        let Some(foreign) = names.find(|host| !is_permitted(host, listed)) else {
            if let Some(value) = headers().next() {
                permitted.get_or_init(|| value.clone());
            }
            return None;
        };

        let foreign = String::from_utf8_lossy(foreign);
        let shown = excerpt(&foreign, SHOWN);
        tracing::debug!(
            host = shown,
            "a request by a name that is not in allowed-hosts was refused"
        );

        let text = format!(
            "host `{shown}` is not allowed: add its name to allowed-hosts if it is this node's\n"
        );
        Some(
            (
                StatusCode::FORBIDDEN,
                // The text repeats what the client sent, and must not be taken for a page.
                [(header::X_CONTENT_TYPE_OPTIONS, "nosniff")],
                text,
            )
                .into_response(),
        )
    }
}

/// Extracts the host and port by which a request names the node, if it does. They are those that
/// its client connects to, behind a proxy as well.
#[derive(Clone, Debug)]
pub struct NamedHost(pub Option<Authority>);

impl<S: Sync> FromRequestParts<S> for NamedHost {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let named = parts.uri.authority().cloned().or_else(|| {
            let host = parts.headers.get(header::HOST)?;
            host.to_str().ok()?.parse().ok()
        });
        Ok(Self(named))
    }
}

impl<S> Input<S> for NamedHost {}

fn is_permitted(host: &[u8], listed: &[HostName]) -> bool {
    let Ok(host) = std::str::from_utf8(host) else {
        return false;
    };

    // An IPv6 address ends with a bracket, so that no port follows its last colon.
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name.is_empty() || is_address(name) || {
        // A name may end with the dot of the root.
        let name = name.strip_suffix('.').unwrap_or(name);
        is_loopback(name) || listed.iter().any(|one| one.0.eq_ignore_ascii_case(name))
    }
}

fn is_address(name: &str) -> bool {
    match name
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        Some(inner) => inner.parse::<Ipv6Addr>().is_ok(),
        None => name.parse::<Ipv4Addr>().is_ok(),
    }
}

fn is_loopback(name: &str) -> bool {
    // `localhost` and all names below it mean the machine itself (RFC 6761, 6.3).
    const LOOPBACK: &[u8] = b"localhost";
    let name = name.as_bytes();
    let Some(at) = name.len().checked_sub(LOOPBACK.len()) else {
        return false;
    };

    let (before, end) = name.split_at(at);
    end.eq_ignore_ascii_case(LOOPBACK) && (before.is_empty() || before.ends_with(b"."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_loopback_names_and_listed_names_are_permitted() {
        let listed: Vec<HostName> = vec![
            "Node.Example.org".parse().expect("a name"),
            "tetrad".parse().expect("a name"),
        ];

        for good in [
            "",
            "127.0.0.1",
            "127.0.0.1:8545",
            "203.0.113.9:1",
            "[::1]",
            "[2001:db8::1]:8545",
            "localhost",
            "LocalHost:8545",
            "localhost.",
            "app.localhost:80",
            "node.example.org",
            "NODE.example.ORG.:443",
            "tetrad:8545",
        ] {
            assert!(is_permitted(good.as_bytes(), &listed), "{good}");
        }

        for bad in [
            "evil.example",
            "evil.example:8545",
            "localhost.evil.example",
            "evillocalhost",
            "127.0.0.1.evil.example",
            "127.0.0.1@evil.example",
            "sub.node.example.org",
            "example.org",
            "[evil]",
            "[::1",
            "0x7f.1",
            "a b",
            "localhost:80:evil",
        ] {
            assert!(!is_permitted(bad.as_bytes(), &listed), "{bad}");
        }

        assert!(!is_permitted(b"\xff", &listed));
    }

    #[test]
    fn names_are_names() {
        for bad in [
            "",
            "*",
            "https://node.example",
            "node.example:80",
            "node.example/",
            ".example",
            "a b",
            "[::1]",
        ] {
            assert!(bad.parse::<HostName>().is_err(), "{bad}");
        }
    }
}
