//! The window against a simple model: a list of all admitted requests.

use std::net::{IpAddr, Ipv4Addr};

use proptest::prelude::*;
use tetrad_web::{ClientKey, SlidingWindow};

const WINDOW_MS: u64 = 60_000;

#[derive(Default)]
struct Model {
    admitted: Vec<(u8, u64)>,
}

impl Model {
    /// The number of requests of a client that count at a time.
    fn counting(&self, client: u8, now: u64) -> usize {
        self.admitted
            .iter()
            .filter(|(who, at)| *who == client && now - at < WINDOW_MS)
            .count()
    }

    fn admit(&mut self, client: u8, now: u64, limit: usize) -> (bool, usize) {
        let admitted = self.counting(client, now) < limit;
        if admitted {
            self.admitted.push((client, now));
        }
        (admitted, limit - self.counting(client, now))
    }

    fn would_admit(&self, client: u8, now: u64, limit: usize) -> bool {
        self.counting(client, now) < limit
    }
}

fn key(client: u8) -> ClientKey {
    IpAddr::from(Ipv4Addr::new(192, 0, 2, client)).into()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_window_admits_the_same_requests_as_the_model(
        limit in 1usize..8,
        steps in prop::collection::vec(
            (0u8..4, prop_oneof![0u64..3_000, 55_000u64..65_000]),
            1..150,
        ),
    ) {
        assert_matches_the_model(limit, steps)?;
    }

    #[test]
    fn a_window_limits_its_clients(clients in prop::collection::vec(any::<u32>(), 1..300)) {
        let mut window = SlidingWindow::new(1, WINDOW_MS, 16);
        for (now, client) in clients.into_iter().enumerate() {
            window.admit(IpAddr::from(Ipv4Addr::from(client)).into(), now as u64);
            prop_assert!(window.clients() <= 16);
        }
    }
}

fn assert_matches_the_model(limit: usize, steps: Vec<(u8, u64)>) -> Result<(), TestCaseError> {
    let mut window = SlidingWindow::new(limit, WINDOW_MS, 100);
    let mut model = Model::default();
    let mut now = 0;

    for (client, pause) in steps {
        now += pause;
        let admission = window.admit(key(client), now);
        let (admitted, remaining) = model.admit(client, now, limit);
        prop_assert_eq!(
            (admission.admitted, admission.remaining),
            (admitted, remaining)
        );

        // A client that waits for the reported time is admitted.
        prop_assert!(admission.reset_ms >= 1 && admission.reset_ms <= WINDOW_MS);
        if !admission.admitted {
            let reset = now + admission.reset_ms;
            prop_assert!(model.would_admit(client, reset, limit));
            prop_assert!(
                !model.would_admit(client, reset - 1, limit),
                "not a moment earlier"
            );
        }
    }
    Ok(())
}
