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

/// Makes the link, in place of one to another version of this program.
pub(in crate::cli) fn run(matches: &ArgMatches, out: &mut dyn Write) -> io::Result<()> {
    // The parser requires one.
    let Some(directory) = matches.get_one::<PathBuf>("directory") else {
        return Ok(());
    };
    let link = directory.join(format!("{}{}", super::NAME, env::consts::EXE_SUFFIX));
    let program = fs::canonicalize(env::current_exe()?)?;

    if fs::canonicalize(&link).ok().as_ref() != Some(&program) {
        let made = remove_older(&program, &link).and_then(|()| make(&program, &link));
        made.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", link.display())))?;
    }
    writeln!(out, "{} -> {}", link.display(), program.display())
}

/// Removes a link to a program of the same name, which may be gone.
fn remove_older(program: &Path, link: &Path) -> io::Result<()> {
    match fs::read_link(link) {
        Ok(old) if old.file_name() == program.file_name() => fs::remove_file(link),
        // Nothing, or something else, which making the link finds.
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn make(program: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(program, link)
}

#[cfg(not(unix))]
fn make(program: &Path, link: &Path) -> io::Result<()> {
    fs::copy(program, link).map(drop)
}
