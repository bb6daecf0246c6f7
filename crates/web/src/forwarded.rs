//! The forwarding headers of proxies. Each entry is an address, or none if it cannot be parsed.
//!
//! Crates for RFC 7239 split inside of quotes, so that a client's text could pass for a proxy's
//! entry, or refuse the whole line for one entry that they cannot read.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The entries of a line of `X-Forwarded-For`: addresses, with or without a port.
pub(super) fn x_forwarded_for(line: &str) -> Vec<Option<IpAddr>> {
    if line.trim().is_empty() {
        return Vec::new();
    }
    line.split(',').map(|entry| node(entry.trim())).collect()
}

/// The entries of a line of `Forwarded` (RFC 7239). An entry without `for` has no address.
pub(super) fn forwarded(line: &str) -> Vec<Option<IpAddr>> {
    split(line, ',')
        .into_iter()
        .filter(|element| !element.trim().is_empty())
        .map(client)
        .collect()
}

/// The address in the pair `for` of an element, whose value may be quoted.
fn client(element: &str) -> Option<IpAddr> {
    let mut pairs = split(element, ';').into_iter().filter_map(|pair| {
        pair.split_once('=')
            .map(|(name, value)| (name.trim(), value.trim()))
    });
    let (_, value) = pairs.find(|(name, _)| name.eq_ignore_ascii_case("for"))?;

    node(
        value
            .strip_prefix('"')
            .map_or(value, |value| value.strip_suffix('"').unwrap_or(value)),
    )
}

/// An address, with or without brackets, with or without a port.
fn node(text: &str) -> Option<IpAddr> {
    let address: IpAddr = text
        .parse()
        .ok()
        .or_else(|| bracketed(text))
        .or_else(|| with_port(text))?;
    Some(address.to_canonical())
}

fn bracketed(text: &str) -> Option<IpAddr> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6)
}

fn with_port(text: &str) -> Option<IpAddr> {
    text.parse::<SocketAddr>().ok().map(|address| address.ip())
}

/// Splits at separators outside of quotes.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut quoted = false;
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            // A backslash escapes within quotes only (RFC 9110, 5.6.4).
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if character == separator && !quoted => {
                parts.push(&text[start..at]);
                start = at + character.len_utf8();
            }
            _ => {}
        }
    }

    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hide_separators() {
        assert_eq!(split(r#"a="x,y";b, c"#, ','), [r#"a="x,y";b"#, " c"]);
        assert_eq!(split(r#"a="\",";b"#, ';'), [r#"a="\",""#, "b"]);
        assert_eq!(split(r#"a="open, b"#, ','), [r#"a="open, b"#]);
    }

    #[test]
    fn no_text_is_too_strange() {
        for text in [
            "",
            ",",
            ";;;",
            "for",
            "for=",
            "for=\"",
            "=",
            "for=[",
            "for=[::1",
            "\u{fffd},\"",
            "for=1.2.3.4:x",
        ] {
            assert!(forwarded(text).iter().all(Option::is_none), "{text}");
            assert!(x_forwarded_for(text).iter().all(Option::is_none), "{text}");
        }
    }
}
