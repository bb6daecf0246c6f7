//! `tetrad config`: what is in effect, what is wrong with a file, and what there is.

use std::{io::Write, path::PathBuf};

use clap::{Arg, ArgMatches, value_parser};

use super::{Error, reference, settings};
use crate::config::{Config, SETTINGS, problems};

/// The command.
pub(super) fn command() -> clap::Command {
    let file = Arg::new("file").value_name("FILE").required(true).value_parser(value_parser!(PathBuf));
    clap::Command::new("config")
        .about("Print the configuration in effect, and where each value comes from")
        .args_conflicts_with_subcommands(true)
        .args(settings::arguments())
        .subcommand(clap::Command::new("check").about("Say everything that is wrong with a file").arg(file))
        .subcommand(clap::Command::new("reference").about("Print what every setting is for, as Markdown"))
}

/// Runs it.
pub(super) fn run(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Error> {
    match matches.subcommand() {
        Some(("check", matches)) => {
            // The parser wants one.
            let file = matches.get_one::<PathBuf>("file").cloned().unwrap_or_default();
            let found = problems(&file);
            for problem in &found {
                writeln!(out, "{problem}")?;
            }
            if !found.is_empty() {
                return Err(Error::File(file.display().to_string()));
            }
            writeln!(out, "{} can be used; {} settings are known", file.display(), SETTINGS.len())?;
        }
        Some(_) => reference::settings(out)?,
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
