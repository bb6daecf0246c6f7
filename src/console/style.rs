//! Colours, for terminals that support them.

use anstyle::{AnsiColor, Style};

/// Styles of the parts of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Styles {
    colours: bool,
}

impl Styles {
    /// Returns styles for a terminal with or without colours.
    pub(super) fn new(colours: bool) -> Self {
        Self { colours }
    }

    fn paint(self, style: Style, text: &str) -> String {
        if self.colours {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// A detail of less importance.
    pub(super) fn faint(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    /// A failure.
    pub(super) fn failure(self, text: &str) -> String {
        self.paint(AnsiColor::Red.on_default(), text)
    }

    /// The name of a contract or function.
    pub(super) fn name(self, text: &str) -> String {
        self.paint(AnsiColor::Cyan.on_default(), text)
    }

    /// A message that a contract logs to the console.
    pub(super) fn log(self, text: &str) -> String {
        self.paint(AnsiColor::Yellow.on_default(), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_ansi_codes_and_plain_text_has_none() {
        let styles = Styles::new(true);
        assert_eq!(styles.faint("a"), "\x1b[2ma\x1b[0m");
        assert_eq!(styles.failure("a"), "\x1b[31ma\x1b[0m");
        assert_eq!(styles.name("a"), "\x1b[36ma\x1b[0m");
        assert_eq!(styles.log("a"), "\x1b[33ma\x1b[0m");
        assert_eq!(Styles::new(false).failure("a"), "a");
    }
}
