//! What happens every so often.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use crate::{chain::Chain, web::Shutdown};

/// Block times are whole seconds. Waking less often than that could fall on the end of one second and the beginning of
/// the next but one, and skip a tick.
const LONGEST_TICK: Duration = Duration::from_secs(1);
/// How often the pool is searched for what waited too long, at most and at least.
const EXPIRY: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(60)];

/// Wakes the chain every tick of the prices or more often, until the end begins. The chain decides what is due.
pub(super) async fn prices(chain: Chain, tick: Duration, shutdown: Shutdown) {
    every(tick.min(LONGEST_TICK), shutdown, || chain.wake()).await;
}

/// Has the pool let go of what waited for longer than `lifetime`, until the end begins.
pub(super) async fn pool(chain: Chain, lifetime: Duration, shutdown: Shutdown) {
    let [shortest, longest] = EXPIRY;
    every((lifetime / 16).clamp(shortest, longest), shutdown, || chain.expire_waiting()).await;
}

async fn every(period: Duration, mut shutdown: Shutdown, act: impl Fn()) {
    let mut timer = interval(period);
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = timer.tick() => act(),
            () = shutdown.begun() => return,
        }
    }
}
