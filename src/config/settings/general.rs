//! The settings at the top of the file.

use std::{fmt::Display, str::FromStr};

use alloy_primitives::{
    U256,
    utils::{format_ether, parse_ether},
};
use tetrad_chain::{MAX_START_NUMBER, PoolOrder};
use tetrad_evm::Fork;
use tetrad_network::account::{DerivationPath, Mnemonic, PathError};
use tetrad_stdx::calendar::LAST_SECOND;
use tetrad_store::log::Durability;
use tetrad_web::{HostName, Hosts, Origin, Origins};
use tracing_subscriber::EnvFilter;

use crate::config::{
    given::{Given, ValueOrigin, listen_address},
    node::{BlockTimestamps, Config, LogFormat, MetricsAt, Profile},
    setting::{Kind, Section, Setting, reject_if},
    show,
};

/// The oldest hardfork that runs the network's contracts, which copy memory with `MCOPY`.
const OLDEST_FOR_CONTRACTS: Fork = Fork::Cancun;

const PROFILES: [(&str, Profile); 2] = [
    ("development", Profile::Development),
    ("production", Profile::Production),
];
const ORDERS: [(&str, PoolOrder); 2] = [("fees", PoolOrder::Tips), ("fifo", PoolOrder::Arrival)];
const TIMESTAMPS: [(&str, BlockTimestamps); 2] = [
    ("shared", BlockTimestamps::Shared),
    ("increasing", BlockTimestamps::Increasing),
];
const DURABILITIES: [(&str, Durability); 2] =
    [("fsync", Durability::Fsync), ("os", Durability::Os)];
const LOG_FORMATS: [(&str, LogFormat); 2] = [("text", LogFormat::Text), ("json", LogFormat::Json)];

