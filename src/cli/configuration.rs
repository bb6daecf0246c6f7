//! `tetrad config`: the configuration in effect, the check of a file, and the reference of all
//! settings.

use std::{io::Write, path::PathBuf};

use clap::{Arg, ArgMatches, value_parser};

use super::{Error, reference, settings};
use crate::config::{self, Config, Profile, problems};

/// Returns the command.
pub(super) fn command() -> clap::Command {
    let file = Arg::new("file")
        .value_name("FILE")
        .required(true)
        .value_parser(value_parser!(PathBuf));
    let profile = Arg::new("profile")
        .value_name("PROFILE")
        .required(true)
        .value_parser(["development", "production"]);
    clap::Command::new("config")
        .about("Print the configuration in effect and where each value comes from")
        .args_conflicts_with_subcommands(true)
        .args(settings::arguments_about(|setting| {
            setting.name == "profile"
        }))
        .after_help("The command takes every flag of `tetrad serve`, and shows the effect.")
        .subcommand(
            clap::Command::new("check")
                .about("List everything that is wrong with a file")
                .arg(file),
        )
        .subcommand(
            clap::Command::new("defaults")
                .about("Print a file with every setting and its default")
                .arg(profile),
        )
        .subcommand(
            clap::Command::new("reference")
                .about("Print the documentation of every setting as Markdown"),
        )
}

/// Runs it.
pub(super) fn run(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Error> {
    match matches.subcommand() {
        Some(("check", matches)) => {
            // The parser requires one.
            let file = matches
                .get_one::<PathBuf>("file")
                .cloned()
                .unwrap_or_default();
            let found = problems(&file);
            for problem in &found {
                writeln!(out, "{problem}")?;
            }
            if !found.is_empty() {
                return Err(Error::File(file.display().to_string()));
            }
            writeln!(
                out,
                "{} can be used; {} settings are known",
                file.display(),
                config::settings().count()
            )?;
        }
        Some(("defaults", matches)) => {
            let production = matches
                .get_one::<String>("profile")
                .is_some_and(|name| name == "production");
            let profile = if production {
                Profile::Production
            } else {
                Profile::Development
            };
            reference::defaults(profile, out)?;
        }
        Some(_) => reference::page(out)?,
        None => {
            let values = settings::values(matches)?;
            for warning in values.warnings() {
                eprintln!("warning: {warning}");
            }
            settings::print(&Config::from_values(&values)?, &values, out)?;
        }
    }
    Ok(())
}
