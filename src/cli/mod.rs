//! The command line.
//!
//! `tetrad` without a subcommand runs a node. Every [setting](crate::config::settings) is a flag.
//! Commands over accounts read what the user typed with `clap`, call [`crate::account`], and write
//! what they print to a given writer. Secrets never come from arguments, where every other process
//! can read them, but from a [`keys::Console`] or a file.

pub mod address;
mod anvil;
mod banner;
pub mod chain;
mod cluster;
mod configuration;
pub mod fork;
mod hints;
pub mod keys;
mod notify;
mod probe;
mod reference;
mod serve;
mod settings;

use std::{
    ffi::OsString,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use clap::{FromArgMatches, Subcommand};
#[cfg(all(feature = "js-tracer", unix))]
use tetrad_rpc::rpc;

use crate::config::{Config, ConfigError};

/// The commands that are derived with `clap`.
#[derive(Debug, Subcommand)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one value, made once at the start"
)]
pub enum Command {
    /// Convert an address between hex, EIP-55, bech32 and raw bytes.
    Address(address::AddressArgs),
    /// Maintain the chain in a data directory.
    Chain(chain::ChainArgs),
    /// Maintain what is kept of forked chains.
    Fork(fork::ForkArgs),
    /// Create, import, show, list and export keys.
    Keys(keys::KeysArgs),
}

impl Command {
    /// Runs the command; `console` is asked for secrets, `out` receives the output.
    ///
    /// # Errors
    /// The error of the command.
    pub fn run(&self, console: &mut dyn keys::Console, out: &mut dyn Write) -> Result<(), Error> {
        match self {
            Self::Address(args) => Ok(args.run(out)?),
            Self::Chain(args) => Ok(args.run(out)?),
            Self::Fork(args) => Ok(args.run(out)?),
            Self::Keys(args) => Ok(args.run(console, out)?),
        }
    }
}

