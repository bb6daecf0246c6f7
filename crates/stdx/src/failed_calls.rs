//! The calls and transactions that failed lately, as their clients sent them: the commonest
//! failures of a dapp, which no block shows.

use std::{collections::VecDeque, fmt, sync::Arc};

use alloy_primitives::{Address, Bytes};
use parking_lot::Mutex;
use serde_json::{Value, value::RawValue};
use tokio::sync::broadcast;

use crate::clock::{Clock, SystemClock};

/// The most calls that are kept.
const MAX_CALLS: usize = 100;
/// The most bytes that all of them take.
const MAX_BYTES: usize = 4 << 20;
/// The longest JSON of one part of a call that is kept: room for the code of the largest contract.
const MAX_JSON: usize = 128 << 10;
/// The most bytes of revert data that are kept.
const MAX_DATA: usize = 16 << 10;
/// The longest message that is kept, in bytes.
const MAX_MESSAGE: usize = 4 << 10;
/// The time for which a call is kept, in milliseconds.
const LIFETIME_MS: u64 = 60 * 60 * 1_000;
/// Calls by which a subscriber may fall behind.
const BACKLOG: usize = 16;

/// A call that failed.
#[derive(Clone, Debug)]
pub struct FailedCall {
    /// The time of the failure, in milliseconds since the Unix epoch.
    pub time_ms: u64,
    /// The method that was called.
    pub method: &'static str,
    /// The transaction object; none if it is too long or cannot be decoded.
    pub call: Option<Box<RawValue>>,
    /// The block on whose state the call ran, in a form that methods take.
    pub block: Option<Box<RawValue>>,
    /// The state overrides that came with it.
    pub state_overrides: Option<Box<RawValue>>,
    /// The block overrides that came with it.
    pub block_overrides: Option<Box<RawValue>>,
    /// The code of the error.
    pub code: i32,
    /// The message of the error.
    pub message: String,
    /// The revert data.
    pub data: Option<Bytes>,
    /// The decoded reason of a revert.
    pub reason: Option<String>,
}

impl FailedCall {
    /// The sender, recipient and input, as far as the transaction object has them.
    pub fn parties(&self) -> (Option<Address>, Option<Address>, Bytes) {
        let call: Value = self
            .call
            .as_ref()
            .and_then(|call| serde_json::from_str(call.get()).ok())
            .unwrap_or_default();

        let text = |name: &str| call.get(name).and_then(Value::as_str);
        let address = |name| text(name).and_then(|text| text.parse().ok());
        let input = text("input")
            .or_else(|| text("data"))
            .and_then(|text| text.parse().ok());
        (address("from"), address("to"), input.unwrap_or_default())
    }

    /// Drops what is too long to be kept.
    fn bounded(mut self) -> Self {
        let parts = [
            &mut self.call,
            &mut self.block,
            &mut self.state_overrides,
            &mut self.block_overrides,
        ];
        for part in parts {
            if part
                .as_ref()
                .is_some_and(|json| json.get().len() > MAX_JSON)
            {
                // Half of a JSON text is of no use.
                *part = None;
            }
        }

        if let Some(data) = &mut self.data
            && data.len() > MAX_DATA
        {
            *data = Bytes::copy_from_slice(&data[..MAX_DATA]);
        }

        for text in [Some(&mut self.message), self.reason.as_mut()]
            .into_iter()
            .flatten()
        {
            let end = (0..=MAX_MESSAGE.min(text.len()))
                .rev()
                .find(|at| text.is_char_boundary(*at));
            text.truncate(end.unwrap_or_default());
        }

        self
    }

    fn bytes(&self) -> usize {
        let parts = [
            &self.call,
            &self.block,
            &self.state_overrides,
            &self.block_overrides,
        ];

        let json: usize = parts
            .into_iter()
            .flatten()
            .map(|json| json.get().len())
            .sum();
        let texts = self.message.len() + self.reason.as_ref().map_or(0, String::len);
        size_of::<Self>() + json + texts + self.data.as_ref().map_or(0, |data| data.len())
    }
}

/// The failed calls of the last hour. Clones share them.
#[derive(Clone)]
pub struct FailedCalls(Arc<SharedCalls>);

struct SharedCalls {
    clock: Arc<dyn Clock>,
    /// The newest last, and the bytes that they take.
    kept: Mutex<(VecDeque<Arc<FailedCall>>, usize)>,
    events: broadcast::Sender<Arc<FailedCall>>,
}

impl Default for FailedCalls {
    fn default() -> Self {
        Self::new(Arc::new(SystemClock))
    }
}

