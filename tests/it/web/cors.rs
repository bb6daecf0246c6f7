//! Pages of any origin may use every interface, unless allowed origins are listed; none may bypass
//! the browser's checks.

use reqwest::Method;
use tetrad_web::Origins;
use tokio_tungstenite::{connect_async, tungstenite::client::IntoClientRequest};

use crate::support::{
    chain::{key, token},
    node, node_with,
};

#[tokio::test]
async fn preflight_requests_are_answered_on_every_path() {
    let node = node().await;
    for path in [
        "/",
        "/rpc",
        "/api/prices",
        "/api/pools",
        "/api/user/0x1",
        "/cosmos/auth/v1beta1/accounts/x",
        "/none",
    ] {
        let request = node
            .http
            .request(Method::OPTIONS, format!("{}{path}", node.rest_url()))
            .header("origin", "https://dapp.example")
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "content-type,x-anything")
            .header("access-control-request-private-network", "true");
        let response = request.send().await.expect("an answer");
        assert_eq!(response.status(), 200, "{path}");
        let headers = response.headers();
        assert_eq!(headers["access-control-allow-origin"], "*", "{path}");
        assert_eq!(headers["access-control-allow-methods"], "*", "{path}");
        assert_eq!(headers["access-control-allow-headers"], "*", "{path}");
        assert_eq!(
            headers["access-control-allow-private-network"], "true",
            "{path}"
        );
    }
    node.end().await;
}

#[tokio::test]
async fn pages_may_read_every_response_and_its_rate_limit_headers() {
    let node = node().await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}"#;
    let request = node
        .http
        .post(node.rpc_url())
        .header("content-type", "application/json")
        .body(body);
    let rpc = request
        .header("origin", "https://dapp.example")
        .send()
        .await
        .expect("an answer");

    for response in [
        rpc,
        node.get("/api/prices").await,
        node.get("/api/nothing").await,
        node.get("/health").await,
    ] {
        let headers = response.headers();
        assert_eq!(headers["access-control-allow-origin"], "*");
        let exposed = headers["access-control-expose-headers"]
            .to_str()
            .expect("text")
            .to_lowercase();

        for name in [
            "x-ratelimit-limit",
            "x-ratelimit-remaining",
            "x-ratelimit-reset",
            "ratelimit",
            "retry-after",
            "etag",
        ] {
            assert!(
                exposed.split(',').any(|exposed| exposed.trim() == name),
                "{name} in {exposed}"
            );
        }
    }

    node.end().await;
}

#[tokio::test]
async fn only_listed_origins_and_the_own_page_are_accepted() {
    let listed = Origins::Listed(vec!["https://dapp.example".parse().expect("an origin")]);
    let node = node_with(|config| config.origins = listed).await;
    let own = node.rest_url();

    for (origin, allowed) in [
        ("https://dapp.example", true),
        ("https://evil.example", false),
        ("null", false),
    ] {
        let answer = node
            .http
            .get(format!("{own}/api/prices"))
            .header("origin", origin)
            .send()
            .await
            .expect("an answer");
        let header = answer
            .headers()
            .get("access-control-allow-origin")
            .map(|value| value.to_str().expect("text"));
        assert_eq!(header, allowed.then_some(origin));
    }

    let sockets = [
        (Some("https://dapp.example"), true),
        (Some(own.as_str()), true),
        (None, true),
        (Some("https://evil.example"), false),
        (Some("null"), false),
    ];

    // The listener of the price WebSocket is another origin than the node's page, which uses /ws.
    let prices = node.exchange_ws_url();
    for url in [format!("{own}/rpc"), format!("{own}/ws"), prices.clone()] {
        for (origin, allowed) in sockets {
            let allowed = allowed && (url != prices || origin != Some(own.as_str()));
            let mut request = url
                .replace("http", "ws")
                .into_client_request()
                .expect("a request");
            if let Some(origin) = origin {
                request
                    .headers_mut()
                    .insert("origin", origin.parse().expect("a header"));
            }

            assert_eq!(
                connect_async(request).await.is_ok(),
                allowed,
                "{url} {origin:?}"
            );
        }
    }
    node.end().await;
}

