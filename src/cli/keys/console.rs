//! Asking the user for secrets.

use std::io::{self, Read};

use zeroize::Zeroizing;

/// The user: a terminal in a real command, prepared answers in a test.
pub trait Console {
    /// Prompts for a line and reads it without echo.
    ///
    /// # Errors
    /// When there is no terminal, or reading it fails.
    fn ask(&mut self, question: &str) -> io::Result<Zeroizing<String>>;

    /// Returns standard input, for secrets from another command. Read at most once per process.
    fn standard_input(&mut self) -> &mut dyn Read;
}

/// The controlling terminal of the process. Prompts go to the terminal even if standard output is
/// redirected.
#[derive(Debug)]
pub struct Terminal {
    standard_input: io::Stdin,
}

impl Terminal {
    /// Returns the terminal of this process.
    #[must_use]
    pub fn new() -> Self {
        Self {
            standard_input: io::stdin(),
        }
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
