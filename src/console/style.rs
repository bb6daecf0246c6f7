//! Colours, where there is a terminal that shows them.

/// How parts of a line are set apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    colours: bool,
}

impl Style {
    /// With colours.
    pub(super) fn colours() -> Self {
        Self { colours: true }
    }

    /// Without.
    pub(super) fn plain() -> Self {
        Self { colours: false }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// What matters less.
    pub(super) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// What went wrong.
    pub(super) fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// Names of contracts and functions.
    pub(super) fn name(self, text: &str) -> String {
        self.paint("36", text)
    }

    /// What contracts print.
    pub(super) fn spoken(self, text: &str) -> String {
        self.paint("33", text)
    }
}
