//! `tetrad anvil`: the command line and the output of anvil, for programs that start it. The node
//! behind it is a bare chain with anvil's defaults.

mod banner;
mod flags;
pub(super) mod link;

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

use self::flags::{AnvilFlag, FLAGS, FlagEffect};
use crate::{
    Config, Node,
    account::{Mnemonic, WordCount},
    config::{BlockTimestamps, ConfigError, Kind, Setting, ValueOrigin, Values, settings},
    console::LineForm,
};

/// The name of the command, and of the program in whose place it runs.
pub(super) const NAME: &str = "anvil";

/// The version of anvil whose command line and output this is.
const VERSION: &str = "1.7.1";

/// Names of methods by which a slow terminal may fall behind.
const CALLED_BACKLOG: usize = 1 << 10;

/// anvil's defaults where they are not the node's own.
const DEFAULTS: [(&str, &str); 9] = [
    ("allowed-hosts", "*"),
    ("bare", "true"),
    ("chain-id", "31337"),
    ("gas-limit", "30000000"),
    ("limits.pool-replacement", "0"),
    ("network.coin", "ETH"),
    ("rpc.estimate-tolerance", "0"),
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

/// Reads the configuration, and returns it with what to say about flags that change nothing.
pub(super) fn configuration(matches: &ArgMatches) -> Result<(Config, Vec<String>), ConfigError> {
    let (values, mut notes) = values(matches)?;
    notes.extend(values.warnings().iter().cloned());

    let mut config = Config::from_values(&values)?;
    config.console.form = LineForm::Anvil;
    config.anvil_conventions = true;
    // A genesis file is Ethereum's, whose blocks are later than their parents.
    if !config.begins_with_file() {
        let given = config.block_timestamps.take();
        config.block_timestamps = given.or(Some(BlockTimestamps::Shared));
    }
    // Some programs that start anvil take a line on standard error for its end.
    config.logs_to_stdout = true;
    config.rpc.called = Some(broadcast::Sender::new(CALLED_BACKLOG));
    config.console.hides_logs = matches.get_flag("disable-console-log");
    config.create2_deployer = !matches.get_flag("disable-default-create2-deployer");
    config.console.colours = match matches.get_one::<String>("color").map(String::as_str) {
        Some("always") => Some(true),
        Some("never") => Some(false),
        _ => None,
    };
    Ok((config, notes))
}

/// Prints the notes and the banner, after writing the file of `--config-out`.
pub(super) fn announce(
    node: &Node,
    config_out: Option<&Path>,
    notes: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    if let Some(file) = config_out {
        fs::write(file, banner::written(node)?).map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("--config-out {}: {error}", file.display()),
            )
        })?;
    }
    if node.config.quiet {
        return Ok(());
    }

    for note in notes {
        writeln!(out, "Warning: {note}")?;
    }
    banner::print(node, out)
}

/// Returns the file of `--config-out`.
pub(super) fn config_out(matches: &ArgMatches) -> Option<PathBuf> {
    matches.get_one::<String>("config-out").map(PathBuf::from)
}

fn values(matches: &ArgMatches) -> Result<(Values, Vec<String>), ConfigError> {
    let mut values = Values::default();
    let mut notes = Vec::new();
    for (name, value) in DEFAULTS {
        let origin = ValueOrigin::Command("tetrad anvil");
        read(&mut values, name, value, origin)?;
    }
    values.read_environment(env::vars())?;

    for flag in FLAGS {
        let given = flag.given(matches);
        if !given.is_empty() {
            notes.extend(apply(&mut values, flag, given)?);
        }
    }

    fork_nodes(&mut values, matches)?;
    for (flag, setting, value) in derived(matches)? {
        let origin = ValueOrigin::Flag(flag.to_owned());
        read(&mut values, setting, &value, origin)?;
    }

    listen_at(&mut values, matches)?;
    Ok((values, notes))
}

