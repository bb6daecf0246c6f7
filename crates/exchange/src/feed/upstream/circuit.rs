//! The circuit breaker of an upstream: pauses that double with each failure, then a longer
//! cooldown.
//!
//! Libraries for this call the operation themselves. Here a task polls, and asks how long to pause.

use std::time::Duration;

use super::UpstreamConfig;

/// The longest pause before an upstream counts as broken.
const LONGEST_BACKOFF: Duration = Duration::from_secs(60);

/// Consecutive failures, and the pauses that follow from them.
#[derive(Clone, Debug, Default)]
pub(super) struct Circuit {
    failures: u32,
    error: Option<String>,
}

impl Circuit {
    pub(super) fn succeed(&mut self) {
        *self = Self::default();
    }

    pub(super) fn fail(&mut self, error: String) {
        self.failures = self.failures.saturating_add(1);
        self.error = Some(error);
    }

    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    /// The last failure.
    pub(super) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Whether the upstream is in its cooldown. The attempt after that closes the circuit or opens
    /// it again.
    pub(super) fn is_open(&self, config: &UpstreamConfig) -> bool {
        self.failures >= config.threshold.max(1)
    }

    /// The pause before the next attempt.
    pub(super) fn pause(&self, config: &UpstreamConfig) -> Duration {
        if self.is_open(config) {
            return config.cooldown;
        }
        match self.failures {
            0 => config.interval,
            failures => backoff(config, failures - 1).max(config.interval),
        }
    }
}

/// The pause after `before` earlier failures.
pub(super) fn backoff(config: &UpstreamConfig, before: u32) -> Duration {
    config
        .backoff
        .saturating_mul(2u32.saturating_pow(before))
        .min(LONGEST_BACKOFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_the_circuit_opens() {
        let config = UpstreamConfig {
            interval: Duration::from_millis(100),
            ..UpstreamConfig::default()
        };
        let mut circuit = Circuit::default();
        assert_eq!(circuit.pause(&config), config.interval);
        let mut pauses = Vec::new();
        for _ in 0..6 {
            circuit.fail("down".to_owned());
            pauses.push(circuit.pause(&config).as_millis());
        }
        assert_eq!(pauses, [250, 500, 1_000, 2_000, 30_000, 30_000]);
        assert!(circuit.is_open(&config) && circuit.error() == Some("down"));
        circuit.succeed();
        assert!(!circuit.is_open(&config) && circuit.error().is_none() && circuit.failures() == 0);
        assert_eq!(backoff(&config, u32::MAX), LONGEST_BACKOFF);
    }
}
