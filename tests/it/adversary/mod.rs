//! One adversary for all of a node's interfaces: it reads the node's own descriptions, and attacks
//! every operation in them, while honest clients use every interface.
//!
//! It measures how long honest clients wait, so it runs alone: `cargo test --test it -- --ignored
//! adversary`. `TETRAD_ADVERSARY` sets the seconds of a longer run, such as 3600 before a release,
//! which attacks both profiles; `TETRAD_SEED` repeats a run's choices.

mod api;
mod attacks;
mod bodies;
mod campaign;
mod describe;
mod documents;
mod envelopes;
mod fill;
mod frames;
mod framing;
mod grpc;
mod honest;
mod introspection;
mod ipc;
mod probe;
mod request;
mod shapes;
mod subject;

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_primitives::Address;
use serde_json::{Value, json};

use self::{
    api::Api,
    campaign::{Campaign, Form},
    describe::{Call, Operation},
    fill::{Filled, fill, key},
    framing::Framing,
    honest::{Facts, Honest, SENDER},
    probe::{Probed, probe},
    subject::{Profile, Subject, client_address},
};
use crate::{cluster::checker::seed, contracts::random::Random, support::process};

/// Seconds of the attacks in the short form.
const SHORT: u64 = 45;
/// Seconds of a round of the long form.
const ROUND: u64 = 600;
/// Minimum number of rounds in the long form: one for each profile.
const LEAST_ROUNDS: u64 = 2;
/// Minimum time of the search for the largest response of an operation, of which most need less.
const LEAST_SEARCH: Duration = Duration::from_secs(1);
/// How long honest clients run before the attack.
const CALIBRATION: Duration = Duration::from_secs(2);

fn form() -> Form {
    match std::env::var("TETRAD_ADVERSARY") {
        Ok(text) => {
            let seconds: u64 = text
                .parse()
                .expect("TETRAD_ADVERSARY is a number of seconds");
            let rounds = (seconds / ROUND).max(LEAST_ROUNDS);
            Form {
                seconds: seconds / rounds,
                rounds,
                connections: 100,
                transactions: 300,
                requests: 200,
                documents: 60,
                framings: Framing::ALL.len(),
            }
        }
        Err(_) => Form {
            seconds: SHORT,
            rounds: 1,
            connections: 20,
            transactions: 60,
            requests: 12,
            documents: 3,
            framings: 2,
        },
    }
}

/// Starts a node with a full chain. If a node accepts nested messages that it cannot render, that
/// is a failure, and the next node's chain has less nesting.
async fn filled(
    profile: Profile,
    form: &Form,
    random: &mut Random,
    failures: &mut BTreeSet<String>,
) -> (Arc<Subject>, Filled) {
    let mut levels = usize::MAX;
    loop {
        let subject = Arc::new(Subject::start(profile).await);
        let api = Api::new(&subject, client_address(2));
        let filled = fill(&api, form.transactions, levels, random).await;
        match shown_in_time(
            &api,
            filled.cosmos_hashes.last().expect("a Cosmos transaction"),
        )
        .await
        {
            Ok(()) => return (subject, filled),
            Err(error) => {
                let admitted = filled.levels.expect("nested messages were admitted");
                println!(
                    "FAILED: messages nested {admitted} levels deep are admitted; the look-up: {error:.200}"
                );
                failures.insert(format!(
                    "messages nested {admitted} levels deep are admitted; the look-up: {error:.200}"
                ));
                levels = admitted / 4;
            }
        }
    }
}

