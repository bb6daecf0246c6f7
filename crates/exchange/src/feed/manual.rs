//! Prices set by hand.

use parking_lot::Mutex;

use super::{Condition, Moment, Source};

/// The source of prices that are held until they are released. It has no price for other tokens.
#[derive(Debug)]
pub struct Manual(Mutex<Vec<Option<u64>>>);

impl Manual {
    /// A source for this number of tokens, none of which is held.
    pub fn new(tokens: usize) -> Self {
        Self(Mutex::new(vec![None; tokens]))
    }

    /// Holds a token's price, in US dollars × 10^8, or releases it.
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
