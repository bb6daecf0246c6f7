//! Blocks of code on the book's pages.

use std::ops::Range;

/// A block of code.
pub(super) struct Block {
    /// The first word of the info string.
    pub language: String,
    /// The second word: `sent` and `received` for messages of a WebSocket.
    pub role: String,
    pub text: String,
    /// The lines of the text, without the fences, counted from 0.
    pub lines: Range<usize>,
    /// Whether only empty lines separate it from the block before.
    pub is_adjacent: bool,
}

/// The blocks of a page in order.
pub(super) fn blocks(page: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut is_open = false;
    let mut is_adjacent = false;
    for (number, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), is_open) {
            (Some(info), false) => {
                let mut words = info.split(' ').map(str::to_owned);
                let language = words.next().unwrap_or_default();
                let role = words.next().unwrap_or_default();
                let lines = number + 1..number + 1;
                found.push(Block {
                    language,
                    role,
                    text: String::new(),
                    lines,
                    is_adjacent,
                });
                is_open = true;
            }
            (Some(_), true) => (is_open, is_adjacent) = (false, true),
            (None, true) => {
                let block = found.last_mut().unwrap();
                block.text.push_str(&format!("{line}\n"));
                block.lines.end = number + 1;
            }
            (None, false) => is_adjacent &= line.is_empty(),
        }
    }
    found
}
