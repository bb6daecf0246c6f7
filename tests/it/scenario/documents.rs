//! The format of scenarios, and errors that name the line and the key.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;
use tetrad::{
    Config, Node,
    config::Profile,
    scenario::{READY_MADE, Scenario, ScenarioContext},
};

use super::{post, start, stop};
use crate::support::{node, node_with};

const HEAD: &str = "name = \"x\"\nlasts = \"1m\"\n[[step]]\n";

fn context() -> ScenarioContext {
    ScenarioContext {
        network: Some(Default::default()),
        has_prices: true,
        development: true,
        owner: Default::default(),
        accounts: vec![Default::default(); 10],
    }
}

fn parse_error(document: &str) -> String {
    match Scenario::parse(document, &context()) {
        Ok(_) => panic!("{document} was accepted"),
        Err(error) => error.to_string(),
    }
}

fn error(step: &str) -> String {
    parse_error(&format!("{HEAD}{step}"))
}

#[test]
fn errors_name_the_line_and_the_key() {
    for (step, place, reason) in [
        (
            "at = \"soon\"\nreorg = 1",
            "line 4: at: ",
            "expected a duration",
        ),
        (
            "at = \"2m\"\nreorg = 1",
            "line 4: at: ",
            "after the scenario's end",
        ),
        (
            "at = \"1s\"\nblock = 2\nreorg = 1",
            "line 3: step: ",
            "one of `at` and `block`",
        ),
        ("at = \"1s\"", "line 3: step: ", "expected one of `price`"),
        (
            "at = \"1s\"\nreorg = 1\nadvance = \"1m\"",
            "line 3: step: ",
            "expected one of `price`",
        ),
        (
            "at = \"end\"\nreorg = 1",
            "line 3: step: ",
            "only a `transaction` can be at the end",
        ),
        ("at = \"1s\"\nreorg = 65", "line 5: reorg: ", "1 to 64"),
        (
            "at = \"1s\"\nadvance = \"367d\"",
            "line 5: advance: ",
            "1s to 366d",
        ),
        (
            "at = \"1s\"\nexplode = true",
            "line 5: ",
            "unknown field `explode`",
        ),
        (
            "at = \"1s\"\nprice = { tokens = [\"DOGE\"], to = 1 }",
            "line 5: tokens: ",
            "no token \"DOGE\"",
        ),
        (
            "at = \"1s\"\nprice = { tokens = [], to = 1 }",
            "line 5: tokens: ",
            "1 to 32",
        ),
        (
            "at = \"1s\"\nprice = { tokens = [\"WETH\"] }",
            "line 5: price: ",
            "one of `to` and `change`",
        ),
        (
            "at = \"1s\"\nprice = { tokens = [\"WETH\"], change = \"-100%\" }",
            "line 5: change: ",
            "above -100%",
        ),
        (
            "at = \"1s\"\nprice = { tokens = [\"WETH\"], to = 0 }",
            "line 5: to: ",
            "a price in US dollars",
        ),
        (
            "at = \"1s\"\nprice = { tokens = [\"WETH\"], to = -3.5 }",
            "line 5: to: ",
            "a price in US dollars",
        ),
        (
            "at = \"1s\"\nprice = { tokens = [\"WETH\"], to = 1, over = \"2m\" }",
            "line 5: over: ",
            "longer than",
        ),
        (
            "at = \"1s\"\nprice = { tokens = [\"WETH\"], to = 1, over = \"900ms\" }",
            "line 5: over: ",
            "whole seconds",
        ),
        (
            "at = \"1s\"\nadvance = \"1.5s\"",
            "line 5: advance: ",
            "whole seconds",
        ),
        (
            "at = \"1s\"\nfault = {}",
            "line 5: fault: ",
            "one of `latency`, `errors` and `cut`",
        ),
        (
            "at = \"1s\"\nfault = { latency = \"2m\" }",
            "line 5: latency: ",
            "at most 60s",
        ),
        (
            "at = \"1s\"\nfault = { errors = \"150%\" }",
            "line 5: errors: ",
            "a share such as",
        ),
        (
            "at = \"1s\"\nfault = { status = 200 }",
            "line 5: status: ",
            "400 to 599",
        ),
        (
            "at = \"1s\"\nfault = { interface = \"cosmos\" }",
            "line 5: interface: ",
            "\"rpc\", \"rest\" or",
        ),
        (
            "at = \"1s\"\nfault = { client = \"a b\" }",
            "line 5: client: ",
            "a range such as",
        ),
    ] {
        let error = error(step);
        assert!(
            error.starts_with(place) && error.contains(reason),
            "{step}: {error}"
        );
    }
}

