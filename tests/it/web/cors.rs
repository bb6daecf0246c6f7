//! Pages from anywhere may use every interface.

use reqwest::Method;

use tetrad::web::Origins;
use tokio_tungstenite::{connect_async, tungstenite::client::IntoClientRequest};

use crate::support::{node, node_with};

#[tokio::test]
async fn preflight_requests_are_answered_everywhere() {
    let node = node().await;
    for path in ["/", "/rpc", "/api/prices", "/api/pools", "/api/user/0x1", "/cosmos/auth/v1beta1/accounts/x", "/none"]
    {
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
        assert_eq!(headers["access-control-allow-private-network"], "true", "{path}");
    }
    node.end().await;
}

#[tokio::test]
async fn every_answer_may_be_read_with_what_it_says_about_limits() {
    let node = node().await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}"#;
    let request = node.http.post(node.rpc_url()).header("content-type", "application/json").body(body);
    let rpc = request.header("origin", "https://dapp.example").send().await.expect("an answer");
    for response in [rpc, node.get("/api/prices").await, node.get("/api/nothing").await, node.get("/health").await] {
        let headers = response.headers();
        assert_eq!(headers["access-control-allow-origin"], "*");
        let exposed = headers["access-control-expose-headers"].to_str().expect("text").to_lowercase();
        for name in
            ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit", "retry-after", "etag"]
        {
            assert!(exposed.split(',').any(|exposed| exposed.trim() == name), "{name} in {exposed}");
        }
    }
    node.end().await;
}

#[tokio::test]
async fn listed_origins_and_the_own_page_are_welcome_others_are_not() {
    let listed = Origins::Listed(vec!["https://dapp.example".parse().expect("an origin")]);
    let node = node_with(|config| config.origins = listed).await;
    let own = node.rest_url();
    for (origin, allowed) in [("https://dapp.example", true), ("https://evil.example", false), ("null", false)] {
        let answer =
            node.http.get(format!("{own}/api/prices")).header("origin", origin).send().await.expect("an answer");
        let header = answer.headers().get("access-control-allow-origin").map(|value| value.to_str().expect("text"));
        assert_eq!(header, allowed.then_some(origin));
    }
    let sockets = [
        (Some("https://dapp.example"), true),
        (Some(own.as_str()), true),
        (None, true),
        (Some("https://evil.example"), false),
        (Some("null"), false),
    ];
    for path in ["/rpc", "/ws"] {
        for (origin, allowed) in sockets {
            let mut request = format!("{}{path}", own.replace("http", "ws")).into_client_request().expect("a request");
            if let Some(origin) = origin {
                request.headers_mut().insert("origin", origin.parse().expect("a header"));
            }
            assert_eq!(connect_async(request).await.is_ok(), allowed, "{path} {origin:?}");
        }
    }
    node.end().await;
}
