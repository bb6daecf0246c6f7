//! Compressed responses have the same content, and only clients that accept a coding get it.

use std::io::Read;

use reqwest::{
    Client, Method, RequestBuilder, Response, StatusCode,
    header::{
        ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
        ORIGIN, VARY,
    },
};
use serde_json::json;
use tokio_tungstenite::{connect_async, tungstenite::client::IntoClientRequest};

use crate::support::{TestNode, manual_clock, node, node_at};

const CODINGS: [&str; 2] = ["br", "gzip"];

/// Reads a body and removes its content coding.
async fn decoded(response: Response) -> Vec<u8> {
    let coding = response
        .headers()
        .get(CONTENT_ENCODING)
        .map(|coding| coding.to_str().expect("text").to_owned());
    let body = response.bytes().await.expect("a body");
    let mut decoded = Vec::new();
    let read = match coding.as_deref() {
        None => return body.to_vec(),
        Some("br") => brotli::Decompressor::new(&*body, 4_096).read_to_end(&mut decoded),
        Some("gzip") => flate2::read::GzDecoder::new(&*body).read_to_end(&mut decoded),
        Some(other) => panic!("content coding {other}"),
    };
    read.expect("a body in the coding that its header names");
    decoded
}

async fn send(request: RequestBuilder) -> Response {
    request.send().await.expect("an answer")
}

fn get(node: &TestNode, path: &str) -> RequestBuilder {
    node.http.get(format!("{}{path}", node.rest_url()))
}

fn call(node: &TestNode, method: &str, params: serde_json::Value) -> RequestBuilder {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    node.http
        .post(node.rpc_url())
        .header(CONTENT_TYPE, "application/json")
        .body(body)
}

/// Compares the response in each coding with the one without. Returns the lengths: without a
/// coding, in Brotli, in gzip.
async fn assert_same(name: &str, request: impl Fn() -> RequestBuilder) -> [usize; 3] {
    // Some bodies state whether they were sent before.
    drop(send(request()).await.bytes().await.expect("a body"));

    let plain = send(request()).await;
    assert_eq!(plain.headers().get(CONTENT_ENCODING), None, "{name}");
    let status = plain.status();
    let kind = plain.headers()[CONTENT_TYPE].clone();
    let plain = plain.bytes().await.expect("a body");

    let mut lengths = [plain.len(), 0, 0];
    for (coding, length) in CODINGS.into_iter().zip(&mut lengths[1..]) {
        let encoded = send(request().header(ACCEPT_ENCODING, coding)).await;
        assert_eq!(
            (encoded.status(), &encoded.headers()[CONTENT_TYPE]),
            (status, &kind),
            "{name}"
        );
        assert_eq!(encoded.headers()[CONTENT_ENCODING], coding, "{name}");
        assert_eq!(encoded.headers()[VARY], "accept-encoding", "{name}");

        *length = send(request().header(ACCEPT_ENCODING, coding))
            .await
            .bytes()
            .await
            .expect("a body")
            .len();
        assert!(*length < plain.len(), "{name}: {length} of {}", plain.len());
        assert!(
            decoded(encoded).await == plain,
            "{name} differs in {coding}"
        );

        // An unsupported coding changes nothing.
        let other = send(request().header(ACCEPT_ENCODING, "zstd, deflate")).await;
        assert_eq!(other.headers().get(CONTENT_ENCODING), None, "{name}");
        assert_eq!(other.bytes().await.expect("a body"), plain, "{name}");
    }

    lengths
}

#[tokio::test]
async fn every_kind_of_response_has_the_same_content_in_each_coding() {
    let node = node_at(manual_clock(), |config| config.rate_limit = 0).await;
    node.rpc("evm_mine", json!([{"blocks": "0x3"}])).await;
    let owner = node.account(0);

    for path in [
        "/",
        "/site/app.js",
        "/site/css/parts.css",
        "/site/interfaces.json",
        "/docs/",
        "/docs/interfaces/rest-examples.html",
        "/docs/search.json",
        "/openapi.json",
        "/api/network",
        "/api/prices",
        "/api/pools",
        "/api/v2/blocks",
        &format!("/api/v2/addresses/{owner}/tokens"),
        "/cosmos/auth/v1beta1/accounts",
    ] {
        assert_same(path, || get(&node, path)).await;
    }

    let block = || call(&node, "eth_getBlockByNumber", json!(["0x0", true]));
    assert_same("the fast path", block).await;
    assert_same("the router", || {
        block().header(ORIGIN, "http://dapp.example")
    })
    .await;

    let [length, ..] =
        assert_same("a long response", || call(&node, "rpc.discover", json!([]))).await;
    assert!(length > 64 << 10, "{length} bytes are not long");

    let query = json!({"query": "{ a: block(number: 0) { logsBloom } b: block(number: 1) { logsBloom } c: block(number: 2) { logsBloom } }"}).to_string();
    assert_same("GraphQL", || {
        node.http
            .post(format!("{}/graphql", node.rest_url()))
            .header(CONTENT_TYPE, "application/json")
            .body(query.clone())
    })
    .await;

    node.end().await;
}

