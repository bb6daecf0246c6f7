//! Tables of two aligned columns, in which the forms of addresses and keys are printed.

use std::fmt;

/// Writes rows as `label  value`, with labels padded to the longest one and no newline after the
/// last row.
pub(super) fn write_table(f: &mut fmt::Formatter<'_>, rows: &[(&str, &str)]) -> fmt::Result {
    let width = rows
        .iter()
        .map(|(label, _)| label.chars().count())
        .max()
        .unwrap_or_default();
    for (index, (label, value)) in rows.iter().enumerate() {
        let newline = if index == 0 { "" } else { "\n" };
        write!(f, "{newline}{label:width$}  {value}")?;
    }
    Ok(())
}
