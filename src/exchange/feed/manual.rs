//! Prices that somebody decided about.

use parking_lot::Mutex;

use super::{Condition, Moment, Source};

/// Prices that are held until they are let go of. Others have no opinion from here.
#[derive(Debug)]
pub struct Manual(Mutex<Vec<Option<u64>>>);

impl Manual {
    /// No opinion on any of so many tokens.
    pub fn new(tokens: usize) -> Self {
        Self(Mutex::new(vec![None; tokens]))
    }

    /// Holds a token's price, in US dollars × 10^8, or lets go of it.
    pub fn hold(&self, token: usize, price: Option<u64>) {
        if let Some(held) = self.0.lock().get_mut(token) {
            *held = price;
        }
    }

    /// The price that a token is held at.
    pub fn held(&self, token: usize) -> Option<u64> {
        self.0.lock().get(token).copied().flatten()
    }
}

impl Source for Manual {
    fn prices(&self, _: &Moment<'_>) -> Vec<Option<u64>> {
        self.0.lock().clone()
    }

    fn condition(&self) -> Condition {
        Condition::ok("manual")
    }
}
