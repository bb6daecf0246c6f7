//! The settings of `[fork]`.

use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};
use tetrad_rpc::fork::{ForkBlock, ForkCache, ForkPace};
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
            name: "fork.others",
            kind: Kind::List,
            placeholder: "URL,…",
            help: "Further nodes of the same chain: all are asked in turns, and one that fails is left out for a while",
            details: "They must have the forked block. None of them gets fork.headers, unless its origin is that of fork.url.",
            read: |config, given| {
                config.fork.others = given.each(url)?;
                Ok(())
            },
            show: |config| show::list(config.fork.others.iter().map(ToString::to_string)),
            redact: Some(|config| {
                show::list(
                    config
                        .fork
                        .others
                        .iter()
                        .map(|url| redact::url(url.as_str())),
                )
            }),
            check: |config| only_on_a_fork(config, !config.fork.others.is_empty()),
            ..Setting::BLANK
        },
        Setting {
            name: "fork.block",
            common: true,
            aliases: &["fork-block-number"],
            placeholder: "BLOCK",
            help: "The block to fork: a number, -N for N blocks before the newest, latest, safe, finalized, a hash, before:HASH or \
                   after:HASH",
            details: "before: and after: take the hash of a transaction: the transactions that precede it in its block are replayed, \
                      and with after: itself.",
            example: "\"1000000\"",
            read: |config, given| given.checked(str::parse, &mut config.fork.block),
            show: |config| show::text(config.fork.block),
            check: |config| only_on_a_fork(config, config.fork.block != ForkBlock::Latest),
            ..Setting::BLANK
        },
        Setting {
            name: "fork.prefetch",
            kind: Kind::Switch,
            help: "Fetch all that an execution reads together before it runs, instead of one slot after the other",
            details: "The other node is asked what it reads (debug_traceCall, eth_createAccessList) if it can tell; \
                      otherwise it is found by trying.",
            read: |config, given| given.switch(&mut config.fork.prefetch),
            show: |config| show::switch(config.fork.prefetch),
            ..Setting::BLANK
        },
        Setting {
            name: "fork.cache",
            placeholder: "DIR|usual|off",
            help: "Directory in which answers of the other node about a final block, forked by number or hash, are kept",
            details: "usual is the platform's directory for caches; with it, nothing is kept of development nodes, whose state can \
                      be edited: anvil, hardhat, ganache, tetrad. Several nodes may use the same directory.",
            example: "\"forks\"",
            read: |config, given| given.checked(|text| Ok(cache(text)), &mut config.fork.cache),
            show: |config| match &config.fork.cache {
                ForkCache::Off => show::text("off"),
                ForkCache::Usual => show::text("usual"),
                ForkCache::At(directory) => show::path(Some(directory)),
            },
            ..Setting::BLANK
        },
        Setting {
            name: "fork.cache-megabytes",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Size of the directory of fork.cache beyond which blocks that were not used for longest are removed",
            read: |config, given| given.megabytes(1..=1_000_000, &mut config.fork.cache_bytes),
            show: |config| show::integer(config.fork.cache_bytes >> 20),
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
            name: "fork.requests-per-second",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Most calls of the other node per second, where it limits them; each call of a batch counts",
            example: "20",
            read: |config, given| {
                let mut calls = 0;
                given.integer(1..=1_000_000, &mut calls)?;
                config.fork.pace = Some(ForkPace::Calls(calls));
                Ok(())
            },
            show: |config| match config.fork.pace {
                Some(ForkPace::Calls(calls)) => show::integer(u64::from(calls)),
                _ => None,
            },
            check: |config| only_on_a_fork(config, config.fork.pace.is_some()),
            ..Setting::BLANK
        },
        Setting {
            name: "fork.compute-units-per-second",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Most compute units of calls of the other node per second, where it bills by them",
            example: "330",
            details: "A call counts 20 units; eth_chainId none, eth_blockNumber 10, eth_getLogs 60, traces 40. Not together with \
                      fork.requests-per-second.",
            read: |config, given| {
                if matches!(config.fork.pace, Some(ForkPace::Calls(_))) {
                    return Err("fork.requests-per-second is set as well".to_owned());
                }
                let mut units = 0;
                given.integer(1..=100_000_000, &mut units)?;
                config.fork.pace = Some(ForkPace::Units(units));
                Ok(())
            },
            show: |config| match config.fork.pace {
                Some(ForkPace::Units(units)) => show::integer(u64::from(units)),
                _ => None,
            },
            check: |config| only_on_a_fork(config, config.fork.pace.is_some()),
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

fn cache(text: &str) -> ForkCache {
    match text.to_ascii_lowercase().as_str() {
        "off" | "false" => ForkCache::Off,
        "usual" | "true" => ForkCache::Usual,
        _ => ForkCache::At(text.into()),
    }
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
