//! `tetrad link-anvil`: this program under anvil's name, in a directory of the PATH.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::ArgMatches;

/// The name of the command.
pub(in crate::cli) const NAME: &str = "link-anvil";

/// Returns the command.
pub(in crate::cli) fn command() -> clap::Command {
    clap::Command::new(NAME)
        .about("Link to this program as anvil, in a directory of the PATH")
        .arg(
            clap::Arg::new("directory")
                .required(true)
                .value_name("DIR")
                .value_parser(clap::value_parser!(PathBuf))
                .help(
                    "The directory, such as node_modules/.bin or the bin of a virtual environment",
                ),
        )
}

/// Makes the link, unless it is there already.
pub(in crate::cli) fn run(matches: &ArgMatches, out: &mut dyn Write) -> io::Result<()> {
    // The parser requires one.
    let Some(directory) = matches.get_one::<PathBuf>("directory") else {
        return Ok(());
    };
    let link = directory.join(super::NAME);
    let program = fs::canonicalize(env::current_exe()?)?;

    if fs::canonicalize(&link).ok().as_ref() != Some(&program) {
        make(&program, &link).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", link.display()))
        })?;
    }
    writeln!(out, "{} -> {}", link.display(), program.display())
}

#[cfg(unix)]
fn make(program: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(program, link)
}

#[cfg(not(unix))]
fn make(program: &Path, link: &Path) -> io::Result<()> {
    fs::hard_link(program, link.with_extension("exe"))
}
