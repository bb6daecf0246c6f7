//! The page as the node serves it. `tests/browser` tests its behaviour in a browser.

mod book;
mod chapters;
mod links;

use std::{collections::BTreeSet, fs, path::Path};

use base64ct::{Base64, Encoding};
use reqwest::StatusCode;
use sha2::{Digest, Sha256};

use crate::support::{TestNode, node, node_with};

/// Bytes that the page and everything it loads for its first view may take on the wire.
const FIRST_VIEW: usize = 150_000;

/// The number of bytes that a browser receives for a file.
async fn sent(node: &TestNode, path: &str) -> usize {
    let request = node
        .http
        .get(format!("{}{path}", node.rest_url()))
        .header("accept-encoding", "gzip, deflate, br");
    request
        .send()
        .await
        .expect("an answer")
        .bytes()
        .await
        .expect("a body")
        .len()
}

async fn text(node: &TestNode, path: &str) -> String {
    let response = node.get(path).await;
    assert_eq!(response.status(), StatusCode::OK, "{path}");
    response.text().await.expect("text")
}

/// Paths that a module imports at once, relative to its own.
fn imports(path: &str, module: &str) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let statements = module
        .lines()
        .filter(|line| line.starts_with("import ") || line.starts_with("} from "));
    let quoted = statements.filter_map(|line| line.split('\'').nth(1));
    quoted
        .map(|target| {
            let mut parts: Vec<&str> = folder.split('/').collect();
            for step in target.split('/') {
                match step {
                    "." => {}
                    ".." => drop(parts.pop()),
                    name => parts.push(name),
                }
            }
            parts.join("/")
        })
        .collect()
}

#[tokio::test]
async fn browsers_get_the_page_and_programs_get_json_rpc() {
    let node = node().await;
    let page = node.get("/").await;
    assert_eq!(page.status(), StatusCode::OK);
    assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");
    assert_eq!(page.headers()["x-content-type-options"], "nosniff");
    assert!(
        page.text()
            .await
            .expect("text")
            .starts_with("<!doctype html>")
    );
    let head = node
        .http
        .head(node.rest_url())
        .send()
        .await
        .expect("an answer");
    assert_eq!(head.status(), StatusCode::OK);

    let request = node
        .http
        .post(node.rest_url())
        .header("content-type", "application/json");
    let answer = request
        .body(r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#)
        .send()
        .await
        .expect("an answer");
    assert_eq!(
        answer.text().await.expect("text"),
        r#"{"jsonrpc":"2.0","id":1,"result":"0x7d"}"#
    );
    let url = node.rest_url().replace("http", "ws");
    tokio_tungstenite::connect_async(url)
        .await
        .expect("an upgrade at the same path");
    let refused = node
        .http
        .put(node.rest_url())
        .send()
        .await
        .expect("an answer");
    assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED);
    node.end().await;
}