#[tokio::test]
async fn listed_origins_may_send_the_admin_token() {
    let listed = Origins::Listed(vec!["https://dapp.example".parse().expect("an origin")]);
    let node = node_with(|config| config.origins = listed).await;
    for path in ["/api/admin/prices/usdt", "/rpc"] {
        let request = node
            .http
            .request(Method::OPTIONS, format!("{}{path}", node.rest_url()))
            .header("origin", "https://dapp.example")
            .header("access-control-request-method", "POST")
            .header(
                "access-control-request-headers",
                "authorization,content-type",
            );
        let response = request.send().await.expect("an answer");
        let allowed = response.headers()["access-control-allow-headers"]
            .to_str()
            .expect("text")
            .to_owned();
        let names: Vec<_> = allowed.split(',').map(str::trim).collect();
        assert!(
            names.contains(&"authorization") && names.contains(&"*"),
            "{path}: {allowed}"
        );
    }
    node.end().await;
}

#[tokio::test]
async fn pages_of_other_origins_change_nothing() {
    let listed = Origins::Listed(vec!["https://dapp.example".parse().expect("an origin")]);
    let node = node_with(|config| {
        config.origins = listed;
        config.rate_limit = 0;
    })
    .await;

    let own = node.rest_url();
    let price = format!("{own}/api/admin/prices/{}", key(&token("WETH")));
    let price_body = r#"{"price": 1234}"#;
    let chain_id = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}"#;

    for (method, url, body) in [
        ("POST", &price, price_body),
        ("DELETE", &price, ""),
        ("POST", &node.rpc_url(), chain_id),
        ("POST", &own, chain_id),
    ] {
        for (origin, allowed) in [
            (Some("https://dapp.example"), true),
            (Some(own.as_str()), true),
            (None, true),
            (Some("https://evil.example"), false),
            (Some("null"), false),
        ] {
            let before = node.price_entry(&token("WETH")).await["price"].clone();

            let request = node
                .http
                .request(method.parse().expect("a method"), url)
                .body(body);
            let request = request.header("content-type", "application/json");
            let request = origin
                .into_iter()
                .fold(request, |request, origin| request.header("origin", origin));

            let status = request.send().await.expect("an answer").status();
            assert_eq!(
                status,
                if allowed { 200 } else { 403 },
                "{method} {url} {origin:?}"
            );
            if !allowed {
                assert_eq!(node.price_entry(&token("WETH")).await["price"], before);
            }
        }
    }

    // The own page, where HTTP/2 has no header for the host.
    let client = reqwest::Client::builder()
        .http2_prior_knowledge()
        .build()
        .expect("a client");
    let request = client
        .post(node.rpc_url())
        .header("content-type", "application/json")
        .header("origin", &own);

    assert_eq!(
        request
            .body(chain_id)
            .send()
            .await
            .expect("an answer")
            .status(),
        200
    );
    node.end().await;
}