pub(super) const SECTION: Section = Section {
    name: "",
    about: "",
    settings: &[
        // The first, since reading it replaces all defaults.
        Setting {
            name: "profile",
            common: true,
            placeholder: "development|production",
            help: "Set of defaults: development (funded accounts, development methods) or production (neither)",
            details: "development: funded accounts with well-known keys, methods that change the chain at will (evm_…), a \
                      block for each transaction. production: none of these, and a block every second; for a staging \
                      node that a team or the public shares, behind a reverse proxy.",
            read: |config, given| {
                let mut profile = config.profile;
                given.choice(&PROFILES, &mut profile)?;
                *config = Config::of(profile);
                Ok(())
            },
            show: |config| show::choice(&PROFILES, &config.profile),
            ..Setting::BLANK
        },
        Setting {
            name: "listen",
            common: true,
            placeholder: "ADDR:PORT",
            help: "Address of the main listener: JSON-RPC, REST and WebSockets; port 0 picks a free one",
            details: "A port alone, such as 8545 or :8545, and localhost mean this machine; 0.0.0.0 stands for all IPv4 \
                      interfaces. JSON-RPC is at /rpc and /, REST under /api and /cosmos, the price WebSocket at /ws. \
                      ready-file reports the port that was picked.",
            read: |config, given| given.address("127.0.0.1:8545", &mut config.listen),
            show: |config| show::text(config.listen),
            ..Setting::BLANK
        },
        Setting {
            name: "also-listen",
            kind: Kind::List,
            placeholder: "ADDR:PORT,…",
            help: "Further addresses at which the main listener's interfaces are served",
            example: "[\"[::1]:8545\"]",
            read: |config, given| {
                config.also_listen = given.each(|text| listen_address(text, "[::1]:8545"))?;
                Ok(())
            },
            show: |config| show::list(&config.also_listen),
            ..Setting::BLANK
        },
        Setting {
            name: "ws-listen",
            common: true,
            placeholder: "ADDR:PORT|off",
            help: "Address of a second listener for the price WebSocket, which is served at every path, as on the live \
                   network",
            details: "If another program uses the default address, a node of the development profile warns and serves the \
                      WebSocket at /ws of the main listener only; in production, and with an address of your own, that is \
                      an error.",
            read: |config, given| {
                let default = config.ws_listen;
                given.address_or_off("127.0.0.1:3001", &mut config.ws_listen)?;
                config.ws_listen_required |= chosen(given, default, config.ws_listen).is_some();
                Ok(())
            },
            show: |config| show::address_or_off(config.ws_listen),
            check: |config| {
                // Port 0 stands for another free port each time.
                let is_same = config.ws_listen == Some(config.listen) && config.listen.port() != 0;
                reject_if(
                    is_same,
                    "the same address as listen; choose another port, or off",
                )
            },
            ..Setting::BLANK
        },
        Setting {
            name: "metrics-listen",
            placeholder: "ADDR:PORT|beside|off",
            help: "Listener of /metrics for Prometheus: an address of its own, beside everything else, or off",
            read: |config, given| given.checked(metrics_at, &mut config.metrics),
            show: |config| match &config.metrics {
                MetricsAt::Beside => show::text("beside"),
                MetricsAt::Own(address) => show::text(address),
                MetricsAt::Off => show::text("off"),
            },
            ..Setting::BLANK
        },
        Setting {
            name: "comet-listen",
            placeholder: "ADDR:PORT|off",
            help: "Address of a listener for CometBFT's interface alone, whose usual port is 26657",
            details: "The main listener serves it as well, except for `GET /health`, which is the node's own there.",
            read: |config, given| given.address_or_off("127.0.0.1:26657", &mut config.comet_listen),
            show: |config| show::address_or_off(config.comet_listen),
            ..Setting::BLANK
        },
        Setting {
            name: "cosmos-rest-listen",
            placeholder: "ADDR:PORT|off",
            help: "Address of a listener for the Cosmos gateway's REST alone, whose usual port is 1317",
            details: "The main listener serves it as well.",
            read: |config, given| {
                given.address_or_off("127.0.0.1:1317", &mut config.cosmos_rest_listen)
            },
            show: |config| show::address_or_off(config.cosmos_rest_listen),
            ..Setting::BLANK
        },
        Setting {
            name: "grpc-listen",
            placeholder: "ADDR:PORT|off",
            help: "Address of a listener for gRPC alone, whose usual port is 9090",
            details: "The main listener serves it as well. HTTP/2, with TLS if `tls.certificate-file` is set.",
            read: |config, given| given.address_or_off("127.0.0.1:9090", &mut config.grpc_listen),
            show: |config| show::address_or_off(config.grpc_listen),
            ..Setting::BLANK
        },
        Setting {
            name: "listen-unix",
            aliases: &["ipc", "ipcpath"],
            placeholder: "FILE",
            help: "Also serve everything on this Unix socket, and JSON-RPC without HTTP (IPC)",
            details: "A connection that begins with `{` or `[` is JSON-RPC, document after document, with subscriptions; any \
                      other one is HTTP.",
            example: "\"/run/tetrad/tetrad.sock\"",
            read: |config, given| given.path(&mut config.listen_unix),
            show: |config| show::path(config.listen_unix.as_ref()),
            check: |config| {
                reject_if(
                    cfg!(not(unix)) && config.listen_unix.is_some(),
                    "this system has no Unix sockets",
                )
            },
            ..Setting::BLANK
        },
        Setting {
            name: "cors-origins",
            aliases: &["allow-origin"],
            kind: Kind::List,
            placeholder: "ORIGIN,…|*",
            help: "Origins of the web pages that may use the interfaces; * for all, an empty list for the node's own page \
                   only",
            details: "For example [\"https://dapp.example\"]. Only browsers respect it. The routes under /api/admin are open to the \
                      node's own page and to origins that are listed by name, not to all.",
            read: |config, given| {
                config.origins = match given.items().as_slice() {
                    ["*"] => Origins::Any,
                    _ => Origins::Listed(given.each(web_name::<Origin>)?),
                };
                Ok(())
            },
            show: |config| match &config.origins {
                Origins::Any => show::list(["*"]),
                Origins::Listed(all) => show::list(all.iter().map(Origin::as_str)),
            },
            ..Setting::BLANK
        },
        Setting {
            name: "allowed-hosts",
            common: true,
            kind: Kind::List,
            placeholder: "NAME,…|*",
            help: "Host names that requests may carry in addition to localhost and IP addresses; * for all",
            details: "For example [\"testnet.example.org\"]. Requests with any other name in their Host header are rejected, \
                      since a page could make its own name resolve to the node (DNS rebinding): list the names under \
                      which a proxy or other containers reach the node.",
            read: |config, given| {
                config.hosts = match given.items().as_slice() {
                    ["*"] => Hosts::Any,
                    _ => Hosts::Listed(given.each(web_name::<HostName>)?),
                };
                Ok(())
            },
            show: |config| match &config.hosts {
                Hosts::Any => show::list(["*"]),
                Hosts::Listed(all) => show::list(all.iter().map(HostName::as_str)),
            },
            ..Setting::BLANK
        },
        Setting {
            name: "chain-id",
            common: true,
            kind: Kind::Integer,
            placeholder: "N",
            help: "EVM chain id; 125 on the live network",
            details: "Decimal, or hexadecimal as 0x7d. On a fork, and with `genesis`, it replaces the chain's own, unless it is \
                      the default in a file.",
            read: |config, given| {
                let default = config.chain_id;
                given.integer(1..=i64::MAX, &mut config.chain_id)?;
                config.fork.chain_id = chosen(given, default, config.chain_id);
                Ok(())
            },
            show: |config| show::integer(config.chain_id),
            ..Setting::BLANK
        },
        Setting {
            name: "block-time",
            common: true,
            short: Some('b'),
            kind: Kind::Number,
            placeholder: "SECONDS",
            help: "Interval between blocks; without it a block is sealed as soon as there is a transaction to include",
            details: "Fractions are allowed. Blocks are sealed at this interval even if they are empty.",
            example: "1.0",
            read: |config, given| given.seconds_or_none(0.001..=86_400.0, &mut config.block_time),
            show: |config| config.block_time.and_then(show::seconds),
            ..Setting::BLANK
        },
        Setting {
            name: "no-mining",
            common: true,
            aliases: &["no-mine"],
            kind: Kind::Switch,
            help: "Seal blocks on demand only (evm_mine)",
            details: "Requires development methods: without them no block is ever sealed.",
            excludes: &[(
                "block-time",
                "blocks are sealed either on demand or at an interval",
            )],
            check: |config| {
                reject_if(
                    config.no_mining && config.profile == Profile::Production,
                    "the production profile has no methods that seal blocks on demand; leave it out",
                )
            },
            read: |config, given| given.switch(&mut config.no_mining),
            show: |config| show::switch(config.no_mining),
            ..Setting::BLANK
        },
        Setting {
            name: "mixed-mining",
            kind: Kind::Switch,
            help: "Seal a block as soon as there is a transaction as well, beside those of block-time",
            excludes: &[("no-mining", "blocks are sealed on demand only")],
            check: |config| {
                reject_if(
                    config.mixed_mining && config.block_time.is_none(),
                    "block-time has to say at which interval",
                )
            },
            read: |config, given| given.switch(&mut config.mixed_mining),
            show: |config| show::switch(config.mixed_mining),
            ..Setting::BLANK
        },
        Setting {
            name: "order",
            placeholder: "fees|fifo",
            help: "The order in which a block takes transactions: the highest tip first (fees), or as they arrived (fifo)",
            details: "Those of an account follow each other by nonce in either.",
            read: |config, given| given.choice(&ORDERS, &mut config.pool.order),
            show: |config| show::choice(&ORDERS, &config.pool.order),
            ..Setting::BLANK
        },
        Setting {
            name: "disable-pool-balance-checks",
            kind: Kind::Switch,
            help: "Accept transactions whose senders cannot pay for them yet",
            details: "A block leaves out those that cannot be paid for, and drops them.",
            check: |config| {
                reject_if(
                    !config.pool.checks_funds && config.profile == Profile::Production,
                    "in production anybody could fill the pool for nothing; leave it out",
                )
            },
            read: |config, given| {
                let mut unchecked = false;
                given.switch(&mut unchecked)?;
                config.pool.checks_funds = !unchecked;
                Ok(())
            },
            show: |config| show::switch(!config.pool.checks_funds),
            ..Setting::BLANK
        },
        Setting {
            name: "block-timestamps",
            placeholder: "shared|increasing",
            help: "Timestamps of blocks within a second: shared, or each later than its parent's (increasing); by default \
                   the latter with a genesis file and on a bare chain",
            details: "Ethereum demands increasing ones, and contracts and tests may rely on them; under load they run ahead of \
                      the clock. Blocks of the mirrored network share seconds.",
            read: |config, given| {
                let mut timestamps = BlockTimestamps::Shared;
                given.choice(&TIMESTAMPS, &mut timestamps)?;
                config.block_timestamps = chosen(given, BlockTimestamps::Shared, timestamps);
                Ok(())
            },
            show: |config| show::choice(&TIMESTAMPS, &config.block_timestamps()),
            check: |config| {
                let is_shared = config.block_timestamps == Some(BlockTimestamps::Shared);
                reject_if(
                    config.begins_with_file() && is_shared,
                    "a chain from a genesis file has Ethereum's rules; leave it out",
                )
            },
            ..Setting::BLANK
        },
        Setting {
            name: "gas-limit",
            common: true,
            kind: Kind::Integer,
            placeholder: "N",
            help: "Gas limit of new blocks",
            read: |config, given| {
                let default = config.gas_limit;
                given.integer(21_000..=1_000_000_000_000, &mut config.gas_limit)?;
                config.fork.gas_limit = chosen(given, default, config.gas_limit);
                Ok(())
            },
            show: |config| show::integer(config.gas_limit),
            ..Setting::BLANK
        },
        Setting {
            name: "disable-block-gas-limit",
            kind: Kind::Switch,
            help: "Let the transactions of a block use more gas than its limit",
            read: |config, given| given.switch(&mut config.disable_block_gas_limit),
            show: |config| show::switch(config.disable_block_gas_limit),
            ..Setting::BLANK
        },
        Setting {
            name: "disable-code-size-limit",
            kind: Kind::Switch,
            help: "Lift the limits of a contract's size (EIP-170) and of the code that creates it (EIP-3860)",
            details: "A chain in a data directory keeps the value with which it was created.",
            read: |config, given| given.switch(&mut config.disable_code_size_limit),
            show: |config| show::switch(config.disable_code_size_limit),
            ..Setting::BLANK
        },
        Setting {
            name: "enable-tx-gas-limit",
            kind: Kind::Switch,
            help: "Cap the gas limit of a transaction at 16777216 since Osaka (EIP-7825); by default in production and with \
                   a genesis file",
            details: "Some tools send the block gas limit as that of each transaction, which the cap refuses.",
            read: |config, given| {
                let default = config.profile == Profile::Production;
                let mut is_capped = default;
                given.switch(&mut is_capped)?;
                config.enable_tx_gas_limit = chosen(given, default, is_capped);
                Ok(())
            },
            show: |config| show::switch(config.caps_transaction_gas()),
            ..Setting::BLANK
        },
        Setting {
            name: "slots-in-an-epoch",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Number of blocks after which one is `safe`; it is `finalized` after twice as many",
            details: "With 0, both are the newest block. Reverts and development methods can remove any block.",
            read: |config, given| given.integer(0..=1_000_000, &mut config.slots_in_an_epoch),
            show: |config| show::integer(config.slots_in_an_epoch),
            ..Setting::BLANK
        },
        Setting {
            name: "auto-impersonate",
            aliases: &["auto-unlock"],
            kind: Kind::Switch,
            help: "Let every account send transactions without a signature, until anvil_autoImpersonateAccount ends it",
            read: |config, given| given.switch(&mut config.auto_impersonate),
            show: |config| show::switch(config.auto_impersonate),
            check: |config| {
                reject_if(
                    config.auto_impersonate && config.profile == Profile::Production,
                    "everyone could spend everyone's coins; leave it out in the production profile",
                )
            },
            ..Setting::BLANK
        },
        Setting {
            name: "throw-on-transaction-failure",
            kind: Kind::Switch,
            help: "Report an error for a submitted transaction that fails in its block, as hardhat does",
            details: "Its data has the transaction's hash and what it reverted with. Only for transactions that are sealed at once.",
            read: |config, given| given.switch(&mut config.rpc.throw_on_transaction_failure),
            show: |config| show::switch(config.rpc.throw_on_transaction_failure),
            ..Setting::BLANK
        },
        Setting {
            name: "hardfork",
            common: true,
            placeholder: "NAME",
            help: "Hardfork whose rules apply from the first block; by default the newest one live on mainnet",
            details: "One of frontier, homestead, … london, paris, shanghai, cancun, prague, osaka, bpo1, bpo2. The \
                      network's contracts need cancun or a later one; a chain without them (`bare`) takes any.",
            read: |config, given| given.parsed("the name of a hardfork", &mut config.hardfork),
            show: |config| show::text(config.hardfork.name()),
            check: hardfork_runs_the_contracts,
            ..Setting::BLANK
        },
        Setting {
            name: "mnemonic",
            common: true,
            short: Some('m'),
            placeholder: "WORDS",
            help: "Mnemonic of the development accounts",
            read: |config, given| given.checked(mnemonic, &mut config.mnemonic),
            show: |config| show::text(&config.mnemonic),
            ..Setting::BLANK
        },
        Setting {
            name: "derivation-path",
            placeholder: "PATH",
            help: "Path of the keys of the development accounts, to which the number of each is added",
            read: |config, given| given.checked(derivation_path, &mut config.derivation_path),
            show: |config| show::text(&config.derivation_path),
            ..Setting::BLANK
        },
        Setting {
            name: "accounts",
            common: true,
            short: Some('a'),
            kind: Kind::Integer,
            placeholder: "N",
            help: "Number of development accounts",
            details: "Each also gets some of every token. The production profile has none.",
            read: |config, given| given.integer(0..=1_000, &mut config.accounts),
            show: |config| show::integer(config.accounts),
            check: |config| {
                reject_if(
                    config.profile == Profile::Production && config.accounts > 0,
                    "the production profile holds no keys; leave it out",
                )
            },
            ..Setting::BLANK
        },
        Setting {
            name: "balance",
            common: true,
            placeholder: "N",
            help: "Balance of each development account in whole coins",
            details: "Not with `genesis`, unless the chain is `bare`.",
            check: |config| {
                let is_given = config.balance != Config::default().balance;
                reject_if(
                    config.begins_with_file() && !config.bare && is_given,
                    "the genesis file decides what accounts have; bare adds the development accounts",
                )
            },
            read: |config, given| given.checked(coins, &mut config.balance),
            show: |config| {
                let coins = format_ether(config.balance);
                show::text(coins.trim_end_matches('0').trim_end_matches('.'))
            },
            ..Setting::BLANK
        },
        Setting {
            name: "genesis",
            aliases: &["init"],
            common: true,
            placeholder: "FILE",
            help: "Start from a genesis file in geth's format, without the network's contracts",
            details: "The node then serves a plain Ethereum chain without exchange and lending, and errors carry \
                      go-ethereum's texts. A fork begins with the accounts of the file in place of the other chain's \
                      (storage that the file does not list stays); what else the file says has no effect there.",
            example: "\"genesis.json\"",
            must_exist: true,
            read: |config, given| given.path(&mut config.genesis),
            show: |config| show::path(config.genesis.as_ref()),
            ..Setting::BLANK
        },
        Setting {
            name: "bare",
            kind: Kind::Switch,
            help: "Begin with the development accounts alone, without the network's contracts",
            details: "The node then serves a plain Ethereum chain without exchange and lending, as a development node of \
                      any other tool does, and errors carry go-ethereum's texts. The deployment proxy, Multicall3 and the \
                      system contracts of the hardfork are there. With `genesis` it is the file's chain, in which the \
                      development accounts that the file leaves out have their coins.",
            read: |config, given| given.switch(&mut config.bare),
            show: |config| show::switch(config.bare),
            ..Setting::BLANK
        },
        Setting {
            name: "genesis-number",
            aliases: &["number"],
            kind: Kind::Integer,
            placeholder: "N",
            help: "Number of the first block",
            excludes: &[
                ("genesis", "the genesis file numbers its first block"),
                ("data-dir", "a chain on disk begins with block 0"),
            ],
            read: |config, given| {
                given.integer(0..=MAX_START_NUMBER as i64, &mut config.genesis_number)
            },
            show: |config| show::integer(config.genesis_number),
            check: |config| {
                not_on_a_fork(
                    config,
                    config.genesis_number > 0,
                    "a fork begins with the other chain's block",
                )
            },
            ..Setting::BLANK
        },
        Setting {
            name: "genesis-time",
            aliases: &["timestamp"],
            kind: Kind::Integer,
            placeholder: "SECONDS",
            help: "Time of the first block, in seconds since the Unix epoch; by default the time of the start",
            details: "The chain's time goes on from there.",
            excludes: &[("genesis", "the genesis file has a time")],
            example: "1_700_000_000",
            read: |config, given| {
                let mut time = 0;
                given.integer(0..=LAST_SECOND as i64, &mut time)?;
                config.genesis_time = Some(time);
                Ok(())
            },
            show: |config| config.genesis_time.and_then(show::integer),
            check: |config| {
                not_on_a_fork(
                    config,
                    config.genesis_time.is_some(),
                    "a fork has the other chain's time",
                )
            },
            ..Setting::BLANK
        },
        Setting {
            name: "genesis-base-fee",
            aliases: &["base-fee", "block-base-fee-per-gas"],
            kind: Kind::Integer,
            placeholder: "WEI",
            help: "Base fee of the first block, in wei per gas; by default that of EIP-1559, 1000000000",
            details: "On a fork, that of the block after the forked one; by default it follows from the forked one.",
            excludes: &[("genesis", "the genesis file has a base fee")],
            example: "7",
            read: |config, given| {
                let mut wei = 0;
                given.integer(0..=i64::MAX, &mut wei)?;
                config.genesis_base_fee = Some(wei);
                Ok(())
            },
            show: |config| config.genesis_base_fee.and_then(show::integer),
            ..Setting::BLANK
        },
        Setting {
            name: "import",
            kind: Kind::List,
            placeholder: "FILE,…",
            help: "Import blocks (concatenated RLP) from these files, in order, before serving",
            excludes: &[
                ("state", "the state file has a chain already"),
                ("load-state", "the state file has a chain already"),
            ],
            must_exist: true,
            read: |config, given| given.paths(&mut config.import),
            show: |config| show::paths(&config.import),
            check: |config| {
                not_on_a_fork(
                    config,
                    !config.import.is_empty(),
                    "a fork has the other chain's blocks",
                )
            },
            ..Setting::BLANK
        },
        Setting {
            name: "import-continue",
            kind: Kind::Switch,
            help: "Skip invalid blocks during the import instead of failing",
            details: "The chain stays as it was before such a block.",
            read: |config, given| given.switch(&mut config.import_continue),
            show: |config| show::switch(config.import_continue),
            ..Setting::BLANK
        },
        Setting {
            name: "data-dir",
            common: true,
            placeholder: "DIR",
            help: "Directory of the chain; without it the chain is in memory and lost at exit",
            example: "\"/var/lib/tetrad\"",
            read: |config, given| given.path(&mut config.data_dir),
            show: |config| show::path(config.data_dir.as_ref()),
            check: |config| {
                not_on_a_fork(config, config.data_dir.is_some(), "a fork lives in memory")
            },
            ..Setting::BLANK
        },
        Setting {
            name: "state",
            placeholder: "FILE",
            help: "Continue from this file, if it exists, and write the chain to it at the end and at intervals",
            details: "The file has the whole chain with its past states, in anvil's format. Files of anvil can be read. In a \
                      directory it is `state.json`. Unlike a data directory, it has only what was there when it was last \
                      written.",
            example: "\"state.json\"",
            excludes: &[
                ("load-state", "state stands for both"),
                ("dump-state", "state stands for both"),
                (
                    "data-dir",
                    "a data directory has the whole chain at any time",
                ),
            ],
            read: |config, given| given.path(&mut config.state_files.both),
            show: |config| show::path(config.state_files.both.as_ref()),
            ..Setting::BLANK
        },
        Setting {
            name: "load-state",
            placeholder: "FILE",
            help: "Continue from this file, as with state, but write to none",
            example: "\"state.json\"",
            must_exist: true,
            read: |config, given| given.path(&mut config.state_files.load),
            show: |config| show::path(config.state_files.load.as_ref()),
            excludes: &[(
                "data-dir",
                "a data directory has the whole chain at any time",
            )],
            ..Setting::BLANK
        },
        Setting {
            name: "dump-state",
            placeholder: "FILE",
            help: "Write the chain to this file, as with state, but do not read it",
            example: "\"state.json\"",
            read: |config, given| given.path(&mut config.state_files.dump),
            show: |config| show::path(config.state_files.dump.as_ref()),
            excludes: &[(
                "data-dir",
                "a data directory has the whole chain at any time",
            )],
            ..Setting::BLANK
        },
        Setting {
            name: "state-interval",
            kind: Kind::Number,
            placeholder: "SECONDS",
            help: "Interval at which the chain is written to the file of state or dump-state, if it has changed",
            read: |config, given| given.seconds(0.1..=86_400.0, &mut config.state_files.interval),
            show: |config| show::seconds(config.state_files.interval),
            ..Setting::BLANK
        },
        Setting {
            name: "durability",
            placeholder: "fsync|os",
            help: "Durability of acknowledged blocks in a data directory: they survive a power failure (fsync), or only \
                   the end of the process (os)",
            details: "With fsync a block is on disk before it is acknowledged. With os the operating system has it, \
                      however the process ends; a power failure or a crash of the system may lose the newest blocks.",
            read: |config, given| given.choice(&DURABILITIES, &mut config.durability),
            show: |config| show::choice(&DURABILITIES, &config.durability),
            ..Setting::BLANK
        },
        Setting {
            name: "no-explorer",
            kind: Kind::Switch,
            help: "Keep no index of addresses, and do not serve the explorer API",
            details: "The index is in the data directory, or in memory. Left out, it is built again when it is needed.",
            read: |config, given| given.switch(&mut config.no_explorer),
            show: |config| show::switch(config.no_explorer),
            ..Setting::BLANK
        },
        Setting {
            name: "solc-directory",
            placeholder: "DIR",
            help: "Directory of Solidity compilers, with which the explorer API verifies sources",
            excludes: &[(
                "no-explorer",
                "it is the explorer API that verifies sources",
            )],
            details: "The folders of svm (`~/.svm`) and hardhat (`~/.cache/hardhat-nodejs/compilers-v2`) can be used, and any \
                      with programs named like `solc-0.8.24` or `solc-v0.8.24+commit.e11b9ed9`. Anyone who reaches the node can \
                      then have it compile sources.",
            example: "\"/home/me/.svm\"",
            must_exist: true,
            read: |config, given| given.path(&mut config.solc_directory),
            show: |config| show::path(config.solc_directory.as_ref()),
            ..Setting::BLANK
        },
        Setting {
            name: "artifacts",
            common: true,
            placeholder: "DIR",
            help: "Artifacts of foundry (out) or hardhat (artifacts), by whose code deployed contracts are identified",
            details: "The directory is watched, and need not exist yet. The explorer API and the terminal then know names, ABIs \
                      and sources of these contracts.",
            example: "\"out\"",
            read: |config, given| given.path(&mut config.artifacts),
            show: |config| show::path(config.artifacts.as_ref()),
            ..Setting::BLANK
        },
        Setting {
            name: "seed",
            kind: Kind::Integer,
            placeholder: "N",
            help: "Seed of the price simulation",
            details: "The same seed gives the same prices.",
            read: |config, given| given.integer(0..=i64::MAX, &mut config.seed),
            show: |config| show::integer(config.seed),
            ..Setting::BLANK
        },
        Setting {
            name: "scenario",
            common: true,
            placeholder: "NAME|FILE",
            help: "Start a scenario, such as a price crash or failing requests, together with the node",
            details: "The name of a ready-made one, such as price-crash, or a file (see the book, \"Scenarios\").",
            example: "\"price-crash\"",
            read: |config, given| given.path(&mut config.scenario),
            show: |config| show::path(config.scenario.as_ref()),
            check: |config| {
                reject_if(
                    config.scenario.is_some() && config.cluster.is_enabled(),
                    "a node of a cluster runs no scenarios",
                )
            },
            ..Setting::BLANK
        },
        Setting {
            name: "admin-token-file",
            placeholder: "FILE",
            help: "File with a token that opens the routes under /api/admin",
            details: "Clients send it as `Authorization: Bearer`. It has at least 16 characters. Without this setting these \
                      routes exist in the development profile only, and require no token there.",
            example: "\"/etc/tetrad/admin.token\"",
            must_exist: true,
            read: |config, given| given.path(&mut config.admin_token_file),
            show: |config| show::path(config.admin_token_file.as_ref()),
            ..Setting::BLANK
        },
        Setting {
            name: "ready-file",
            placeholder: "FILE",
            help: "Write the URLs and the process id to this file, as JSON, once every listener is bound",
            details: "A file of an earlier run is removed at the start.",
            example: "\"/run/tetrad/ready.json\"",
            read: |config, given| given.path(&mut config.ready_file),
            show: |config| show::path(config.ready_file.as_ref()),
            ..Setting::BLANK
        },
        Setting {
            name: "quiet",
            common: true,
            aliases: &["silent"],
            short: Some('q'),
            kind: Kind::Switch,
            help: "Print nothing but errors",
            excludes: &[("verbosity", "a quiet node prints no transactions")],
            read: |config, given| given.switch(&mut config.quiet),
            show: |config| show::switch(config.quiet),
            ..Setting::BLANK
        },
        Setting {
            name: "verbosity",
            common: true,
            kind: Kind::Integer,
            placeholder: "0-4",
            help: "Detail in which transactions are printed: 1 adds arguments (-v), 2 events, 3 calls of failed ones, 4 \
                   calls of all",
            counter: Some((
                'v',
                "Print transactions in more detail, up to -vvvv; see --verbosity",
            )),
            read: |config, given| given.integer(0..=4, &mut config.console.verbosity),
            show: |config| show::integer(config.console.verbosity),
            ..Setting::BLANK
        },
        Setting {
            name: "abi",
            kind: Kind::List,
            placeholder: "PATH,…",
            help: "Files and directories with contract ABIs, to decode calls and events with",
            details: "Artifacts of any tool work.",
            read: |config, given| given.paths(&mut config.console.abi),
            show: |config| show::paths(&config.console.abi),
            ..Setting::BLANK
        },
        Setting {
            name: "log-format",
            placeholder: "text|json",
            help: "Format of the log on standard error",
            read: |config, given| given.choice(&LOG_FORMATS, &mut config.log_format),
            show: |config| show::choice(&LOG_FORMATS, &config.log_format),
            ..Setting::BLANK
        },
        Setting {
            name: "log-level",
            placeholder: "FILTER",
            help: "Level of the log: error, warn, info, debug, trace, or levels by module",
            details: "For example \"info,tetrad_rpc=debug\".",
            read: |config, given| given.checked(log_filter, &mut config.log_level),
            show: |config| show::text(&config.log_level),
            ..Setting::BLANK
        },
        Setting {
            name: "slow-request",
            kind: Kind::Number,
            placeholder: "SECONDS",
            help: "Log requests that take longer than this; 0 for none",
            read: |config, given| given.seconds_or_none(0.0..=3_600.0, &mut config.rpc.slow),
            show: |config| show::seconds(config.rpc.slow.unwrap_or_default()),
            ..Setting::BLANK
        },
    ],
};

