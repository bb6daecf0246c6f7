//! `tetrad anvil`: the command line and the output of anvil, for programs that start it. The node
//! behind it is a bare chain with anvil's defaults.

mod banner;
mod flags;

use std::{
    array, env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::ArgMatches;
use k256::elliptic_curve::rand_core::OsRng;
use rand_chacha::{
    ChaCha12Rng,
    rand_core::{RngCore, SeedableRng},
};
use tokio::sync::broadcast;

use self::flags::{Effect, FLAGS};
use crate::{
    Config, Node,
    account::{Mnemonic, WordCount},
    config::{ConfigError, ValueOrigin, Values, settings},
    console::LineForm,
};

/// The name of the command, and of the program in whose place it runs.
pub(super) const NAME: &str = "anvil";

/// The version of anvil whose command line and output this is.
const VERSION: &str = "1.7.1";

/// Names of methods by which a slow terminal may fall behind.
const CALLED_BACKLOG: usize = 1 << 10;

/// anvil's defaults where they are not the node's own.
const DEFAULTS: [(&str, &str); 6] = [
    ("bare", "true"),
    ("chain-id", "31337"),
    ("gas-limit", "30000000"),
    ("network.coin", "ETH"),
    ("slots-in-an-epoch", "32"),
    ("ws-listen", "off"),
];

/// Returns the command.
pub(super) fn command() -> clap::Command {
    clap::Command::new(NAME)
        .about("Run a node in place of anvil, with its flags, its defaults and its output")
        .disable_version_flag(true)
        .arg(
            clap::Arg::new("version")
                .short('V')
                .long("version")
                .action(clap::ArgAction::SetTrue)
                .help("Print the version"),
        )
        .args(flags::arguments())
}

/// The lines that `--version` prints, in which programs look for anvil's.
pub(super) fn version() -> String {
    format!(
        "anvil Version: {VERSION}\nImplementation: tetrad {}\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// Reads the configuration, and says on standard error what becomes of flags that do nothing.
pub(super) fn configuration(matches: &ArgMatches) -> Result<Config, ConfigError> {
    let mut config = Config::from_values(&values(matches)?)?;
    config.console.form = LineForm::Anvil;
    config.rpc.called = Some(broadcast::Sender::new(CALLED_BACKLOG));
    config.console.hides_logs = matches.get_flag("disable-console-log");
    config.create2_deployer = !matches.get_flag("disable-default-create2-deployer");
    Ok(config)
}

/// Prints the banner, after writing the file of `--config-out`.
pub(super) fn announce(
    node: &Node,
    config_out: Option<&Path>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let Some(file) = config_out {
        fs::write(file, banner::written(node)?)?;
    }
    if node.config.quiet {
        return Ok(());
    }
    banner::print(node, out)
}

/// Returns the file of `--config-out`.
pub(super) fn config_out(matches: &ArgMatches) -> Option<PathBuf> {
    matches.get_one::<String>("config-out").map(PathBuf::from)
}

fn values(matches: &ArgMatches) -> Result<Values, ConfigError> {
    let mut values = Values::default();
    let begins_with_file = matches.contains_id("init");
    for (name, value) in DEFAULTS {
        // The genesis file decides what is on the chain.
        if !(begins_with_file && name == "bare") {
            read(
                &mut values,
                name,
                value,
                ValueOrigin::Command("tetrad anvil"),
            )?;
        }
    }
    values.read_environment(env::vars())?;

    for flag in FLAGS {
        let given = flag.given(matches);
        if !given.is_empty() {
            apply(&mut values, flag, &given.join(","))?;
        }
    }

    if let Some(block) = matches
        .get_one::<String>("fork-url")
        .and_then(|url| flags::split_block(url).1)
    {
        let origin = ValueOrigin::Flag("fork-url".to_owned());
        // The block of a flag of its own wins.
        if !matches.contains_id("fork-block-number") {
            read(&mut values, "fork.block", block, origin)?;
        }
    }
    if let Some(mnemonic) = mnemonic(matches)? {
        let origin = ValueOrigin::Flag("mnemonic".to_owned());
        read(&mut values, "mnemonic", mnemonic.phrase(), origin)?;
    }
    let verbosity = matches.get_count("verbosity").min(4);
    if verbosity > 0 {
        let origin = ValueOrigin::Flag("verbosity".to_owned());
        read(&mut values, "verbosity", &verbosity.to_string(), origin)?;
    }

    let host = matches.get_one::<String>("host").cloned();
    if let Some(host) = host.or_else(|| env::var("ANVIL_IP_ADDR").ok()) {
        values.replace_in_listen("host", &host)?;
    }
    if let Some(port) = matches.get_one::<String>("port") {
        values.replace_in_listen("port", port)?;
    }
    Ok(values)
}

/// Has a flag take effect.
fn apply(values: &mut Values, flag: &flags::AnvilFlag, text: &str) -> Result<(), ConfigError> {
    let origin = ValueOrigin::Flag(flag.name.to_owned());
    let wrong = |what: String| ConfigError::of_flag(flag.name, what);
    match &flag.effect {
        Effect::Sets(setting) => read(values, setting, text, origin),
        Effect::Converts(setting, convert) => {
            let value = convert(text).map_err(wrong)?;
            read(values, setting, &value, origin)
        }
        Effect::Checks(check) => check(text).map_err(wrong),
        Effect::Fixes(setting, value) => read(values, setting, value, origin),
        Effect::Refused(instead) => Err(wrong(format!("tetrad cannot do that; {instead}"))),
        Effect::Nothing(why) => {
            // Before the log has begun.
            eprintln!("--{} changes nothing: {why}", flag.name);
            Ok(())
        }
        Effect::Own => Ok(()),
    }
}

fn read(
    values: &mut Values,
    name: &str,
    text: &str,
    origin: ValueOrigin,
) -> Result<(), ConfigError> {
    match settings().find(|setting| setting.name == name) {
        Some(setting) => values.read(setting, text, origin),
        // A test ensures that the setting of every flag exists.
        None => Ok(()),
    }
}

/// Returns the mnemonic that a flag asks for without giving its words.
fn mnemonic(matches: &ArgMatches) -> Result<Option<Mnemonic>, ConfigError> {
    if let Some(words) = matches.get_one::<String>("mnemonic-random") {
        let wrong = |what: String| ConfigError::of_flag("mnemonic-random", what);
        let count = words.parse().ok().and_then(WordCount::from_words);
        let count = count.ok_or_else(|| {
            wrong(format!(
                "expected 12, 15, 18, 21 or 24 words, got `{words}`"
            ))
        })?;
        let mnemonic = Mnemonic::random(count, &mut OsRng);
        return mnemonic.map(Some).map_err(|error| wrong(error.to_string()));
    }

    let Some(seed) = matches.get_one::<String>("mnemonic-seed-unsafe") else {
        return Ok(None);
    };
    let wrong = |what: String| ConfigError::of_flag("mnemonic-seed-unsafe", what);
    let seed = seed.parse().map_err(|_| {
        wrong(format!(
            "expected a number of at most 64 bits, got `{seed}`"
        ))
    })?;
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    // anvil takes one byte of each number.
    let entropy: [u8; 16] = array::from_fn(|_| random.next_u32() as u8);
    let mnemonic = Mnemonic::from_entropy(&entropy);
    mnemonic.map(Some).map_err(|error| wrong(error.to_string()))
}
