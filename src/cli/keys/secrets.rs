//! Secrets from the console, from files and from standard input; never from arguments or the
//! environment.

use std::{fs::File, io::Read, path::Path};

use zeroize::Zeroizing;

use super::{console::Console, error::Error};

/// Longest file with a secret, in bytes.
const MAX_BYTES: usize = 64 << 10;

/// The sources of a command's secrets: the console, and standard input until it has been read.
pub(super) struct Secrets<'a> {
    console: &'a mut dyn Console,
    standard_input_read: bool,
}

impl<'a> Secrets<'a> {
    pub(super) fn new(console: &'a mut dyn Console) -> Self {
        Self {
            console,
            standard_input_read: false,
        }
    }

    /// Returns the text of a file, or of standard input when the path is `-`.
    pub(super) fn read(&mut self, path: &Path) -> Result<Zeroizing<String>, Error> {
        // Allocated at full size: growing would leave copies of the secret in freed memory.
        let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_BYTES + 1));
        let limit = MAX_BYTES as u64 + 1;

        let read = if path == Path::new("-") {
            if std::mem::replace(&mut self.standard_input_read, true) {
                return Err(Error::StandardInputTwice);
            }
            self.console
                .standard_input()
                .take(limit)
                .read_to_end(&mut bytes)
        } else {
            File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
        };
        read.map_err(Error::file("read", path))?;

        if bytes.len() > MAX_BYTES {
            return Err(Error::TooLong(path.to_owned()));
        }

        let text = std::str::from_utf8(&bytes).map_err(|_| Error::NotText(path.to_owned()))?;
        Ok(Zeroizing::new(text.to_owned()))
    }

    /// Reads an existing secret from a file or the console.
    pub(super) fn existing(
        &mut self,
        what: &'static str,
        file: Option<&Path>,
    ) -> Result<Zeroizing<String>, Error> {
        match file {
            Some(path) => line_of(self.read(path)?, path),
            None => self.ask(what, &format!("{}: ", capitalised(what))),
        }
    }

    /// Reads a new secret from a file, or twice from the console, since typing is not echoed.
    pub(super) fn chosen(
        &mut self,
        what: &'static str,
        file: Option<&Path>,
    ) -> Result<Zeroizing<String>, Error> {
        let Some(path) = file else {
            let first = self.ask(what, &format!("New {what}: "))?;
            let second = self.ask(what, &format!("The same {what} again: "))?;
            return if first == second {
                Ok(first)
            } else {
                Err(Error::Different { what })
            };
        };
        line_of(self.read(path)?, path)
    }

    /// Reads a new password, which may not be empty.
    pub(super) fn new_password(&mut self, file: Option<&Path>) -> Result<Zeroizing<String>, Error> {
        let password = self.chosen("password", file)?;
        if password.is_empty() {
            Err(Error::EmptyPassword)
        } else {
            Ok(password)
        }
    }

    fn ask(&mut self, what: &'static str, question: &str) -> Result<Zeroizing<String>, Error> {
        self.console
            .ask(question)
            .map_err(|source| Error::NoTerminal { what, source })
    }
}

/// Returns the only line of a file, without the line break at its end.
fn line_of(text: Zeroizing<String>, path: &Path) -> Result<Zeroizing<String>, Error> {
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.contains('\n') {
        return Err(Error::PasswordLines(path.to_owned()));
    }
    Ok(Zeroizing::new(line.to_owned()))
}

fn capitalised(what: &str) -> String {
    let mut characters = what.chars();
    characters
        .next()
        .map(|first| first.to_uppercase().chain(characters).collect())
        .unwrap_or_default()
}
