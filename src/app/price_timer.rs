//! The clock of the price feed: wakes the chain so often that no tick is missed.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use crate::{chain::Chain, web::Shutdown};

/// Block times are whole seconds. Waking less often than that could fall on the end of one second and the beginning of
/// the next but one, and skip a tick.
const LONGEST: Duration = Duration::from_secs(1);

/// Wakes the chain every tick or more often, until the end begins. The chain decides what is due.
pub(super) async fn run(chain: Chain, tick: Duration, mut shutdown: Shutdown) {
    let mut timer = interval(tick.min(LONGEST));
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = timer.tick() => chain.wake(),
            () = shutdown.begun() => return,
        }
    }
}
