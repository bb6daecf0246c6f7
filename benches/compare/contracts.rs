//! Contracts for the workloads, the same on every node.

use alloy::{
    hex,
    primitives::{Address, Bytes, TxKind, U256},
    sol_types::{SolCall, SolValue},
};
use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::{Multicall3, Token};

use super::{client::Client, wallet::Wallet};

/// Deploys a token whose owner is `owner`.
pub(crate) fn deploy_token(client: &mut Client, wallet: &mut Wallet, owner: Address) -> Address {
    let arguments =
        ("Bench".to_owned(), "BEN".to_owned(), U256::from(18), owner).abi_encode_params();
    deploy(
        client,
        wallet,
        include_str!("../../contracts/artifacts/Token.json"),
        &arguments,
    )
}

/// Deploys the multicall contract.
pub(crate) fn deploy_multicall(client: &mut Client, wallet: &mut Wallet) -> Address {
    deploy(
        client,
        wallet,
        include_str!("../../contracts/artifacts/Multicall3.json"),
        &[],
    )
}

fn deploy(client: &mut Client, wallet: &mut Wallet, artifact: &str, arguments: &[u8]) -> Address {
    let artifact: Value = serde_json::from_str(artifact).unwrap();
    let mut code = hex::decode(artifact["bytecode"].as_str().unwrap()).unwrap();
    code.extend_from_slice(arguments);
    let raw = wallet.sign(TxKind::Create, 0, code, 5_000_000);
    let hash = client.call("eth_sendRawTransaction", json!([raw]));
    // Nodes that mine on demand only need a request for the block.
    if client
        .call("eth_getTransactionReceipt", json!([hash]))
        .is_null()
    {
        client.call("evm_mine", json!([]));
    }
    client.receipt(&hash)["contractAddress"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap()
}

/// Call data that mints an amount of a token of [`deploy_token`].
pub(crate) fn mint_call(to: Address, amount: u64) -> Bytes {
    Token::mintCall {
        to,
        amount: U256::from(amount),
    }
    .abi_encode()
    .into()
}

/// Call data of a multicall that makes these calls, each with the same value.
pub(crate) fn many(calls: impl Iterator<Item = (Address, Bytes)>, value: u64) -> (u128, Bytes) {
    let calls: Vec<_> = calls
        .map(|(target, call_data)| Multicall3::Call3Value {
            target,
            allowFailure: false,
            value: U256::from(value),
            callData: call_data,
        })
        .collect();
    let total = calls.len() as u128 * u128::from(value);
    (
        total,
        Multicall3::aggregate3ValueCall { calls }
            .abi_encode()
            .into(),
    )
}
