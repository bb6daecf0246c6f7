//! Calls and estimates.

use alloy::{
    primitives::{Address, B256, Bytes, U256, address, bytes},
    sol,
    sol_types::{Revert, SolCall, SolError},
};
use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::{Token, TokenErrors};

use crate::support::{TestNode, node, number};

sol!("contracts/src/interfaces/IBech32.sol");

const BECH32: Address = address!("0x0000000000000000000000000000000000000400");

/// Creation code of a contract with this runtime code.
fn creation(runtime: &[u8]) -> Bytes {
    let length = runtime.len() as u8;
    // PUSH1 length, DUP1, PUSH1 11, PUSH1 0, CODECOPY, PUSH1 0, RETURN
    [
        &[
            0x60, length, 0x80, 0x60, 0x0b, 0x60, 0x00, 0x39, 0x60, 0x00, 0xf3,
        ][..],
        runtime,
    ]
    .concat()
    .into()
}

async fn deploy(node: &TestNode, runtime: &[u8]) -> Value {
    let data = creation(runtime);
    let hash = node
        .rpc(
            "eth_sendTransaction",
            json!([{"from": node.account(0), "data": data}]),
        )
        .await;
    node.rpc("eth_getTransactionReceipt", json!([hash])).await["contractAddress"].clone()
}

async fn call(
    node: &TestNode,
    to: impl serde::Serialize,
    data: impl Into<Bytes>,
) -> Result<Bytes, Value> {
    let response = node
        .request(
            "eth_call",
            json!([{"to": to, "data": data.into()}, "latest"]),
        )
        .await;
    match response.get("result") {
        Some(result) => Ok(serde_json::from_value(result.clone()).unwrap()),
        None => Err(response["error"].clone()),
    }
}

#[tokio::test]
async fn the_bech32_precompile_converts_both_ways() {
    let node = node().await;
    let account = node.account(0);
    let encoded = call(
        &node,
        BECH32,
        IBech32::hexToBech32Call {
            addr: account,
            prefix: "pax".into(),
        }
        .abi_encode(),
    )
    .await
    .unwrap();
    let text = IBech32::hexToBech32Call::abi_decode_returns(&encoded).unwrap();
    assert_eq!(text, "pax17w0adeg64ky0daxwd2ugyuneellmjgnxljx2cg");
    let decoded = call(
        &node,
        BECH32,
        IBech32::bech32ToHexCall {
            bech32Address: text,
        }
        .abi_encode(),
    )
    .await
    .unwrap();
    assert_eq!(
        IBech32::bech32ToHexCall::abi_decode_returns(&decoded).unwrap(),
        account
    );
}

