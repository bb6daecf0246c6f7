//! The lock of the submitter that seals on its own thread.
//!
//! Handing a transaction to the writer's thread, and the outcome back, takes longer than sealing a
//! small block. On a chain that lives in memory, a submitter whose transactions arrive sequentially
//! therefore seals on its own thread, unless another submitter does. The others ask the holder of
//! the lock to check the pool again, and their transactions go into its next block.

use std::sync::atomic::{AtomicU8, Ordering};

/// The states of the lock: not held; held; held, with another submitter waiting for the holder to
/// check the pool again.
const FREE: u8 = 0;
const HELD: u8 = 1;
const WANTED: u8 = 2;

/// The lock that a submitter holds while it seals.
#[derive(Debug, Default)]
pub(crate) struct SealLock(AtomicU8);

impl SealLock {
    /// Takes the lock if it is free. Otherwise its holder will check the pool again, including
    /// everything that was added before this call.
    pub(crate) fn take(&self) -> bool {
        // Acquire and release, so that the next check sees what the caller has added to the pool.
        let next = |state: u8| Some(if state == FREE { HELD } else { WANTED });
        self.0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next)
            == Ok(FREE)
    }

    /// Releases the lock, unless another submitter waits for a new check. Returns whether it was
    /// released.
    pub(crate) fn release(&self) -> bool {
        // `WANTED` becomes `HELD`: one more check serves all who asked.
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
