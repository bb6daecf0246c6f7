//! Prices that a scenario drives.

use parking_lot::Mutex;

use super::Moment;

/// A scenario's script for a token's price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceScript {
    /// The price follows a path, and then stays at its end.
    Path(PricePath),
    /// No source has a price.
    Silence,
}

impl PriceScript {
    /// Returns the price in a block of this time, if there is one.
    fn price(self, time: u64) -> Option<u64> {
        match self {
            Self::Path(path) => Some(path.at(time)),
            Self::Silence => None,
        }
    }
}

/// A straight path from one price to another. Prices are US dollars × 10^8, times seconds since the
/// Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PricePath {
    /// The price at the beginning.
    pub from: u64,
    /// The price at the end.
    pub to: u64,
    /// When the path begins, by the time of blocks.
    pub begins: u64,
    /// Its duration; 0 for a jump.
    pub seconds: u64,
}

impl PricePath {
    /// Returns the price in a block of this time.
    pub fn at(&self, time: u64) -> u64 {
        let elapsed = time.saturating_sub(self.begins);
        if elapsed >= self.seconds {
            return self.to;
        }
        let part = (u128::from(self.from.abs_diff(self.to)) * u128::from(elapsed)
            / u128::from(self.seconds)) as u64;
        if self.to < self.from {
            self.from - part
        } else {
            self.from + part
        }
    }
}

/// The scripts by token. Each has an id, by which it is withdrawn.
#[derive(Debug)]
pub struct ScriptedPrices(Mutex<Scripts>);

#[derive(Debug)]
struct Scripts {
    by_token: Vec<Option<(u64, PriceScript)>>,
    last_id: u64,
}

impl ScriptedPrices {
    /// No scripts for this number of tokens.
    pub fn new(tokens: usize) -> Self {
        Self(Mutex::new(Scripts {
            by_token: vec![None; tokens],
            last_id: 0,
        }))
    }

    /// Sets the script of a token, in place of an earlier one. Returns its id.
    pub fn set(&self, token: usize, script: PriceScript) -> u64 {
        let mut scripts = self.0.lock();
        scripts.last_id += 1;
        let id = scripts.last_id;
        if let Some(slot) = scripts.by_token.get_mut(token) {
            *slot = Some((id, script));
        }
        id
    }

    /// Withdraws the script of a token, unless a later one has taken its place.
    pub fn withdraw(&self, token: usize, id: u64) {
        if let Some(slot) = self.0.lock().by_token.get_mut(token)
            && slot.is_some_and(|(of, _)| of == id)
        {
            *slot = None;
        }
    }

    /// Returns what each token's script says: none without a script, a price, or that there is no
    /// price.
    pub(super) fn opinions(&self, moment: &Moment<'_>) -> Vec<Option<Option<u64>>> {
        self.0
            .lock()
            .by_token
            .iter()
            .map(|script| script.map(|(_, script)| script.price(moment.time)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_straight_and_stays_at_its_end() {
        let down = PricePath {
            from: 1_000,
            to: 400,
            begins: 50,
            seconds: 60,
        };
        let prices: Vec<_> = [0, 50, 60, 80, 110, 1_000].map(|time| down.at(time)).into();
        assert_eq!(prices, [1_000, 1_000, 900, 700, 400, 400]);
        let up = PricePath {
            from: 1,
            to: u64::MAX,
            begins: 0,
            seconds: 2,
        };
        assert_eq!(
            (up.at(0), up.at(1), up.at(2)),
            (1, u64::MAX / 2 + 1, u64::MAX)
        );
        let jump = PricePath { seconds: 0, ..down };
        assert_eq!((jump.at(49), jump.at(50)), (400, 400));
    }

    #[test]
    fn a_script_is_withdrawn_by_its_id() {
        let scripts = ScriptedPrices::new(2);
        let moment = Moment {
            current: &[],
            time: 0,
            genesis: 0,
            elapsed: 0,
            update: 0,
        };
        let replaced = scripts.set(1, PriceScript::Silence);
        let script = scripts.set(1, PriceScript::Silence);
        scripts.withdraw(1, replaced);
        assert_eq!(scripts.opinions(&moment), [None, Some(None)]);
        scripts.withdraw(1, script);
        scripts.set(9, PriceScript::Silence);
        assert_eq!(scripts.opinions(&moment), [None, None]);
    }
}
