//! Limits on what each client holds open: connections, or streams without an end.

use std::{collections::HashMap, sync::Arc};

use alloy_primitives::map::DefaultHashBuilder;
use parking_lot::Mutex;

use super::ClientKey;

/// Slots of clients, up to a limit for each. Clones share the count.
#[derive(Clone, Debug)]
pub struct ClientSlots {
    max: usize,
    taken: Arc<Mutex<HashMap<ClientKey, usize, DefaultHashBuilder>>>,
}

/// One of a client's slots, freed on drop.
#[derive(Debug)]
pub struct ClientSlot {
    key: ClientKey,
    slots: ClientSlots,
}

impl ClientSlots {
    /// At most `max` slots of each client.
    pub fn new(max: usize) -> Self {
        Self {
            max,
            taken: Arc::default(),
        }
    }

    /// The most that one client may hold.
    pub(super) fn max(&self) -> usize {
        self.max
    }

    /// Takes a slot; none if the client has reached the limit.
    pub fn take(&self, key: ClientKey) -> Option<ClientSlot> {
        let mut taken = self.taken.lock();
        let count = taken.entry(key).or_default();
        if *count >= self.max {
            return None;
        }

        *count += 1;
        Some(ClientSlot {
            key,
            slots: self.clone(),
        })
    }
}

impl Drop for ClientSlot {
    fn drop(&mut self) {
        let mut taken = self.slots.taken.lock();
        if let Some(count) = taken.get_mut(&self.key) {
            *count -= 1;
            // Entries of clients without connections are removed.
            if *count == 0 {
                taken.remove(&self.key);
            }
        }
    }
}