#[test]
fn errors_of_transactions_name_the_member() {
    for (transaction, place, reason) in [
        (
            "from = \"account 10\", to = \"WETH\"",
            "from: ",
            "the node has 10",
        ),
        (
            "from = \"me\", to = \"WETH\"",
            "from: ",
            "expected \"owner\"",
        ),
        (
            "from = \"owner\", to = \"0x12\"",
            "to: ",
            "expected an address",
        ),
        (
            "from = \"owner\", to = \"WETH\", call = \"deposit(\"",
            "call: ",
            "expected a function",
        ),
        (
            "from = \"owner\", to = \"WETH\", call = \"mint(address,uint256)\", args = [\"WETH\"]",
            "args: ",
            "takes 2 arguments",
        ),
        (
            "from = \"owner\", to = \"WETH\", call = \"f(uint256)\", args = [\"10 DOGE\"]",
            "args: ",
            "no token \"DOGE\"",
        ),
        (
            "from = \"owner\", to = \"WETH\", call = \"f(uint256)\", args = [\"lots\"]",
            "args: ",
            "argument 1: expected a number",
        ),
        (
            "from = \"owner\", to = \"WETH\", call = \"f(bool)\", args = [\"maybe\"]",
            "args: ",
            "expected bool",
        ),
        (
            "from = \"owner\", to = \"WETH\", data = \"0x1\"",
            "data: ",
            "hex digits",
        ),
        (
            "from = \"owner\", to = \"WETH\", gas = 20000",
            "gas: ",
            "21000 to",
        ),
        (
            "from = \"owner\", to = \"WETH\", value = \"-1\"",
            "value: ",
            "expected coins",
        ),
        (
            "from = \"owner\", to = \"WETH\", args = [\"1\"]",
            "transaction: ",
            "`call` with `args`, or `data`",
        ),
    ] {
        let error = error(&format!("at = \"1s\"\ntransaction = {{ {transaction} }}"));
        assert!(
            error.starts_with(&format!("line 5: {place}")) && error.contains(reason),
            "{transaction}: {error}"
        );
    }
}

/// Types are parsed recursively, and errors repeat no more than the beginning of the text.
#[test]
fn errors_of_nested_types_are_short() {
    for (kind, value) in [
        (format!("uint8{}", "[]".repeat(64)), "[]".to_owned()),
        (format!("uint8{}", "[]".repeat(32_000)), "[]".to_owned()),
        (
            format!("{}uint8{}", "(".repeat(10_000), ")".repeat(10_000)),
            "1".to_owned(),
        ),
        ("(".repeat(31), "1".to_owned()),
        ("x".repeat(60_000), "1".to_owned()),
        ("uint8[]".to_owned(), "[".repeat(60_000)),
        ("uint8".to_owned(), "x".repeat(60_000)),
        (format!("uint8{}", "[]".repeat(31)), "[".repeat(60_000)),
    ] {
        let error = error(&format!(
            "at = \"1s\"\ntransaction = {{ from = \"owner\", to = \"WETH\", call = \"f({kind})\", args = [\"{value}\"] }}"
        ));
        assert!(error.contains("expected ") && error.len() < 500, "{error}");
    }
}

#[test]
fn incomplete_and_long_documents_are_refused_with_the_reason() {
    assert!(parse_error("lasts = \"1m\"").contains("missing field `name`"));
    assert!(parse_error("name = \"x\"\nlasts = \"8d\"").starts_with("line 2: lasts: "));
    assert!(parse_error("name = \"\"\nlasts = \"1d\"").starts_with("line 1: name: "));

    let many = format!(
        "name = \"x\"\nlasts = \"1m\"\n{}",
        "[[step]]\nat = \"0s\"\nreorg = 1\n".repeat(257)
    );
    assert!(parse_error(&many).contains("at most 256 steps"));
    assert!(parse_error(&"#".repeat(70_000)).contains("at most 65536 bytes"));
}

fn parse_step(step: &str, context: &ScenarioContext) -> Result<(), String> {
    Scenario::parse(&format!("{HEAD}at = \"0s\"\n{step}"), context)
        .map(drop)
        .map_err(|error| error.to_string())
}

#[test]
fn steps_that_a_node_cannot_perform_are_refused() {
    let production = ScenarioContext {
        development: false,
        accounts: Vec::new(),
        ..context()
    };
    for step in ["reorg = 1", "advance = \"1m\""] {
        assert!(
            parse_step(step, &production)
                .unwrap_err()
                .contains("needs the development methods"),
            "{step}"
        );
    }

    let frozen = ScenarioContext {
        has_prices: false,
        ..context()
    };
    let price = "price = { tokens = [\"WETH\"], to = 1 }";
    assert!(
        parse_step(price, &frozen)
            .unwrap_err()
            .contains("prices do not move on this node")
    );
    assert_eq!(parse_step(price, &context()), Ok(()));
}

