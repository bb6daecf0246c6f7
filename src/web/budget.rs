//! Memory for what is under way between clients and the node, shared by all connections.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

/// Bytes that are not counted: most requests and answers are smaller, and go on whatever others do.
const FREE: usize = 16 << 10;
/// What is counted together.
const UNIT: usize = 4 << 10;
/// How long something waits for others to give memory back.
const PATIENCE: Duration = Duration::from_secs(2);

/// How much there is. Clones share it.
#[derive(Clone, Debug)]
pub struct Budget {
    units: Arc<Semaphore>,
    total: usize,
}

/// What something under way holds; given back when dropped.
#[derive(Debug, Default)]
pub struct Held {
    permit: Option<OwnedSemaphorePermit>,
    units: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(256 << 20)
    }
}

impl Budget {
    /// So many bytes.
    pub fn new(bytes: usize) -> Self {
        let total = (bytes / UNIT).clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        Self { units: Arc::new(Semaphore::new(total)), total }
    }

    /// Room for `bytes`. None if others hold all of it for too long.
    pub async fn hold(&self, bytes: usize) -> Option<Held> {
        let mut held = Held::default();
        self.grow(&mut held, bytes).await.then_some(held)
    }

    /// Makes `held` cover `bytes`. False if others hold everything for too long.
    pub async fn grow(&self, held: &mut Held, bytes: usize) -> bool {
        let missing = self.missing(held, bytes);
        if missing == 0 {
            return true;
        }
        match timeout(PATIENCE, self.units.clone().acquire_many_owned(missing)).await {
            Ok(Ok(permit)) => {
                held.add(permit);
                true
            }
            _ => false,
        }
    }

    /// The same without waiting.
    pub(super) fn try_grow(&self, held: &mut Held, bytes: usize) -> bool {
        let missing = self.missing(held, bytes);
        if missing == 0 {
            return true;
        }
        match self.units.clone().try_acquire_many_owned(missing) {
            Ok(permit) => {
                held.add(permit);
                true
            }
            Err(_) => false,
        }
    }

    fn missing(&self, held: &Held, bytes: usize) -> u32 {
        if bytes <= FREE {
            return 0;
        }
        // What is larger than all there is has to have it for itself.
        let units = bytes.div_ceil(UNIT).min(self.total);
        u32::try_from(units.saturating_sub(held.units)).unwrap_or(u32::MAX)
    }
}

impl Held {
    fn add(&mut self, more: OwnedSemaphorePermit) {
        self.units += more.num_permits();
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            None => self.permit = Some(more),
        }
    }

    /// Whether anything is counted.
    pub fn is_nothing(&self) -> bool {
        self.units == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_small_goes_on_when_nothing_is_left() {
        let budget = Budget::new(1 << 20);
        let mut held = budget.hold(600 << 10).await.expect("room");
        assert!(budget.hold(600 << 10).await.is_none());
        assert!(!budget.try_grow(&mut Held::default(), 600 << 10));
        assert!(budget.hold(FREE).await.is_some_and(|held| held.is_nothing()));
        assert!(budget.grow(&mut held, 1 << 20).await);
        assert!(budget.hold(FREE + 1).await.is_none());
        drop(held);
        let all = budget.hold(usize::MAX).await.expect("everything");
        drop(all);
        assert!(budget.hold(600 << 10).await.is_some());
    }
}
