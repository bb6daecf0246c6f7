//! Prices from services that may be down, slow, wrong or malicious.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{State, ws::WebSocketUpgrade},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::any,
};
use parking_lot::Mutex;
use tetrad_contracts::contracts::bindings::PriceOracle;
use tetrad_exchange::{
    Feed,
    feed::{Moment, Source, SourceHealth, Upstream, UpstreamConfig},
};
use tetrad_network::network::Network;
use tetrad_stdx::clock::{Clock, ManualClock};
use tetrad_web::ShutdownHandle;
use tokio::net::TcpListener;

use crate::support::{
    chain::{token, usd_e8},
    manual_clock, node, node_at, node_with,
};

/// How the server handles a request.
#[derive(Clone, Debug)]
enum Behaviour {
    Answers(String),
    Fails(StatusCode),
    SendsTooMuch,
    SendsGarbage,
    Hangs,
    BreaksOff,
    Redirects(String),
}

/// A server with this behaviour over HTTP and WebSocket, and a handle to change it.
async fn server(behaviour: Behaviour) -> (String, Arc<Mutex<Behaviour>>) {
    let behaviour = Arc::new(Mutex::new(behaviour));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let router = Router::new()
        .route("/ws", any(send_prices))
        .fallback(any(answer))
        .with_state(behaviour.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (address.to_string(), behaviour)
}

async fn answer(State(behaviour): State<Arc<Mutex<Behaviour>>>) -> Response {
    let behaviour = behaviour.lock().clone();
    match behaviour {
        Behaviour::Answers(body) => body.into_response(),
        Behaviour::Fails(status) => (status, "no").into_response(),
        Behaviour::SendsTooMuch => "7".repeat(5 << 20).into_response(),
        Behaviour::SendsGarbage => vec![0xff, 0xfe, b'{', b'"'].into_response(),
        Behaviour::Hangs => std::future::pending().await,
        Behaviour::BreaksOff => {
            let pieces = [Ok("{\"WETH\":"), Err(std::io::Error::other("gone"))];
            Body::from_stream(futures_util::stream::iter(pieces)).into_response()
        }
        Behaviour::Redirects(to) => (StatusCode::FOUND, [("location", to)]).into_response(),
    }
}

async fn send_prices(
    State(behaviour): State<Arc<Mutex<Behaviour>>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    upgrade.on_upgrade(async move |mut socket| {
        let behaviour = behaviour.lock().clone();
        let _ = match behaviour {
            Behaviour::Answers(body) => socket.send(body.into()).await,
            Behaviour::SendsGarbage => socket.send(vec![0xff, 0xfe].into()).await,
            _ => return,
        };
        // Until the client disconnects.
        while let Some(Ok(_)) = socket.recv().await {}
    })
}

/// A configuration with short intervals and timeouts.
fn fast_config() -> UpstreamConfig {
    UpstreamConfig {
        interval: Duration::from_millis(5),
        timeout: Duration::from_millis(200),
        retries: 1,
        max_age: Duration::from_secs(60),
        subscribe: None,
        ca_file: None,
        backoff: Duration::from_millis(1),
        threshold: 3,
        cooldown: Duration::from_millis(20),
    }
}

struct Tested {
    upstream: Upstream,
    clock: Arc<ManualClock>,
    shutdown: ShutdownHandle,
}

impl Tested {
    fn start(spec: &str, config: UpstreamConfig) -> Self {
        let clock = manual_clock();
        let shared: Arc<dyn Clock> = clock.clone();
        let network = Arc::new(Network::default());
        let upstream = Upstream::new(spec.parse().expect("a source"), config, network, shared)
            .expect("an upstream");
        let (handle, shutdown) = ShutdownHandle::new();
        tokio::spawn(upstream.clone().run(shutdown));
        Self {
            upstream,
            clock,
            shutdown: handle,
        }
    }

    /// The upstream's price of a token.
    fn price(&self, symbol: &str) -> Option<u64> {
        let network = Network::default();
        let position = network
            .tokens
            .iter()
            .position(|token| token.symbol == symbol)
            .expect("a token");
        let current = [Feed::default(); 12];
        self.upstream.prices(&Moment {
            current: &current,
            time: 0,
            genesis: 0,
            elapsed: 0,
            update: 0,
        })[position]
    }

    /// Waits until the upstream is in this state.
    async fn until(&self, wanted: SourceHealth) {
        let mut attempts = self.upstream.attempts();
        let reached = async {
            while self.upstream.condition().status != wanted {
                attempts.changed().await.expect("the upstream runs");
            }
        };
        let patience = Duration::from_secs(20);
        tokio::time::timeout(patience, reached)
            .await
            .unwrap_or_else(|_| panic!("{:?}", self.upstream.condition()));
    }

    async fn end(self) {
        assert!(
            self.shutdown.shut_down(Duration::from_secs(10)).await,
            "the upstream ends with the node"
        );
    }
}

const GOOD: &str = r#"{"WETH":3500.25,"USDC":"0.9999","WBTC":null,"SOL":-5,"DOT":0}"#;

#[tokio::test]
async fn only_valid_prices_of_a_service_are_taken() {
    let (address, _) = server(Behaviour::Answers(GOOD.to_owned())).await;
    for place in [
        "http://ADDRESS/prices",
        "http://ADDRESS/prices/{symbol}",
        "ws://ADDRESS/ws",
    ] {
        let spec = format!("{}#{{symbol}}", place.replace("ADDRESS", &address));
        let tested = Tested::start(&spec, fast_config());
        tested.until(SourceHealth::Ok).await;
        assert_eq!(tested.price("WETH"), Some(350_025_000_000));
        assert_eq!(tested.price("USDC"), Some(99_990_000));
        for symbol in ["WBTC", "SOL", "DOT", "UNI"] {
            assert_eq!(tested.price(symbol), None, "{symbol} from {place}");
        }
        tested.end().await;
    }
}

#[tokio::test]
async fn failures_open_the_circuit_and_are_named() {
    let (elsewhere, _) = server(Behaviour::Answers(GOOD.to_owned())).await;
    for (behaviour, expected) in [
        (Behaviour::Fails(StatusCode::INTERNAL_SERVER_ERROR), "500"),
        (Behaviour::Fails(StatusCode::TOO_MANY_REQUESTS), "429"),
        (Behaviour::Answers("{}".to_owned()), "no price at {symbol}"),
        (Behaviour::Answers("[".to_owned()), "no price at {symbol}"),
        (Behaviour::SendsTooMuch, "more than"),
        (Behaviour::SendsGarbage, "UTF-8"),
        (Behaviour::Hangs, "timed out"),
        (Behaviour::BreaksOff, "error"),
        (
            Behaviour::Redirects(format!("http://{elsewhere}/prices")),
            "redirects are not followed",
        ),
    ] {
        let (address, current) = server(behaviour.clone()).await;
        let tested = Tested::start(
            &format!("http://{address}/prices#{{symbol}}"),
            fast_config(),
        );
        tested.until(SourceHealth::Broken).await;
        let condition = tested.upstream.condition();
        let error = condition.error.expect("a reason");
        assert!(error.contains(expected), "{behaviour:?}: {error}");
        assert!(condition.failures >= 3 && tested.price("WETH").is_none());

        // The upstream recovers by itself.
        *current.lock() = Behaviour::Answers(GOOD.to_owned());
        tested.until(SourceHealth::Ok).await;
        assert_eq!(
            (tested.price("WETH"), tested.upstream.condition().failures),
            (Some(350_025_000_000), 0)
        );
        tested.end().await;
    }
}

#[tokio::test]
async fn an_unreachable_service_is_reported_as_broken() {
    let address = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port")
        .local_addr()
        .expect("an address");
    for scheme in ["http", "ws"] {
        let tested = Tested::start(&format!("{scheme}://{address}/x#{{symbol}}"), fast_config());
        tested.until(SourceHealth::Broken).await;
        tested.end().await;
    }
}

#[tokio::test]
async fn a_socket_that_closes_or_sends_no_prices_fails() {
    for behaviour in [
        Behaviour::Hangs,
        Behaviour::SendsGarbage,
        Behaviour::Answers("{\"x\":1}".to_owned()),
    ] {
        let (address, current) = server(behaviour).await;
        let config = UpstreamConfig {
            max_age: Duration::from_millis(50),
            ..fast_config()
        };
        let tested = Tested::start(&format!("ws://{address}/ws#{{symbol}}"), config);
        tested.until(SourceHealth::Broken).await;
        *current.lock() = Behaviour::Answers(GOOD.to_owned());
        tested.until(SourceHealth::Ok).await;
        tested.end().await;
    }
}

#[tokio::test]
async fn an_expired_price_is_not_used() {
    let (address, behaviour) = server(Behaviour::Answers(GOOD.to_owned())).await;
    let tested = Tested::start(
        &format!("http://{address}/prices#{{symbol}}"),
        fast_config(),
    );
    tested.until(SourceHealth::Ok).await;
    *behaviour.lock() = Behaviour::Fails(StatusCode::BAD_GATEWAY);
    tested.until(SourceHealth::Broken).await;
    assert!(tested.price("WETH").is_some(), "the last price still holds");
    tested.clock.advance(60_000);
    assert!(tested.price("WETH").is_some());
    tested.clock.advance(1);
    assert_eq!(
        (tested.price("WETH"), tested.upstream.condition().age_ms),
        (None, Some(60_001))
    );
    tested.end().await;
}

#[tokio::test]
async fn prices_without_a_source_become_stale() {
    let (address, _) = server(Behaviour::Fails(StatusCode::NOT_FOUND)).await;
    let clock = manual_clock();
    let node = node_at(clock.clone(), |config| {
        config.exchange.price_tick = Some(Duration::from_secs(2));
        config.exchange.price_sources = vec![
            format!("http://{address}/#{{symbol}}")
                .parse()
                .expect("a source"),
        ];
    });
    let node = node.await;

    for _ in 0..7 {
        clock.advance(100_000);
        node.wake().await;
    }
    assert_eq!(node.block_number().await, 0, "no empty blocks are sealed");

    node.mine().await;
    assert!(!node.is_fresh(&token("WETH")).await);

    let response = node.get("/api/health").await;
    assert_eq!(response.status(), 503);
    let body: serde_json::Value = response.json().await.expect("JSON");
    let staleness = &body["services"]["guards"]["staleness"];
    assert_eq!(
        (&staleness["maxAge"], &staleness["oldestAge"]),
        (&600.into(), &700.into())
    );
    assert_eq!(staleness["stale"].as_array().map(Vec::len), Some(12));
    node.end().await;
}

#[tokio::test]
async fn a_node_follows_another_node() {
    let leader = node().await;
    let weth = token("WETH");
    let price = alloy::primitives::U256::from(355_000_000_000u64);
    let call = PriceOracle::setPriceCall {
        token: weth.address,
        price,
    };
    assert!(
        leader
            .send(&leader.treasury(), crate::support::chain::ORACLE, call)
            .await
            .status()
    );

    for source in [
        format!("{}/api/prices#data.{{address}}.price", leader.rest_url()),
        format!("{}/#data.{{address}}.price", leader.exchange_ws_url()),
    ] {
        let follower = node_with(|config| {
            config.exchange.price_tick = Some(Duration::from_secs(1));
            config.exchange.price_sources = vec![source.parse().expect("a source")];
        });
        let follower = follower.await;
        let mut socket = follower.price_socket().await;

        // The first update has the leader's price.
        while follower.oracle_price(&weth).await.0 != 355_000_000_000 {
            socket.prices().await;
        }
        assert_eq!(
            usd_e8(&follower.price_entry(&weth).await["price"]),
            355_000_000_000
        );

        let status = follower.get_json("/api/status").await;
        assert_eq!(
            status["data"]["services"]["guards"]["sources"][0]["status"], "ok",
            "{source}"
        );
        follower.end().await;
    }
    leader.end().await;
}
