//! Traces, with a collector of our own.

use std::collections::BTreeMap;

use alloy_primitives::hex;
use axum::{Router, body::Bytes, extract::State, http::HeaderMap, routing::post};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest, common::v1::any_value::Value, trace::v1::Span,
};
use prost::Message;
use tokio::sync::mpsc;

use crate::support::process::{Running, output};

/// A collector, and the requests that it receives.
async fn collector() -> (String, mpsc::UnboundedReceiver<Vec<Span>>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let collect = async |State(sender): State<mpsc::UnboundedSender<Vec<Span>>>,
                         headers: HeaderMap,
                         body: Bytes| {
        assert_eq!(headers["content-type"], "application/x-protobuf");
        let request = ExportTraceServiceRequest::decode(body).expect("OTLP");
        let resources = request
            .resource_spans
            .into_iter()
            .flat_map(|resource| resource.scope_spans);
        // The receiver is gone once the test has what it needs.
        let _ = sender.send(resources.flat_map(|scope| scope.spans).collect());
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new()
        .route("/v1/traces", post(collect))
        .with_state(sender);
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, receiver)
}

/// The value of an attribute as text.
fn text(value: Option<Value>) -> String {
    match value {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    }
}

fn attributes(span: &Span) -> BTreeMap<String, String> {
    span.attributes
        .iter()
        .map(|one| {
            (
                one.key.clone(),
                text(one.value.clone().and_then(|value| value.value)),
            )
        })
        .collect()
}

/// The first span with a name.
fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    spans
        .iter()
        .find(|span| span.name == name)
        .unwrap_or_else(|| panic!("{name}: {spans:?}"))
}

// The collector answers while the test waits for the program to end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_and_blocks_become_spans_of_their_traces() {
    let (url, mut collected) = collector().await;
    let node = Running::start(&[
        "--traces-endpoint",
        &url,
        "--no-mining",
        "--exchange-price-tick",
        "0",
    ])
    .await;
    let rpc = node.ready["rpc"].as_str().unwrap().to_owned();

    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let parent = "00f067aa0ba902b7";
    for method in ["evm_mine", "eth_nothing"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
        let request = reqwest::Client::new()
            .post(&rpc)
            .header("content-type", "application/json")
            .body(body);
        let answer = request
            .header("traceparent", format!("00-{trace}-{parent}-01"))
            .send()
            .await
            .unwrap();
        assert!(answer.headers().contains_key("x-request-id"));
    }

    // The remaining spans are sent at the end.
    assert!(node.end("-TERM").0);

    let mut spans = Vec::new();
    while let Ok(more) = collected.try_recv() {
        spans.extend(more);
    }

    let http = named(&spans, "POST");
    let call = named(&spans, "evm_mine");
    assert_eq!(
        (
            hex::encode(&http.trace_id),
            hex::encode(&http.parent_span_id)
        ),
        (trace.to_owned(), parent.to_owned())
    );
    assert_eq!(attributes(http)["url.path"], "/rpc");
    assert_eq!(attributes(http)["http.response.status_code"], "200");
    assert_eq!(
        (&call.trace_id, &call.parent_span_id),
        (&http.trace_id, &http.span_id)
    );
    assert_eq!(attributes(call)["rpc.method"], "evm_mine");
    assert!(
        !spans.iter().any(|span| span.name == "eth_nothing"),
        "names that clients make up are no spans"
    );

    let block = named(&spans, "block");
    assert_eq!(attributes(block)["block.number"], "1");
    for phase in ["preamble", "execute", "root", "seal"] {
        assert!(
            spans
                .iter()
                .any(|span| span.name == phase && span.parent_span_id == block.span_id),
            "{phase}"
        );
    }

    // Blocks that are mined at once are published together.
    named(&spans, "publish");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ratio_of_zero_records_nothing_and_a_missing_collector_is_harmless() {
    let (url, mut collected) = collector().await;
    let node = Running::start(&["--traces-endpoint", &url, "--traces-sample-ratio", "0"]).await;
    assert_eq!(node.chain_id().await, "0x7d");
    assert!(node.end("-TERM").0);
    assert!(collected.try_recv().is_err());

    let unused = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let node = Running::start(&["--traces-endpoint", &format!("http://{unused}")]).await;
    assert_eq!(node.chain_id().await, "0x7d");
    assert!(node.end("-TERM").0);
}

#[test]
fn an_invalid_endpoint_is_refused() {
    for (endpoint, what) in [
        ("localhost:4318", "neither http nor https"),
        ("collector", "relative URL"),
    ] {
        let (ok, _, error) = output(&["--traces-endpoint", endpoint]);
        assert!(
            !ok && error.contains("--traces-endpoint") && error.contains(what),
            "{error}"
        );
    }
}
