//! File formats of recordings.
//!
//! CSV: the first line names the columns, `time` and then symbols or addresses of tokens; every
//! other line is a row. JSON: a list of objects `{"time": …, "prices": {"WETH": 3512.35, …}}`.
//! Times are in seconds and never go back; they may have any origin, the first row is the
//! beginning. Prices are US dollars; one that is left out does not change. Empty lines and lines
//! that begin with `#` are comments in CSV. Neither names nor prices need quotes, so that lines are
//! split at commas, without a library for CSV.

use std::{collections::HashMap, io, path::Path};

use serde::Deserialize;
use serde_json::value::RawValue;
use tetrad_network::network::Network;

use crate::feed::usd_e8;

/// Most rows of a recording: a month by the second.
const MAX_ROWS: usize = 3_000_000;
/// Most bytes of a file.
const MAX_BYTES: u64 = 512 << 20;

/// Prices by time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    tokens: usize,
    /// Seconds since the first row, ascending.
    times: Vec<u64>,
    /// A price for each token and row; 0 where none is known.
    prices: Vec<u64>,
}

/// The reason why a file is not a recording.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It cannot be read.
    #[error("{0}: {1}")]
    Read(String, io::Error),
    /// It is too long.
    #[error("{0}: more than {MAX_BYTES} bytes or {MAX_ROWS} rows")]
    TooLong(String),
    /// A line or an entry is malformed.
    #[error("{file}, {place}: {what}")]
    Content {
        /// The file.
        file: String,
        /// The line or entry.
        place: String,
        /// The reason.
        what: String,
    },
}

/// A row while it is read: its place in the file, its time, and tokens with the text of their
/// prices.
struct RecordingRow<'a> {
    place: String,
    time: &'a str,
    prices: Vec<(usize, &'a str)>,
}

#[derive(Deserialize)]
struct RecordedPrices<'a> {
    #[serde(borrow)]
    time: &'a RawValue,
    #[serde(borrow)]
    prices: HashMap<String, &'a RawValue>,
}

impl Recording {
    /// Reads a file.
    ///
    /// # Errors
    /// See [`ReplayError`].
    pub fn read(path: &Path, network: &Network) -> Result<Self, ReplayError> {
        let file = path.display().to_string();
        let unreadable = |error| ReplayError::Read(file.clone(), error);
        // Looked at first, since the whole file is read into memory.
        if std::fs::metadata(path).map_err(unreadable)?.len() > MAX_BYTES {
            return Err(ReplayError::TooLong(file));
        }

        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let is_json = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("json"));

        let parsed = if is_json {
            Self::from_json(&text, network)
        } else {
            Self::from_csv(&text, network)
        };

        match parsed {
            Ok(recording) if recording.times.len() > MAX_ROWS => Err(ReplayError::TooLong(file)),
            Ok(recording) => Ok(recording),
            Err((place, what)) => Err(ReplayError::Content { file, place, what }),
        }
    }

    fn from_csv(text: &str, network: &Network) -> Result<Self, (String, String)> {
        let lines = text
            .lines()
            .enumerate()
            .map(|(number, line)| (format!("line {}", number + 1), line.trim()));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));

        let (place, header) = lines
            .next()
            .ok_or_else(|| ("line 1".to_owned(), "the file is empty".to_owned()))?;
        let mut names = header.split(',').map(str::trim);
        if names.next() != Some("time") {
            return Err((
                place,
                "expected the columns' names, `time` first".to_owned(),
            ));
        }

        let columns: Vec<usize> = names
            .map(|name| position(network, name))
            .collect::<Result<_, _>>()
            .map_err(|what| (place, what))?;

        let mut recording = Self::empty(network);
        for (place, line) in lines {
            let mut fields = line.split(',').map(str::trim);
            let time = fields.next().unwrap_or_default();
            let fields: Vec<_> = fields.collect();
            if fields.len() != columns.len() {
                return Err((
                    place,
                    format!("expected {} prices, got {}", columns.len(), fields.len()),
                ));
            }

            let prices = columns
                .iter()
                .copied()
                .zip(fields)
                .filter(|(_, price)| !price.is_empty())
                .collect();
            recording.push(RecordingRow {
                place,
                time,
                prices,
            })?;
        }
        recording.complete()
    }

    fn from_json(text: &str, network: &Network) -> Result<Self, (String, String)> {
        let wrong =
            |error: serde_json::Error| (format!("line {}", error.line()), error.to_string());
        // Entries are decoded one by one, so that an error can name its entry.
        let entries: Vec<&RawValue> = serde_json::from_str(text).map_err(wrong)?;

        let mut recording = Self::empty(network);
        for (number, entry) in entries.iter().enumerate() {
            let place = format!("entry {}", number + 1);
            let entry: RecordedPrices<'_> = serde_json::from_str(entry.get())
                .map_err(|error| (place.clone(), error.to_string()))?;

            let mut prices = Vec::with_capacity(entry.prices.len());
            for (name, price) in &entry.prices {
                let token = position(network, name).map_err(|what| (place.clone(), what))?;
                // The text of the price, since a float would round it.
                prices.push((token, price.get().trim_matches('"')));
            }
            recording.push(RecordingRow {
                place,
                time: entry.time.get(),
                prices,
            })?;
        }
        recording.complete()
    }

    fn empty(network: &Network) -> Self {
        Self {
            tokens: network.tokens.len(),
            times: Vec::new(),
            prices: Vec::new(),
        }
    }

    fn push(&mut self, row: RecordingRow<'_>) -> Result<(), (String, String)> {
        let RecordingRow {
            place,
            time,
            prices,
        } = row;
        let time: u64 = match time.parse() {
            Ok(time) => time,
            Err(_) => return Err((place, format!("time: expected whole seconds, got `{time}`"))),
        };

        if self.times.last().is_some_and(|last| time <= *last) {
            return Err((place, "time: not later than the row before".to_owned()));
        }

        // A token without a price in a row keeps that of the row before.
        let last = self.prices.len().saturating_sub(self.tokens);
        let mut all: Vec<u64> = self.prices.get(last..).unwrap_or_default().to_vec();
        all.resize(self.tokens, 0);
        for (token, text) in prices {
            match usd_e8(text) {
                Some(price) => all[token] = price,
                None => {
                    return Err((
                        place,
                        format!("expected a price in US dollars, got `{text}`"),
                    ));
                }
            }
        }

        self.times.push(time);
        self.prices.extend(all);
        Ok(())
    }

    /// Makes times relative to the first row.
    fn complete(mut self) -> Result<Self, (String, String)> {
        let Some(first) = self.times.first().copied() else {
            return Err(("the end".to_owned(), "there are no prices".to_owned()));
        };
        self.times.iter_mut().for_each(|time| *time -= first);
        Ok(self)
    }

    /// The prices at this number of seconds after the beginning.
    pub fn at(&self, seconds: u64) -> Vec<Option<u64>> {
        let Some(row) = self
            .times
            .partition_point(|time| *time <= seconds)
            .checked_sub(1)
        else {
            return vec![None; self.tokens];
        };
        let prices = self
            .prices
            .get(row * self.tokens..(row + 1) * self.tokens)
            .unwrap_or_default();
        prices
            .iter()
            .map(|price| Some(*price).filter(|price| *price > 0))
            .collect()
    }
}

