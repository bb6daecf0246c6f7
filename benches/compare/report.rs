//! Tables in Markdown.

use std::fs;

use super::peers::OTHER;

/// Prints the machine and the version.
pub(crate) fn machine() {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .unwrap_or("unknown processor");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "{} × {}, tetrad {}\n",
        cores,
        model.trim_start_matches([' ', '\t', ':']),
        env!("CARGO_PKG_VERSION")
    );
}

/// Prints a heading and the header of a table.
pub(crate) fn table(title: &str, columns: &[&str]) {
    println!(
        "### {title}\n\n| {} |\n|{}",
        columns.join(" | "),
        "---|".repeat(columns.len())
    );
}

/// Prints a row of a table.
pub(crate) fn row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}

/// The values of one figure.
fn values<const N: usize>(runs: &[[f64; N]], figure: usize) -> Vec<f64> {
    runs.iter().map(|run| run[figure]).collect()
}

/// Prints a row of the leading cells, a name and other cells.
fn named_row(lead: &[&str], name: &str, cells: impl Iterator<Item = String>) {
    let lead = lead.iter().copied().chain([name]).map(str::to_owned);
    row(&lead.chain(cells).collect::<Vec<_>>());
}

/// Prints a row for each node: the leading cells, its name and its figures, of each of which `runs`
/// has a value per round. The other build's row is followed by one of tetrad's share of its
/// figures.
pub(crate) fn rows<const N: usize>(lead: &[&str], names: &[&str], runs: &[Vec<[f64; N]>]) {
    for (node, name) in names.iter().enumerate() {
        let figures = (0..N).map(|figure| spread(&values(&runs[node], figure)));
        named_row(lead, name, figures);

        if *name == OTHER {
            let shares =
                (0..N).map(|figure| ratio(&values(&runs[0], figure), &values(&runs[node], figure)));
            named_row(lead, "tetrad, of the other build's", shares);
        }
    }
}

/// Prints the end of a table.
pub(crate) fn end() {
    println!();
}

/// The median.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        count => f64::midpoint(values[(count - 1) / 2], values[count / 2]),
    }
}

/// The median with the smallest and the largest value.
pub(crate) fn spread(values: &[f64]) -> String {
    spread_in("", values)
}

/// The values as percentages of other ones of the same rounds, so that other load on the machine
/// affects both sides.
pub(crate) fn ratio(values: &[f64], others: &[f64]) -> String {
    spread_in(
        " %",
        &values
            .iter()
            .zip(others)
            .map(|(value, other)| 100.0 * value / other)
            .collect::<Vec<_>>(),
    )
}

fn spread_in(unit: &str, values: &[f64]) -> String {
    let middle = median(values.to_vec());
    if middle.is_nan() {
        return figure(middle);
    }
    let least = values.iter().copied().fold(f64::NAN, f64::min);
    let most = values.iter().copied().fold(f64::NAN, f64::max);
    format!(
        "{}{unit} ({}–{})",
        figure(middle),
        figure(least),
        figure(most)
    )
}

/// The percentile, with the share as a fraction.
pub(crate) fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = ((values.len() as f64 * share).ceil() as usize).clamp(1, values.len().max(1)) - 1;
    values.get(at).copied().unwrap_or(f64::NAN)
}

/// A figure rounded to its significant digits.
pub(crate) fn figure(value: f64) -> String {
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
