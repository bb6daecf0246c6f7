//! The address of the client: the peer of the connection, or the one that a trusted proxy names.
//!
//! Behind proxies it is the last address that does not belong to a trusted proxy.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::http::{HeaderMap, header};
use ipnet::IpNet;

use super::forwarded;

/// The key of limits: an IPv4 address, or the /64 network from which an IPv6 host can choose its
/// addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientKey(IpAddr);

impl ClientKey {
    /// The address or network as 16 bytes, an IPv4 address mapped to IPv6.
    pub fn octets(self) -> [u8; 16] {
        match self.0 {
            IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
            IpAddr::V6(address) => address.octets(),
        }
    }
}

impl From<IpAddr> for ClientKey {
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V4(address) => address.into(),
            IpAddr::V6(address) => {
                Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
            }
        })
    }
}

impl Default for ClientKey {
    fn default() -> Self {
        Self(Ipv4Addr::UNSPECIFIED.into())
    }
}

/// The client of a request, by which execution time is shared out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Client {
    /// The address, which all of its connections share.
    pub address: ClientKey,
    /// The number of the connection, see [`Peer`].
    pub connection: u64,
}

/// The other side of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Its address.
    pub address: SocketAddr,
    /// The number of the connection, unique within the process.
    pub connection: u64,
}

impl Default for Peer {
    fn default() -> Self {
        Self {
            address: (Ipv4Addr::UNSPECIFIED, 0).into(),
            connection: 0,
        }
    }
}

/// Determines the client of a request.
#[derive(Clone, Debug, Default)]
pub struct ClientAddresses {
    trusted: Vec<IpNet>,
}

impl ClientAddresses {
    /// Trusts the forwarding headers of peers in `trusted` only.
    pub fn new(trusted: Vec<IpNet>) -> Self {
        Self { trusted }
    }

    /// The client behind a request that came from `peer`.
    ///
    /// Every proxy appends the address of its peer, so the headers are read from the right, past
    /// trusted proxies. At an entry that cannot be parsed, the last trusted proxy counts as the
    /// client. A request with both headers went through a proxy that knows one of them only; if
    /// they disagree, one is forged, and neither is used.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let peer = peer.to_canonical();
        if !self.is_trusted(peer) {
            return peer;
        }

        let by_common = self.named_by(peer, headers, X_FORWARDED_FOR, forwarded::x_forwarded_for);
        let by_standard = self.named_by(
            peer,
            headers,
            header::FORWARDED.as_str(),
            forwarded::forwarded,
        );

        match (by_common, by_standard) {
            (None, None) => peer,
            (Some(client), None) | (None, Some(client)) => client,
            (Some(client), Some(other)) if client == other => client,
            (Some(_), Some(_)) => peer,
        }
    }

    /// The client of a request, with the number of its connection.
    pub fn of(&self, peer: Peer, headers: &HeaderMap) -> Client {
        Client {
            address: self.client(peer.address.ip(), headers).into(),
            connection: peer.connection,
        }
    }

    /// The client according to the header `name`, whose lines `entries` parses; none if the request
    /// does not have it.
    fn named_by(
        &self,
        peer: IpAddr,
        headers: &HeaderMap,
        name: &str,
        entries: fn(&str) -> Vec<Option<IpAddr>>,
    ) -> Option<IpAddr> {
        if !headers.contains_key(name) {
            return None;
        }

        let mut hops = Vec::new();
        for line in headers.get_all(name) {
            // Invalid bytes spoil their own entry, but not those that proxies appended to the line.
            hops.extend(entries(&String::from_utf8_lossy(line.as_bytes())));
        }
        Some(self.walk(peer, hops))
    }

    fn walk(&self, peer: IpAddr, hops: Vec<Option<IpAddr>>) -> IpAddr {
        let mut client = peer;
        for hop in hops.into_iter().rev() {
            match hop {
                Some(hop) if self.is_trusted(client) => client = hop,
                _ => break,
            }
        }
        client
    }

    fn is_trusted(&self, address: IpAddr) -> bool {
        self.trusted
            .iter()
            .any(|network| network.contains(&address))
    }
}

