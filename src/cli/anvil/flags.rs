//! anvil's flags, and what becomes of each: the value of a setting, something that the command does
//! by itself, or a sentence that says what happens instead.

use std::cmp::Ordering;

use clap::{Arg, ArgAction, ArgMatches};

use crate::config::whole_number;

/// The greatest length of code in bytes (EIP-170).
const MAX_CODE: i64 = 0x6000;

/// A flag of anvil.
pub(super) struct AnvilFlag {
    /// Its name, without dashes in front.
    pub(super) name: &'static str,
    short: Option<char>,
    aliases: &'static [&'static str],
    value: FlagValue,
    pub(super) effect: FlagEffect,
    /// The flags that anvil refuses beside it.
    conflicts: &'static [&'static str],
    help: &'static str,
}

/// The value that a flag takes.
#[derive(Clone, Copy)]
enum FlagValue {
    None,
    One(&'static str),
    /// Several, each with the flag in front.
    Many(&'static str),
    /// One, or the default if the flag stands alone.
    Optional(&'static str, &'static str),
}

/// The effect of a flag on the node.
pub(super) enum FlagEffect {
    /// Sets a setting to the flag's value.
    Sets(&'static str),
    /// Sets a setting to the flag's value in another form. The error says what was expected.
    Converts(&'static str, fn(&str) -> Result<String, String>),
    /// Sets a setting to this value.
    Fixes(&'static str, &'static str),
    /// The command itself looks at it.
    Own,
    /// Nothing, since there is nothing to do: the sentence says why.
    Nothing(&'static str),
    /// An error: the node cannot do it, and the sentence says what it can do.
    Refused(&'static str),
}

impl AnvilFlag {
    const BLANK: Self = Self {
        name: "",
        short: None,
        aliases: &[],
        value: FlagValue::None,
        effect: FlagEffect::Own,
        conflicts: &[],
        help: "",
    };

    fn argument(&self) -> Arg {
        let argument = Arg::new(self.name)
            .long(self.name)
            .visible_aliases(self.aliases.iter().copied())
            .conflicts_with_all(self.conflicts.iter().copied())
            .help(self.help);
        let argument = match self.short {
            Some(letter) => argument.short(letter),
            None => argument,
        };

        match self.value {
            FlagValue::None => argument.action(ArgAction::SetTrue),
            FlagValue::One(name) => argument.value_name(name).allow_hyphen_values(true),
            FlagValue::Many(name) => argument.value_name(name).action(ArgAction::Append),
            FlagValue::Optional(name, missing) => argument
                .value_name(name)
                .num_args(0..=1)
                .default_missing_value(missing),
        }
    }

    /// The values that were given.
    pub(super) fn given(&self, matches: &ArgMatches) -> Vec<String> {
        match self.value {
            FlagValue::None => {
                let is_given = matches.get_flag(self.name);
                is_given.then(|| "true".to_owned()).into_iter().collect()
            }
            _ => matches
                .get_many::<String>(self.name)
                .into_iter()
                .flatten()
                .cloned()
                .collect(),
        }
    }
}

/// All flags as arguments of a command.
pub(super) fn arguments() -> impl Iterator<Item = Arg> {
    let verbosity = Arg::new("verbosity")
        .short('v')
        .action(ArgAction::Count)
        .help("Print transactions in more detail, up to -vvvvv");
    FLAGS.iter().map(AnvilFlag::argument).chain([verbosity])
}

/// A number of milliseconds as seconds.
fn seconds(milliseconds: &str) -> Result<String, String> {
    let number: u64 = milliseconds
        .parse()
        .map_err(|_| format!("expected milliseconds, got `{milliseconds}`"))?;
    Ok((number as f64 / 1_000.0).to_string())
}

/// Whether code may be larger than by EIP-170, from its greatest length in bytes.
fn lifts_code_limit(bytes: &str) -> Result<String, String> {
    match whole_number(bytes).map(|limit| limit.cmp(&MAX_CODE)) {
        Some(Ordering::Greater) => Ok("true".to_owned()),
        Some(Ordering::Equal) => Ok("false".to_owned()),
        Some(Ordering::Less) => Err(format!(
            "the node can lift the limit of {MAX_CODE} bytes, not lower it; got {bytes}"
        )),
        None => Err(format!("expected a number of bytes, got `{bytes}`")),
    }
}

/// Whether the chain begins without the network's contracts, from the name of a network.
fn is_bare(network: &str) -> Result<String, String> {
    match network {
        "ethereum" => Ok("true".to_owned()),
        "tetrad" => Ok("false".to_owned()),
        other => Err(format!(
            "expected ethereum, or tetrad for exchange and lending, got `{other}`"
        )),
    }
}

/// The name of a hardfork as the setting has it.
fn hardfork(name: &str) -> Result<String, String> {
    Ok(match name.to_ascii_lowercase().as_str() {
        // anvil's other names of the newest and of merged ones.
        "latest" => tetrad_evm::Fork::LATEST.name().to_owned(),
        "merge" | "paris" => "paris".to_owned(),
        other => other.to_owned(),
    })
}

/// A URL, and the block that anvil lets follow it, as in `http://localhost:8545@1400000`.
pub(super) fn split_block(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once('@') {
        Some((url, block))
            if !block.is_empty() && block.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            (url, Some(block))
        }
        // A user's name and password may stand before the host.
        _ => (text, None),
    }
}

pub(super) const FLAGS: &[AnvilFlag] = &[
    AnvilFlag {
        name: "accounts",
        short: Some('a'),
        value: FlagValue::One("NUM"),
        effect: FlagEffect::Sets("accounts"),
        help: "Number of development accounts",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "block-time",
        short: Some('b'),
        aliases: &["blockTime"],
        value: FlagValue::One("SECONDS"),
        effect: FlagEffect::Sets("block-time"),
        conflicts: &["no-mining"],
        help: "Seconds between blocks",
    },
    AnvilFlag {
        name: "balance",
        value: FlagValue::One("NUM"),
        effect: FlagEffect::Sets("balance"),
        help: "Balance of each development account in ether",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "config-out",
        value: FlagValue::One("FILE"),
        help: "Write accounts and settings to a file, as JSON",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "derivation-path",
        value: FlagValue::One("PATH"),
        effect: FlagEffect::Sets("derivation-path"),
        help: "Derivation path of the accounts, to which their number is added",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "hardfork",
        value: FlagValue::One("NAME"),
        effect: FlagEffect::Converts("hardfork", hardfork),
        help: "Hardfork whose rules apply",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "init",
        value: FlagValue::One("FILE"),
        effect: FlagEffect::Sets("genesis"),
        help: "Begin with a genesis file",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "threads",
        short: Some('j'),
        aliases: &["jobs"],
        value: FlagValue::One("NUM"),
        effect: FlagEffect::Nothing("the node uses as many threads as there are processors"),
        help: "Number of threads",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "mnemonic",
        short: Some('m'),
        value: FlagValue::One("WORDS"),
        effect: FlagEffect::Sets("mnemonic"),
        conflicts: &["mnemonic-random", "mnemonic-seed-unsafe"],
        help: "Mnemonic of the accounts",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "mnemonic-random",
        value: FlagValue::Optional("WORDS", "12"),
        conflicts: &["mnemonic-seed-unsafe"],
        help: "Generate a mnemonic, of 12 words or so many",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "mnemonic-seed-unsafe",
        value: FlagValue::One("NUM"),
        help: "Generate a mnemonic from a number, always the same",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "max-persisted-states",
        value: FlagValue::One("NUM"),
        effect: FlagEffect::Nothing(
            "past states share what did not change, and stay in memory within its limits",
        ),
        help: "Number of past states on disk",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "preserve-historical-states",
        effect: FlagEffect::Nothing("a dump has all past states in any case"),
        help: "Dump past states as well",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "prune-history",
        value: FlagValue::Optional("NUM", "0"),
        effect: FlagEffect::Nothing(
            "past states share what did not change, and stay in memory within its limits",
        ),
        help: "Number of past states in memory",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "transaction-block-keeper",
        value: FlagValue::One("NUM"),
        effect: FlagEffect::Sets("limits.history-blocks"),
        help: "Number of blocks in memory",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "max-transactions",
        value: FlagValue::One("NUM"),
        effect: FlagEffect::Sets("limits.block-transactions"),
        help: "Most transactions of a block",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "mixed-mining",
        effect: FlagEffect::Fixes("mixed-mining", "true"),
        help: "Seal blocks at once and at an interval",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "number",
        value: FlagValue::One("NUM"),
        effect: FlagEffect::Sets("genesis-number"),
        help: "Number of the first block",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "order",
        value: FlagValue::One("fees|fifo"),
        effect: FlagEffect::Sets("order"),
        help: "Order in which transactions are taken from the pool",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "dump-state",
        value: FlagValue::One("FILE"),
        effect: FlagEffect::Sets("dump-state"),
        help: "Write the state to a file at the end",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "load-state",
        value: FlagValue::One("FILE"),
        effect: FlagEffect::Sets("load-state"),
        help: "Begin with the state of a file",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "state",
        value: FlagValue::One("FILE"),
        effect: FlagEffect::Sets("state"),
        conflicts: &["dump-state", "load-state"],
        help: "Begin with the state of a file, and write it back at the end",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "state-interval",
        short: Some('s'),
        value: FlagValue::One("SECONDS"),
        effect: FlagEffect::Sets("state-interval"),
        help: "Write the state to a file at an interval",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "ipc",
        aliases: &["ipcpath"],
        value: FlagValue::Optional("FILE", "/tmp/anvil.ipc"),
        effect: FlagEffect::Sets("listen-unix"),
        help: "Serve JSON-RPC on a Unix socket as well, at /tmp/anvil.ipc by default",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "no-mining",
        aliases: &["no-mine"],
        effect: FlagEffect::Fixes("no-mining", "true"),
        help: "Seal blocks on demand only",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "port",
        short: Some('p'),
        value: FlagValue::One("NUM"),
        help: "Port to listen on",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "slots-in-an-epoch",
        value: FlagValue::One("NUM"),
        effect: FlagEffect::Sets("slots-in-an-epoch"),
        help: "Number of blocks after which one is safe, and twice as many after which it is final",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "timestamp",
        value: FlagValue::One("NUM"),
        effect: FlagEffect::Sets("genesis-time"),
        help: "Time of the first block, in seconds since the Unix epoch",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "color",
        value: FlagValue::One("auto|always|never"),
        help: "Colours of the output",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "json",
        effect: FlagEffect::Nothing(
            "the output has anvil's form; the node's log is JSON with TETRAD_LOG_FORMAT=json",
        ),
        help: "Format log messages as JSON",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "md",
        effect: FlagEffect::Nothing("the output has anvil's form"),
        help: "Format log messages as Markdown",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "quiet",
        short: Some('q'),
        aliases: &["silent"],
        effect: FlagEffect::Fixes("quiet", "true"),
        help: "Print nothing",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "allow-origin",
        value: FlagValue::One("ORIGIN"),
        effect: FlagEffect::Sets("cors-origins"),
        conflicts: &["no-cors"],
        help: "Origin of the web pages that may use the node",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "no-cors",
        effect: FlagEffect::Fixes("cors-origins", ""),
        help: "Let no web page of another origin use the node",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "cache-path",
        value: FlagValue::One("DIR"),
        effect: FlagEffect::Nothing("no past state is written to disk"),
        help: "Directory of past states",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "host",
        value: FlagValue::Many("ADDR"),
        help: "Address to listen on [env: ANVIL_IP_ADDR]",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "no-request-size-limit",
        effect: FlagEffect::Fixes("rpc.max-body", "1073741824"),
        help: "Take request bodies of up to a gigabyte",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "fork-url",
        short: Some('f'),
        aliases: &["rpc-url"],
        value: FlagValue::Many("URL"),
        help: "Fork the chain of this node; of several, each is asked in its turn",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "fork-block-number",
        value: FlagValue::One("BLOCK"),
        effect: FlagEffect::Sets("fork.block"),
        help: "Block to fork",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "fork-transaction-hash",
        value: FlagValue::One("HASH"),
        effect: FlagEffect::Converts("fork.block", |hash| Ok(format!("after:{hash}"))),
        conflicts: &["fork-block-number"],
        help: "Fork the chain after this transaction",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "fork-header",
        value: FlagValue::Many("HEADER"),
        effect: FlagEffect::Sets("fork.headers"),
        help: "Header of requests to the other node",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "fork-chain-id",
        value: FlagValue::One("CHAIN"),
        effect: FlagEffect::Nothing(
            "the other node is asked for its chain id, which has to be known to be right",
        ),
        help: "Chain id of the other node",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "fork-retry-backoff",
        value: FlagValue::One("MS"),
        effect: FlagEffect::Converts("fork.retry-backoff", seconds),
        help: "Milliseconds before the first retry",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "retries",
        value: FlagValue::One("NUM"),
        effect: FlagEffect::Sets("fork.retries"),
        help: "Number of retries",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "timeout",
        value: FlagValue::One("MS"),
        effect: FlagEffect::Converts("fork.timeout", seconds),
        help: "Milliseconds that a request to the other node may take",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "compute-units-per-second",
        value: FlagValue::One("CUPS"),
        effect: FlagEffect::Sets("fork.compute-units-per-second"),
        help: "Compute units per second",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "no-rate-limit",
        aliases: &["no-rpc-rate-limit"],
        effect: FlagEffect::Nothing(
            "requests to the other node are paced by --compute-units-per-second only",
        ),
        help: "Do not pace requests to the other node",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "no-storage-caching",
        effect: FlagEffect::Fixes("fork.cache", "off"),
        help: "Do not keep answers on disk",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "block-base-fee-per-gas",
        aliases: &["base-fee"],
        value: FlagValue::One("WEI"),
        effect: FlagEffect::Sets("genesis-base-fee"),
        help: "Base fee of the first block",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "chain-id",
        value: FlagValue::One("ID"),
        effect: FlagEffect::Sets("chain-id"),
        help: "Chain id",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "disable-block-gas-limit",
        effect: FlagEffect::Fixes("disable-block-gas-limit", "true"),
        conflicts: &["gas-limit"],
        help: "Let the transactions of a block use more than its gas limit",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "gas-price",
        value: FlagValue::One("WEI"),
        effect: FlagEffect::Nothing(
            "since London the gas price follows from the base fee and the tip",
        ),
        help: "Gas price",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "disable-min-priority-fee",
        aliases: &["no-priority-fee"],
        effect: FlagEffect::Nothing(
            "the suggested tip is what the transactions of recent blocks paid",
        ),
        help: "Suggest a tip of zero",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "code-size-limit",
        value: FlagValue::One("BYTES"),
        effect: FlagEffect::Converts("disable-code-size-limit", lifts_code_limit),
        conflicts: &["disable-code-size-limit"],
        help: "Greatest length of code; above 24576 the limits of the size of code are lifted",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "disable-code-size-limit",
        effect: FlagEffect::Fixes("disable-code-size-limit", "true"),
        help: "Lift the limits of the size of code",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "enable-tx-gas-limit",
        aliases: &["tx-gas-limit"],
        effect: FlagEffect::Fixes("enable-tx-gas-limit", "true"),
        help: "Cap the gas limit of transactions (EIP-7825)",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "gas-limit",
        value: FlagValue::One("GAS"),
        effect: FlagEffect::Sets("gas-limit"),
        help: "Gas limit of blocks",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "auto-impersonate",
        aliases: &["auto-unlock"],
        effect: FlagEffect::Fixes("auto-impersonate", "true"),
        help: "Let any account send transactions without a signature",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "disable-console-log",
        aliases: &["no-console-log"],
        help: "Do not print the messages of console.log",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "disable-default-create2-deployer",
        aliases: &["no-create2"],
        help: "Begin without the deployment proxy",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "disable-pool-balance-checks",
        effect: FlagEffect::Fixes("disable-pool-balance-checks", "true"),
        help: "Take transactions whose sender cannot pay",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "memory-limit",
        value: FlagValue::One("BYTES"),
        effect: FlagEffect::Nothing("the gas limit bounds the memory of an execution"),
        help: "Memory that an execution may use",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "print-traces",
        aliases: &["enable-trace-printing"],
        effect: FlagEffect::Fixes("verbosity", "4"),
        help: "Print the calls of transactions",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "steps-tracing",
        aliases: &["tracing"],
        effect: FlagEffect::Nothing("traces with steps are there whenever they are asked for"),
        help: "Record the steps of transactions",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "celo",
        effect: FlagEffect::Refused("the node has the rules of Ethereum"),
        help: "Have Celo's rules",
        ..AnvilFlag::BLANK
    },
    AnvilFlag {
        name: "network",
        short: Some('n'),
        value: FlagValue::One("ethereum|tetrad"),
        effect: FlagEffect::Converts("bare", is_bare),
        help: "Begin with a bare chain, or with exchange and lending (tetrad)",
        ..AnvilFlag::BLANK
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::settings;

    #[test]
    fn the_settings_of_all_flags_and_defaults_exist() {
        for (name, _) in super::super::DEFAULTS {
            assert!(settings().any(|setting| setting.name == name), "{name}");
        }
        for flag in FLAGS {
            if let FlagEffect::Sets(name)
            | FlagEffect::Converts(name, _)
            | FlagEffect::Fixes(name, _) = flag.effect
            {
                assert!(
                    settings().any(|setting| setting.name == name),
                    "--{}: {name}",
                    flag.name
                );
            }
        }
    }

    #[test]
    fn a_block_may_follow_a_url() {
        for (text, url, block) in [
            (
                "http://localhost:8545@14",
                "http://localhost:8545",
                Some("14"),
            ),
            ("http://localhost:8545", "http://localhost:8545", None),
            ("http://me:secret@host", "http://me:secret@host", None),
            (
                "http://me:secret@host@14",
                "http://me:secret@host",
                Some("14"),
            ),
            ("http://host@", "http://host@", None),
        ] {
            assert_eq!(split_block(text), (url, block));
        }
    }
}
