//! The exchange's limit of 100 requests per minute and client (specification, section 8).

use reqwest::{Response, header::HeaderMap};
use serde_json::Value;

use crate::support::{TestNode, manual_clock, node_at, node_with};

const START: u64 = 1_700_000_000;

fn number(headers: &HeaderMap, name: &str) -> u64 {
    let text = headers
        .get(name)
        .unwrap_or_else(|| panic!("no {name}"))
        .to_str()
        .expect("text");
    text.parse().unwrap_or_else(|_| panic!("{name}: {text}"))
}

/// Limit, remaining and reset.
fn triple(response: &Response) -> (u64, u64, u64) {
    let headers = response.headers();
    let number = |name| number(headers, name);
    (
        number("x-ratelimit-limit"),
        number("x-ratelimit-remaining"),
        number("x-ratelimit-reset"),
    )
}

async fn get_from(node: &TestNode, path: &str, headers: &[(&str, &str)]) -> Response {
    let mut request = node.http.get(format!("{}{path}", node.rest_url()));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.expect("an answer")
}

#[tokio::test]
async fn the_hundred_and_first_request_within_a_minute_is_refused() {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |_| {}).await;

    // Every request counts, including health, unknown paths and wrong methods.
    let paths = ["/api/prices", "/api/health", "/api/nothing", "/api/tokens"];
    for n in 1..=100u64 {
        let response = node.get(paths[n as usize % 4]).await;
        assert_ne!(response.status(), 429, "request {n}");
        assert_eq!(triple(&response), (100, 100 - n, START + 60));
        assert_eq!(
            response.headers()["ratelimit-policy"],
            "\"default\";q=100;w=60"
        );
        assert_eq!(
            response.headers()["ratelimit"],
            format!("\"default\";r={};t=60", 100 - n)
        );
        assert!(!response.headers().contains_key("retry-after"));
    }

    clock.advance(500);
    let refused = node.get("/api/prices").await;
    assert_eq!(refused.status(), 429);
    assert_eq!(triple(&refused), (100, 0, START + 60));
    assert_eq!(number(refused.headers(), "retry-after"), 60);
    assert_eq!(refused.headers()["ratelimit"], "\"default\";r=0;t=60");
    let body: Value = refused.json().await.expect("JSON");
    assert_eq!(
        (&body["success"], &body["error"]),
        (&false.into(), &"rate_limit_exceeded".into())
    );
    assert!(body["message"].is_string() && body["timestamp"].is_u64());

    // Neither another interface nor a preflight request is refused, or counts.
    for path in ["/api/pools", "/api/network", "/health", "/cosmos/anything"] {
        let response = node.get(path).await;
        assert_ne!(response.status(), 429, "{path}");
        assert!(
            !response.headers().contains_key("x-ratelimit-limit"),
            "{path}"
        );
    }
    let url = format!("{}/api/prices", node.rest_url());
    let preflight = node
        .http
        .request(reqwest::Method::OPTIONS, url)
        .send()
        .await
        .expect("an answer");
    assert_eq!(preflight.status(), 200);
    node.end().await;
}

#[tokio::test]
async fn the_window_slides() {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |config| config.rate_limit = 3).await;
    for _ in 0..3 {
        assert_eq!(node.get("/api/health").await.status(), 200);
        clock.advance(20_000);
    }
    // 60 s after the first, 40 and 20 s after the others.
    assert_eq!(node.get("/api/health").await.status(), 200);
    let refused = node.get("/api/health").await;
    assert_eq!(refused.status(), 429);
    assert_eq!(number(refused.headers(), "retry-after"), 20);
    clock.advance(19_999);
    assert_eq!(
        number(node.get("/api/health").await.headers(), "retry-after"),
        1
    );
    clock.advance(1);
    assert_eq!(node.get("/api/health").await.status(), 200);
    assert_eq!(
        node.get("/api/health").await.status(),
        429,
        "refused requests do not count, admitted ones do"
    );
    node.end().await;
}

#[tokio::test]
async fn a_limit_of_zero_limits_no_client() {
    let node = node_with(|config| config.rate_limit = 0).await;
    for _ in 0..150 {
        let response = node.get("/api/health").await;
        assert_eq!(response.status(), 200);
        assert!(!response.headers().contains_key("x-ratelimit-limit"));
    }
    node.end().await;
}

#[tokio::test]
async fn lending_has_a_separate_limit() {
    let node = node_with(|config| {
        config.lending_rate_limit = 2;
        config.rate_limit = 1;
    });
    let node = node.await;
    assert_eq!(node.get("/api/prices").await.status(), 200);
    assert_eq!(triple(&node.get("/api/pools").await).1, 1);
    assert_eq!(
        node.get("/api/user/0x00000000000000000000000000000000000000aa")
            .await
            .status(),
        200
    );
    let refused = node.get("/api/pools").await;
    assert_eq!(refused.status(), 429);
    assert_eq!(
        refused.json::<Value>().await.expect("JSON")["success"],
        false
    );
    assert_eq!(node.get("/api/prices").await.status(), 429);
    node.end().await;
}

#[tokio::test]
async fn a_client_cannot_impersonate_another() {
    let node = node_at(manual_clock(), |config| config.rate_limit = 5).await;
    for n in 0..5 {
        let common = format!("203.0.113.{n}");
        let standard = format!("for=198.51.100.{n}");
        let headers = [
            ("x-forwarded-for", common.as_str()),
            ("forwarded", standard.as_str()),
        ];
        assert_eq!(get_from(&node, "/api/health", &headers).await.status(), 200);
    }
    let refused = get_from(&node, "/api/health", &[("x-forwarded-for", "203.0.113.99")]).await;
    assert_eq!(refused.status(), 429);
    node.end().await;
}

#[tokio::test]
async fn behind_a_trusted_proxy_each_client_has_its_own_window() {
    let node = node_at(manual_clock(), |config| {
        config.rate_limit = 1;
        config.trusted_proxies = vec!["127.0.0.1/32".parse().expect("a network")];
    });
    let node = node.await;

    // An entry on the left of another one is not trusted, a /64 of IPv6 is one client, and with an
    // unreadable entry the proxy is the client.
    for (header, value, expected) in [
        ("x-forwarded-for", "203.0.113.1", 200),
        ("x-forwarded-for", "203.0.113.1", 429),
        ("x-forwarded-for", "6.6.6.6, 203.0.113.1", 429),
        ("x-forwarded-for", "203.0.113.2", 200),
        ("forwarded", "for=203.0.113.2;proto=https", 429),
        ("forwarded", "for=\"203.0.113.3:1234\"", 200),
        ("x-forwarded-for", "2001:db8:1:2::1", 200),
        ("x-forwarded-for", "2001:db8:1:2:ffff::9", 429),
        ("forwarded", "for=\"[2001:db8:1:3::1]:443\"", 200),
        ("x-forwarded-for", "unknown", 200),
    ] {
        let response = get_from(&node, "/api/health", &[(header, value)]).await;
        assert_eq!(response.status(), expected, "{header}: {value}");
    }
    let own = get_from(&node, "/api/health", &[]).await;
    assert_eq!(own.status(), 429);
    node.end().await;
}
