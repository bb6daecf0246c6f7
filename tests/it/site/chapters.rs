//! The book as the node serves it. `tests/browser` tests reading and searching in a browser.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::{Client, StatusCode, Url, redirect::Policy};

use crate::support::node;

/// The values of an attribute in a page.
fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let name = format!(" {name}=\"");
    html.match_indices(&name)
        .filter_map(|(at, _)| html[at + name.len()..].split('"').next())
        .collect()
}

#[tokio::test]
async fn every_link_of_the_book_has_a_page_and_a_heading_as_its_target() {
    let node = node().await;
    let start: Url = format!("{}/docs/", node.rest_url()).parse().expect("a URL");

    let mut waiting = vec![start.clone()];
    let mut pages = BTreeMap::new();
    let mut wanted = BTreeSet::new();
    let mut others = BTreeSet::new();

    while let Some(url) = waiting.pop() {
        if pages.contains_key(&url) {
            continue;
        }

        let response = node.http.get(url.clone()).send().await.expect("an answer");
        assert_eq!(response.status(), StatusCode::OK, "{url}");
        assert_eq!(
            response.headers()["content-type"],
            "text/html; charset=utf-8",
            "{url}"
        );

        let html = response.text().await.expect("text");
        for link in attributes(&html, "href")
            .into_iter()
            .chain(attributes(&html, "src"))
        {
            let mut to = url.join(&link.replace("&amp;", "&")).expect("a link");
            if to.origin() != start.origin() {
                continue;
            }
            if !to.path().starts_with(start.path()) {
                others.insert(to);
                continue;
            }

            let fragment = to.fragment().map(str::to_owned);
            to.set_fragment(None);
            wanted.extend(fragment.map(|fragment| (url.clone(), to.clone(), fragment)));
            waiting.push(to);
        }

        let ids = attributes(&html, "id")
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>();
        let distinct: BTreeSet<_> = ids.iter().cloned().collect();
        assert_eq!(ids.len(), distinct.len(), "{url} has an id twice");
        pages.insert(url, distinct);
    }

    assert!(pages.len() > 35, "{}", pages.len());
    for (from, to, fragment) in &wanted {
        assert!(
            pages[to].contains(fragment),
            "{from} links to {to}#{fragment}"
        );
    }

    assert!(others.len() > 5, "{others:?}");
    for url in others {
        assert_eq!(
            node.http
                .get(url.clone())
                .send()
                .await
                .expect("an answer")
                .status(),
            StatusCode::OK,
            "{url}"
        );
    }
    node.end().await;
}

#[tokio::test]
async fn the_book_is_served_with_the_same_headers_as_the_page() {
    let node = node().await;
    let http = Client::builder()
        .redirect(Policy::none())
        .no_proxy()
        .build()
        .expect("a client");
    let get = |path: &str| http.get(format!("{}{path}", node.rest_url()));

    let moved = get("/docs").send().await.expect("an answer");
    assert_eq!(
        (
            moved.status(),
            moved.headers()["location"].to_str().unwrap()
        ),
        (StatusCode::FOUND, "docs/")
    );

    for path in [
        "/docs/",
        "/docs/interfaces/json-rpc.html",
        "/docs/configuration/",
        "/docs/search.json",
    ] {
        let response = get(path).send().await.expect("an answer");
        assert_eq!(response.status(), StatusCode::OK, "{path}");

        let policy = response.headers()["content-security-policy"]
            .to_str()
            .unwrap();
        assert!(
            policy.contains("default-src 'none'") && !policy.contains("unsafe"),
            "{path}: {policy}"
        );
        assert_eq!(
            response.headers()["x-content-type-options"],
            "nosniff",
            "{path}"
        );

        let tag = response.headers()["etag"].clone();
        let body = response.text().await.expect("text");
        assert!(
            !body.contains(" style=") && !body.contains(" onclick="),
            "{path}"
        );

        let again = get(path)
            .header("if-none-match", tag)
            .send()
            .await
            .expect("an answer");
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{path}");
    }

    for path in [
        "/docs/nothing.html",
        "/docs/SUMMARY.md",
        "/docs/introduction.md",
        "/docs/interfaces",
        "/docs/..%2fx",
    ] {
        assert_eq!(
            get(path).send().await.expect("an answer").status(),
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
    node.end().await;
}
