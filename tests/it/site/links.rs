//! Links in the form of block explorers.

use reqwest::{Client, Method, Response, StatusCode, redirect::Policy};

use crate::support::{TestNode, node};

/// A client that does not follow redirects.
fn client() -> Client {
    Client::builder()
        .redirect(Policy::none())
        .no_proxy()
        .build()
        .expect("a client")
}

async fn open(http: &Client, node: &TestNode, method: Method, path: &str) -> Response {
    http.request(method, format!("{}{path}", node.rest_url()))
        .send()
        .await
        .expect("an answer")
}

#[tokio::test]
async fn links_of_wallets_lead_to_the_views_of_the_page() {
    let node = node().await;
    let http = client();
    let hash = format!("0x{}", "5e".repeat(32));
    let address = node.account(1);

    for (path, target) in [
        (format!("/tx/{hash}"), format!("../#/tx/{hash}")),
        (
            format!("/tx/{}", "5E".repeat(32)),
            format!("../#/tx/{hash}"),
        ),
        (
            format!("/address/{address}"),
            format!("../#/address/{address}"),
        ),
        (format!("/token/{address}"), format!("../#/token/{address}")),
        ("/block/7".to_owned(), "../#/block/7".to_owned()),
        ("/block/7?a=b".to_owned(), "../#/block/7".to_owned()),
        ("/exchange?from=USDC".to_owned(), "./#/exchange".to_owned()),
        ("/blocks".to_owned(), "./#/explorer/blocks".to_owned()),
        ("/txs".to_owned(), "./#/explorer".to_owned()),
    ] {
        for method in [Method::GET, Method::HEAD] {
            let response = open(&http, &node, method, &path).await;
            assert_eq!(
                (
                    response.status(),
                    response.headers()["location"].to_str().unwrap()
                ),
                (StatusCode::FOUND, &*target)
            );
        }
    }

    node.end().await;
}

#[tokio::test]
async fn views_of_the_page_have_links_with_their_names() {
    let node = node().await;
    let http = client();

    let page = node
        .get("/site/app.js")
        .await
        .text()
        .await
        .expect("a script");
    for view in [
        "accounts",
        "developer",
        "exchange",
        "explorer",
        "faucet",
        "lending",
        "tokens",
    ] {
        let response = open(&http, &node, Method::GET, &format!("/{view}")).await;
        assert_eq!(response.headers()["location"], format!("./#/{view}"));
        assert!(page.contains(&format!("path: '{view}'")), "{view}");
    }
    node.end().await;
}

#[tokio::test]
async fn other_paths_are_not_found() {
    let node = node().await;
    let http = client();

    for path in [
        "/tx/",
        "/tx/a/b",
        "/tx/%0d%0ax",
        "/address/a-b",
        "/block/..%2f..",
        "/token/%C3%A4",
        "/view/1",
    ] {
        let response = open(&http, &node, Method::GET, path).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
    }

    // A browser gets the page, which says that it has no such view; a program gets an error.
    let response = open(&http, &node, Method::GET, "/nope").await;
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
    let browsed = http
        .get(format!("{}/nope", node.rest_url()))
        .header("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    let response = browsed.send().await.expect("an answer");
    assert_eq!(response.headers()["location"], "./#/nope");

    node.end().await;
}

#[tokio::test]
async fn links_are_read_only_and_shadow_no_routes() {
    let node = node().await;
    let http = client();

    let transaction = format!("/tx/0x{}", "5e".repeat(32));
    let response = open(&http, &node, Method::POST, &transaction).await;
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);

    // CometBFT's interface has routes of one segment with these names.
    let response = open(&http, &node, Method::GET, "/block?height=1").await;
    assert_ne!(response.status(), StatusCode::FOUND);

    node.end().await;
}
