//! Who answers when a command asks for a secret.

use std::io::{self, Read};

use zeroize::Zeroizing;

/// The user at the other end: a terminal in a real command, prepared answers in a test.
pub trait Console {
    /// Asks a question and reads one line without showing it.
    ///
    /// # Errors
    /// When there is no terminal to ask on, or reading it fails.
    fn ask(&mut self, question: &str) -> io::Result<Zeroizing<String>>;

    /// Standard input, for secrets that come from another command. Read at most once in the life of a process.
    fn standard_input(&mut self) -> &mut dyn Read;
}

/// The terminal that the process was started from. Questions go to the terminal itself, whatever standard output is.
#[derive(Debug)]
pub struct Terminal {
    standard_input: io::Stdin,
}

impl Terminal {
    /// The terminal of this process.
    #[must_use]
    pub fn new() -> Self {
        Self { standard_input: io::stdin() }
    }
}

impl Default for Terminal {
    fn default() -> Self {
        Self::new()
    }
}

impl Console for Terminal {
    fn ask(&mut self, question: &str) -> io::Result<Zeroizing<String>> {
        rpassword::prompt_password(question).map(Zeroizing::new)
    }

    fn standard_input(&mut self) -> &mut dyn Read {
        &mut self.standard_input
    }
}
