//! Periodic tasks.

use std::{sync::Arc, time::Duration};

use tetrad_chain::Chain;
use tetrad_exchange::feed::SourceSet;
use tetrad_web::Shutdown;
use tokio::time::{MissedTickBehavior, interval};

/// Longest interval between wake-ups. Block times are whole seconds: a longer one could go from the
/// end of one second to the beginning of the next but one, and skip a tick.
const LONGEST_TICK: Duration = Duration::from_secs(1);
/// Shortest and longest interval between searches of the pool for expired transactions.
const EXPIRY: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(60)];

/// Wakes the chain at least once per price tick until shutdown begins. The chain decides what is
/// due.
pub(super) async fn prices(chain: Chain, tick: Duration, shutdown: Shutdown) {
    every(tick.min(LONGEST_TICK), shutdown, || chain.wake()).await;
}

/// Has the price sources contact their upstreams while the node leads its cluster, until shutdown
/// begins.
pub(super) async fn sources(chain: Chain, sources: Arc<SourceSet>, mut shutdown: Shutdown) {
    let mut leadership = chain.leadership();
    let ends = shutdown.clone();
    let watch = async {
        while leadership
            .wait_for(|leadership| leadership.leads)
            .await
            .is_ok()
        {
            let asking = sources.start(&ends);
            let has_writer_ended = leadership
                .wait_for(|leadership| !leadership.leads)
                .await
                .is_err();
            // A node that no longer leads stops asking.
            drop(asking);
            if has_writer_ended {
                return;
            }
        }
    };

    tokio::select! {
        () = watch => {}
        () = shutdown.begun() => {}
    }
}

/// Drops transactions that have waited in the pool for longer than `lifetime`, until shutdown
/// begins.
pub(super) async fn pool(chain: Chain, lifetime: Duration, shutdown: Shutdown) {
    let [shortest, longest] = EXPIRY;
    every((lifetime / 16).clamp(shortest, longest), shutdown, || {
        chain.expire_waiting()
    })
    .await;
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
