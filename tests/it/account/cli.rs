//! The command line under test: a parser, and a console with prepared answers.

use std::{
    collections::VecDeque,
    fs, io,
    io::Read,
    path::{Path, PathBuf},
};

use clap::Parser;
use tempfile::TempDir;
use tetrad::cli::{
    Command, Error,
    keys::{self, Console},
};
use zeroize::Zeroizing;

/// A program with the commands for accounts only.
#[derive(Debug, Parser)]
#[command(name = "tetrad")]
pub(super) struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// A console with prepared answers, in order.
#[derive(Default)]
pub(super) struct User {
    answers: VecDeque<String>,
    standard_input: io::Cursor<Vec<u8>>,
    /// The prompts so far.
    pub(super) prompts: Vec<String>,
}

impl User {
    /// A console on which these lines are typed.
    pub(super) fn typing(answers: &[&str]) -> Self {
        Self {
            answers: answers.iter().map(|answer| (*answer).to_owned()).collect(),
            ..Self::default()
        }
    }

    /// Standard input that is piped, without a terminal.
    pub(super) fn piping(input: &str) -> Self {
        Self {
            standard_input: io::Cursor::new(input.as_bytes().to_vec()),
            ..Self::default()
        }
    }

    /// Runs a command line and returns what it printed.
    pub(super) fn run(&mut self, arguments: &[&str]) -> Result<String, Error> {
        let cli =
            Cli::try_parse_from([&["tetrad"], arguments].concat()).expect("arguments that parse");
        let mut out = Vec::new();
        cli.command.run(self, &mut out)?;
        Ok(String::from_utf8(out).expect("text"))
    }
}

impl Console for User {
    fn ask(&mut self, prompt: &str) -> io::Result<Zeroizing<String>> {
        self.prompts.push(prompt.to_owned());
        let answer = self
            .answers
            .pop_front()
            .ok_or_else(|| io::Error::other("no terminal"))?;
        Ok(Zeroizing::new(answer))
    }

    fn standard_input(&mut self) -> &mut dyn Read {
        &mut self.standard_input
    }
}

/// Runs a command line that prompts for nothing.
pub(super) fn run(arguments: &[&str]) -> Result<String, Error> {
    User::default().run(arguments)
}

/// A directory for one test, removed at its end.
pub(super) struct Workspace(TempDir);

impl Workspace {
    pub(super) fn new() -> Self {
        Self(TempDir::new().expect("a temporary directory"))
    }

    /// The path of a file with this name, which may not exist.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The same as text for an argument.
    pub(super) fn argument(&self, name: &str) -> String {
        self.path(name)
            .to_str()
            .expect("temporary paths are text")
            .to_owned()
    }

    /// Writes a file and returns its path as an argument.
    pub(super) fn file(&self, name: &str, content: &str) -> String {
        fs::write(self.path(name), content).expect("a file");
        self.argument(name)
    }

    /// The sorted names of a directory's entries; empty if it does not exist.
    pub(super) fn names(&self, directory: &str) -> Vec<String> {
        let Ok(listing) = fs::read_dir(self.path(directory)) else {
            return Vec::new();
        };
        let mut names: Vec<_> = listing
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("names are text")
            })
            .collect();
        names.sort();
        names
    }
}

/// The permission bits of a file or directory.
#[cfg(unix)]
pub(super) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

/// The error of a `keys` command.
pub(super) fn error(result: Result<String, Error>) -> keys::Error {
    match result {
        Err(Error::Keys(error)) => error,
        other => panic!("not an error of `keys`: {other:?}"),
    }
}

#[test]
fn the_command_line_is_well_formed() {
    use clap::CommandFactory;
    Cli::command().debug_assert();
}

#[test]
fn options_without_effect_are_rejected() {
    for arguments in [
        &["keys", "import", "--private-key-file", "-", "--index", "1"][..],
        &[
            "keys",
            "import",
            "--keystore-file",
            "file",
            "--hd-path",
            "m/0",
        ],
        &[
            "keys",
            "import",
            "--private-key-file",
            "-",
            "--mnemonic-file",
            "file",
        ],
        &[
            "keys",
            "import",
            "--mnemonic-file",
            "-",
            "--source-password-file",
            "file",
        ],
        &[
            "keys",
            "import",
            "--mnemonic-file",
            "-",
            "--index",
            "1",
            "--hd-path",
            "m/0",
        ],
        &["keys", "import", "--source-password-file", "file"],
        &["keys", "show", "0x01", "--passphrase"],
        &["keys", "show", "0x01", "--source-password-file", "file"],
        &["keys", "show", "--password-file", "file"],
        &[
            "keys",
            "show",
            "--private-key-file",
            "-",
            "--password-file",
            "file",
        ],
        &[
            "keys",
            "show",
            "--consensus-key-file",
            "-",
            "--password-file",
            "file",
        ],
        &["keys", "show", "--consensus-key-file", "-", "--index", "1"],
        &["keys", "show", "0x01", "--private-key-file", "-"],
        &[
            "keys",
            "export",
            "0x01",
            "--to",
            "-",
            "--private-key",
            "--light-kdf",
        ],
        &["keys", "new", "--words", "13"],
        &["keys", "list", "--bech32-prefix", "Pax"],
    ] {
        assert!(
            Cli::try_parse_from([&["tetrad"], arguments].concat()).is_err(),
            "{arguments:?}"
        );
    }
}

#[test]
fn no_argument_takes_a_secret() {
    for arguments in [
        &["keys", "import", "--private-key", "0x01"][..],
        &["keys", "import", "--mnemonic", "test test"],
        &["keys", "import", "--password", "secret"],
        &["keys", "import", "0x01"],
        &["keys", "new", "--password", "secret"],
        &["keys", "new", "--passphrase", "secret"],
        &["keys", "show", "--password", "secret"],
        &["keys", "show", "--consensus-key", "0x01"],
        &[
            "keys",
            "export",
            "0x01",
            "--to",
            "-",
            "--private-key",
            "0x01",
        ],
    ] {
        assert!(
            Cli::try_parse_from([&["tetrad"], arguments].concat()).is_err(),
            "{arguments:?}"
        );
    }
}