#[test]
fn the_bundled_scenarios_are_valid() {
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("config/scenarios"))
        .expect("a directory");
    let files: BTreeSet<_> = files.map(|file| file.expect("a file").path()).collect();
    let names: BTreeSet<_> = files
        .iter()
        .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        names,
        READY_MADE
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .collect()
    );
    for (name, document) in READY_MADE {
        if let Err(error) = Scenario::parse(document, &context()) {
            panic!("{name}: {error}");
        }
    }
}

#[tokio::test]
async fn an_invalid_document_starts_no_scenario() {
    let node = node().await;
    let response = post(&node, &format!("{HEAD}at = \"soon\"\nreorg = 1")).await;
    assert_eq!(response.status(), 400);
    let body: Value = response.json().await.expect("JSON");
    assert_eq!(body["error"], "invalid_parameter");
    assert!(
        body["message"]
            .as_str()
            .is_some_and(|message| message.contains("line 4: at: ")),
        "{body}"
    );

    assert_eq!(
        node.get_json("/api/admin/scenarios").await["data"],
        serde_json::json!([])
    );

    let json = node
        .http
        .post(format!("{}/api/admin/scenarios", node.rest_url()))
        .json("x")
        .send()
        .await;
    assert_eq!(json.expect("an answer").status(), 415);

    assert_eq!(
        node.http
            .delete(format!("{}/api/admin/scenarios/9", node.rest_url()))
            .send()
            .await
            .unwrap()
            .status(),
        404
    );
    node.end().await;
}

#[tokio::test]
async fn the_number_of_running_scenarios_is_limited() {
    let node = node().await;
    let document = "name = \"nothing\"\nlasts = \"1h\"";
    for id in 1..=8 {
        assert_eq!(start(&node, document).await, id);
    }
    let refused = post(&node, document).await;
    assert_eq!(refused.status(), 503);
    assert_eq!(stop(&node, 3).await["state"], "stopped");
    assert_eq!(start(&node, document).await, 9);
    for _ in 0..40 {
        let id = start_another(&node, document).await;
        assert_eq!(stop(&node, id).await["state"], "stopped");
    }
    let listed = node.get_json("/api/admin/scenarios").await;
    assert_eq!(listed["data"].as_array().map(Vec::len), Some(32));
    node.end().await;
}

/// Stops the newest scenario but one, and starts another.
async fn start_another(node: &crate::support::TestNode, document: &str) -> u64 {
    let listed = node.get_json("/api/admin/scenarios").await;
    let running = listed["data"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|one| one["state"] == "running");
    let running: Vec<_> = running
        .map(|one| one["id"].as_u64().expect("an id"))
        .collect();
    if running.len() == 8 {
        stop(node, running[0]).await;
    }
    start(node, document).await
}

#[tokio::test]
async fn a_scenario_can_start_with_the_node() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("bad-day.toml");
    fs::write(
        &file,
        "name = \"bad day\"\nlasts = \"1h\"\n[[step]]\nat = \"0s\"\nreorg = 0",
    )
    .expect("a file");

    let config = Config {
        scenario: Some(file.clone()),
        ..Config::test()
    };

    let error = Node::spawn(config.clone())
        .await
        .map(drop)
        .expect_err("an error")
        .to_string();
    assert!(
        error.starts_with("--scenario ") && error.contains("bad-day.toml: line 5: reorg: "),
        "{error}"
    );

    fs::write(&file, "name = \"bad day\"\nlasts = \"1h\"").expect("a file");
    let node = node_with(|config| config.scenario = Some(file)).await;
    let listed = node.get_json("/api/admin/scenarios").await;
    assert_eq!(
        (&listed["data"][0]["name"], &listed["data"][0]["state"]),
        (&"bad day".into(), &"running".into())
    );
    node.end().await;

    let node = node_with(|config| {
        config.scenario = Some("price-crash".into());
        config.exchange.price_tick = Some(std::time::Duration::from_secs(2));
    });
    let node = node.await;
    assert_eq!(
        node.get_json("/api/admin/scenarios").await["data"][0]["name"],
        "Price crash"
    );
    node.end().await;

    let missing = Config {
        scenario: Some(place.path().join("none")),
        ..config
    };
    assert!(
        Node::spawn(missing)
            .await
            .map(drop)
            .expect_err("an error")
            .to_string()
            .starts_with("--scenario ")
    );
}

