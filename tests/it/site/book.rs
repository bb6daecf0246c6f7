//! The book in `docs/`: its commands print what it shows, its links have targets, and it covers
//! every route and method.

mod blocks;
mod examples;
mod json;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tetrad::{Config, Node, config::Profile};

use self::blocks::blocks;
use crate::support::{golden::assert_golden, node, node_with};

/// Held while a page is read and written: two tests write the page of REST's examples.
static WRITING: Mutex<()> = Mutex::new(());

fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src")
}

/// The pages with their paths inside of the book.
fn pages() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&book(), &mut found);
    found.sort();
    found
        .into_iter()
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect()
}

/// A page's path inside of the book.
fn name(path: &Path) -> String {
    path.strip_prefix(book()).unwrap().display().to_string()
}

/// Paths that the book's commands request.
fn asked() -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for (_, page) in pages() {
        for block in blocks(&page) {
            if block.language != "sh" {
                continue;
            }
            for command in block.text.split("curl").skip(1) {
                let Some((_, path)) = command.split_once("localhost:8545") else {
                    continue;
                };
                let path = path
                    .split(['?', '\'', '"', ' ', '\n'])
                    .next()
                    .unwrap_or_default();
                let method = command
                    .split_once("-X ")
                    .map_or("GET", |(_, rest)| rest.split(' ').next().unwrap_or("GET"));
                let method = if method == "GET" && command.contains(" -d ") {
                    "POST"
                } else {
                    method
                };
                found.insert((method.to_lowercase(), path.to_owned()));
            }
        }
    }
    found
}

/// Whether a path matches a described path, which may have parameters.
fn is_described(path: &str, described: &str) -> bool {
    let parts: Vec<_> = path.split('/').collect();
    let described: Vec<_> = described.split('/').collect();
    described.len() == parts.len()
        && described
            .iter()
            .zip(&parts)
            .all(|(described, part)| described.starts_with('{') || described == part)
}

#[tokio::test]
async fn every_route_has_an_example() {
    let node = node_with(|_| {}).await;
    let document = node.get_json("/openapi.json").await;
    let asked = asked();
    for (path, methods) in document["paths"].as_object().unwrap() {
        // WebSockets and texts are not compared.
        if ["/", "/ws", "/websocket", "/metrics"].contains(&path.as_str()) {
            continue;
        }

        for method in methods
            .as_object()
            .unwrap()
            .keys()
            .filter(|method| (path.as_str(), method.as_str()) != ("/rpc", "get"))
        {
            assert!(
                asked
                    .iter()
                    .any(|(verb, asked)| verb == method && is_described(asked, path)),
                "no example of {method} {path}"
            );
        }
    }
    node.end().await;
}

/// The anchor that mdBook gives a heading.
fn anchor_of(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    words
        .chars()
        .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter))
        .collect::<String>()
        .replace(' ', "-")
}

#[test]
fn links_have_targets_and_every_page_is_in_the_summary() {
    let summary = fs::read_to_string(book().join("SUMMARY.md")).unwrap();
    let mut listed = BTreeSet::new();

    for (path, page) in pages() {
        let folder = path.parent().unwrap();
        for (at, _) in page.match_indices("](") {
            let target = page[at + 2..].split(')').next().unwrap();
            if target.starts_with("http") {
                continue;
            }

            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            // mdBook makes index.html of such a page, and leaves links to it as they are.
            assert!(!file.ends_with("README.md"), "{}: {target}", path.display());

            let file = folder.join(file);
            let text = fs::read_to_string(&file)
                .unwrap_or_else(|_| panic!("{}: {target}", path.display()));

            let mut headings = text.lines().filter(|line| line.starts_with('#'));
            assert!(
                anchor.is_empty() || headings.any(|heading| anchor_of(heading) == anchor),
                "{}: {target}",
                path.display()
            );

            if path.ends_with("SUMMARY.md") {
                listed.insert(file.canonicalize().unwrap());
            }
        }
    }

    for (path, _) in pages() {
        let listed = path.ends_with("SUMMARY.md") || listed.contains(&path.canonicalize().unwrap());
        assert!(
            listed,
            "{} is not in the summary:\n{summary}",
            path.display()
        );
    }
}

