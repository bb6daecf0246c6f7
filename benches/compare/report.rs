//! Tables in Markdown.

use std::fs;

/// Prints the machine and the version.
pub fn machine() {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown processor");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{} × {}, tetrad {}\n", cores, model.trim_start_matches([' ', '\t', ':']), env!("CARGO_PKG_VERSION"));
}

/// Prints a heading and the header of a table.
pub fn table(title: &str, columns: &[&str]) {
    println!("### {title}\n\n| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
}

/// Prints a row of a table.
pub fn row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}

/// Prints the end of a table.
pub fn end() {
    println!();
}

/// The median.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The percentile, with the share as a fraction.
pub fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = ((values.len() as f64 * share).ceil() as usize).clamp(1, values.len().max(1)) - 1;
    values.get(at).copied().unwrap_or(f64::NAN)
}

/// A figure rounded to its significant digits.
pub fn figure(value: f64) -> String {
    match value {
        value if value.is_nan() => "–".to_owned(),
        value if value >= 1_000.0 => {
            let text = format!("{value:.0}");
            let mut out = String::new();
            for (at, digit) in text.chars().enumerate() {
                if at > 0 && (text.len() - at).is_multiple_of(3) {
                    out.push(',');
                }
                out.push(digit);
            }
            out
        }
        value if value >= 100.0 => format!("{value:.0}"),
        value => format!("{value:.1}"),
    }
}
