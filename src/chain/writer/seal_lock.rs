//! Which submitter seals: one at a time, on the thread where the transaction arrived.
//!
//! Handing a transaction to the writer's thread and the outcome back takes longer than sealing a small block. So, on a
//! chain that lives in memory, a submitter whose transactions come one after another takes the writer's place for a
//! moment, if no other submitter has it. The others ask the holder to look again, and their transactions go into its
//! next block.

use std::sync::atomic::{AtomicU8, Ordering};

/// Not held; held; held, and another submitter waits for the holder to look again.
const FREE: u8 = 0;
const HELD: u8 = 1;
const WANTED: u8 = 2;

/// Held by the submitter that seals.
#[derive(Debug, Default)]
pub(in crate::chain) struct SealLock(AtomicU8);

impl SealLock {
    /// Takes the lock. If it is held, the holder will look again, and see everything that was in the pool before this call.
    pub(in crate::chain) fn take(&self) -> bool {
        let next = |state: u8| Some(if state == FREE { HELD } else { WANTED });
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) == Ok(FREE)
    }

    /// Releases the lock, unless a submitter waits for the holder to look again. Returns whether it was released.
    pub(in crate::chain) fn release(&self) -> bool {
        self.0.fetch_sub(1, Ordering::AcqRel) != WANTED
    }
}

#[cfg(test)]
mod tests {
    use super::SealLock;

    #[test]
    fn a_waiting_submitter_is_seen_once() {
        let lock = SealLock::default();
        assert!(lock.take());
        assert!(!lock.take());
        assert!(!lock.take());
        assert!(!lock.release());
        assert!(lock.release());
        assert!(lock.take());
        assert!(lock.release());
    }
}