#[tokio::test]
async fn only_origins_listed_by_name_may_administer_the_node() {
    let node = node_with(|config| config.rate_limit = 0).await;
    let own = node.rest_url();
    let price = format!("{own}/api/admin/prices/{}", key(&token("WETH")));
    let scenarios = format!("{own}/api/admin/scenarios");
    let quiet = "name = \"quiet\"\nlasts = \"1h\"";

    for (method, url, content_type, body) in [
        ("OPTIONS", &scenarios, "", ""),
        ("GET", &scenarios, "", ""),
        ("POST", &scenarios, "application/toml", quiet),
        ("POST", &price, "application/json", r#"{"price": 1234}"#),
        ("DELETE", &price, "application/json", ""),
    ] {
        for (origin, allowed) in [
            (Some("https://evil.example"), false),
            (Some("null"), false),
            (Some(own.as_str()), true),
            (None, true),
        ] {
            let request = node
                .http
                .request(method.parse().expect("a method"), url)
                .body(body);
            let request = request.header("content-type", content_type);
            let request = request.header("access-control-request-method", "POST");
            let request = origin
                .into_iter()
                .fold(request, |request, origin| request.header("origin", origin));
            let response = request.send().await.expect("an answer");

            assert!(
                !response
                    .headers()
                    .contains_key("access-control-allow-origin"),
                "{method} {url} {origin:?}"
            );
            let status = response.status().as_u16();
            assert_eq!(
                status,
                if allowed { 200 } else { 403 },
                "{method} {url} {origin:?}"
            );
        }
    }

    let elsewhere = node
        .http
        .get(format!("{own}/api/prices"))
        .header("origin", "https://evil.example")
        .send()
        .await;
    assert_eq!(
        elsewhere.expect("an answer").headers()["access-control-allow-origin"],
        "*"
    );
    node.end().await;
}

/// Bodies that a browser sends for any page without a preflight request: forms, and text.
#[tokio::test]
async fn requests_with_effects_accept_json_only() {
    let node = node_with(|config| config.rate_limit = 0).await;
    let url = format!(
        "{}/api/admin/prices/{}",
        node.rest_url(),
        key(&token("WETH"))
    );
    let before = node.price_entry(&token("WETH")).await["price"].clone();

    for content_type in [
        None,
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
        Some("multipart/form-data; boundary=x"),
    ] {
        for method in [Method::POST, Method::DELETE] {
            let request = node.http.request(method.clone(), &url);
            let request = content_type.into_iter().fold(request, |request, text| {
                request.header("content-type", text)
            });
            let answer = request
                .body(r#"{"price": 1234}"#)
                .send()
                .await
                .expect("an answer");

            if (&method, content_type) == (&Method::DELETE, None) {
                // A browser asks before it sends this for another page, which is refused.
                assert_eq!(answer.status(), 200);
                continue;
            }
            assert_eq!(answer.status(), 415, "{method} {content_type:?}");
            let body: serde_json::Value = answer.json().await.expect("JSON");
            assert_eq!(body["error"], "unsupported_media_type", "{body}");
        }
    }

    assert_eq!(node.price_entry(&token("WETH")).await["price"], before);
    node.end().await;
}

#[tokio::test]
async fn compressed_bodies_are_refused_by_name() {
    let node = node_with(|config| config.rate_limit = 0).await;
    let price = format!(
        "{}/api/admin/prices/{}",
        node.rest_url(),
        key(&token("WETH"))
    );

    for url in [node.rpc_url(), node.rest_url(), price] {
        for (origin, encoding) in [
            (None, "gzip"),
            (None, "br"),
            (None, "identity, gzip"),
            (Some(node.rest_url()), "deflate"),
        ] {
            let request = node
                .http
                .post(&url)
                .header("content-type", "application/json");
            let request = origin
                .into_iter()
                .fold(request, |request, origin| request.header("origin", origin));

            let answer = request
                .header("content-encoding", encoding)
                .body("\x1f\u{8b}")
                .send()
                .await
                .expect("an answer");

            assert_eq!(answer.status(), 415, "{url} {encoding}");
            assert_eq!(answer.headers()["accept-encoding"], "identity");
            let text = answer.text().await.expect("text");
            assert!(text.contains("without a content encoding"), "{text}");
        }
    }

    let request = node
        .http
        .post(node.rpc_url())
        .header("content-type", "application/json");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}"#;
    let answer = request
        .header("content-encoding", "identity")
        .body(body)
        .send()
        .await
        .expect("an answer");

    assert_eq!(answer.status(), 200);
    node.end().await;
}