/// The node and mdBook render the same Markdown, so it may have neither mdBook's directives nor
/// HTML.
#[test]
fn chapters_are_plain_markdown() {
    for (path, page) in pages() {
        let mut is_code = false;
        for line in page.lines() {
            if line.starts_with("```") {
                is_code = !is_code;
            }
            let prose: String = line.split('`').step_by(2).collect();
            let is_markup = prose.match_indices('<').any(|(at, _)| {
                let rest = &prose[at + 1..];
                rest.starts_with(|letter: char| letter.is_alphabetic() || letter == '/')
                    && !rest.starts_with("http")
            });
            assert!(is_code || !is_markup, "{}: {line}", path.display());
            assert!(!line.contains("{{#"), "{}: {line}", path.display());
        }
    }
}

/// Messages of the system and of other programs.
const ELSEWHERE: [&str; 6] = [
    "Address already in use",
    "Permission denied",
    "Unsupported type: '/hyperpaxeer.types.v1.EthAccount'",
    "404 Not Found",
    "pull access denied for tetrad",
    "Could not fetch chain ID",
];

/// Users search the troubleshooting page for messages of the program, so the sources must have its
/// headings.
#[test]
fn troubleshooting_quotes_messages_that_exist() {
    fn read(folder: &Path, text: &mut String) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension().and_then(|extension| extension.to_str()) {
                _ if path.is_dir() => read(&path, text),
                Some("rs" | "js" | "sol") => text.push_str(&fs::read_to_string(path).unwrap()),
                _ => {}
            }
        }
    }

    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = String::new();
    for folder in ["src", "crates", "contracts/src"] {
        read(&root.join(folder), &mut sources);
    }

    // Texts that continue on the next line.
    let joined = sources
        .split("\\\n")
        .map(str::trim_start)
        .collect::<String>();

    let page = fs::read_to_string(book().join("troubleshooting.md")).unwrap();
    let mut looked = 0;
    for heading in page.lines().filter(|line| line.starts_with("## ")) {
        for quoted in heading.split('`').skip(1).step_by(2) {
            if ELSEWHERE.contains(&quoted) {
                continue;
            }
            for part in quoted
                .split('…')
                .map(str::trim)
                .filter(|part| part.len() > 2)
            {
                assert!(
                    joined.contains(part),
                    "{heading}: the sources have no `{part}`"
                );
                looked += 1;
            }
        }
    }

    assert!(looked > 40, "{looked}");
}

/// The namespaces in the order of the page about them.
const NAMESPACES: [(&str, &str); 17] = [
    (
        "eth",
        "Ethereum's methods: the chain, accounts, calls, transactions, logs and filters.",
    ),
    ("net", "The network."),
    ("web3", "The client."),
    ("txpool", "The transactions that wait for a block."),
    ("debug", "Traces and raw data, as in go-ethereum."),
    ("trace", "Traces, as in OpenEthereum and Erigon."),
    ("ots", "What the explorer Otterscan asks for."),
    ("erigon", "Erigon's, for Otterscan."),
    ("tetrad", "The node's own."),
    ("rpc", "The interface itself."),
    ("admin", "The node."),
    ("personal", "Accounts whose keys the node holds."),
    ("testing", "Blocks for the tests of other clients."),
    (
        "evm",
        "Mining, time and snapshots, as in hardhat, anvil and ganache.",
    ),
    (
        "anvil",
        "Accounts, mining, time and the state, as in anvil.",
    ),
    ("hardhat", "The same, as in hardhat."),
    ("tenderly", "Balances, as on Tenderly's virtual networks."),
];

/// The methods of a node by name.
async fn methods(url: &str) -> BTreeMap<String, Value> {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "rpc.discover", "params": []});
    let response = reqwest::Client::new()
        .post(url)
        .json(&request)
        .send()
        .await
        .unwrap();
    let document: Value = response.json().await.unwrap();
    let methods = document["result"]["methods"].as_array().unwrap().iter();
    methods
        .map(|method| (method["name"].as_str().unwrap().to_owned(), method.clone()))
        .collect()
}