/// Waits until a Cosmos transaction can be looked up.
async fn shown_in_time(api: &Api, hash: &str) -> Result<(), String> {
    let began = Instant::now();
    loop {
        match api
            .try_json(&format!("/cosmos/tx/v1beta1/txs/{hash}"), None)
            .await
        {
            Ok(_) => return Ok(()),
            Err(error) if began.elapsed() > fill::INCLUSION_TIMEOUT || !api.subject.is_alive() => {
                return Err(error);
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures latencies, and runs alone"]
async fn every_operation_that_a_node_describes_withstands_an_adversary() {
    tetrad_stdx::tls::install_provider();
    let seed = seed();
    let form = form();
    let mut failures = BTreeSet::new();
    for round in 0..form.rounds {
        let mut random = Random::new(seed.wrapping_add(round));
        // Every other round of the long form.
        let profile = if round % 2 == 0 {
            Profile::Production
        } else {
            Profile::Development
        };
        println!("round {round}: {profile:?}");
        failures.extend(attack(profile, form, &mut random).await);
    }
    let listed: Vec<_> = failures.iter().map(String::as_str).collect();
    assert!(
        listed.is_empty(),
        "TETRAD_SEED={seed}: {} failures:\n{}",
        listed.len(),
        listed.join("\n")
    );
}

/// Runs a round. Returns the failures.
async fn attack(profile: Profile, form: Form, random: &mut Random) -> BTreeSet<String> {
    let mut failures = BTreeSet::new();
    // A development node is attacked twice, the second time with the operations that change the
    // chain.
    let attacks = if profile == Profile::Development {
        2
    } else {
        1
    };
    let form = Form {
        seconds: form.seconds / attacks,
        ..form
    };
    let (subject, filled) = filled(profile, &form, random, &mut failures).await;
    let api = Api::new(&subject, client_address(2));
    let account = Address::repeat_byte(0x51);
    for address in [account, key(SENDER).address()] {
        api.post("/api/faucet", &json!({ "address": address }))
            .await;
        api.until_paid(address).await;
    }
    let facts = Facts {
        account,
        cosmos_hash: filled.cosmos_hashes[0].clone(),
    };
    let mut operations = describe::operations(&subject).await;
    println!("{} operations", operations.len());
    shuffle(&mut operations, random);

    let honest = Honest::start(&subject, &facts);
    tokio::time::sleep(CALIBRATION).await;
    let campaign = Campaign::new(subject, filled, honest, form);
    println!("{:?} MB with the chain loaded", campaign.base);

    let (changing, reading) = operations
        .into_iter()
        .partition(|operation| profile == Profile::Development && operation.changes_state);
    attack_operations(&campaign, reading, random).await;
    if profile == Profile::Development {
        // From here on, the chain has changed.
        campaign.let_change();
        attack_operations(&campaign, changing, random).await;
    }

    let (subject, filled, honest, found) = campaign.into_failures();
    failures.extend(found);
    let (unhappy, acknowledged) = honest.end().await;
    failures.extend(unhappy);
    failures.extend(
        subject
            .accidents()
            .into_iter()
            .map(|line| format!("the log: {line:.300}")),
    );
    failures.extend(restart(&subject, &filled, &acknowledged).await);
    failures
}

/// Attacks operations with every kind of attack.
async fn attack_operations(campaign: &Campaign, operations: Vec<Operation>, random: &mut Random) {
    campaign.begin("largest pages");
    let until = Instant::now() + campaign.form.share(30);
    let mut probed: Vec<Probed> = Vec::new();
    for (n, operation) in operations.iter().enumerate() {
        // Most searches end early. One may take as much time as a dozen others have on average.
        let left = until.saturating_duration_since(Instant::now());
        let at_most = 12 * left / u32::try_from(operations.len() - n).unwrap();
        probed.push(
            probe(
                campaign,
                operation.clone(),
                random.next(),
                campaign.form.requests,
                at_most.max(LEAST_SEARCH),
            )
            .await,
        );
    }

    serve_elsewhere(campaign, &mut probed).await;
    probed.sort_by_key(|probed| probed.bytes);
    for one in probed.iter().rev().filter(|one| one.bytes > 64 << 10) {
        println!(
            "{} kB: {}: {}",
            one.bytes / 1024,
            one.operation.name,
            campaign::shown(&one.largest)
        );
    }

    campaign.begin("responses unread");
    attacks::unread(campaign, &probed, campaign.form.share(25)).await;
    campaign.begin("WebSockets unread");
    attacks::unread_sockets(campaign, &probed, random).await;
    campaign.begin("documents on WebSockets");
    attacks::socket_documents(campaign, &probed, random.next()).await;

    campaign.begin("the Unix socket");
    ipc::unread(campaign, &probed).await;
    ipc::documents(campaign, &probed, random.next()).await;
    attacks::framings(campaign, &probed, campaign.form.share(25), random).await;

    campaign.begin("bodies held back");
    bodies::held_bodies(campaign, &probed, campaign.form.share(8)).await;
    campaign.begin("aborted requests");
    attacks::aborted(campaign, &probed).await;

    campaign.begin("deep, wide and random documents");
    shapes::documents(campaign, &mut probed, random.next()).await;
    campaign.begin("senders of refusals");
    attacks::refusals(campaign, &probed, campaign.form.share(12)).await;
}

fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for at in (1..items.len()).rev() {
        items.swap(at, random.below(at as u64 + 1) as usize);
    }
}

/// Finds the other listeners that serve an operation.
async fn serve_elsewhere(campaign: &Campaign, probed: &mut [Probed]) {
    let listeners = campaign.subject.listeners();
    let http: Vec<_> = listeners
        .iter()
        .filter(|(name, url)| url.starts_with("http") && !["grpc", "rpc"].contains(&name.as_str()))
        .collect();
    let mut client = request::Client::new(client_address(10));
    for one in probed
        .iter_mut()
        .filter(|one| matches!(one.operation.call, Call::Http { .. }))
    {
        for (name, _) in &http {
            let mut request = one.largest.clone();
            if *name == request.listener {
                continue;
            }
            request.listener.clone_from(name);
            let outcome = campaign
                .ask(&mut client, &one.operation.name, &request)
                .await;
            if outcome.is_some_and(|outcome| outcome.is_success() && outcome.bytes >= one.bytes / 2)
            {
                one.operation.listeners.push(name.clone());
            }
        }
    }
}

/// The answers that must be the same after a restart, by request.
async fn answers(
    api: &Api,
    filled: &Filled,
    transactions: &[String],
) -> Vec<(String, Result<Value, String>)> {
    let mut answers = Vec::new();
    let height = format!("{:#x}", filled.chain_values.height);
    for account in &filled.accounts {
        for method in ["eth_getBalance", "eth_getTransactionCount"] {
            answers.push((
                format!("{method} {account}"),
                api.try_rpc(method, json!([account, height])).await,
            ));
        }
    }
    for hash in filled.hashes.iter().chain(transactions) {
        let receipt = api
            .try_rpc("eth_getTransactionReceipt", json!([hash]))
            .await;
        answers.push((format!("receipt {hash}"), receipt));
    }
    for hash in &filled.cosmos_hashes {
        answers.push((
            format!("Cosmos {hash}"),
            api.try_json(&format!("/cosmos/tx/v1beta1/txs/{hash}"), None)
                .await,
        ));
    }
    let blocks = json!([height, true]);
    answers.push((
        format!("block {height}"),
        api.try_rpc("eth_getBlockByNumber", blocks).await,
    ));
    answers
}

/// Kills the node, restarts it and compares its answers; then verifies the chain.
async fn restart(subject: &Arc<Subject>, filled: &Filled, acknowledged: &[String]) -> Vec<String> {
    const BLOCKS: Duration = Duration::from_secs(3);
    let mut failures = Vec::new();
    let api = Api::new(subject, client_address(2));

    // By then, the last acknowledged transactions are in a block.
    tokio::time::sleep(BLOCKS).await;
    let before = answers(&api, filled, acknowledged).await;
    subject.kill();
    subject.restart().await;
    let after = answers(&api, filled, acknowledged).await;

    // Clients of a development node may have removed it.
    let may_be_missing = subject.profile == Profile::Development;
    for ((name, before), (_, after)) in before.iter().zip(&after) {
        match (before, after) {
            (Ok(Value::Null), _) | (_, Ok(Value::Null)) if !may_be_missing => {
                failures.push(format!("{name}: acknowledged, and lost"))
            }
            (before, after) if before == after && (before.is_ok() || may_be_missing) => {}
            (before, after) => {
                let shown =
                    |answer: &Result<Value, String>| format!("{:.200}", format!("{answer:?}"));
                failures.push(format!(
                    "{name}: before the restart {}, after it {}",
                    shown(before),
                    shown(after)
                ));
            }
        }
    }

    subject.kill();
    let chain = subject.chain();
    let (succeeded, _, error) =
        process::output(&["chain", "--data-dir", chain.to_str().unwrap(), "verify"]);
    if !succeeded {
        failures.push(format!("tetrad chain verify: {error:.300}"));
    }
    failures
}
