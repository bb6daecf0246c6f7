//! The settings of `[exchange]` and `[lending]`.

use std::net::IpAddr;

use alloy_primitives::{U256, uint, utils::parse_ether};
use ipnet::IpNet;
use tetrad_exchange::feed::Policy;
use tetrad_lending::faucet::MAX_PER_DAY;
use tetrad_stdx::decimal::shortest;

use crate::config::{
    setting::{Kind, Section, Setting},
    show,
};

const POLICIES: [(&str, Policy); 2] = [("fallback", Policy::Fallback), ("median", Policy::Median)];

pub(super) const EXCHANGE: Section = Section {
    name: "exchange",
    about: "",
    settings: &[
        Setting {
            name: "exchange.price-tick",
            kind: Kind::Number,
            placeholder: "SECONDS",
            help: "Interval between price updates; 0 freezes prices",
            read: |config, given| given.seconds_or_none(0.0..=3_600.0, &mut config.exchange.price_tick),
            show: |config| show::seconds(config.exchange.price_tick.unwrap_or_default()),
            ..Setting::BLANK
        },
        Setting {
            name: "exchange.price-sources",
            kind: Kind::List,
            placeholder: "SOURCE,…",
            help: "Sources of prices, in order: simulation, replay:FILE, or URL#PATH of an upstream (http, https, ws, wss)",
            details: "\
- `simulation`: a random walk, the same for the same seed.
- `replay:FILE`: a recorded market, CSV or JSON; config/prices.csv and config/prices.json are samples.
- `URL#PATH`: an upstream over HTTP or WebSocket. PATH is the place of a token's price in its JSON: names and \
positions between dots, `[name=text]` for the item of a list with such a member. `{symbol}`, `{id}` (CoinGecko's) and \
`{address}` stand for one token's names; in the URL `{symbols}`, `{ids}` and `{addresses}` stand for those of all tokens.
- For example `https://api.coingecko.com/api/v3/simple/price?ids={ids}&vs_currencies=usd#{id}.usd`, or another tetrad: \
`wss://staging.example.org/ws#data.{address}.price`.",
            read: |config, given| {
                config.exchange.price_sources = given.each(|text| text.parse().map_err(|error| format!("{error}")))?;
                Ok(())
            },
            show: |config| show::list(&config.exchange.price_sources),
            redact: Some(|config| show::list(config.exchange.price_sources.iter().map(|source| source.redacted()))),
            ..Setting::BLANK
        },
        Setting {
            name: "exchange.price-policy",
            placeholder: "fallback|median",
            help: "Choice between several sources: the first that has a price (fallback), or the median",
            details: "A price that no source confirms is not updated, and after ten minutes nothing is traded at it.",
            read: |config, given| given.choice(&POLICIES, &mut config.exchange.price_policy),
            show: |config| show::choice(&POLICIES, &config.exchange.price_policy),
            ..Setting::BLANK
        },
        Setting {
            name: "exchange.upstream-interval",
            kind: Kind::Number,
            placeholder: "SECONDS",
            help: "Interval between requests to an upstream over HTTP",
            details: "After five failures in a row an upstream is not asked for half a minute.",
            read: |config, given| given.seconds(0.1..=86_400.0, &mut config.exchange.upstream.interval),
            show: |config| show::seconds(config.exchange.upstream.interval),
            ..Setting::BLANK
        },
        Setting {
            name: "exchange.upstream-timeout",
            kind: Kind::Number,
            placeholder: "SECONDS",
            help: "Time limit of a request to an upstream",
            read: |config, given| given.seconds(0.1..=86_400.0, &mut config.exchange.upstream.timeout),
            show: |config| show::seconds(config.exchange.upstream.timeout),
            ..Setting::BLANK
        },
        Setting {
            name: "exchange.upstream-retries",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Number of immediate retries of a failed request to an upstream",
            read: |config, given| given.integer(0..=10, &mut config.exchange.upstream.retries),
            show: |config| show::integer(config.exchange.upstream.retries),
            ..Setting::BLANK
        },
        Setting {
            name: "exchange.upstream-max-age",
            kind: Kind::Number,
            placeholder: "SECONDS",
            help: "Maximum age of an upstream's price when it is put on the chain",
            read: |config, given| given.seconds(1.0..=86_400.0, &mut config.exchange.upstream.max_age),
            show: |config| show::seconds(config.exchange.upstream.max_age),
            ..Setting::BLANK
        },
        Setting {
            name: "exchange.upstream-subscribe",
            placeholder: "TEXT",
            help: "Message to send to an upstream's WebSocket once it is open",
            example: "'{\"type\":\"subscribe\"}'",
            read: |config, given| {
                config.exchange.upstream.subscribe = Some(given.text());
                Ok(())
            },
            show: |config| config.exchange.upstream.subscribe.as_ref().and_then(show::text),
            ..Setting::BLANK
        },
        Setting {
            name: "exchange.upstream-ca-file",
            placeholder: "FILE",
            help: "Certificates (PEM) of authorities to trust for upstreams in addition to the system's",
            example: "\"ca.pem\"",
            must_exist: true,
            read: |config, given| given.path(&mut config.exchange.upstream.ca_file),
            show: |config| show::path(config.exchange.upstream.ca_file.as_ref()),
            ..Setting::BLANK
        },
        Setting {
            name: "exchange.rate-limit",
            kind: Kind::Integer,
            placeholder: "N",
            help: "REST requests per minute and client address; 0 for no limit",
            read: |config, given| given.integer(0..=1_000_000, &mut config.rate_limit),
            show: |config| show::integer(config.rate_limit),
            ..Setting::BLANK
        },
        Setting {
            name: "exchange.trusted-proxies",
            kind: Kind::List,
            placeholder: "CIDR,…",
            help: "Reverse proxies whose X-Forwarded-For or Forwarded header names the client",
            details: "Addresses or ranges, for example [\"127.0.0.1\", \"10.0.0.0/8\"]. Without them all clients behind a \
                      proxy count as one, in every rate limit and in the fair sharing of execution time.",
            read: |config, given| {
                config.trusted_proxies = given.each(proxy)?;
                Ok(())
            },
            show: |config| show::list(&config.trusted_proxies),
            ..Setting::BLANK
        },
        Setting {
            name: "exchange.max-sockets-per-client",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Maximum number of price WebSockets of one client address",
            read: |config, given| given.integer(1..=1_000_000, &mut config.max_sockets_per_client),
            show: |config| show::integer(config.max_sockets_per_client),
            ..Setting::BLANK
        },
    ],
};

