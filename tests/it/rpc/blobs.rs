//! Blobs in transactions that the node signs for clients.

use alloy_eips::{
    eip4844::{
        BlobTransactionSidecar,
        builder::{SidecarBuilder, SimpleCoder},
    },
    eip7594::BlobTransactionSidecarEip7594,
};
use alloy_primitives::{B256, hex};
use serde_json::{Value, json};
use tetrad_evm::Fork;

use crate::support::{TestNode, node, node_with};

fn builder() -> SidecarBuilder<SimpleCoder> {
    SidecarBuilder::from_slice(b"what a block does not hold")
}

fn with_blob_proofs() -> BlobTransactionSidecar {
    builder().build_4844().unwrap()
}

fn with_cell_proofs() -> BlobTransactionSidecarEip7594 {
    builder().build_7594().unwrap()
}

fn each<T: AsRef<[u8]>>(values: &[T]) -> Value {
    values.iter().map(hex::encode_prefixed).collect()
}

/// A transaction of the first account with these members as well.
fn transaction(node: &TestNode, members: Value) -> Value {
    let mut transaction = json!({"from": node.account(0), "to": node.account(1)});
    for (name, value) in members.as_object().unwrap() {
        transaction[name] = value.clone();
    }
    transaction
}

#[tokio::test]
async fn omitted_blob_fields_are_computed() {
    let node = node().await;
    let old = with_blob_proofs();
    let new = with_cell_proofs();
    let blobs = each(&old.blobs);
    let hashes: Vec<B256> = old.versioned_hashes().collect();

    for members in [
        json!({"blobs": blobs}),
        json!({"blobs": blobs, "blobVersionedHashes": hashes}),
        json!({"blobs": blobs, "commitments": each(&old.commitments)}),
        json!({"blobs": blobs, "commitments": each(&old.commitments), "proofs": each(&old.proofs)}),
        json!({"blobs": blobs, "commitments": each(&new.commitments), "cellProofs": each(&new.cell_proofs)}),
    ] {
        let sent = node
            .rpc("eth_sendTransaction", json!([transaction(&node, members)]))
            .await;

        let found = node.rpc("eth_getTransactionByHash", json!([sent])).await;
        assert_eq!(found["type"], "0x3");
        assert_eq!(found["blobVersionedHashes"], json!(hashes));
        assert_eq!(found["maxFeePerBlobGas"], "0x2", "twice the blob base fee");
        let receipt = node.rpc("eth_getTransactionReceipt", json!([sent])).await;
        assert_eq!(
            (&receipt["status"], &receipt["blobGasUsed"]),
            (&json!("0x1"), &json!("0x20000"))
        );
        let held = node
            .rpc("anvil_getBlobsByTransactionHash", json!([sent]))
            .await;
        assert_eq!(held, blobs);
    }
}

#[tokio::test]
async fn signed_and_filled_transactions_include_their_blobs() {
    let node = node().await;
    let request = transaction(&node, json!({"blobs": each(&with_blob_proofs().blobs)}));

    let filled = node.rpc("eth_fillTransaction", json!([request])).await;
    let signed = node.rpc("eth_signTransaction", json!([request])).await;
    for raw in [&filled["raw"], &signed["raw"]] {
        assert!(raw.as_str().unwrap().len() > 2 * 131_072, "with the blob");
    }

    let sent = node
        .rpc("eth_sendRawTransaction", json!([signed["raw"]]))
        .await;
    assert_eq!(sent, signed["tx"]["hash"]);
    assert_eq!(
        node.rpc("eth_getTransactionReceipt", json!([sent])).await["status"],
        "0x1"
    );
}

#[tokio::test]
async fn calls_see_the_hashes_of_blobs() {
    let node = node().await;
    let sidecar = with_blob_proofs();
    let hash: Vec<B256> = sidecar.versioned_hashes().collect();
    // BLOBHASH of 0 as the output.
    node.rpc(
        "anvil_setCode",
        json!([node.account(1), "0x5f495f5260205ff3"]),
    )
    .await;

    for members in [
        json!({"blobs": each(&sidecar.blobs)}),
        json!({"commitments": each(&sidecar.commitments)}),
    ] {
        let call = transaction(&node, members);
        let output = node.rpc("eth_call", json!([call, "latest"])).await;
        assert_eq!(output, json!(hash[0]));
        node.rpc("eth_estimateGas", json!([call])).await;
    }
}

