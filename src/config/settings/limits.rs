//! The settings of `[limits]`.

use tetrad_web::Budget;

use crate::config::{
    setting::{Kind, Section, Setting},
    show,
};

pub(super) const SECTION: Section = Section {
    name: "limits",
    about: "",
    settings: &[
        Setting {
            name: "limits.connections",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Maximum number of connections of each listener at a time",
            read: |config, given| given.integer(1..=1_000_000, &mut config.listener.connections),
            show: |config| show::integer(config.listener.connections),
            ..Setting::BLANK
        },
        Setting {
            name: "limits.header-timeout",
            kind: Kind::Number,
            placeholder: "SECONDS",
            help: "Time limit for a client to send the head of a request",
            read: |config, given| given.seconds(0.1..=3_600.0, &mut config.listener.header_timeout),
            show: |config| show::seconds(config.listener.header_timeout),
            ..Setting::BLANK
        },
        Setting {
            name: "limits.transit-megabytes",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Memory for requests and responses over 16 KiB in transit, of all interfaces and clients together; an \
                   eighth of it is for responses only",
            read: |config, given| {
                let mut bytes = 0;
                given.megabytes(16..=1_000_000, &mut bytes)?;
                config.rpc.budget = Budget::new(bytes);
                Ok(())
            },
            show: |config| show::megabytes(config.rpc.budget.bytes()),
            ..Setting::BLANK
        },
        Setting {
            name: "limits.pool",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Maximum number of transactions in the pool",
            read: |config, given| given.integer(1..=100_000_000, &mut config.pool.transactions),
            show: |config| show::integer(config.pool.transactions),
            ..Setting::BLANK
        },
        Setting {
            name: "limits.pool-per-account",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Maximum number of transactions of one account in the pool",
            read: |config, given| given.integer(1..=100_000_000, &mut config.pool.per_account),
            show: |config| show::integer(config.pool.per_account),
            ..Setting::BLANK
        },
        Setting {
            name: "limits.pool-megabytes",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Memory for the transactions in the pool with their blobs",
            read: |config, given| given.megabytes(1..=1_000_000, &mut config.pool.bytes),
            show: |config| show::megabytes(config.pool.bytes),
            ..Setting::BLANK
        },
        Setting {
            name: "limits.pool-per-account-megabytes",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Memory for one account's transactions in the pool with their blobs",
            read: |config, given| given.megabytes(1..=1_000_000, &mut config.pool.account_bytes),
            show: |config| show::megabytes(config.pool.account_bytes),
            ..Setting::BLANK
        },
        Setting {
            name: "limits.pool-lifetime",
            kind: Kind::Number,
            placeholder: "SECONDS",
            help: "Time after which a waiting transaction is dropped if its account was inactive; 0 for no limit",
            details: "Transactions wait for a missing nonce or a lower base fee.",
            read: |config, given| {
                given.seconds_or_none(0.0..=31_536_000.0, &mut config.pool.lifetime)
            },
            show: |config| show::seconds(config.pool.lifetime.unwrap_or_default()),
            ..Setting::BLANK
        },
        Setting {
            name: "limits.pool-min-tip",
            kind: Kind::Integer,
            placeholder: "WEI",
            help: "Lowest tip of a transaction, or gas price of a legacy one, in wei per gas",
            details: "With 1, transactions that pay nothing are rejected.",
            read: |config, given| given.integer(0..=i64::MAX, &mut config.min_tip),
            show: |config| show::integer(config.min_tip),
            ..Setting::BLANK
        },
        Setting {
            name: "limits.pool-replacement",
            kind: Kind::Integer,
            placeholder: "PERCENT",
            help: "How much more a transaction pays to replace one with its nonce, in every price; with blobs at least 100",
            details: "With 0, any higher price replaces, as in anvil.",
            read: |config, given| given.integer(0..=1_000, &mut config.pool.replacement_percent),
            show: |config| show::integer(config.pool.replacement_percent),
            ..Setting::BLANK
        },
        Setting {
            name: "limits.block-transactions",
            aliases: &["max-transactions"],
            kind: Kind::Integer,
            placeholder: "N",
            help: "Maximum number of transactions that a block takes from the pool; without it as many as fit",
            example: "100",
            read: |config, given| given.integer(1..=1_000_000_000, &mut config.pool.per_block),
            show: |config| {
                let limit = Some(config.pool.per_block).filter(|limit| *limit != usize::MAX);
                limit.and_then(show::integer)
            },
            ..Setting::BLANK
        },
        Setting {
            name: "limits.history-blocks",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Maximum number of blocks with receipts and states in memory",
            read: |config, given| given.integer(1..=1_000_000_000, &mut config.history.blocks),
            show: |config| show::integer(config.history.blocks),
            ..Setting::BLANK
        },
        Setting {
            name: "limits.history-megabytes",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Approximate memory for blocks with receipts and states",
            details: "The limit that is reached first applies.",
            read: |config, given| given.megabytes(1..=1_000_000, &mut config.history.bytes),
            show: |config| show::megabytes(config.history.bytes),
            ..Setting::BLANK
        },
        Setting {
            name: "limits.checkpoint-kilobytes",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Growth of the log between two checkpoints of the state, more if they are large; a start reads up to about twice as much",
            read: |config, given| given.kilobytes(16..=1_000_000_000, &mut config.checkpoint_bytes),
            show: |config| show::integer(config.checkpoint_bytes >> 10),
            ..Setting::BLANK
        },
    ],
};
