//! The settings of a fork.

use super::read;

#[test]
fn invalid_fork_settings_are_named() {
    for (text, flags, expected) in [
        (
            "[fork]\nurl = \"nowhere\"",
            &[][..],
            "url in x.toml: expected a URL",
        ),
        (
            "",
            &[("fork.url", "ws://localhost:8545")],
            "--fork-url: expected a URL that begins with http:// or https://",
        ),
        ("[fork]\nblock = 5", &[], "fork.block: fork.url is missing"),
        (
            "",
            &[("fork.headers", "x-key: secret")],
            "fork.headers: fork.url is missing",
        ),
        (
            "",
            &[("fork.url", "http://localhost"), ("fork.block", "0x5")],
            "--fork-block: expected a number, -N for",
        ),
        (
            "",
            &[("fork.url", "http://localhost"), ("fork.headers", "secret")],
            "--fork-headers: expected headers such as",
        ),
        (
            "",
            &[("fork.url", "http://localhost"), ("fork.headers", "a b: c")],
            "`a b` is not a valid header name",
        ),
        (
            "data-dir = \"d\"",
            &[("fork.url", "http://localhost")],
            "data-dir: cannot be combined with fork.url",
        ),
    ] {
        let error = read(text, flags).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }

    let error = read(
        "",
        &[
            ("fork.url", "http://localhost"),
            ("fork.headers", "key: \u{7}secret"),
        ],
    )
    .unwrap_err();
    assert!(
        error.contains("`key`") && !error.contains("secret"),
        "{error}"
    );
}

#[test]
fn chain_id_and_gas_limit_are_the_other_chains_unless_configured() {
    let url = ("fork.url", "https://rpc.example.org/v1?key=1");
    let config = read("[fork]\nheaders = [\"Authorization: Bearer x\"]", &[url]).unwrap();
    assert_eq!(
        config.fork.headers,
        [("Authorization".to_owned(), "Bearer x".to_owned())]
    );
    assert_eq!((config.fork.chain_id, config.fork.gas_limit), (None, None));
    // A file may list the defaults, as the shipped ones do.
    let config = read("chain-id = 125\ngas-limit = 60_000_000", &[url]).unwrap();
    assert_eq!((config.fork.chain_id, config.fork.gas_limit), (None, None));
    let config = read("chain-id = 31_337", &[url, ("gas-limit", "60000000")]).unwrap();
    assert_eq!(
        (config.fork.chain_id, config.fork.gas_limit),
        (Some(31_337), Some(60_000_000))
    );
    let config = read("", &[url, ("chain-id", "125"), ("fork.timeout", "90")]).unwrap();
    assert_eq!(config.fork.chain_id, Some(125));
    // Calls may wait for as long as a request to the other node.
    assert_eq!(config.rpc.execution_timeout.as_secs(), 90);
    assert_eq!(read("", &[]).unwrap().rpc.execution_timeout.as_secs(), 5);
}