const X_FORWARDED_FOR: &str = "x-forwarded-for";

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn client(trusted: &[&str], peer: &str, headers: &[(&'static str, &str)]) -> String {
        let trusted = trusted
            .iter()
            .map(|network| network.parse().expect("a network"))
            .collect();

        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a header"));
        }

        ClientAddresses::new(trusted)
            .client(peer.parse().expect("an address"), &map)
            .to_string()
    }

    #[test]
    fn a_stranger_says_what_it_likes_about_itself() {
        let spoofed = [("x-forwarded-for", "1.1.1.1"), ("forwarded", "for=1.1.1.1")];
        assert_eq!(client(&[], "9.9.9.9", &spoofed), "9.9.9.9");
        assert_eq!(client(&["10.0.0.0/8"], "9.9.9.9", &spoofed), "9.9.9.9");
    }

    #[test]
    fn trusted_hops_are_skipped_from_the_right() {
        let trusted = &["10.0.0.0/8", "2001:db8::/32"];
        let of = |line| client(trusted, "10.0.0.1", &[("x-forwarded-for", line)]);

        assert_eq!(of("1.1.1.1"), "1.1.1.1");
        assert_eq!(
            of("6.6.6.6, 1.1.1.1"),
            "1.1.1.1",
            "the left one was sent by the client"
        );
        assert_eq!(of("6.6.6.6, 1.1.1.1, 10.2.3.4, 2001:db8::7"), "1.1.1.1");
        assert_eq!(of("10.0.0.9, 10.0.0.8"), "10.0.0.9", "all are trusted");
        assert_eq!(of(""), "10.0.0.1");
        assert_eq!(of("1.1.1.1:5060"), "1.1.1.1");
        assert_eq!(of("[2a00::1]:80"), "2a00::1");

        let two = [
            ("x-forwarded-for", "6.6.6.6"),
            ("x-forwarded-for", "1.1.1.1"),
        ];
        assert_eq!(client(trusted, "::ffff:10.0.0.1", &two), "1.1.1.1");
    }

    #[test]
    fn what_cannot_be_read_ends_the_way() {
        let of = |line| client(&["10.0.0.0/8"], "10.0.0.1", &[("x-forwarded-for", line)]);
        assert_eq!(of("6.6.6.6, unknown"), "10.0.0.1");
        assert_eq!(of("6.6.6.6, garbage, 10.0.0.2"), "10.0.0.2");
        assert_eq!(of("6.6.6.6, "), "10.0.0.1");
        assert_eq!(of("300.1.1.1"), "10.0.0.1");

        let mut headers = HeaderMap::new();
        headers.append(X_FORWARDED_FOR, HeaderValue::from_static("6.6.6.6"));
        headers.append(
            X_FORWARDED_FOR,
            HeaderValue::from_bytes(b"\xff, 9.9.9.9").expect("a header"),
        );
        let addresses = ClientAddresses::new(vec!["10.0.0.0/8".parse().expect("a network")]);
        let client = addresses.client("10.0.0.1".parse().expect("an address"), &headers);
        assert_eq!(client.to_string(), "9.9.9.9");
    }

    #[test]
    fn the_standard_header_counts_as_well() {
        let of = |line| client(&["10.0.0.0/8"], "10.0.0.1", &[("forwarded", line)]);

        assert_eq!(
            of("for=192.0.2.60;proto=http;by=203.0.113.43"),
            "192.0.2.60"
        );
        assert_eq!(
            of("for=6.6.6.6, For=\"[2001:db8:cafe::17]:4711\""),
            "2001:db8:cafe::17"
        );
        assert_eq!(of("for=1.1.1.1, for=10.0.0.7"), "1.1.1.1");
        assert_eq!(of("for=1.1.1.1, for=unknown"), "10.0.0.1");
        assert_eq!(of("for=1.1.1.1, for=\"_hidden\""), "10.0.0.1");
        assert_eq!(
            of("for=1.1.1.1, proto=https"),
            "10.0.0.1",
            "the nearest proxy named nobody"
        );
    }

    fn client_by_both(forwarded_for: &str, forwarded: &str) -> String {
        let headers = [("x-forwarded-for", forwarded_for), ("forwarded", forwarded)];
        client(&["10.0.0.0/8"], "10.0.0.1", &headers)
    }

    #[test]
    fn headers_that_disagree_are_not_believed() {
        assert_eq!(client_by_both("1.1.1.1", "for=1.1.1.1"), "1.1.1.1");
        assert_eq!(client_by_both("1.1.1.1", "for=6.6.6.6"), "10.0.0.1");
    }

    #[test]
    fn a_network_of_addresses_is_one_client() {
        let key = |text: &str| ClientKey::from(text.parse::<IpAddr>().expect("an address"));

        assert_eq!(key("2001:db8:0:1::1"), key("2001:db8:0:1:ffff::9"));
        assert_ne!(key("2001:db8:0:1::1"), key("2001:db8:0:2::1"));
        assert_eq!(key("::ffff:1.2.3.4"), key("1.2.3.4"));
        assert_ne!(key("1.2.3.4"), key("1.2.3.5"));
    }
}