#[tokio::test]
async fn the_policy_allows_only_the_scripts_of_the_page() {
    let node = node().await;
    for path in ["/", "/site/app.js"] {
        let response = node.get(path).await;
        let policy = response.headers()["content-security-policy"]
            .to_str()
            .expect("text");
        for directive in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "trusted-types",
        ] {
            assert!(policy.contains(directive), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
    }

    // The page must not have anything that the policy refuses. Its inline scripts and styles are
    // those that the policy names.
    let response = node.get("/").await;
    let policy = response.headers()["content-security-policy"]
        .to_str()
        .expect("text")
        .to_owned();
    let page = response.text().await.expect("text");
    assert!(!page.contains(" style=") && !page.contains(" onclick="));

    let mut inside = 0;
    for (open, close) in [("<script>", "</script>"), ("<style>", "</style>")] {
        for part in page.split(open).skip(1) {
            let text = part.split(close).next().expect("an end");
            let hash = Base64::encode_string(&Sha256::digest(text));
            assert!(
                policy.contains(&format!("'sha256-{hash}'")),
                "{open}: {policy}"
            );
            inside += 1;
        }
    }
    assert!(inside > 0);
    assert_eq!(policy.matches("sha256-").count(), inside);

    let others = page
        .match_indices("<script ")
        .all(|(at, _)| page[at..].starts_with("<script type=\"module\" src="));
    assert!(others && !page.contains("<style ") && !page.contains("rel=\"stylesheet\""));
    node.end().await;
}

#[tokio::test]
async fn only_the_policy_of_the_page_allows_configured_origins() {
    let node = node_with(|config| {
        config.page.media_origins = vec!["https://a.example".parse().unwrap()];
        config.page.ipfs_gateway = Some("http://127.0.0.1:8080/ipfs/".parse().unwrap());
    })
    .await;
    for (path, allowed) in [
        ("/", " https://a.example http://127.0.0.1:8080"),
        ("/site/app.js", ""),
        ("/docs/", ""),
    ] {
        let response = node.get(path).await;
        let policy = response.headers()["content-security-policy"].to_str();
        let policy = policy.expect("text");
        for directive in [
            format!("; img-src 'self' data:{allowed}; "),
            format!("; connect-src 'self'{allowed}; "),
        ] {
            assert!(policy.contains(&directive), "{path}: {policy}");
        }
        assert_eq!(
            policy.contains("a.example"),
            !allowed.is_empty(),
            "{path}: {policy}"
        );
    }
    node.end().await;
}

#[tokio::test]
async fn cached_files_are_not_sent_again() {
    let node = node().await;
    for path in [
        "/",
        "/site/app.js",
        "/site/css/base.css",
        "/site/icon.svg",
        "/site/interfaces.json",
    ] {
        let first = node.get(path).await;
        let etag = first.headers()["etag"].clone();
        assert_eq!(first.headers()["cache-control"], "no-cache");

        let again = node
            .http
            .get(format!("{}{path}", node.rest_url()))
            .header("if-none-match", etag)
            .send()
            .await;
        let again = again.expect("an answer");
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{path}");
        assert_eq!(again.bytes().await.expect("a body").len(), 0);
    }

    for path in [
        "/site/nothing.js",
        "/site/../Cargo.toml",
        "/site/",
        "/site/app.js/",
    ] {
        assert_eq!(
            node.get(path).await.status(),
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
    node.end().await;
}

#[tokio::test]
async fn an_asterisk_matches_every_version_of_the_page() {
    let node = node().await;
    for path in ["/", "/site/app.js"] {
        let request = node
            .http
            .get(format!("{}{path}", node.rest_url()))
            .header("if-none-match", "*");
        assert_eq!(
            request.send().await.expect("an answer").status(),
            StatusCode::NOT_MODIFIED,
            "{path}"
        );
    }
    node.end().await;
}

/// Every import has a target, every file of the page is in the program, and no file comes from
/// another origin.
#[tokio::test]
async fn the_page_is_complete_and_small() {
    let node = node().await;
    let page = text(&node, "/").await;
    let quoted = page
        .split('"')
        .filter(|part| part.starts_with("site/"))
        .map(|path| format!("/{path}"));
    let mut waiting: Vec<String> = quoted.collect();
    assert!(waiting.iter().any(|path| path == "/site/app.js"));
    let mut seen = BTreeSet::new();
    let mut size = sent(&node, "/").await;
    while let Some(path) = waiting.pop() {
        if seen.insert(path.clone()) {
            let file = text(&node, &path).await;
            size += sent(&node, &path).await;
            assert!(
                !file.contains("innerHTML") && !file.contains("eval("),
                "{path}"
            );
            waiting.extend(imports(&path, &file));
        }
    }
    assert!(size < FIRST_VIEW, "the first view takes {size} bytes");

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/page/src/page");
    for folder in ["", "css", "lib", "views"] {
        for entry in fs::read_dir(root.join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path
                .strip_prefix(&root)
                .expect("inside")
                .to_str()
                .expect("text");
            if !path.is_file() || name == "index.html" {
                continue;
            }
            let file = text(&node, &format!("/site/{name}")).await;
            assert!(
                file == fs::read_to_string(&path).expect("a file"),
                "{name} in the program differs"
            );
            let lines = file.lines().count();
            assert!(lines <= 450, "{name} has {lines} lines: split it");
            for import in imports(&format!("/site/{name}"), &file) {
                text(&node, &import).await;
            }
        }
    }
    node.end().await;
}

#[tokio::test]
async fn another_chain_also_has_a_page() {
    let genesis = tempfile::NamedTempFile::new().expect("a file");
    let json = r#"{"config":{"chainId":7,"londonBlock":0},"difficulty":"0x0","gasLimit":"0x1c9c380","alloc":{}}"#;
    fs::write(genesis.path(), json).expect("written");
    let file = genesis.path().to_owned();
    let node = node_with(|config| config.genesis = Some(file)).await;
    assert_eq!(node.get("/").await.status(), StatusCode::OK);
    assert_eq!(
        node.get("/api/network").await.status(),
        StatusCode::NOT_FOUND
    );
    node.end().await;
}
