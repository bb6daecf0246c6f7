//! Settings as flags, and the configuration in effect.

use std::{
    io::{self, Write},
    path::Path,
};

use clap::{Arg, ArgAction, ArgMatches};

use crate::config::{Config, ConfigError, Kind, Setting, ValueOrigin, Values, settings};

/// The headings of the settings at the top of the file, each with the first setting below it.
const HEADINGS: [(&str, &str); 8] = [
    ("profile", "General"),
    ("listen", "Listeners"),
    ("chain-id", "Chain and blocks"),
    ("mnemonic", "Development accounts"),
    ("genesis", "Data"),
    ("no-explorer", "Explorer and sources"),
    ("seed", "Prices and scenarios"),
    ("admin-token-file", "Operation and output"),
];

/// Returns a flag for each setting, the one that names the file, and anvil's two for the main
/// listener.
pub(super) fn arguments() -> Vec<Arg> {
    let file = Arg::new("config")
        .long("config")
        .value_name("FILE")
        .help("Read settings from this file");
    let file = file
        .long_help("Read settings from this file [env: TETRAD_CONFIG]")
        .help_heading("General");

    let mut arguments = vec![file];
    let mut heading = "";
    for setting in settings() {
        heading = match setting.section() {
            "" => HEADINGS
                .iter()
                .find(|(first, _)| *first == setting.name)
                .map_or(heading, |(_, heading)| *heading),
            section => title(section),
        };

        arguments.push(argument(setting).help_heading(heading));

        if let Some((letter, help)) = setting.counter {
            let counter = Arg::new(counter_id(setting))
                .short(letter)
                .action(ArgAction::Count)
                .help(help);
            arguments.push(counter.conflicts_with(setting.name).help_heading(heading));
        }

        if setting.name == "listen" {
            let host = Arg::new("host")
                .long("host")
                .value_name("ADDR")
                .help("Host of --listen, as anvil has it");
            let port = Arg::new("port").long("port").short('p').value_name("PORT");
            let port = port.help("Port of --listen, as anvil has it");
            arguments.extend(
                [host, port].map(|part| part.conflicts_with("listen").help_heading(heading)),
            );
        }
    }
    arguments
}

/// Returns the same flags, and hides those whose settings do not matter to a command.
pub(super) fn arguments_about(matters: impl Fn(&Setting) -> bool) -> Vec<Arg> {
    let is_about = |id: &str| settings().any(|setting| setting.name == id && matters(setting));
    let listen = settings()
        .find(|setting| setting.name == "listen")
        .is_some_and(&matters);

    let hidden = arguments().into_iter().map(|argument| {
        let id = argument.get_id().as_str();
        let is_shown = id == "config" || is_about(id) || (listen && matches!(id, "host" | "port"));
        argument.hide(!is_shown).hide_short_help(false)
    });
    hidden.collect()
}

/// Returns the heading of a table.
fn title(section: &'static str) -> &'static str {
    match section {
        "traces" => "Traces",
        "fork" => "Fork",
        "cluster" => "Cluster",
        "network" => "Network",
        "rpc" => "JSON-RPC",
        "exchange" => "Exchange",
        "faucet" => "Faucet",
        "lending" => "Lending",
        "page" => "Page",
        "limits" => "Limits",
        "tls" => "TLS",
        "keys" => "Keys",
        other => other,
    }
}

/// The id of a setting's counter among clap's arguments.
fn counter_id(setting: &Setting) -> String {
    format!("{} counter", setting.name)
}

fn argument(setting: &Setting) -> Arg {
    let details = if setting.details.is_empty() {
        String::new()
    } else {
        format!(". {}", setting.details)
    };

    let mut argument = Arg::new(setting.name)
        .long(setting.flag())
        .visible_aliases(setting.aliases.iter().copied())
        .aliases(setting.former_flag())
        .help(setting.help)
        .long_help(format!(
            "{}{details} [env: {}]",
            setting.help,
            setting.variable()
        ))
        .hide_short_help(!setting.common);

    if let Some(letter) = setting.short {
        argument = argument.short(letter);
    }

    match setting.kind {
        // `--quiet` and `--quiet=false`.
        Kind::Switch => argument
            .value_name("true|false")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .hide_possible_values(true),
        _ => argument
            .value_name(setting.placeholder)
            .action(ArgAction::Set)
            .allow_hyphen_values(true),
    }
}

/// Collects the values of file, environment and flags.
pub(super) fn values(matches: &ArgMatches) -> Result<Values, ConfigError> {
    let mut values = Values::default();
    let named = matches
        .get_one::<String>("config")
        .cloned()
        .or_else(|| std::env::var("TETRAD_CONFIG").ok());
    if let Some(file) = named {
        values.read_file(Path::new(&file))?;
    }

    // Each source wins over those before.
    values.read_environment(std::env::vars())?;
    read_main_address(matches, &mut values)?;

    for setting in settings() {
        if let Some(text) = matches.get_one::<String>(setting.name) {
            values.read(setting, text, ValueOrigin::Flag(setting.flag()))?;
        }

        let Some((letter, _)) = setting.counter else {
            continue;
        };
        match matches.get_count(&counter_id(setting)) {
            0 => {}
            count => values.read(
                setting,
                &count.to_string(),
                ValueOrigin::Flag(letter.to_string()),
            )?,
        }
    }
    Ok(values)
}

/// Puts anvil's flags for host and port in place of those of the main listener.
fn read_main_address(matches: &ArgMatches, values: &mut Values) -> Result<(), ConfigError> {
    for flag in ["host", "port"] {
        if let Some(text) = matches.get_one::<String>(flag) {
            values.replace_in_listen(flag, text)?;
        }
    }
    Ok(())
}

/// Prints the configuration in effect as a file that can be read again, with the origin of each
/// value that is not a default. Secrets of other services are left out; their settings are
/// comments.
pub(super) fn print(config: &Config, values: &Values, out: &mut dyn Write) -> io::Result<()> {
    let mut table = "";
    for setting in settings() {
        let section = setting.section();
        let key = setting.key();
        if section != table {
            writeln!(out, "\n[{section}]")?;
            table = section;
        }

        let origin = values
            .given(setting)
            .map(|given| format!("  # {}", given.origin))
            .unwrap_or_default();
        let value = setting.redacted_value(config);
        match value {
            Some(value) if Some(&value) != setting.value(config).as_ref() => {
                writeln!(
                    out,
                    "# {key} = {value}{origin}, shown without what may be secret"
                )?;
            }
            Some(value) => writeln!(out, "{key} = {value}{origin}")?,
            None => writeln!(out, "# {key} is not set")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_has_a_heading() {
        for (first, _) in HEADINGS {
            assert!(settings().any(|setting| setting.name == first), "{first}");
        }
        for argument in arguments() {
            assert!(
                argument
                    .get_help_heading()
                    .is_some_and(|heading| !heading.is_empty()),
                "{argument}"
            );
        }
        for setting in settings().filter(|setting| !setting.section().is_empty()) {
            assert_ne!(title(setting.section()), setting.section());
        }
    }
}
