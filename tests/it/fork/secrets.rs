//! Secrets that only the configured node may receive, and that are never shown.

use serde_json::json;

use super::{
    fork_of,
    proxy::{Behaviour, Proxy},
    upstream,
};
use crate::support::{TestNode, process::output};

/// Makes the fork request a slot that it cannot know yet from the other node.
async fn ask(fork: &TestNode, slot: u64) -> serde_json::Value {
    fork.request(
        "eth_getStorageAt",
        json!([fork.token(), format!("{slot:#x}"), "latest"]),
    )
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_go_to_the_configured_origin_and_nowhere_else() {
    let upstream = upstream().await;
    let own = Proxy::to(upstream.rpc_url()).await;
    let other = Proxy::to(upstream.rpc_url()).await;
    let fork = fork_of(&own.url, |config| {
        config.fork.headers = vec![("x-key".to_owned(), "secret".to_owned())]
    })
    .await;
    assert_eq!(own.headers()["x-key"], "secret");

    fork.rpc("anvil_setRpcUrl", json!([other.url])).await;
    assert!(ask(&fork, 0x1001).await["result"].is_string());
    assert!(
        !other.asked().is_empty() && other.headers().get("x-key").is_none(),
        "{:?}",
        other.headers()
    );

    // Another path of the same origin belongs to the same provider.
    fork.rpc(
        "anvil_setRpcUrl",
        json!([own.url.replace("/rpc", "/v2/elsewhere")]),
    )
    .await;
    own.asked();
    assert!(ask(&fork, 0x1002).await["result"].is_string());
    assert!(!own.asked().is_empty() && own.headers()["x-key"] == "secret");

    for method in ["anvil_reset", "hardhat_reset"] {
        fork.rpc(method, json!([{"forking": {"jsonRpcUrl": other.url}}]))
            .await;
        assert!(ask(&fork, 0x1003).await["result"].is_string());
        assert!(
            !other.asked().is_empty() && other.headers().get("x-key").is_none(),
            "{:?}",
            other.headers()
        );
    }
    fork.rpc("anvil_reset", json!([{"forking": {"jsonRpcUrl": own.url}}]))
        .await;
    assert_eq!(own.headers()["x-key"], "secret");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redirects_of_the_other_node_are_not_followed() {
    let upstream = upstream().await;
    let own = Proxy::to(upstream.rpc_url()).await;
    let other = Proxy::to(upstream.rpc_url()).await;
    let fork = fork_of(&own.url, |_| {}).await;
    own.set(Behaviour::Redirects(other.url.clone()));
    let answer = ask(&fork, 1).await;
    assert!(
        answer["error"]
            .to_string()
            .contains("redirects are not followed"),
        "{answer}"
    );
    assert_eq!(other.asked(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_key_in_the_url_of_the_other_node_is_never_shown() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    let origin = proxy.url.trim_end_matches("/rpc").to_owned();
    let with_key = |path: &str| origin.replace("://", "://me:secret@") + path;
    let fork = fork_of(&with_key("/v3/secret?key=secret"), |config| {
        config.fork.retries = 0
    })
    .await;
    for method in ["anvil_nodeInfo", "anvil_metadata", "hardhat_metadata"] {
        let info = fork.rpc(method, json!([])).await.to_string();
        assert!(!info.contains("secret"), "{method}: {info}");
    }
    fork.rpc("anvil_setRpcUrl", json!([with_key("/v4/secret")]))
        .await;
    let info = fork.rpc("anvil_nodeInfo", json!([])).await;
    assert_eq!(info["forkConfig"]["forkUrl"], format!("{origin}/…"));
    proxy.set(Behaviour::SendsBody("<html>".to_owned()));
    let error = ask(&fork, 0x1004).await["error"].to_string();
    assert!(
        error.contains("not JSON-RPC") && !error.contains("secret"),
        "{error}"
    );
}

#[test]
fn the_printed_configuration_has_no_secret_of_another_service() {
    let url = "https://me:secret@rpc.example.org:8443/v3/secret?key=secret";
    let source = "https://prices.example.org/secret?ids={ids}#{id}.usd";
    let arguments = [
        ["--fork-url", url],
        [
            "--fork-headers",
            "Authorization: Bearer secret,x-key: secret",
        ],
        ["--traces-endpoint", "https://collector.example.org/secret"],
        ["--exchange-price-sources", &format!("simulation,{source}")],
    ];

    let all = [&["config"][..], arguments.as_flattened()].concat();
    let (ok, printed, error) = output(&all);
    assert!(
        ok && !printed.contains("secret\"") && !printed.contains("=secret"),
        "{printed}{error}"
    );

    for line in [
        r#"# url = "https://rpc.example.org:8443/…"  # --fork-url, shown without what may be secret"#,
        r#"# headers = ["Authorization: …", "x-key: …"]  # --fork-headers, shown without what may be secret"#,
        r#"# endpoint = "https://collector.example.org/…"  # --traces-endpoint, shown without what may be secret"#,
        r##"# price-sources = ["simulation", "https://prices.example.org/…#{id}.usd"]  # --exchange-price-sources, shown without what may be secret"##,
    ] {
        assert!(
            printed.lines().any(|printed| printed == line),
            "{line} is not in\n{printed}"
        );
    }

    // Errors about invalid settings do not repeat them either.
    for (flag, text) in [
        ("--fork-url", "ftp://me:secret@h/secret"),
        ("--traces-endpoint", "ftp://me:secret@h/secret"),
        ("--exchange-price-sources", "https://me:secret@h/secret"),
    ] {
        let (ok, _, error) = output(&["config", flag, text]);
        assert!(
            !ok && error.contains(flag) && !error.contains("secret"),
            "{error}"
        );
    }
}