impl fmt::Debug for FailedCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FailedCalls").finish_non_exhaustive()
    }
}

impl FailedCalls {
    /// No calls, by this clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(SharedCalls {
            clock,
            kept: Mutex::default(),
            events: broadcast::Sender::new(BACKLOG),
        }))
    }

    /// The present time, in milliseconds since the Unix epoch.
    pub fn now_ms(&self) -> u64 {
        self.0.clock.now_ms()
    }

    /// Adds a call, shortened to what is kept of one.
    pub fn add(&self, call: FailedCall) {
        let call = Arc::new(call.bounded());
        // There may be no subscribers.
        let _ = self.0.events.send(call.clone());

        let mut kept = self.0.kept.lock();
        let (calls, bytes) = &mut *kept;
        *bytes += call.bytes();
        calls.push_back(call);

        while calls.len() > MAX_CALLS || *bytes > MAX_BYTES {
            let Some(oldest) = calls.pop_front() else {
                return;
            };
            *bytes -= oldest.bytes();
        }
    }

    /// The calls of the last hour, newest first.
    pub fn recent(&self) -> Vec<Arc<FailedCall>> {
        let since = self.now_ms().saturating_sub(LIFETIME_MS);
        let mut kept = self.0.kept.lock();
        let (calls, bytes) = &mut *kept;

        while let Some(oldest) = calls.front().filter(|call| call.time_ms < since) {
            *bytes -= oldest.bytes();
            calls.pop_front();
        }

        calls.iter().rev().cloned().collect()
    }

    /// Subscribes to calls that fail from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<FailedCall>> {
        self.0.events.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    struct TestClock(AtomicU64);

    impl Clock for TestClock {
        fn now_ms(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }
    }

    fn json(text: &str) -> Option<Box<RawValue>> {
        Some(RawValue::from_string(text.to_owned()).unwrap())
    }

    fn failed(time_ms: u64, call: &str) -> FailedCall {
        FailedCall {
            time_ms,
            method: "eth_call",
            call: json(call),
            block: json("\"0x1\""),
            state_overrides: None,
            block_overrides: None,
            code: 3,
            message: "execution reverted".to_owned(),
            data: None,
            reason: None,
        }
    }

    #[test]
    fn the_newest_of_the_last_hour_are_kept() {
        let clock = Arc::new(TestClock(AtomicU64::new(0)));
        let calls = FailedCalls::new(clock.clone());
        (0..150).for_each(|time| calls.add(failed(time, "{}")));

        let times: Vec<_> = calls.recent().iter().map(|call| call.time_ms).collect();
        assert_eq!(times, (50..150).rev().collect::<Vec<_>>());

        clock.0.store(LIFETIME_MS + 148, Ordering::Relaxed);
        assert_eq!(calls.recent().len(), 2);

        clock.0.store(LIFETIME_MS + 150, Ordering::Relaxed);
        assert!(calls.recent().is_empty());
        assert_eq!(calls.0.kept.lock().1, 0);
    }

    #[test]
    fn memory_is_bounded() {
        let calls = FailedCalls::new(Arc::new(TestClock(AtomicU64::new(0))));
        let long = |length: usize| format!("{{\"data\":\"{}\"}}", "0".repeat(length));
        (0..MAX_CALLS).for_each(|_| calls.add(failed(0, &long(100_000))));
        let kept = calls.recent().len();
        let bytes = calls.0.kept.lock().1;
        assert!(
            (30..MAX_CALLS).contains(&kept) && bytes <= MAX_BYTES,
            "{kept} calls, {bytes} bytes"
        );

        let data = Some(vec![7; 1 << 20].into());
        let message = "\u{2602}".repeat(10_000);
        calls.add(FailedCall {
            data,
            message,
            ..failed(0, &long(MAX_JSON))
        });

        let newest = &calls.recent()[0];
        assert!(newest.call.is_none());
        assert_eq!(newest.data.as_ref().unwrap().len(), MAX_DATA);
        assert!((MAX_MESSAGE - 2..=MAX_MESSAGE).contains(&newest.message.len()));
    }

    #[test]
    fn the_parties_are_read_from_the_transaction_object() {
        let from = Address::repeat_byte(1);
        let to = Address::repeat_byte(2);
        let call = failed(
            0,
            &format!("{{\"from\":\"{from}\",\"to\":\"{to}\",\"data\":\"0x0102\"}}"),
        );
        assert_eq!(call.parties(), (Some(from), Some(to), vec![1, 2].into()));
        assert_eq!(failed(0, "[7]").parties(), (None, None, Bytes::new()));
    }
}
