//! Committed files that tests compare with what the program writes.

use std::{env, fs, path::Path};

/// Whether tests write such files instead of comparing them: with `TETRAD_BLESS=1`. Review the
/// written files.
pub(crate) fn is_blessing() -> bool {
    env::var_os("TETRAD_BLESS").is_some()
}

/// Asserts that a file of the repository has this content.
#[track_caller]
pub(crate) fn assert_golden(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if is_blessing() {
        fs::write(&path, text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    if committed != text {
        let mut before = committed.lines();
        let mut after = text.lines();
        let first = (1..)
            .map(|line| (line, before.next(), after.next()))
            .find(|(_, before, after)| before != after);
        panic!(
            "{file} is out of date, first in (line, committed, now): {first:?}; TETRAD_BLESS=1 writes it"
        );
    }
}