#[tokio::test]
async fn bundled_scenarios_have_a_title_and_a_description() {
    let node = node().await;
    let listed = node.get_json("/api/admin/scenarios/ready-made").await;
    let listed = listed["data"].as_array().expect("a list");
    assert_eq!(listed.len(), READY_MADE.len());
    assert_eq!(
        (&listed[0]["name"], &listed[0]["title"]),
        (&"price-crash".into(), &"Price crash".into())
    );
    assert!(
        listed.iter().all(|one| one["description"]
            .as_str()
            .is_some_and(|text| !text.is_empty())),
        "{listed:#?}"
    );
    node.end().await;
}

fn production(config: &mut Config, token_file: &Path) {
    config.profile = Profile::Production;
    config.rpc.development = false;
    config.admin_token_file = Some(token_file.to_owned());
}

#[tokio::test]
async fn the_production_profile_requires_the_admin_token() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("admin.token");

    fs::write(&file, "short\n").expect("a file");
    let mut config = Config::test();
    production(&mut config, &file);
    let error = Node::spawn(config)
        .await
        .map(drop)
        .expect_err("an error")
        .to_string();
    assert!(
        error.contains("admin-token-file: ") && error.contains("at least 16"),
        "{error}"
    );

    fs::write(&file, "correct-horse-battery\n").expect("a file");
    let node = node_with(|config| production(config, &file)).await;
    let document = node.get_json("/openapi.json").await;
    let described = &document["paths"]["/api/admin/scenarios"]["post"];
    assert_eq!(
        described["security"],
        serde_json::json!([{ "adminToken": [] }])
    );
    assert!(
        described["responses"]["401"]["content"]["application/json"]["schema"].is_object(),
        "{described}"
    );

    let scenarios = format!("{}/api/admin/scenarios", node.rest_url());
    let price = format!("{}/api/admin/prices/WETH", node.rest_url());
    for wrong in [
        None,
        Some("Bearer correct-horse-batterz"),
        Some("Basic correct-horse-battery"),
        Some("Bearer"),
    ] {
        for request in [
            node.http.get(&scenarios),
            node.http.post(&scenarios),
            node.http.delete(&price),
        ] {
            let request = wrong.iter().fold(request, |request, value| {
                request.header("authorization", *value)
            });
            let refused = request.send().await.expect("an answer");
            assert_eq!(
                (
                    refused.status().as_u16(),
                    &refused.headers()["www-authenticate"]
                ),
                (401, &"Bearer".parse().unwrap())
            );

            assert_eq!(
                refused.json::<Value>().await.expect("JSON")["error"],
                "unauthorized"
            );
        }
    }

    let admitted = node
        .http
        .post(&scenarios)
        .header("content-type", "application/toml")
        .bearer_auth("correct-horse-battery");
    let admitted = admitted
        .body("name = \"x\"\nlasts = \"1m\"")
        .send()
        .await
        .expect("an answer");
    assert_eq!(admitted.status(), 200);

    let released = node
        .http
        .delete(&price)
        .bearer_auth("correct-horse-battery")
        .send()
        .await
        .expect("an answer");
    assert_eq!(released.status(), 200);

    assert_eq!(
        node.get("/api/prices").await.status(),
        200,
        "other routes require no token"
    );
    node.end().await;
}

#[tokio::test]
async fn the_production_profile_without_a_token_has_no_scenario_routes() {
    let node = node_with(|config| {
        config.profile = Profile::Production;
        config.rpc.development = false;
    });
    let node = node.await;
    assert_eq!(node.get("/api/admin/scenarios").await.status(), 404);
    assert_eq!(
        post(&node, "name = \"x\"\nlasts = \"1m\"").await.status(),
        404
    );
    node.end().await;
}

#[tokio::test]
async fn the_development_profile_requires_a_configured_token() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("admin.token");
    let config = Config {
        admin_token_file: Some(file.clone()),
        ..Config::test()
    };
    let error = Node::spawn(config)
        .await
        .map(drop)
        .expect_err("an error")
        .to_string();
    assert!(error.contains("admin-token-file: "), "{error}");

    fs::write(&file, "correct-horse-battery\n").expect("a file");
    let node = node_with(|config| config.admin_token_file = Some(file.clone())).await;
    let scenarios = format!("{}/api/admin/scenarios", node.rest_url());
    assert_eq!(
        node.http
            .get(&scenarios)
            .send()
            .await
            .expect("an answer")
            .status(),
        401
    );
    let admitted = node
        .http
        .get(&scenarios)
        .bearer_auth("correct-horse-battery")
        .send()
        .await
        .expect("an answer");
    assert_eq!(admitted.status(), 200);
    node.end().await;
}
