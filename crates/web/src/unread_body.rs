//! Bodies of requests that were not read to their end.
//!
//! The unread rest of a refused body is read and discarded within limits before the response is
//! sent, for every route and status, since many clients and proxies read the response only after
//! sending the whole body. If the body does not end, the response says `connection: close`. The
//! connection does this, because handlers would forget it.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::timeout;

/// The number of bytes of a body that are read and discarded at most.
const MAX_DISCARDED: u64 = 32 << 20;
/// The time that discarding may take, and the time that the client may pause meanwhile.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(250);

/// The rest of a body, which was not read before the response.
#[derive(Debug)]
pub(super) struct UnreadBody {
    pub(super) body: Incoming,
    /// Whether the client sends without being asked to.
    pub(super) may_read: bool,
}

impl UnreadBody {
    /// Reads and discards it within limits, so that the client gets to read the response: many
    /// clients and proxies read it only after they have sent everything. Returns whether it ended,
    /// so that the connection can be used again.
    pub(super) async fn discard(mut self) -> bool {
        if !self.may_read {
            return false;
        }

        let reading = async {
            let mut left = MAX_DISCARDED;
            // A client that pauses is already waiting for the response.
            while let Ok(frame) = timeout(PAUSE, self.body.frame()).await {
                let Some(frame) = frame else { return true };
                let Ok(frame) = frame else { return false };

                let length = frame.data_ref().map_or(0, |data| data.len() as u64);
                let Some(rest) = left.checked_sub(length) else {
                    return false;
                };
                left = rest;
            }
            false
        };

        timeout(DISCARD_TIMEOUT, reading).await.unwrap_or(false)
    }
}