fn position(network: &Network, name: &str) -> Result<usize, String> {
    let token = network
        .token(name)
        .ok_or_else(|| format!("no token `{name}`"))?;
    let found = network
        .tokens
        .iter()
        .position(|listed| listed.address == token.address);
    found.ok_or_else(|| format!("no token `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The prices of WETH, of USDC, and of a token that the recording leaves out.
    fn prices_at(recording: &Recording, seconds: u64) -> [Option<u64>; 3] {
        let prices = recording.at(seconds);
        [prices[2], prices[11], prices[0]]
    }

    #[test]
    fn both_forms_say_the_same() {
        let network = Network::default();
        let csv = "# a comment\ntime, WETH ,usdc\n\n1000,3500.5,1\n1010,,0.999\n1020,3600,\n";
        let json = r#"[{"time":0,"prices":{"WETH":3500.5,"USDC":"1"}},{"time":10,"prices":{"USDC":0.999}},
            {"time":20,"prices":{"0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7":3.6e3}}]"#;
        let csv = Recording::from_csv(csv, &network).expect("a recording");
        assert_eq!(
            csv,
            Recording::from_json(json, &network).expect("a recording")
        );
        assert_eq!(
            prices_at(&csv, 0),
            [Some(350_050_000_000), Some(100_000_000), None]
        );
        assert_eq!(prices_at(&csv, 9), prices_at(&csv, 0));
        assert_eq!(
            prices_at(&csv, 10),
            [Some(350_050_000_000), Some(99_900_000), None]
        );
        assert_eq!(
            prices_at(&csv, u64::MAX),
            [Some(360_000_000_000), Some(99_900_000), None]
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let network = Network::default();
        for (text, expected) in [
            ("", "line 1: the file is empty"),
            ("price,WETH\n", "line 1: expected the columns' names"),
            ("time,DOGE\n", "line 1: no token `DOGE`"),
            ("time,WETH\n", "the end: there are no prices"),
            (
                "time,WETH\nx,1\n",
                "line 2: time: expected whole seconds, got `x`",
            ),
            ("time,WETH\n1,1\n1,1\n", "line 3: time: not later"),
            ("time,WETH\n1\n", "line 2: expected 1 prices, got 0"),
            (
                "time,WETH\n1,-5\n",
                "line 2: expected a price in US dollars, got `-5`",
            ),
            ("time,WETH\n1,0\n", "line 2: expected a price"),
        ] {
            let (place, what) = Recording::from_csv(text, &network).expect_err("an error");
            assert!(
                format!("{place}: {what}").starts_with(expected),
                "{text:?}: {place}: {what}"
            );
        }
        for text in [
            "",
            "{}",
            "[1]",
            "[]",
            r#"[{"time":1}]"#,
            r#"[{"time":1,"prices":{"DOGE":1}}]"#,
        ] {
            assert!(Recording::from_json(text, &network).is_err(), "{text}");
        }
    }
}