/// Returns a value that the user chose. A file may list defaults, as the shipped ones do, and a
/// command have its own; on a fork the other chain's values are used instead of those, and on a
/// chain from a genesis file Ethereum's.
fn chosen<T: PartialEq>(given: &Given<'_>, default: T, value: T) -> Option<T> {
    let is_default = match given.origin {
        ValueOrigin::Command(_) => true,
        ValueOrigin::File(_) => value == default,
        ValueOrigin::Environment(_) | ValueOrigin::Flag(_) => false,
    };
    (!is_default).then_some(value)
}

/// Rejects a hardfork without the instructions that the network's contracts are compiled to.
fn hardfork_runs_the_contracts(config: &Config) -> Result<(), String> {
    reject_if(
        config.begins_network() && config.hardfork < OLDEST_FOR_CONTRACTS,
        &format!(
            "the network's contracts do not run under {}; choose {} or a later hardfork, or begin without the contracts by \
             setting bare",
            config.hardfork.name(),
            OLDEST_FOR_CONTRACTS.name(),
        ),
    )
}

/// Rejects a setting that cannot be combined with a fork.
fn not_on_a_fork(config: &Config, set: bool, why: &str) -> Result<(), String> {
    reject_if(
        set && config.fork.url.is_some(),
        &format!("cannot be combined with fork.url: {why}"),
    )
}

fn metrics_at(text: &str) -> Result<MetricsAt, String> {
    match text {
        "beside" => Ok(MetricsAt::Beside),
        "off" => Ok(MetricsAt::Off),
        address => listen_address(address, "127.0.0.1:9125, beside or off").map(MetricsAt::Own),
    }
}

/// Parses an origin or a host name.
fn web_name<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|error| format!("{error}, got `{text}`"))
}

fn mnemonic(words: &str) -> Result<String, String> {
    Mnemonic::from_phrase(words).map_err(|error| error.to_string())?;
    Ok(words.to_owned())
}

/// Parses a derivation path, whose `/` at the end is left out.
fn derivation_path(text: &str) -> Result<String, String> {
    let path = text.strip_suffix('/').unwrap_or(text);
    let parsed: DerivationPath = path.parse().map_err(|error: PathError| error.to_string())?;
    Ok(parsed.to_string())
}

/// Parses an amount of coins, in wei.
fn coins(text: &str) -> Result<U256, String> {
    parse_ether(text).map_err(|_| format!("expected an amount of coins, got `{text}`"))
}

fn log_filter(text: &str) -> Result<String, String> {
    EnvFilter::try_new(text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}