/// The list of JSON-RPC methods is generated from the node's own description.
#[tokio::test]
async fn the_list_of_methods_matches_the_node() {
    let node = node().await;
    let described = methods(&node.rpc_url()).await;
    node.end().await;
    let mut config = Config::of(Profile::Production);
    (config.listen, config.ws_listen) = (Config::test().listen, None);
    let production = Node::spawn(config).await.unwrap();
    let permitted = methods(&production.rpc_url()).await;
    production.shut_down().await.unwrap();

    let mut page = "# JSON-RPC methods\n\n\
                    <!-- Made of rpc.discover; a test compares the two. -->\n\n\
                    Every method of a development node. Parameters in brackets are optional. A method marked with * does\n\
                    not exist in the production profile. `rpc.discover` returns this list with the types of parameters and\n\
                    results and an example of each, as an OpenRPC document. Over WebSocket there are `eth_subscribe` and\n\
                    `eth_unsubscribe` as well: see [Subscriptions](json-rpc.md#subscriptions).\n"
        .to_owned();

    let mut listed = 0;
    for (space, meaning) in NAMESPACES {
        page.push_str(&format!(
            "\n## {space}\n\n{meaning}\n\n| Method | Parameters | Summary |\n|---|---|---|\n"
        ));
        let is_in_space = |name: &str| name.split(['_', '.']).next() == Some(space);

        for (name, method) in described.iter().filter(|(name, _)| is_in_space(name)) {
            let parameters = method["params"]
                .as_array()
                .unwrap()
                .iter()
                .map(|parameter| {
                    let name = parameter["name"].as_str().unwrap();
                    if parameter["required"] == json!(true) {
                        name.to_owned()
                    } else {
                        format!("[{name}]")
                    }
                });
            let parameters = parameters.collect::<Vec<_>>().join(", ");

            let summary: Vec<_> = method["summary"]
                .as_str()
                .unwrap()
                .split_whitespace()
                .collect();
            let summary = summary.join(" ").replace('|', "\\|");

            let mark = if permitted.contains_key(name) {
                ""
            } else {
                " *"
            };
            page.push_str(&format!("| `{name}`{mark} | {parameters} | {summary} |\n"));
            listed += 1;
        }
    }

    assert_eq!(listed, described.len(), "a namespace has no section");
    assert_golden("docs/src/interfaces/methods.md", &page);
}

/// The page about REST is generated from the node's own description.
#[tokio::test]
async fn the_rest_reference_matches_the_node() {
    let node = node_with(|_| {}).await;
    let described = node.get_json("/openapi.json").await;
    node.end().await;

    let mut tags = BTreeMap::<String, Vec<String>>::new();
    for (path, methods) in described["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let query = operation["parameters"].as_array().into_iter().flatten();
            let query = query.filter(|parameter| parameter["in"] == "query");
            let names: Vec<_> = query
                .map(|parameter| format!("`{}`", parameter["name"].as_str().unwrap()))
                .collect();

            let tag = operation["tags"][0].as_str().unwrap();
            let summary = operation["summary"].as_str().unwrap();
            let route = format!("`{} {path}`", method.to_uppercase());
            tags.entry(tag.to_owned())
                .or_default()
                .push(format!("| {route} | {} | {summary} |\n", names.join(", ")));
        }
    }

    let mut page = "# REST reference\n\n\
                    <!-- Made of /openapi.json; a test compares the two. -->\n\n\
                    Every route of a development node. `/openapi.json` also has parameters, schemas and statuses.\n"
        .to_owned();

    for (tag, rows) in tags {
        page.push_str(&format!(
            "\n## {tag}\n\n| Route | Query | Answer |\n|---|---|---|\n{}",
            rows.concat()
        ));
    }

    assert_golden("docs/src/interfaces/rest.md", &page);
    let _writing = WRITING.lock();
    assert_golden(
        "docs/src/interfaces/rest-examples.md",
        &with_summaries(&described),
    );
}

/// The page of examples, with each route's summary as the document has it.
fn with_summaries(described: &Value) -> String {
    let page = fs::read_to_string(book().join("interfaces/rest-examples.md")).unwrap();
    let lines = page.lines().map(|line| {
        let Some((route, _)) = line
            .strip_prefix("**`")
            .and_then(|line| line.split_once("`**"))
        else {
            return format!("{line}\n");
        };
        let (method, path) = route.split_once(' ').unwrap();
        let summary = described["paths"][path][method.to_lowercase()]["summary"].as_str();
        format!(
            "**`{route}`** {}\n",
            summary.unwrap_or_else(|| panic!("no route {route}"))
        )
    });
    lines.collect()
}
