//! The requests of a wallet that adds the chain and shows an account, in Keplr's order.

use serde_json::{Value, json};
use tetrad::account::{Kind, address_to_bech32};

use crate::support::{TestNode, node};

async fn status_and_body(node: &TestNode, path: &str) -> (u16, Value) {
    let response = node.get(path).await;
    (
        response.status().as_u16(),
        response.json().await.expect("JSON"),
    )
}

#[tokio::test]
async fn a_wallet_can_add_the_chain() {
    let node = node().await;
    // The chain's name must be the same on both sides.
    let status = node.get_json("/status").await;
    assert_eq!(status["result"]["node_info"]["network"], "hyperpax_125-1");
    assert_eq!(status["result"]["sync_info"]["catching_up"], false);
    let info = node
        .get_json("/cosmos/base/tendermint/v1beta1/node_info")
        .await;
    assert_eq!(info["default_node_info"]["network"], "hyperpax_125-1");
    assert!(
        info["application_version"]["cosmos_sdk_version"]
            .as_str()
            .expect("text")
            .starts_with('v')
    );

    let address = address_to_bech32(&node.account(0), &node.config().network.hrp, Kind::Account);
    let wei = node
        .rpc("eth_getBalance", json!([node.account(0), "latest"]))
        .await;
    let wei = crate::support::number(&wei).to_string();
    let coin = json!([{ "denom": "ahpx", "amount": wei }]);
    let balances = json!({ "balances": coin, "pagination": { "next_key": null, "total": "1" } });

    for kind in ["balances", "spendable_balances"] {
        let path = format!("/cosmos/bank/v1beta1/{kind}/{address}");
        assert_eq!(node.get_json(&path).await, balances);
        let single = node.get_json(&format!("{path}/by_denom?denom=ahpx")).await;
        assert_eq!(single, json!({ "balance": coin[0] }));
        let other = node.get_json(&format!("{path}/by_denom?denom=uatom")).await;
        assert_eq!(other["balance"], json!({ "denom": "uatom", "amount": "0" }));
        for query in ["", "?denom=", "?denom=0.5", "?denom=a", "?denom=a%20b"] {
            assert_eq!(
                status_and_body(&node, &format!("{path}/by_denom{query}"))
                    .await
                    .0,
                400,
                "{query}"
            );
        }

        // Keplr only finds out whether the route exists.
        let (status, body) =
            status_and_body(&node, &format!("/cosmos/bank/v1beta1/{kind}/test")).await;
        assert_eq!((status, &body["code"]), (400, &3.into()));
    }

    let empty = node
        .get_json("/cosmos/bank/v1beta1/balances/0x00000000000000000000000000000000000000aa")
        .await;
    assert_eq!(
        empty,
        json!({ "balances": [], "pagination": { "next_key": null, "total": "0" } })
    );

    let fee = node.get_json("/ethermint/feemarket/v1/base_fee").await["base_fee"].clone();
    assert_eq!(
        node.get_json("/cosmos/evm/feemarket/v1/base_fee").await["base_fee"],
        fee
    );
    let pending = node
        .rpc("eth_getBlockByNumber", json!(["pending", false]))
        .await;
    assert_eq!(
        fee,
        crate::support::number(&pending["baseFeePerGas"]).to_string()
    );
    node.end().await;
}

#[tokio::test]
async fn staking_queries_report_that_there_is_none() {
    let node = node().await;
    let address = address_to_bech32(&node.account(1), &node.config().network.hrp, Kind::Account);
    let nothing =
        |name: &str| json!({ name: [], "pagination": { "next_key": null, "total": "0" } });

    for (path, expected) in [
        (
            format!("/cosmos/staking/v1beta1/delegations/{address}"),
            nothing("delegation_responses"),
        ),
        (
            format!("/cosmos/staking/v1beta1/delegators/{address}/unbonding_delegations"),
            nothing("unbonding_responses"),
        ),
        (
            format!("/cosmos/distribution/v1beta1/delegators/{address}/rewards"),
            json!({ "rewards": [], "total": [] }),
        ),
        (
            format!("/cosmos/authz/v1beta1/grants/granter/{address}"),
            nothing("grants"),
        ),
        (
            "/cosmos/staking/v1beta1/validators?status=BOND_STATUS_BONDED&pagination.limit=1000"
                .to_owned(),
            nothing("validators"),
        ),
        (
            "/cosmos/gov/v1beta1/proposals?pagination.limit=3000".to_owned(),
            nothing("proposals"),
        ),
        (
            "/cosmos/mint/v1beta1/inflation".to_owned(),
            json!({ "inflation": "0.000000000000000000" }),
        ),
        (
            "/cosmos/staking/v1beta1/pool".to_owned(),
            json!({ "pool": { "not_bonded_tokens": "0", "bonded_tokens": "0" } }),
        ),
        (
            format!("/cosmos/distribution/v1beta1/delegators/{address}/withdraw_address"),
            json!({ "withdraw_address": address }),
        ),
    ] {
        assert_eq!(node.get_json(&path).await, expected, "{path}");
    }

    assert_eq!(
        node.get_json("/cosmos/staking/v1beta1/params").await["params"]["bond_denom"],
        "ahpx"
    );
    assert_eq!(
        node.get_json("/cosmos/distribution/v1beta1/params").await["params"]["withdraw_addr_enabled"],
        true
    );
    assert_eq!(
        status_and_body(&node, "/cosmos/staking/v1beta1/delegations/x")
            .await
            .0,
        400
    );

    let operator = address_to_bech32(
        &node.account(1),
        &node.config().network.hrp,
        Kind::ValidatorOperator,
    );
    let (status, body) = status_and_body(
        &node,
        &format!("/cosmos/staking/v1beta1/validators/{operator}"),
    )
    .await;
    assert_eq!((status, &body["code"]), (404, &5.into()));

    assert_eq!(
        status_and_body(
            &node,
            &format!("/cosmos/staking/v1beta1/validators/{address}")
        )
        .await
        .0,
        400
    );
    node.end().await;
}

#[tokio::test]
async fn blocks_are_the_same_on_every_interface() {
    let node = node().await;
    node.mine().await;
    let latest = node
        .get_json("/cosmos/base/tendermint/v1beta1/blocks/latest")
        .await;

    let header = &latest["block"]["header"];
    assert_eq!(
        (&header["chain_id"], &header["height"]),
        (&"hyperpax_125-1".into(), &"1".into())
    );
    assert_eq!(
        node.get_json("/cosmos/base/tendermint/v1beta1/blocks/1")
            .await,
        latest
    );

    assert!(
        latest["sdk_block"]["header"]["proposer_address"]
            .as_str()
            .expect("text")
            .starts_with("paxvalcons1")
    );

    let block = node
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await;
    let hash = node.get_json("/status").await["result"]["sync_info"]["latest_block_hash"].clone();
    let own = block["hash"]
        .as_str()
        .expect("text")
        .trim_start_matches("0x")
        .to_uppercase();
    assert_eq!(hash, own.as_str());

    for (height, status) in [("99", 400), ("x", 400), ("-1", 400)] {
        let path = format!("/cosmos/base/tendermint/v1beta1/blocks/{height}");
        assert_eq!(status_and_body(&node, &path).await.0, status, "{height}");
    }

    assert_eq!(
        node.get_json("/cosmos/base/tendermint/v1beta1/syncing")
            .await,
        json!({ "syncing": false })
    );
    node.end().await;
}