pub(super) const LENDING: Section = Section {
    name: "lending",
    about: "",
    settings: &[Setting {
        name: "lending.rate-limit",
        kind: Kind::Integer,
        placeholder: "N",
        help: "REST requests per minute and client address; 0 for no limit",
        read: |config, given| given.integer(0..=1_000_000, &mut config.lending_rate_limit),
        show: |config| show::integer(config.lending_rate_limit),
        ..Setting::BLANK
    }],
};

pub(super) const FAUCET: Section = Section {
    name: "faucet",
    about: "The faucet pays coins and the network's tokens from the treasury's account, at /api/faucet.",
    settings: &[
        Setting {
            name: "faucet.amount",
            flag: "faucet",
            placeholder: "AMOUNT|off",
            help: "Whole coins that the faucet pays at a time, such as 10 or 0.5; off for no faucet",
            details: "\
It also pays each of the network's tokens: a hundredth of what a development account begins with. Off by default on a \
fork and on a chain from a genesis file, where it pays the native coin only.",
            read: |config, given| given.checked(faucet_amount, &mut config.faucet.amount),
            derive: |config| {
                // There the treasury has nothing at first.
                if !config.begins_network() {
                    config.faucet.amount = None;
                }
            },
            show: |config| {
                let coins = config.faucet.amount.map(|amount| shortest(amount, 18));
                show::text(coins.unwrap_or_else(|| "off".to_owned()))
            },
            ..Setting::BLANK
        },
        Setting {
            name: "faucet.per-address",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Payments of each asset to one address in 24 hours; 0 for no limit",
            read: |config, given| given.integer(0..=1_000_000, &mut config.faucet.per_address),
            show: |config| show::integer(config.faucet.per_address),
            ..Setting::BLANK
        },
        Setting {
            name: "faucet.per-client",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Payments of each asset to one client address in 24 hours; 0 for no limit",
            details: "Behind a proxy that exchange.trusted-proxies does not name, all clients count as one.",
            read: |config, given| given.integer(0..=1_000_000, &mut config.faucet.per_client),
            show: |config| show::integer(config.faucet.per_client),
            ..Setting::BLANK
        },
        Setting {
            name: "faucet.per-day",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Payments of each asset in 24 hours, to all together",
            read: |config, given| {
                given.integer(1..=i64::from(MAX_PER_DAY), &mut config.faucet.per_day)
            },
            show: |config| show::integer(config.faucet.per_day),
            ..Setting::BLANK
        },
    ],
};

/// The most that the faucet can be configured to pay: all that the treasury begins with.
const MAX_FAUCET_AMOUNT: U256 = uint!(1_000_000_000_000_000_000_000_000_U256);

/// Parses a range of addresses, or one address.
fn proxy(text: &str) -> Result<IpNet, String> {
    let single = || text.parse().map(|address: IpAddr| IpNet::from(address));
    text.parse()
        .or_else(|_| single())
        .map_err(|_| format!("expected addresses such as 10.0.0.0/8, got `{text}`"))
}

/// Parses what the faucet pays at a time, in wei; none if it is off.
fn faucet_amount(text: &str) -> Result<Option<U256>, String> {
    if text == "off" {
        return Ok(None);
    }
    match parse_ether(text) {
        Ok(amount) if !amount.is_zero() && amount <= MAX_FAUCET_AMOUNT => Ok(Some(amount)),
        _ => Err(format!(
            "expected coins above 0, at most 1000000, or off, got `{text}`"
        )),
    }
}
