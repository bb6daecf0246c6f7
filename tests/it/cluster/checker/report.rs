//! The result of a run.

use std::{fmt, time::Duration};

use super::{
    history::{Acknowledgement, History},
    reading::ChainCopy,
    rules::violations,
};

/// The violations of a run, of which there must be none, and its statistics.
#[derive(Debug)]
pub(crate) struct Report {
    pub violations: Vec<String>,
    pub acknowledged: usize,
    /// Time from the first acknowledgement to the last one.
    pub duration: Duration,
    /// The longest time between two acknowledgements.
    pub longest_gap: Duration,
}

/// Waits until all nodes have the same height, and verifies a history against their chain.
pub(crate) async fn check(history: &History, urls: &[String]) -> Report {
    let violations = match ChainCopy::read(history, urls).await {
        Ok(chain) => violations(history, &chain),
        Err(error) => history
            .anomalies
            .iter()
            .cloned()
            .chain([format!("the chain cannot be read: {error}")])
            .collect(),
    };
    Report::new(violations, &history.acknowledged)
}

impl Report {
    fn new(violations: Vec<String>, acknowledged: &[Acknowledgement]) -> Self {
        let mut times: Vec<_> = acknowledged
            .iter()
            .map(|acknowledged| acknowledged.at)
            .collect();
        times.sort_unstable();
        let duration = times
            .last()
            .zip(times.first())
            .map(|(last, first)| *last - *first)
            .unwrap_or_default();
        let longest_gap = times
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .max()
            .unwrap_or_default();
        Self {
            violations,
            acknowledged: times.len(),
            duration,
            longest_gap,
        }
    }

    /// Acknowledgements per second.
    pub(crate) fn throughput(&self) -> f64 {
        self.acknowledged as f64 / self.duration.as_secs_f64().max(f64::EPSILON)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let acknowledged = self.acknowledged;
        let throughput = self.throughput();
        let gap = self.longest_gap;
        write!(
            formatter,
            "{acknowledged} acknowledged, {throughput:.0} per second, longest gap {gap:?}"
        )?;
        for violation in self.violations.iter().take(20) {
            write!(formatter, "\n{violation}")?;
        }
        match self.violations.len().saturating_sub(20) {
            0 => Ok(()),
            more => write!(formatter, "\nand {more} more"),
        }
    }
}