#[tokio::test]
async fn a_replaced_transaction_keeps_its_blobs() {
    let node = node_with(|config| config.no_mining = true).await;
    let blobs = each(&with_blob_proofs().blobs);
    let mut request = transaction(&node, json!({"blobs": blobs, "nonce": "0x0"}));
    let first = node.rpc("eth_sendTransaction", json!([request])).await;

    request.as_object_mut().unwrap().remove("blobs");
    let replacement = node
        .rpc("eth_resend", json!([request, "0x4a817c800", "0x7530"]))
        .await;
    assert_ne!(first, replacement);
    let found = node
        .rpc("eth_getTransactionByHash", json!([replacement]))
        .await;
    assert_eq!(found["maxFeePerBlobGas"], "0x4", "twice the replaced fee");
    assert_eq!(
        node.rpc("anvil_getBlobsByTransactionHash", json!([replacement]))
            .await,
        blobs
    );
}

#[tokio::test]
async fn blobs_that_do_not_match_their_proofs_are_refused() {
    let node = node().await;
    let sidecar = with_blob_proofs();
    let blobs = each(&sidecar.blobs);
    let commitments = each(&sidecar.commitments);
    let infinity = format!("0xc0{}", "0".repeat(94));
    let many: Vec<_> = std::iter::repeat_n(blobs[0].clone(), 10).collect();
    let too_large = format!("0x{}", "ff".repeat(131_072));

    for (members, expected) in [
        (
            json!({"blobs": blobs, "commitments": commitments, "proofs": [infinity]}),
            "invalid blob sidecar",
        ),
        (
            json!({"blobs": blobs, "commitments": commitments, "proofs": []}),
            "number of blobs and proofs mismatch (have=0, want=1)",
        ),
        (
            json!({"blobs": blobs, "commitments": [], "proofs": []}),
            "number of blobs and commitments mismatch (have=0, want=1)",
        ),
        (
            json!({"blobs": blobs, "commitments": [infinity]}),
            "the commitments are not those of the blobs",
        ),
        (
            json!({"blobs": blobs, "blobVersionedHashes": [B256::with_last_byte(1)]}),
            "blobVersionedHashes: they are not those of the blobs",
        ),
        (
            json!({"blobs": blobs, "commitments": ["0x00"]}),
            "commitments[0]: expected 48 bytes, got 1",
        ),
        (
            json!({"blobs": blobs, "proofs": [infinity]}),
            "proofs: the commitments that they prove are missing",
        ),
        (json!({"blobs": many}), "too many blobs in transaction"),
        (json!({"blobs": []}), "blob transaction missing blob hashes"),
        // No element of the field.
        (json!({"blobs": [too_large]}), "invalid blob sidecar"),
    ] {
        let error = node
            .rpc_error(
                "eth_sendTransaction",
                json!([transaction(&node, members.clone())]),
            )
            .await;
        assert!(
            error.to_string().contains(expected),
            "{expected}, got {error}"
        );
    }

    assert_eq!(node.block_number().await, 0);
}

#[tokio::test]
async fn chains_before_cancun_have_no_blobs() {
    let node = node_with(|config| {
        config.bare = true;
        config.hardfork = Fork::Shanghai;
    })
    .await;
    let request = transaction(&node, json!({"blobs": each(&with_blob_proofs().blobs)}));
    let error = node
        .rpc_error("eth_sendTransaction", json!([request]))
        .await;
    assert_eq!(
        error["message"],
        "blob transactions are not valid before Cancun is active"
    );
}

/// A blob transaction, of the block that is sealed with it.
async fn send_blob(node: &TestNode, text: &str) -> (Value, B256) {
    let builder: SidecarBuilder<SimpleCoder> = SidecarBuilder::from_slice(text.as_bytes());
    let sidecar = builder.build_4844().unwrap();
    let request = transaction(node, json!({"blobs": each(&sidecar.blobs)}));
    node.rpc("eth_sendTransaction", json!([request])).await;
    let hash = sidecar.versioned_hashes().next().unwrap();
    (each(&sidecar.blobs)[0].clone(), hash)
}