/// A request of another client for a long response.
fn discover(client: &Client, node: &TestNode) -> RequestBuilder {
    client
        .post(node.rpc_url())
        .header(CONTENT_TYPE, "application/json")
        .body(r#"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#)
}

#[tokio::test]
async fn long_responses_are_compressed_over_http_2() {
    let node = node().await;
    let http2 = Client::builder()
        .http2_prior_knowledge()
        .no_proxy()
        .build()
        .expect("a client");
    for coding in CODINGS {
        let plain = send(discover(&http2, &node)).await;
        let plain = plain.bytes().await.expect("a body");
        let encoded = send(discover(&http2, &node).header(ACCEPT_ENCODING, coding)).await;
        assert_eq!(encoded.headers()[CONTENT_ENCODING], coding);
        assert!(decoded(encoded).await == plain, "{coding}");
    }
    node.end().await;
}

#[tokio::test]
async fn short_responses_are_not_compressed() {
    let node = node().await;
    let short =
        send(call(&node, "eth_chainId", json!([])).header(ACCEPT_ENCODING, "gzip, br")).await;
    assert_eq!(short.headers().get(CONTENT_ENCODING), None);
    assert_eq!(
        short.text().await.expect("text"),
        r#"{"jsonrpc":"2.0","id":1,"result":"0x7d"}"#
    );
    // Unless the client wants nothing else.
    let strict = send(get(&node, "/health").header(ACCEPT_ENCODING, "gzip, identity;q=0")).await;
    let plain = send(get(&node, "/health")).await;
    if strict.headers().contains_key(CONTENT_ENCODING) {
        assert_eq!(strict.headers()[CONTENT_ENCODING], "gzip");
    }
    assert_eq!(
        (strict.status(), decoded(strict).await.is_empty()),
        (plain.status(), false)
    );
    node.end().await;
}

#[tokio::test]
async fn responses_to_clients_without_codings_have_no_additional_headers() {
    let node = node().await;
    let response = send(call(&node, "eth_getBlockByNumber", json!(["0x0", true]))).await;
    let mut names: Vec<&str> = response
        .headers()
        .keys()
        .map(|name| name.as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["content-length", "content-type", "date"]);
    node.end().await;
}

#[tokio::test]
async fn entity_tags_are_weak_in_a_coding_and_valid_in_every_one() {
    let node = node_at(manual_clock(), |config| config.rate_limit = 0).await;
    for path in ["/", "/site/app.js", "/docs/", "/api/prices", "/api/pools"] {
        drop(send(get(&node, path)).await);
        let plain = send(get(&node, path)).await.headers()[ETAG].clone();
        assert!(plain.as_bytes().starts_with(b"\""), "{path}: {plain:?}");

        for coding in CODINGS {
            let first = send(get(&node, path).header(ACCEPT_ENCODING, coding)).await;
            let tag = first.headers()[ETAG].clone();
            assert_eq!(
                tag.as_bytes(),
                [&b"W/"[..], plain.as_bytes()].concat(),
                "{path}"
            );

            // The client has the body in this coding, and without one.
            for known in [&tag, &plain] {
                let request = get(&node, path)
                    .header(ACCEPT_ENCODING, coding)
                    .header(IF_NONE_MATCH, known);
                let again = send(request).await;
                assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{path}");
                assert_eq!(
                    (&again.headers()[ETAG], &again.headers()[VARY]),
                    (&tag, &"accept-encoding".parse().unwrap())
                );
                assert!(again.bytes().await.expect("a body").is_empty());
            }

            let again = send(get(&node, path).header(IF_NONE_MATCH, &tag)).await;
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{path}");
            assert_eq!(
                (&again.headers()[ETAG], &again.headers()[VARY]),
                (&plain, &"accept-encoding".parse().unwrap())
            );
        }
    }
    node.end().await;
}

/// The response to a request in a coding.
async fn fetch(node: &TestNode, method: Method, path: &str, coding: &str) -> Response {
    let request = node
        .http
        .request(method, format!("{}{path}", node.rest_url()));
    send(request.header(ACCEPT_ENCODING, coding)).await
}

#[tokio::test]
async fn head_has_the_headers_of_get() {
    let node = node_at(manual_clock(), |config| config.rate_limit = 0).await;
    for (path, is_prepared) in [
        ("/", true),
        ("/site/app.js", true),
        ("/openapi.json", true),
        ("/api/pools", true),
        ("/api/v2/blocks", false),
    ] {
        for coding in CODINGS {
            let got = fetch(&node, Method::GET, path, coding).await;
            let head = fetch(&node, Method::HEAD, path, coding).await;
            assert_eq!(head.status(), StatusCode::OK, "{path}");
            for name in [CONTENT_ENCODING, CONTENT_TYPE, VARY, ETAG] {
                assert_eq!(
                    head.headers().get(&name),
                    got.headers().get(&name),
                    "{path}: {name}"
                );
            }

            if is_prepared {
                assert_eq!(
                    head.headers()[CONTENT_LENGTH],
                    got.headers()[CONTENT_LENGTH],
                    "{path}"
                );
            }

            assert!(head.bytes().await.expect("no body").is_empty());
        }
    }
    node.end().await;
}

#[tokio::test]
async fn web_sockets_open_for_clients_that_accept_codings() {
    let node = node().await;
    for path in ["/rpc", "/ws", "/websocket"] {
        let mut request = format!("ws://{}{path}", node.address())
            .into_client_request()
            .expect("a request");
        request.headers_mut().insert(
            "accept-encoding",
            "gzip, deflate, br".parse().expect("a value"),
        );
        let (_, response) = connect_async(request).await.expect("an upgrade");
        assert_eq!(response.headers().get("content-encoding"), None, "{path}");
    }
    node.end().await;
}
