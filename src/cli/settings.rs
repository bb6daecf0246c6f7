//! Settings as flags.

use std::{
    io::{self, Write},
    path::Path,
};

use clap::{Arg, ArgAction, ArgMatches};

use crate::config::{Config, ConfigError, Kind, Origin, SETTINGS, Setting, Values};

/// A flag for each setting, and the one that names the file.
pub(super) fn arguments() -> Vec<Arg> {
    let file =
        Arg::new("config").long("config").value_name("FILE").help("Read settings from this file [env: TETRAD_CONFIG]");
    let verbose = Arg::new("verbose")
        .short('v')
        .action(ArgAction::Count)
        .help("Print more of transactions, up to -vvvv; see --verbosity")
        .conflicts_with("verbosity");
    [file, verbose].into_iter().chain(SETTINGS.iter().map(argument)).collect()
}

fn argument(setting: &Setting) -> Arg {
    let argument =
        Arg::new(setting.name).long(setting.flag()).help(format!("{} [env: {}]", setting.help, setting.variable()));
    match setting.kind {
        // `--quiet` and `--quiet=false`.
        Kind::Switch => {
            argument.num_args(0..=1).require_equals(true).default_missing_value("true").hide_possible_values(true)
        }
        _ => argument.value_name(setting.placeholder).action(ArgAction::Set).allow_hyphen_values(true),
    }
}

/// What file, environment and flags say together.
pub(super) fn values(matches: &ArgMatches) -> Result<Values, ConfigError> {
    let mut values = Values::default();
    let named = matches.get_one::<String>("config").cloned().or_else(|| std::env::var("TETRAD_CONFIG").ok());
    if let Some(file) = named {
        values.read_file(Path::new(&file))?;
    }
    values.read_environment(std::env::vars())?;
    for setting in SETTINGS {
        if let Some(text) = matches.get_one::<String>(setting.name) {
            values.read(setting, text, Origin::Flag(setting.flag()))?;
        }
    }
    let verbose = matches.get_count("verbose");
    if let Some(setting) = SETTINGS.iter().find(|setting| setting.name == "verbosity" && verbose > 0) {
        values.read(setting, &verbose.to_string(), Origin::Flag("v".to_owned()))?;
    }
    Ok(values)
}

/// Prints the configuration in effect as a file that could be read again, with the origin of what is no default. Whoever
/// sees it learns no secret of another service, for which the reader of the file has to put it in again.
pub(super) fn print(config: &Config, values: &Values, out: &mut dyn Write) -> io::Result<()> {
    let mut table = "";
    for setting in SETTINGS {
        let (section, key) = setting.name.split_once('.').unwrap_or(("", setting.name));
        if section != table {
            writeln!(out, "\n[{section}]")?;
            table = section;
        }
        let origin = values.get(setting.name).map(|(_, origin)| format!("  # {origin}")).unwrap_or_default();
        let value = config.redacted_value_of(setting.name);
        match value {
            Some(value) if Some(&value) != config.value_of(setting.name).as_ref() => {
                writeln!(out, "# {key} = {value}{origin}, shown without what may be secret")?;
            }
            Some(value) => writeln!(out, "{key} = {value}{origin}")?,
            None => writeln!(out, "# {key} is not set")?,
        }
    }
    Ok(())
}
