//! The memory budget of requests and responses in flight, shared by all connections.
//!
//! A request or a response gets at most as much as it leaves free (a dynamic threshold, as switches
//! use for their buffers), so that the next one finds room for as much as the last one got.
//! Requests leave a share to responses: otherwise all but the shortest responses would be refused
//! while a client delays the bodies of its requests.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::body::Bytes;
use tokio::{sync::Notify, time::timeout};

use super::{ClientKey, ClientSlot, ClientSlots};

/// Size in bytes up to which a request or a response is not counted, and so never refused: most are
/// smaller. The streams of an HTTP/2 connection share one such allowance.
pub(super) const UNCOUNTED: usize = 16 << 10;
/// The largest growth in bytes that waits for room if its memory is allocated already. Larger ones
/// fail at once, since many could wait at the same time.
const MAX_WAITING_GROWTH: usize = 256 << 10;
/// The largest shortfall in bytes at which held memory counts as sufficient: a growth of this size
/// may wait for room.
const MAX_LACKING: usize = MAX_WAITING_GROWTH;
/// Requests leave the budget divided by this to responses.
const RESPONSE_SHARES: usize = 8;
/// Memory in bytes of an HTTP/2 stream without a response yet, in addition to its body: the futures
/// that answer it, and the state of the protocol.
pub(super) const PENDING_STREAM: usize = 8 << 10;
/// The waiting streams of one client take at most the budget divided by this.
const STREAM_SHARES: usize = 2;
/// The time for which a holder waits for others to release memory.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);

/// The bytes that are free. Clones share them.
#[derive(Clone, Debug)]
pub struct Budget {
    shared: Arc<SharedBudget>,
    /// Bytes that stay free when memory is taken through this clone.
    reserved: usize,
}

#[derive(Debug)]
struct SharedBudget {
    total: usize,
    used: AtomicUsize,
    released: Notify,
    /// The streams of HTTP/2 that wait for their response, by client.
    streams: ClientSlots,
}

/// Bytes taken from a budget, and released on drop.
#[derive(Debug, Default)]
pub struct Held {
    from: Option<Arc<SharedBudget>>,
    bytes: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(256 << 20)
    }
}

impl Budget {
    /// A budget of this number of bytes.
    pub fn new(bytes: usize) -> Self {
        let shared = SharedBudget {
            total: bytes.max(1),
            used: AtomicUsize::new(0),
            released: Notify::new(),
            streams: ClientSlots::new(bytes / STREAM_SHARES / PENDING_STREAM),
        };
        Self {
            shared: Arc::new(shared),
            reserved: 0,
        }
    }

    /// Returns the same budget for requests, which leave a share of it to responses, unless a
    /// request is the only holder.
    pub(super) fn for_requests(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            reserved: self.bytes() / RESPONSE_SHARES,
        }
    }

    /// Takes one of the HTTP/2 streams that a client may have without a response, on all of its
    /// connections. They are limited because requests with delayed bodies cost a client next to
    /// nothing.
    pub(super) fn take_stream(&self, client: ClientKey) -> Option<ClientSlot> {
        self.shared.streams.take(client)
    }

    /// The size of the budget in bytes.
    pub fn bytes(&self) -> usize {
        self.shared.total
    }

    /// The number of bytes in use.
    pub fn used(&self) -> usize {
        self.shared.used.load(Ordering::Relaxed)
    }

    /// Takes `bytes` before they take memory. Returns none if there is no room in time.
    pub async fn hold(&self, bytes: usize) -> Option<Held> {
        let mut held = Held::default();
        self.reserve(&mut held, bytes).await.then_some(held)
    }

    /// Extends `held` to `bytes` that are allocated already. Returns false if there is no room in
    /// time, or at once if the growth is large.
    pub async fn grow(&self, held: &mut Held, bytes: usize) -> bool {
        if self.try_grow(held, bytes) {
            return true;
        }
        bytes.saturating_sub(held.bytes) <= MAX_WAITING_GROWTH && self.reserve(held, bytes).await
    }

    /// Extends `held` to `bytes` before they are allocated. Returns false if there is no room in
    /// time.
    pub async fn reserve(&self, held: &mut Held, bytes: usize) -> bool {
        let growing = async {
            loop {
                let mut released = std::pin::pin!(self.shared.released.notified());
                // Registers for releases, so that none from here on is missed.
                released.as_mut().enable();
                if self.try_grow(held, bytes) {
                    return;
                }
                released.await;
            }
        };
        timeout(RELEASE_TIMEOUT, growing).await.is_ok()
    }

    /// Takes memory as `grow` does, but fails instead of waiting.
    pub fn try_grow(&self, held: &mut Held, bytes: usize) -> bool {
        // A request larger than the budget needs all of it.
        let wanted = bytes.min(self.shared.total);
        if bytes <= UNCOUNTED || wanted <= held.bytes {
            return true;
        }

        let more = wanted - held.bytes;
        // Relaxed: the counter guards no other memory.
        let take = |used: usize| Some(used + more).filter(|used| self.permits(wanted, *used));
        let taken = self
            .shared
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_ok();

        if taken {
            held.bytes = wanted;
            held.from = Some(self.shared.clone());
        }
        taken
    }

    /// Whether less than a quarter is used, so that there is memory for what a client can do
    /// without.
    pub(crate) fn is_ample(&self) -> bool {
        self.shared.used.load(Ordering::Relaxed) < self.shared.total / 4
    }

    /// Moves the bytes of `other` to `held`. Returns false, and releases `other`, if one holder may
    /// not have as many.
    pub fn merge(&self, held: &mut Held, mut other: Held) -> bool {
        // Both are counted already; only the limit of one holder is left to check.
        let used = self.shared.used.load(Ordering::Relaxed);
        let fits = other.is_nothing() || self.permits(held.bytes + other.bytes, used);

        if fits && !other.is_nothing() {
            held.bytes += std::mem::take(&mut other.bytes);
            held.from = Some(self.shared.clone());
        }
        fits
    }

    /// Whether one holder may have `bytes` of all `used` bytes: no more than what stays free for
    /// the others, without what is reserved, unless it is the only one.
    fn permits(&self, bytes: usize, used: usize) -> bool {
        let Some(free) = self.shared.total.checked_sub(used) else {
            return false;
        };
        bytes <= free.saturating_sub(self.reserved) || bytes == used
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(from) = &self.from {
            from.used.fetch_sub(self.bytes, Ordering::Relaxed);
            // All of them: only some may fit into what was released.
            from.released.notify_waiters();
        }
    }
}