/// The error of a command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `address` failed.
    #[error(transparent)]
    Address(#[from] address::Error),
    /// `chain` failed.
    #[error(transparent)]
    Chain(#[from] chain::Error),
    /// `cluster` failed.
    #[error(transparent)]
    Cluster(#[from] cluster::Error),
    /// `fork` failed.
    #[error(transparent)]
    Fork(#[from] fork::Error),
    /// `keys` failed.
    #[error(transparent)]
    Keys(#[from] keys::Error),
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The node could not start.
    #[error(transparent)]
    Spawn(#[from] crate::SpawnError),
    /// The state file cannot be written.
    #[error(transparent)]
    State(#[from] crate::StateFileError),
    /// The service manager passes sockets that cannot be used.
    #[error(transparent)]
    Inherited(#[from] tetrad_web::InheritedError),
    /// Spans cannot be sent.
    #[error(transparent)]
    Traces(#[from] crate::telemetry::TracesError),
    /// An ABI cannot be read.
    #[error(transparent)]
    Abi(#[from] crate::console::AbiError),
    /// A configuration file cannot be used.
    #[error("{0} cannot be used: see above")]
    File(String),
    /// A system call failed.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl Error {
    /// Returns the exit code. The parser of the command line uses 2.
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Spawn(crate::SpawnError::Import(_)) => ExitCode::from(IMPORT_FAILED),
            _ => ExitCode::FAILURE,
        }
    }
}

/// Exit code of a failed import of blocks.
const IMPORT_FAILED: u8 = 3;

/// Runs the program with these arguments, the first being its name.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let parser = parser();
    // For the program itself: neither help nor completions name it.
    #[cfg(all(feature = "js-tracer", unix))]
    let parser = parser.subcommand(
        clap::Command::new(rpc::TRACER_COMMAND).hide(true).arg(
            clap::Arg::new("memory")
                .required(true)
                .value_parser(clap::value_parser!(u64)),
        ),
    );

    let matches = match parser.try_get_matches_from(under_its_name(arguments)) {
        Ok(matches) => matches,
        Err(error) => {
            // Help and version arrive here as well; clap knows the stream of each.
            let _ = error.print();
            if let Some(hint) = hints::on_flag(&error) {
                eprintln!("\nhint: {hint}");
            }
            return ExitCode::from(error.exit_code() as u8);
        }
    };

    match dispatch(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has closed it, such as `head`.
        Err(Error::System(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            if let Some(hint) = hints::hint(&error) {
                eprintln!("hint: {hint}");
            }
            error.exit_code()
        }
    }
}

/// Returns the arguments with the command that the program's name stands for: a link or a copy
/// called `anvil` runs `tetrad anvil`.
fn under_its_name(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<_> = arguments.collect();
    // A node starts its own program for JavaScript tracers.
    #[cfg(all(feature = "js-tracer", unix))]
    if arguments
        .get(1)
        .is_some_and(|argument| argument == rpc::TRACER_COMMAND)
    {
        return arguments;
    }

    let name = arguments.first().map(Path::new).and_then(Path::file_stem);
    if name.is_some_and(|name| name == anvil::NAME) {
        // The help begins with these two.
        arguments[0] = env!("CARGO_PKG_NAME").into();
        arguments.insert(1, anvil::NAME.into());
    }
    arguments
}

/// Examples at the end of the short help.
const EXAMPLES: &str = "\
Examples:
  tetrad                                      A development node on port 8545
  tetrad --port 9545 --block-time 2           Another port, and a block every two seconds
  tetrad --fork-url https://rpc.example.org   A fork of another chain
  tetrad --data-dir ./chain                   A chain that outlives the process

`tetrad --help` documents all settings.";

/// Examples at the end of the long help.
const LONG_EXAMPLES: &str = "\
Examples:
  tetrad                                      A development node on port 8545
  tetrad --port 9545 --block-time 2           Another port, and a block every two seconds
  tetrad --accounts 3 --balance 1000          Three accounts with 1,000 coins each
  tetrad --fork-url https://rpc.example.org --fork-block 1000000
                                              A fork of another chain
  tetrad --data-dir ./chain                   A chain that outlives the process
  tetrad --scenario price-crash               A day on which prices crash
  tetrad --artifacts out -vvv                 Names, ABIs and sources of your contracts, calls of failures
  tetrad --config node.toml                   Settings from a file
  tetrad --profile production --data-dir /var/lib/tetrad --allowed-hosts testnet.example.org
                                              A node that others use, behind a proxy

Every flag is also a key of the file and an environment variable: --block-time 2, block-time = 2, TETRAD_BLOCK_TIME=2.
Flags override the environment, and the environment overrides the file.";

/// The end of the help of commands that take a node's settings.
const OF_A_NODE: &str = "The command takes every flag of `tetrad serve`, and settings from the file and the environment; \
    those that are not listed make no difference.";

/// Returns the parser of the whole command line.
fn parser() -> clap::Command {
    let root = clap::Command::new("tetrad")
        .version(env!("CARGO_PKG_VERSION"))
        .args_conflicts_with_subcommands(true)
        .args(settings::arguments())
        .after_help(EXAMPLES)
        .after_long_help(LONG_EXAMPLES)
        .subcommand(
            clap::Command::new("serve")
                .about("Run a node (the default command)")
                .args(settings::arguments())
                .after_help(EXAMPLES)
                .after_long_help(LONG_EXAMPLES),
        )
        .subcommand(anvil::command())
        .subcommand(anvil::link::command())
        .subcommand(configuration::command())
        .subcommand(
            clap::Command::new("probe")
                .about("Check whether the node with these settings is ready")
                .args(settings::arguments_about(|setting| {
                    matches!(
                        setting.name,
                        "listen" | "listen-unix" | "tls.certificate-file" | "tls.key-file"
                    )
                }))
                .after_help(OF_A_NODE),
        )
        .subcommand(
            clap::Command::new("cluster")
                .about("Look after a cluster of nodes")
                .subcommand_required(true)
                .arg_required_else_help(true)
                .subcommands(cluster::COMMANDS.map(|(name, about)| {
                    clap::Command::new(name)
                        .about(about)
                        .args(settings::arguments_about(|setting| {
                            setting.section() == "cluster" || setting.name == "data-dir"
                        }))
                        .after_help(OF_A_NODE)
                })),
        )
        .subcommand(
            clap::Command::new("completions")
                .about("Print completions for a shell")
                .arg(
                    clap::Arg::new("shell")
                        .required(true)
                        .value_parser(clap::value_parser!(clap_complete::Shell)),
                ),
        )
        .subcommand(clap::Command::new("man").about("Print the manual page"));
    // Deriving has replaced the description by the enum's documentation.
    Command::augment_subcommands(root)
        .about("A whole network on your desk: JSON-RPC, exchange, lending and accounts over one EVM state")
        .long_about(None::<&str>)
}

/// Runs a node with its own flags and banner.
fn serve(matches: &clap::ArgMatches) -> Result<(), Error> {
    let values = settings::values(matches)?;
    let config = Config::from_values(&values)?;
    serve::run(config, values.warnings(), |node, out| {
        if node.config.quiet {
            Ok(())
        } else {
            banner::print(node, out)
        }
    })
}

/// Runs a node with anvil's flags and banner.
fn run_as_anvil(matches: &clap::ArgMatches) -> Result<(), Error> {
    if matches.get_flag("version") {
        return Ok(io::stdout().write_all(anvil::version().as_bytes())?);
    }

    let config_out = anvil::config_out(matches);
    let (config, notes) = anvil::configuration(matches)?;
    serve::run(config, &[], |node, out| {
        anvil::announce(node, config_out.as_deref(), &notes, out)
    })
}

fn dispatch(matches: &clap::ArgMatches) -> Result<(), Error> {
    // A node prints from several threads: standard output must not be locked while it runs.
    let out = &mut match matches.subcommand() {
        None => return serve(matches),
        Some(("serve", matches)) => return serve(matches),
        Some((anvil::NAME, matches)) => return run_as_anvil(matches),
        #[cfg(all(feature = "js-tracer", unix))]
        Some((rpc::TRACER_COMMAND, matches)) => {
            // The parser requires it.
            let memory = matches.get_one("memory").copied().unwrap_or(0);
            return Ok(rpc::run_tracer(memory)?);
        }
        Some(_) => io::stdout().lock(),
    };

    match matches.subcommand() {
        Some((anvil::link::NAME, matches)) => Ok(anvil::link::run(matches, out)?),
        Some(("config", matches)) => configuration::run(matches, out),
        Some(("probe", matches)) => Ok(probe::run(
            &Config::from_values(&settings::values(matches)?)?,
            out,
        )?),
        Some(("cluster", matches)) => {
            // The parser requires one.
            let Some((command, matches)) = matches.subcommand() else {
                return Ok(());
            };
            Ok(cluster::run(
                command,
                &Config::of_command(&settings::values(matches)?)?,
                out,
            )?)
        }
        Some(("completions", matches)) => {
            // The parser requires one.
            let shell = matches
                .get_one::<clap_complete::Shell>("shell")
                .copied()
                .unwrap_or(clap_complete::Shell::Bash);
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut parser(), "tetrad", &mut script);
            Ok(out.write_all(&script)?)
        }
        Some(("man", _)) => Ok(clap_mangen::Man::new(parser()).render(out)?),
        _ => {
            // The parser has accepted the command, so this succeeds.
            let command = Command::from_arg_matches(matches)
                .map_err(|error| io::Error::other(error.to_string()))?;
            command.run(&mut keys::Terminal::new(), out)
        }
    }
}
