//! The settings of `[fork]`.

use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};
use tetrad_stdx::redact;

use crate::config::{
    node::Config,
    setting::{Kind, Section, Setting, reject_if},
    show,
};

pub(super) const SECTION: Section = Section {
    name: "fork",
    about: "A chain that begins at a block of another node. Accounts, code and storage that have not changed since are \
            read from there. Chain id and gas limit are the other chain's, unless they are set to something else than \
            the default.",
    settings: &[
        Setting {
            name: "fork.url",
            common: true,
            aliases: &["rpc-url"],
            short: Some('f'),
            placeholder: "URL",
            help: "JSON-RPC of another node over HTTP, to begin at one of its blocks instead of a new first block",
            example: "\"https://rpc.example.org\"",
            read: |config, given| given.checked(|text| url(text).map(Some), &mut config.fork.url),
            show: |config| config.fork.url.as_ref().and_then(show::text),
            redact: Some(|config| {
                config
                    .fork
                    .url
                    .as_ref()
                    .and_then(|url| show::text(redact::url(url.as_str())))
            }),
            ..Setting::BLANK
        },
        Setting {
            name: "fork.block",
            common: true,
            aliases: &["fork-block-number"],
            kind: Kind::Integer,
            placeholder: "N",
            help: "Number of the block to fork; by default the other node's newest",
            example: "1_000_000",
            read: |config, given| {
                let mut block = 0;
                given.integer(0..=i64::MAX, &mut block)?;
                config.fork.block = Some(block);
                Ok(())
            },
            show: |config| config.fork.block.and_then(show::integer),
            check: |config| only_on_a_fork(config, config.fork.block.is_some()),
            ..Setting::BLANK
        },
        Setting {
            name: "fork.headers",
            kind: Kind::List,
            placeholder: "NAME: VALUE,…",
            help: "Headers of every request to the origin of fork.url; no other URL gets them",
            details: "For example [\"Authorization: Bearer …\"].",
            read: |config, given| {
                config.fork.headers = given.each(header)?;
                Ok(())
            },
            show: |config| {
                show::list(
                    config
                        .fork
                        .headers
                        .iter()
                        .map(|(name, value)| format!("{name}: {value}")),
                )
            },
            redact: Some(|config| {
                show::list(
                    config
                        .fork
                        .headers
                        .iter()
                        .map(|(name, _)| format!("{name}: …")),
                )
            }),
            check: |config| only_on_a_fork(config, !config.fork.headers.is_empty()),
            ..Setting::BLANK
        },
        Setting {
            name: "fork.timeout",
            kind: Kind::Number,
            placeholder: "SECONDS",
            help: "Time limit of a request to the other node, including retries",
            read: |config, given| given.seconds(0.1..=3_600.0, &mut config.fork.timeout),
            show: |config| show::seconds(config.fork.timeout),
            ..Setting::BLANK
        },
        Setting {
            name: "fork.retries",
            aliases: &["retries"],
            kind: Kind::Integer,
            placeholder: "N",
            help: "Number of retries of a failed request to the other node",
            read: |config, given| given.integer(0..=100, &mut config.fork.retries),
            show: |config| show::integer(config.fork.retries),
            ..Setting::BLANK
        },
        Setting {
            name: "fork.retry-backoff",
            kind: Kind::Number,
            placeholder: "SECONDS",
            help: "Delay before the first retry; it doubles with each further one",
            read: |config, given| given.seconds(0.0..=3_600.0, &mut config.fork.retry_backoff),
            show: |config| show::seconds(config.fork.retry_backoff),
            ..Setting::BLANK
        },
    ],
};

/// Rejects a setting that has no meaning without a fork.
fn only_on_a_fork(config: &Config, set: bool) -> Result<(), String> {
    reject_if(set && config.fork.url.is_none(), "fork.url is missing")
}

fn url(text: &str) -> Result<Url, String> {
    let url: Url = text
        .parse()
        .map_err(|error| format!("expected a URL ({error})"))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(format!(
            "expected a URL that begins with http:// or https://, got {other}://"
        )),
    }
}

fn header(text: &str) -> Result<(String, String), String> {
    // The value may be a secret: it is not repeated.
    let (name, value) = text
        .split_once(':')
        .ok_or("expected headers such as `Name: value`")?;
    let name = name.trim();
    let value = value.trim();

    HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| format!("`{name}` is not a valid header name"))?;
    HeaderValue::from_str(value)
        .map_err(|_| format!("the value of header `{name}` has forbidden characters"))?;
    Ok((name.to_owned(), value.to_owned()))
}