#[tokio::test]
async fn the_bech32_precompile_reverts_with_a_reason() {
    let node = node().await;

    for (data, reason) in [
        (
            IBech32::hexToBech32Call {
                addr: Address::ZERO,
                prefix: String::new(),
            }
            .abi_encode(),
            "invalid bech32 prefix",
        ),
        (
            IBech32::bech32ToHexCall {
                bech32Address: "pax1qqq".into(),
            }
            .abi_encode(),
            "invalid bech32 address",
        ),
        (vec![1, 2, 3, 4], "invalid call"),
        (vec![], "invalid call"),
    ] {
        let error = call(&node, BECH32, data).await.unwrap_err();
        assert_eq!(error["code"], 3, "{error}");
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .starts_with(&format!("execution reverted: {reason}")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_revert_carries_its_data() {
    let node = node().await;
    // PUSH0 PUSH0 REVERT, and one that reverts with its call data.
    let bare = deploy(&node, &[0x5f, 0x5f, 0xfd]).await;
    assert_eq!(
        call(&node, &bare, vec![]).await.unwrap_err(),
        json!({"code": 3, "message": "execution reverted", "data": "0x"})
    );

    let echo = deploy(&node, &[0x36, 0x5f, 0x5f, 0x37, 0x36, 0x5f, 0xfd]).await;
    let reason = Bytes::from(Revert::from("too late").abi_encode());
    let error = call(&node, &echo, reason.clone()).await.unwrap_err();
    assert_eq!(
        error,
        json!({"code": 3, "message": "execution reverted: too late", "data": reason})
    );

    let panic =
        bytes!("0x4e487b710000000000000000000000000000000000000000000000000000000000000011");
    let error = call(&node, &echo, panic.clone()).await.unwrap_err();
    assert_eq!((&error["code"], &error["data"]), (&json!(3), &json!(panic)));
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .starts_with("execution reverted: "),
        "{error}"
    );

    let custom = bytes!("0x12345678");
    assert_eq!(
        call(&node, &echo, custom.clone()).await.unwrap_err(),
        json!({"code": 3, "message": "execution reverted", "data": custom})
    );

    let error = node
        .rpc_error("eth_estimateGas", json!([{"to": echo, "data": custom}]))
        .await;
    assert_eq!(
        error,
        json!({"code": 3, "message": "execution reverted", "data": custom})
    );
}

#[tokio::test]
async fn a_halt_names_its_reason() {
    let node = node().await;
    let invalid = deploy(&node, &[0xfe]).await;
    let error = call(&node, &invalid, vec![]).await.unwrap_err();
    assert_eq!(
        error,
        json!({"code": -32000, "message": "invalid opcode: INVALID"})
    );
    let forever = deploy(&node, &[0x5b, 0x5f, 0x56]).await;
    let error = node
        .rpc_error(
            "eth_call",
            json!([{"to": forever, "gas": "0xf4240"}, "latest"]),
        )
        .await;
    assert!(
        error["message"].as_str().unwrap().starts_with("out of gas"),
        "{error}"
    );
    let error = node
        .rpc_error(
            "eth_estimateGas",
            json!([{"to": forever, "gas": "0xf4240"}]),
        )
        .await;
    assert_eq!(
        error,
        json!({"code": -32000, "message": "gas required exceeds allowance (1000000)"})
    );
}

#[tokio::test]
async fn calls_apply_overrides() {
    let node = node().await;
    let unused = Address::repeat_byte(0x77);
    // Returns the balance of the caller, slot 5, the block number and the time.
    let runtime = [
        0x33, 0x31, 0x5f, 0x52, 0x60, 0x05, 0x54, 0x60, 0x20, 0x52, 0x43, 0x60, 0x40, 0x52, 0x42,
        0x60, 0x60, 0x52, 0x60, 0x80, 0x5f, 0xf3,
    ];
    let slot = B256::from(U256::from(5));
    let overrides = json!({
        unused.to_string(): {"balance": "0x123"},
        Address::repeat_byte(0x55).to_string(): {"code": Bytes::from(runtime.to_vec()), "stateDiff": {slot.to_string(): B256::from(U256::from(9))}},
    });
    let in_block = json!({"number": "0x1000", "time": "0x2000"});
    let params =
        json!([{"from": unused, "to": Address::repeat_byte(0x55)}, "latest", overrides, in_block]);
    let output: Bytes = serde_json::from_value(node.rpc("eth_call", params).await).unwrap();
    let words: Vec<U256> = output.chunks(32).map(U256::from_be_slice).collect();
    assert_eq!(words, [0x123, 9, 0x1000, 0x2000].map(U256::from));
    for wrong in [
        json!({"0x12": {}}),
        json!({unused.to_string(): {"nope": 1}}),
        json!({unused.to_string(): {"state": {}, "stateDiff": {}}}),
        json!([]),
    ] {
        let error = node
            .rpc_error("eth_call", json!([{"to": unused}, "latest", wrong]))
            .await;
        assert_eq!(error["code"], -32602, "{wrong}");
    }
}

#[tokio::test]
async fn a_call_needs_funds_for_its_value_but_not_for_gas() {
    let node = node().await;
    let poor = Address::repeat_byte(0x77);

    assert_eq!(
        node.rpc(
            "eth_call",
            json!([{"from": poor, "to": node.account(1)}, "latest"])
        )
        .await,
        "0x"
    );

    let error = node
        .rpc_error(
            "eth_call",
            json!([{"from": poor, "to": node.account(1), "value": "0x1"}, "latest"]),
        )
        .await;
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .starts_with("insufficient funds for gas * price + value"),
        "{error}"
    );

    let error = node
        .rpc_error(
            "eth_call",
            json!([{"from": node.account(0), "to": poor, "maxFeePerGas": "0x1"}, "latest"]),
        )
        .await;
    assert_eq!(error["message"], "max fee per gas less than block base fee");

    let error = node
        .rpc_error(
            "eth_estimateGas",
            json!([{"from": poor, "to": poor, "value": "0x1", "gasPrice": "0xffffffffff"}]),
        )
        .await;
    assert_eq!(error["message"], "insufficient funds for transfer");
}

#[tokio::test]
async fn the_block_parameter_of_calls_is_optional() {
    let node = node().await;
    assert_eq!(
        node.rpc("eth_call", json!([{"to": node.account(1)}])).await,
        "0x"
    );
    assert_eq!(
        node.rpc(
            "eth_estimateGas",
            json!([{"to": node.account(1), "value": "0x1", "from": node.account(0)}])
        )
        .await,
        "0x5208"
    );
    assert_eq!(
        node.rpc("eth_call", json!([{"to": node.account(1)}, null]))
            .await,
        "0x"
    );
}

#[tokio::test]
async fn an_estimate_is_sufficient_and_close() {
    let node = node().await;
    let token = node.config().network.tokens[0].address;
    let data = Bytes::from(
        Token::transferCall {
            to: Address::repeat_byte(3),
            value: U256::from(5),
        }
        .abi_encode(),
    );
    let request = json!({"from": node.account(0), "to": token, "data": data});
    let estimate = number(&node.rpc("eth_estimateGas", json!([request])).await);
    let mut exact = request.clone();
    exact["gas"] = json!(format!("{estimate:#x}"));
    let hash = node.rpc("eth_sendTransaction", json!([exact])).await;
    let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
    assert_eq!(receipt["status"], "0x1");
    let used = number(&receipt["gasUsed"]);
    assert!(
        (used..used * 102 / 100 + 2_500).contains(&estimate),
        "{estimate} for {used}"
    );

    let broke = json!({"from": Address::repeat_byte(9), "to": token, "data": data});
    let error = node.rpc_error("eth_estimateGas", json!([broke])).await;
    let expected = TokenErrors::ERC20InsufficientBalance {
        sender: Address::repeat_byte(9),
        balance: U256::ZERO,
        needed: U256::from(5),
    };
    let message = format!(
        "execution reverted: ERC20InsufficientBalance(sender: {}, balance: 0, needed: 5)",
        Address::repeat_byte(9)
    );
    assert_eq!(
        error,
        json!({"code": 3, "message": message, "data": Bytes::from(expected.abi_encode())})
    );
}

#[tokio::test]
async fn an_estimate_is_also_sufficient_in_the_next_second() {
    let node = node().await;
    // In odd seconds the first stores a one, and the second reverts.
    let storing = deploy(&node, &bytes!("42600116600857005b60015f5500")).await;
    let failing = deploy(&node, &bytes!("42600116600857005b5f5ffd")).await;
    let even = node
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await;
    let even = (number(&even["timestamp"]) / 2 + 50) * 2;
    node.rpc("evm_setNextBlockTimestamp", json!([even])).await;
    for block in [
        json!([{"to": storing}]),
        json!([{"to": storing}, "pending"]),
    ] {
        let lasting = number(&node.rpc("eth_estimateGas", block).await);
        assert!(lasting > 40_000, "{lasting}");
    }
    let until_then = number(&node.rpc("eth_estimateGas", json!([{"to": failing}])).await);
    assert!(until_then < 25_000, "{until_then}");
    let hash = node
        .rpc(
            "eth_sendTransaction",
            json!([{"from": node.account(0), "to": storing}]),
        )
        .await;
    let sent = node.rpc("eth_getTransactionByHash", json!([hash])).await;
    assert!(number(&sent["gas"]) > 40_000, "{sent}");
}

#[tokio::test]
async fn a_call_is_cut_off_at_the_gas_cap() {
    let node = crate::support::node_with(|config| config.rpc.gas_cap = 100_000).await;
    // Returns the gas that is left.
    let gas = deploy(&node, &[0x5a, 0x5f, 0x52, 0x60, 0x20, 0x5f, 0xf3]).await;
    let output: Bytes = serde_json::from_value(
        node.rpc(
            "eth_call",
            json!([{"to": gas, "gas": "0xffffffff"}, "latest"]),
        )
        .await,
    )
    .unwrap();
    assert!(U256::from_be_slice(&output) < U256::from(100_000));
}
