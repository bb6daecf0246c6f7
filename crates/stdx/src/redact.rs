//! URLs without their secrets. User information, path and query often hold a password or a
//! provider's key. What the crate `url` refuses to read, such as a wrong port, may hold one as well.

/// Returns scheme, host and port of a URL. A text that is not a URL is returned unchanged.
pub fn origin(url: &str) -> String {
    split(url).0
}

/// Returns scheme, host and port of a URL, with `/…` in place of the rest, if there is any.
pub fn url(url: &str) -> String {
    let (origin, rest) = split(url);
    if rest.is_empty() {
        origin
    } else {
        format!("{origin}/…")
    }
}

/// Splits a URL into scheme, host and port, and the rest without its first slash.
fn split(url: &str) -> (String, &str) {
    let Some((scheme, rest)) = url.split_once("://") else {
        return (url.to_owned(), "");
    };

    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let (authority, behind) = rest.split_at(end);
    let host = authority.rsplit('@').next().unwrap_or_default();

    (
        format!("{scheme}://{host}"),
        behind.strip_prefix('/').unwrap_or(behind),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_the_origin_is_shown() {
        for (text, shown_origin, shown) in [
            (
                "https://me:secret@api.example.org:8443/v1?key=secret",
                "https://api.example.org:8443",
                "https://api.example.org:8443/…",
            ),
            (
                "https://mainnet.example.org/v3/secret",
                "https://mainnet.example.org",
                "https://mainnet.example.org/…",
            ),
            ("https://a:b@c@host/", "https://host", "https://host"),
            (
                "http://127.0.0.1:8545",
                "http://127.0.0.1:8545",
                "http://127.0.0.1:8545",
            ),
            ("ws://[::1]:1/ws", "ws://[::1]:1", "ws://[::1]:1/…"),
            ("http://h?key=secret", "http://h", "http://h/…"),
            ("http://h\\secret", "http://h", "http://h/…"),
            ("http://", "http://", "http://"),
            ("simulation", "simulation", "simulation"),
        ] {
            assert_eq!(
                (origin(text), url(text)),
                (shown_origin.to_owned(), shown.to_owned())
            );
        }
    }
}