/// Sets the addresses of the listeners: every host has the same port, or with 0 one of its own.
fn listen_at(values: &mut Values, matches: &ArgMatches) -> Result<(), ConfigError> {
    let given = matches.get_many::<String>("host");
    let given = given.map(|hosts| hosts.cloned().collect::<Vec<_>>().join(","));
    let hosts = given.or_else(|| env::var("ANVIL_IP_ADDR").ok());
    let hosts = hosts.as_deref().unwrap_or_default();
    let mut hosts = hosts.split(',').filter(|host| !host.is_empty());

    if let Some(host) = hosts.next() {
        values.replace_in_listen("host", host)?;
    }
    if let Some(port) = matches.get_one::<String>("port") {
        values.replace_in_listen("port", port)?;
    }

    let port = values.main_address()?.port();
    let also: Vec<_> = hosts
        .map(|host| {
            // An IPv6 address without brackets.
            if host.contains(':') && !host.starts_with('[') {
                format!("[{host}]:{port}")
            } else {
                format!("{host}:{port}")
            }
        })
        .collect();
    if also.is_empty() {
        return Ok(());
    }
    let origin = ValueOrigin::Flag("host".to_owned());
    read(values, "also-listen", &also.join(","), origin)
}

/// Sets the nodes to fork, and the block that may follow the first URL.
fn fork_nodes(values: &mut Values, matches: &ArgMatches) -> Result<(), ConfigError> {
    let urls = matches.get_many::<String>("fork-url");
    let mut urls = urls
        .into_iter()
        .flatten()
        .map(|url| flags::split_block(url));
    let Some((first, block)) = urls.next() else {
        return Ok(());
    };
    let origin = || ValueOrigin::Flag("fork-url".to_owned());
    read(values, "fork.url", first, origin())?;

    // The block of a flag of its own wins.
    let mut own = ["fork-block-number", "fork-transaction-hash"].into_iter();
    if let Some(block) = block
        && !own.any(|flag| matches.contains_id(flag))
    {
        read(values, "fork.block", block, origin())?;
    }

    let mut others = Vec::new();
    for (url, block) in urls {
        if let Some(block) = block {
            let what = format!("the block belongs to the first URL, as in URL@{block}");
            return Err(ConfigError::of_flag("fork-url", what));
        }
        others.push(url.to_owned());
    }
    if let Some(setting) = named("fork.others")
        && !others.is_empty()
    {
        values.put_list(setting, others, origin());
    }
    Ok(())
}

/// The settings that follow from several flags: for each the flag, its name and its value.
fn derived(matches: &ArgMatches) -> Result<Vec<(&'static str, &'static str, String)>, ConfigError> {
    let mut derived = Vec::new();

    if let Some(mnemonic) = mnemonic(matches)? {
        derived.push(("mnemonic", "mnemonic", mnemonic.phrase().to_owned()));
    }

    // Tracing prints as much as the highest number, and a quiet node nothing.
    let verbosity = matches.get_count("verbosity").min(4);
    if verbosity > 0 && !matches.get_flag("quiet") && !matches.get_flag("print-traces") {
        derived.push(("verbosity", "verbosity", verbosity.to_string()));
    }
    Ok(derived)
}

/// Has a flag with these values take effect. Returns what to say if it changes nothing.
fn apply(
    values: &mut Values,
    flag: &AnvilFlag,
    given: Vec<String>,
) -> Result<Option<String>, ConfigError> {
    let origin = ValueOrigin::Flag(flag.name.to_owned());
    let wrong = |what: String| ConfigError::of_flag(flag.name, what);
    match &flag.effect {
        FlagEffect::Sets(setting) => match named(setting) {
            Some(setting) if setting.kind == Kind::List => values.put_list(setting, given, origin),
            _ => read(values, setting, &given.join(","), origin)?,
        },
        FlagEffect::Converts(setting, convert) => {
            let value = convert(&given.join(",")).map_err(wrong)?;
            read(values, setting, &value, origin)?;
        }
        FlagEffect::Fixes(setting, value) => read(values, setting, value, origin)?,
        FlagEffect::Refused(instead) => {
            return Err(wrong(format!("tetrad cannot do that; {instead}")));
        }
        FlagEffect::Nothing(why) => {
            return Ok(Some(format!("--{} changes nothing: {why}", flag.name)));
        }
        FlagEffect::Own => {}
    }
    Ok(None)
}

fn named(name: &str) -> Option<&'static Setting> {
    settings().find(|setting| setting.name == name)
}

fn read(
    values: &mut Values,
    name: &str,
    text: &str,
    origin: ValueOrigin,
) -> Result<(), ConfigError> {
    match named(name) {
        Some(setting) => values.read(setting, text, origin),
        // A test ensures that the setting of every flag and of every default exists.
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
