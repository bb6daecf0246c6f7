//! The compiler's source maps: which part of which file an instruction was made from.

use tetrad_stdx::text::excerpt;

use super::contract::CompiledContract;

/// The instructions that carry data, from `PUSH1` on.
const PUSH_1: u8 = 0x60;
const PUSH_32: u8 = 0x7f;

/// A place in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The path of the file.
    pub file: String,
    /// The line, from 1 on.
    pub line: usize,
    /// The column, in characters from 1 on.
    pub column: usize,
    /// The text of the line.
    pub text: String,
}

/// The longest line that is repeated.
const MAX_TEXT: usize = 200;

impl CompiledContract {
    /// Returns the place that the instruction at `position` of the deployed runtime code was made
    /// from. Code that the compiler adds has none.
    pub fn location(&self, code: &[u8], position: usize) -> Option<SourceLocation> {
        let (start, id) = mapping(&self.source_map, instruction(code, position)?)?;

        let file = self.source_ids.get(&id)?;
        let content = self.sources.get(file)?;
        let before = content.as_bytes().get(..start)?;

        let line_start = before
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let line = content.as_bytes()[line_start..]
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();

        let text = String::from_utf8_lossy(line);
        Some(SourceLocation {
            file: file.clone(),
            line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
            column: 1 + String::from_utf8_lossy(&before[line_start..])
                .chars()
                .count(),
            text: excerpt(text.trim(), MAX_TEXT).to_owned(),
        })
    }
}

/// Returns the number of the instruction at a position.
fn instruction(code: &[u8], position: usize) -> Option<usize> {
    let mut at = 0;
    let mut number = 0;
    while at < position {
        at += 1 + match *code.get(at)? {
            push @ PUSH_1..=PUSH_32 => usize::from(push - PUSH_1) + 1,
            _ => 0,
        };
        number += 1;
    }
    (at == position && position < code.len()).then_some(number)
}

/// Returns the first byte of an instruction's source, and the number of its file. An entry is
/// `start:length:file:…`, and a field that is left out is that of the entry before.
fn mapping(map: &str, instruction: usize) -> Option<(usize, u32)> {
    let mut start = None;
    let mut file = None;
    let mut entries = map.split(';');
    for _ in 0..=instruction {
        let mut fields = entries.next()?.split(':');
        let first = fields.next();
        let _ = fields.next();
        let third = fields.next();
        if let Some(field) = first.filter(|field| !field.is_empty()) {
            start = field.parse().ok();
        }
        if let Some(field) = third.filter(|field| !field.is_empty()) {
            // -1 for code that the compiler adds.
            file = field.parse().ok();
        }
    }
    start.zip(file)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn entries_inherit_what_they_leave_out() {
        let map = "10:5:0:-:0;;20:1;:::i;3:1:2;-1:-1:-1;4";
        let found: Vec<_> = (0..8).map(|number| mapping(map, number)).collect();
        assert_eq!(
            found,
            [
                Some((10, 0)),
                Some((10, 0)),
                Some((20, 0)),
                Some((20, 0)),
                Some((3, 2)),
                None,
                None,
                None
            ]
        );
    }

    #[test]
    fn data_of_pushes_is_no_instruction() {
        // PUSH2 0x6161, ADD, PUSH1 at the end without its data.
        let code = [0x61, 0x61, 0x61, 0x01, 0x60];
        let numbers: Vec<_> = (0..6)
            .map(|position| instruction(&code, position))
            .collect();
        assert_eq!(numbers, [Some(0), None, None, Some(1), Some(2), None]);
    }

    proptest! {
        #[test]
        fn any_map_is_read(map in "[0-9:;i-]{0,60}", code: Vec<u8>, position in 0_usize..80) {
            if let Some(number) = instruction(&code, position) {
                mapping(&map, number);
            }
        }
    }
}