async fn blobs_of_the_head(node: &TestNode, accepted: &str) -> reqwest::Response {
    node.http
        .get(format!("{}/eth/v1/beacon/blobs/head", node.rest_url()))
        .header("accept", accepted)
        .send()
        .await
        .unwrap()
}

#[tokio::test]
async fn the_beacon_api_has_the_blobs_of_a_block() {
    let node = node_with(|config| {
        config.no_mining = true;
        config.slots_in_an_epoch = 32;
    })
    .await;
    let genesis = node.get_json("/eth/v1/beacon/genesis").await;
    let first = node
        .rpc("eth_getBlockByNumber", json!(["earliest", false]))
        .await;
    let time = genesis["data"]["genesis_time"].as_str().unwrap();
    let time: u64 = time.parse().unwrap();
    assert_eq!(first["timestamp"], format!("{time:#x}"));

    let (one, one_hash) = send_blob(&node, "one").await;
    let (two, two_hash) = send_blob(&node, "two").await;
    node.rpc("evm_mine", json!([])).await;
    let block = node
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await;
    let number = crate::support::number(&block["number"]).to_string();

    let route = |rest: &str| format!("/eth/v1/beacon/blobs/{rest}");
    let hash = block["hash"].as_str().unwrap();
    for id in [&number, hash, "head", block["number"].as_str().unwrap()] {
        let found = node.get_json(&route(id)).await;
        assert_eq!(
            found,
            json!({"execution_optimistic": false, "finalized": false, "data": [one, two]})
        );
    }

    let name = "versioned_hashes";
    for (query, blobs) in [
        (format!("{name}={two_hash}"), json!([two])),
        (format!("{name}={two_hash},{one_hash}"), json!([one, two])),
        (
            format!("{name}={two_hash}&{name}={one_hash}"),
            json!([one, two]),
        ),
        (format!("{name}={:?}", B256::ZERO), json!([])),
    ] {
        let found = node.get_json(&route(&format!("head?{query}"))).await;
        assert_eq!(found["data"], blobs, "{query}");
    }

    let empty = node.get_json(&route("genesis")).await;
    assert_eq!(empty["data"], json!([]));
    assert_eq!(empty["finalized"], true);

    let json = blobs_of_the_head(&node, "application/octet-stream;q=0, application/json").await;
    assert_eq!(json.headers()["content-type"], "application/json");

    let binary = blobs_of_the_head(
        &node,
        "application/octet-stream;q=1.0, application/json;q=0.9",
    )
    .await;
    assert_eq!(binary.headers()["content-type"], "application/octet-stream");
    let bytes = binary.bytes().await.unwrap();
    assert_eq!(json!(hex::encode_prefixed(&bytes[..131_072])), one);
    assert_eq!(json!(hex::encode_prefixed(&bytes[131_072..])), two);
}

#[tokio::test]
async fn the_beacon_api_names_the_mistake() {
    let node = node().await;
    for (route, status, expected_message) in [
        ("blobs/pending", 404, "the pending block has no blobs"),
        ("blobs/999999", 404, "no such block"),
        ("blobs/tomorrow", 400, "block_id: expected a number"),
        ("blobs/+1", 400, "block_id: expected a number"),
        ("blobs/0x+1", 400, "block_id: expected a number"),
        (
            "blobs/head?versioned_hashes=0x1",
            400,
            "versioned_hashes: expected a hash",
        ),
        ("blob_sidecars/head", 410, "/eth/v1/beacon/blobs/{block_id}"),
    ] {
        let url = format!("{}/eth/v1/beacon/{route}", node.rest_url());
        let response = node.http.get(url).send().await.unwrap();
        assert_eq!(response.status(), status, "{route}");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["code"], status, "{route}");
        let message = body["message"].as_str().unwrap();
        assert!(message.contains(expected_message), "{route}: {message}");
    }
}
