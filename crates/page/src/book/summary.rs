//! The order of the book's chapters, as `SUMMARY.md` gives it to mdBook.

/// A line of the summary.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SummaryLine<'a> {
    /// The heading of a part.
    Part(&'a str),
    /// A chapter: its title, its file, and its depth, from 0.
    Chapter {
        title: &'a str,
        file: &'a str,
        depth: usize,
    },
}

/// Reads the summary. Its own title, and chapters that have no file yet, are left out.
pub(super) fn parse(text: &str) -> Vec<SummaryLine<'_>> {
    text.lines()
        .filter(|line| *line != "# Summary")
        .filter_map(line)
        .collect()
}

fn line(line: &str) -> Option<SummaryLine<'_>> {
    if let Some(part) = line.strip_prefix("# ") {
        return Some(SummaryLine::Part(part.trim()));
    }

    let entry = line.trim_start();
    let depth = (line.len() - entry.len()) / 2;
    let entry = entry.strip_prefix("- ").unwrap_or(entry);

    let (title, file) = entry
        .strip_prefix('[')?
        .strip_suffix(')')?
        .rsplit_once("](")?;
    (!file.is_empty()).then_some(SummaryLine::Chapter { title, file, depth })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chapters_are_in_parts_and_below_each_other() {
        let text = "# Summary\n\n[First](first.md)\n\n# A part\n\n- [One](a/one.md)\n  - [Two [2]](two.md)\n- [Later]()\n---\n";
        let chapter = |title, file, depth| SummaryLine::Chapter { title, file, depth };
        let wanted = [
            chapter("First", "first.md", 0),
            SummaryLine::Part("A part"),
            chapter("One", "a/one.md", 0),
            chapter("Two [2]", "two.md", 1),
        ];
        assert_eq!(parse(text), wanted);
    }
}