impl Held {
    /// Returns whether this memory covers `bytes`, except for a shortfall of [`MAX_LACKING`].
    pub(super) fn covers(&self, bytes: usize) -> bool {
        let total = self.from.as_ref().map_or(usize::MAX, |from| from.total);
        // Refusals at the end of a batch come after the memory was used up.
        bytes <= UNCOUNTED || bytes.min(total) <= self.bytes + MAX_LACKING
    }

    /// Releases all but `bytes`.
    pub(super) fn shrink_to(&mut self, bytes: usize) {
        if let Some(from) = &self.from
            && bytes < self.bytes
        {
            from.used.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
            from.released.notify_waiters();
            self.bytes = bytes;
        }
    }

    /// Whether no bytes are counted.
    pub(crate) fn is_nothing(&self) -> bool {
        self.bytes == 0
    }

    /// Ties this to `bytes`: it is released when they are dropped.
    pub fn attach(self, bytes: Vec<u8>) -> Bytes {
        self.attach_to(bytes.into())
    }

    /// The same for bytes that may be shared.
    pub(super) fn attach_to(self, bytes: Bytes) -> Bytes {
        if self.is_nothing() {
            bytes
        } else {
            attached(bytes, self)
        }
    }
}

/// Bytes that hold something for as long as they exist.
pub(super) fn attached<T: Send + 'static>(bytes: Bytes, held: T) -> Bytes {
    struct Attached<T>(Bytes, T);
    impl<T> AsRef<[u8]> for Attached<T> {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    Bytes::from_owner(Attached(bytes, held))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn small_requests_pass_when_nothing_is_left() {
        let budget = Budget::new(1 << 20);
        let mut held = budget.hold(600 << 10).await.expect("room");
        assert!(budget.hold(600 << 10).await.is_none());
        assert!(!budget.try_grow(&mut Held::default(), 600 << 10));

        assert!(
            budget
                .hold(UNCOUNTED)
                .await
                .is_some_and(|held| held.is_nothing())
        );

        assert!(budget.grow(&mut held, 1 << 20).await);
        assert!(budget.hold(UNCOUNTED + 1).await.is_none());
        drop(held);

        let all = budget.hold(usize::MAX).await.expect("everything");
        drop(all);
        assert!(budget.hold(600 << 10).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn many_holders_leave_room_for_the_next() {
        let budget = Budget::new(64 << 20);
        let mut flood = Vec::new();
        while let Some(held) = budget.hold(4 << 20).await {
            flood.push(held);
        }
        assert!(flood.len() >= 14, "{}", flood.len());

        // Growing in small steps takes no more than asking at once.
        let mut crept = Held::default();
        let mut size = UNCOUNTED;
        while budget.try_grow(&mut crept, size + 1024) {
            size += 1024;
        }

        assert!(size <= 4 << 20);
        assert!(budget.hold(1 << 20).await.is_some());
        drop(flood);
        assert!(budget.hold(16 << 20).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn requests_leave_room_for_responses() {
        let budget = Budget::new(64 << 20);
        let requests = budget.for_requests();
        let mut flood = Vec::new();
        for size in [32 << 20, 8 << 20, 1 << 20, 128 << 10, UNCOUNTED + 1] {
            while let Some(held) = requests.hold(size).await {
                flood.push(held);
            }
        }
        assert!(requests.hold(UNCOUNTED + 1).await.is_none());
        assert!(budget.hold(4 << 20).await.is_some());

        drop(flood);
        assert!(
            requests.hold(64 << 20).await.is_some(),
            "alone, a request may have everything"
        );
    }

    #[tokio::test]
    async fn a_release_lets_the_next_holder_in() {
        let budget = Budget::new(256 << 10);
        let held = budget.hold(200 << 10).await.expect("room");
        let (next, ()) = tokio::join!(budget.hold(200 << 10), async { drop(held) });
        assert!(next.is_some());
    }
}
