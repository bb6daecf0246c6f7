//! The check that the forked block is still a block of the other chain.

use std::{sync::Weak, time::Duration};

use alloy_primitives::B256;
use tokio::time::sleep;
use tracing::warn;

use super::requester::Requester;

/// The checks in a row that find another block before the fork fails. One is not enough: behind a
/// URL there may be several nodes, and one of them may be on a branch for a moment.
const MISMATCHES_BEFORE_FAILURE: u32 = 3;

/// Checks the hash of a block at an interval, while requests are sent, until the client is dropped
/// or uses other nodes. While another block has its place, calls fail: the state would be that of
/// another chain.
pub(super) async fn watch_block(
    requester: Weak<Requester>,
    number: u64,
    hash: B256,
    interval: Duration,
) {
    let mut requests_before = 0;
    let mut mismatches = 0;
    loop {
        sleep(interval).await;
        let Some(requester) = requester.upgrade() else {
            return;
        };
        if !requester.is_original() {
            return;
        }
        let is_idle = requester.counters.requests.get() == requests_before;
        if is_idle && mismatches == 0 {
            continue;
        }

        match requester.block_hash(number).await {
            Some(found) if found != hash => {
                mismatches += 1;
                if mismatches == MISMATCHES_BEFORE_FAILURE {
                    let error = reorganised(number, hash, found);
                    warn!("{error}");
                    requester.set_reorganised(Some(error));
                }
            }
            Some(_) => {
                mismatches = 0;
                requester.set_reorganised(None);
            }
            None => {}
        }
        requests_before = requester.counters.requests.get();
    }
}

fn reorganised(number: u64, hash: B256, found: B256) -> String {
    format!(
        "the other chain has been reorganised: its block {number} is {found} now, and this fork \
         began at {hash}; fork again, or fork an older block"
    )
}
