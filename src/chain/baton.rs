//! Who of those that submit transactions seals them: one at a time, where they arrived.
//!
//! Handing a transaction to the writer's thread and the outcome back takes longer than a small block does. So, on a
//! chain that lives in memory, whoever submits one after another takes over the writer's work for a moment, if nobody
//! else is at it. Who finds another one at it leaves word, and is served by the next block of theirs.

use std::sync::atomic::{AtomicU8, Ordering};

/// Nobody has it; somebody has it; somebody has it and is to look again.
const FREE: u8 = 0;
const HELD: u8 = 1;
const WANTED: u8 = 2;

/// Held by the one who seals.
#[derive(Debug, Default)]
pub(super) struct Baton(AtomicU8);

impl Baton {
    /// Takes it. If somebody has it they will look again, and see everything that was in the pool before this call.
    pub(super) fn take(&self) -> bool {
        let next = |state: u8| Some(if state == FREE { HELD } else { WANTED });
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) == Ok(FREE)
    }

    /// Gives it back, or keeps it, and returns true, if there is more to look at.
    pub(super) fn keeps(&self) -> bool {
        self.0.fetch_sub(1, Ordering::AcqRel) == WANTED
    }
}

#[cfg(test)]
mod tests {
    use super::Baton;

    #[test]
    fn whoever_comes_meanwhile_is_seen_once() {
        let baton = Baton::default();
        assert!(baton.take());
        assert!(!baton.take());
        assert!(!baton.take());
        assert!(baton.keeps());
        assert!(!baton.keeps());
        assert!(baton.take());
        assert!(!baton.keeps());
    }
}
