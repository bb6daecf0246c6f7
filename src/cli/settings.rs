//! Settings as flags, and the configuration in effect.

use std::{
    io::{self, Write},
    path::Path,
};

use clap::{Arg, ArgAction, ArgMatches};

use crate::config::{Config, ConfigError, Kind, Setting, ValueOrigin, Values, settings};

/// Returns a flag for each setting, and the one that names the file.
pub(super) fn arguments() -> Vec<Arg> {
    let file =
        Arg::new("config").long("config").value_name("FILE").help("Read settings from this file [env: TETRAD_CONFIG]");
    let counters = settings().filter_map(|setting| {
        let (letter, help) = setting.counter?;
        let counter = Arg::new(counter_id(setting)).short(letter).action(ArgAction::Count).help(help);
        Some(counter.conflicts_with(setting.name))
    });
    [file].into_iter().chain(counters).chain(settings().map(argument)).collect()
}

/// The id of a setting's counter among clap's arguments.
fn counter_id(setting: &Setting) -> String {
    format!("{} counter", setting.name)
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

/// Collects the values of file, environment and flags.
pub(super) fn values(matches: &ArgMatches) -> Result<Values, ConfigError> {
    let mut values = Values::default();
    let named = matches.get_one::<String>("config").cloned().or_else(|| std::env::var("TETRAD_CONFIG").ok());
    if let Some(file) = named {
        values.read_file(Path::new(&file))?;
    }
    values.read_environment(std::env::vars())?;
    for setting in settings() {
        if let Some(text) = matches.get_one::<String>(setting.name) {
            values.read(setting, text, ValueOrigin::Flag(setting.flag()))?;
        }
        let Some((letter, _)) = setting.counter else { continue };
        match matches.get_count(&counter_id(setting)) {
            0 => {}
            count => values.read(setting, &count.to_string(), ValueOrigin::Flag(letter.to_string()))?,
        }
    }
    Ok(values)
}

/// Prints the configuration in effect as a file that can be read again, with the origin of each value that is not a
/// default. Secrets of other services are left out; their settings are comments.
pub(super) fn print(config: &Config, values: &Values, out: &mut dyn Write) -> io::Result<()> {
    let mut table = "";
    for setting in settings() {
        let (section, key) = (setting.section(), setting.key());
        if section != table {
            writeln!(out, "\n[{section}]")?;
            table = section;
        }
        let origin = values.given(setting).map(|given| format!("  # {}", given.origin)).unwrap_or_default();
        let value = setting.redacted_value(config);
        match value {
            Some(value) if Some(&value) != setting.value(config).as_ref() => {
                writeln!(out, "# {key} = {value}{origin}, shown without what may be secret")?;
            }
            Some(value) => writeln!(out, "{key} = {value}{origin}")?,
            None => writeln!(out, "# {key} is not set")?,
        }
    }
    Ok(())
}
