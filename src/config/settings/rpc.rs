//! The settings of `[rpc]`.

use std::time::Duration;

use tetrad_rpc::rpc::Dialect;

use crate::config::{
    setting::{Kind, Section, Setting},
    show,
};

const DIALECTS: [(&str, Dialect); 2] = [
    ("network", Dialect::Network),
    ("ethereum", Dialect::Ethereum),
];

/// The shortest default of `rpc.execution-timeout` on a fork, where calls wait for the other node.
const FORK_EXECUTION: Duration = Duration::from_secs(60);

pub(super) const SECTION: Section = Section {
    name: "rpc",
    about: "",
    settings: &[
        Setting {
            name: "rpc.dialect",
            former_name: Some("rpc.errors"),
            placeholder: "network|ethereum",
            help: "The network's dialect of JSON-RPC, or go-ethereum's; by default the latter with a genesis file, a fork or a \
                   bare chain",
            details: "It decides on the texts of errors, on which parameters may be left out or be JSON integers, and on \
                      requests without an id: the network's specification requires one, while go-ethereum executes such \
                      notifications without a response.",
            read: |config, given| given.choice(&DIALECTS, &mut config.rpc.dialect),
            derive: |config| {
                // Clients of another chain expect go-ethereum.
                if !config.begins_network() {
                    config.rpc.dialect = Dialect::Ethereum;
                }
            },
            show: |config| show::choice(&DIALECTS, &config.rpc.dialect),
            ..Setting::BLANK
        },
        Setting {
            name: "rpc.max-body",
            kind: Kind::Integer,
            placeholder: "BYTES",
            help: "Largest request body",
            read: |config, given| given.integer(1_024..=1 << 30, &mut config.rpc.max_body),
            show: |config| show::integer(config.rpc.max_body),
            ..Setting::BLANK
        },
        Setting {
            name: "rpc.max-batch",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Maximum number of requests in a batch",
            read: |config, given| given.integer(1..=1_000_000, &mut config.rpc.max_batch),
            show: |config| show::integer(config.rpc.max_batch),
            ..Setting::BLANK
        },
        Setting {
            name: "rpc.gas-cap",
            kind: Kind::Integer,
            placeholder: "GAS",
            help: "Maximum gas of a call or estimate",
            read: |config, given| given.integer(21_000..=i64::MAX, &mut config.rpc.gas_cap),
            show: |config| show::integer(config.rpc.gas_cap),
            ..Setting::BLANK
        },
        Setting {
            name: "rpc.estimate-tolerance",
            kind: Kind::Number,
            placeholder: "PART",
            help: "How far an estimate may be above the least gas, as a part of it: 0.015 as in geth, or 0 for the least gas",
            details: "The search for the least gas executes a call more often.",
            read: |config, given| given.number(0.0..=1.0, "", &mut config.rpc.estimate_tolerance),
            show: |config| Some(toml::Value::Float(config.rpc.estimate_tolerance)),
            ..Setting::BLANK
        },
        Setting {
            name: "rpc.execution-timeout",
            kind: Kind::Number,
            placeholder: "SECONDS",
            help: "Time limit of a call, simulation or trace; by default a minute on a fork",
            read: |config, given| given.seconds(0.001..=3_600.0, &mut config.rpc.execution_timeout),
            derive: |config| {
                if config.fork.url.is_some() {
                    config.rpc.execution_timeout = config.fork.timeout.max(FORK_EXECUTION);
                }
            },
            show: |config| show::seconds(config.rpc.execution_timeout),
            ..Setting::BLANK
        },
        Setting {
            name: "rpc.max-trace-megabytes",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Largest response with traces",
            read: |config, given| given.megabytes(1..=100_000, &mut config.rpc.max_trace_bytes),
            show: |config| show::megabytes(config.rpc.max_trace_bytes),
            ..Setting::BLANK
        },
        Setting {
            name: "rpc.max-tracer-megabytes",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Memory limit of a JavaScript tracer",
            read: |config, given| given.megabytes(64..=100_000, &mut config.rpc.max_tracer_memory),
            show: |config| show::megabytes(config.rpc.max_tracer_memory),
            ..Setting::BLANK
        },
        Setting {
            name: "rpc.max-dump-megabytes",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Approximate memory limit of dumping or loading the chain",
            read: |config, given| given.megabytes(1..=100_000, &mut config.rpc.max_dump_bytes),
            show: |config| show::megabytes(config.rpc.max_dump_bytes),
            ..Setting::BLANK
        },
        Setting {
            name: "rpc.max-logs",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Maximum number of logs that a query returns",
            read: |config, given| given.integer(1..=10_000_000, &mut config.rpc.max_logs),
            show: |config| show::integer(config.rpc.max_logs),
            ..Setting::BLANK
        },
        Setting {
            name: "rpc.max-filters",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Maximum number of filters at a time",
            details: "A filter of logs counts as one more for every 20 addresses and topics.",
            read: |config, given| given.integer(0..=10_000_000, &mut config.rpc.max_filters),
            show: |config| show::integer(config.rpc.max_filters),
            ..Setting::BLANK
        },
        Setting {
            name: "rpc.max-filters-per-client",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Maximum number of filters of one client address at a time",
            details: "A filter of logs counts as one more for every 20 addresses and topics.",
            read: |config, given| {
                given.integer(0..=10_000_000, &mut config.rpc.max_filters_per_client)
            },
            show: |config| show::integer(config.rpc.max_filters_per_client),
            ..Setting::BLANK
        },
        Setting {
            name: "rpc.max-subscriptions",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Maximum number of subscriptions of one connection",
            details: "A subscription to logs counts as one more for every 20 addresses and topics.",
            read: |config, given| given.integer(0..=1_000_000, &mut config.rpc.max_subscriptions),
            show: |config| show::integer(config.rpc.max_subscriptions),
            ..Setting::BLANK
        },
    ],
};
