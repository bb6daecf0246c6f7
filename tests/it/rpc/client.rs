//! A real client library connects, deploys, calls, sends, waits and subscribes.

use alloy::{
    network::{EthereumWallet, TransactionBuilder},
    primitives::{Bytes, U256},
    providers::{Provider, ProviderBuilder, WsConnect},
    rpc::types::TransactionRequest,
    sol,
    sol_types::SolValue,
};
use futures_util::StreamExt;

use crate::support::{node, sign::signer};

sol! {
    #[sol(rpc)]
    interface Erc20 {
        event Transfer(address indexed from, address indexed to, uint256 value);
        function balanceOf(address account) external view returns (uint256);
        function transfer(address to, uint256 amount) external returns (bool);
        function symbol() external view returns (string);
        function mint(address to, uint256 amount) external;
    }
}

#[tokio::test]
async fn deploys_calls_sends_and_waits() {
    let node = node().await;
    let wallet = EthereumWallet::from(signer(0));
    let provider = ProviderBuilder::new()
        .wallet(wallet)
        .connect_http(node.rpc_url().parse().unwrap());
    assert_eq!(provider.get_chain_id().await.unwrap(), 125);

    let artifact: serde_json::Value =
        serde_json::from_str(include_str!("../../../contracts/artifacts/Token.json")).unwrap();
    let code: Bytes = serde_json::from_value(artifact["bytecode"].clone()).unwrap();
    let arguments = (
        "Test".to_owned(),
        "TST".to_owned(),
        U256::from(6),
        node.account(0),
    )
        .abi_encode_params();
    let creation =
        TransactionRequest::default().with_deploy_code([code.as_ref(), &arguments].concat());

    let receipt = provider
        .send_transaction(creation)
        .await
        .unwrap()
        .get_receipt()
        .await
        .unwrap();
    let token = Erc20::new(receipt.contract_address.unwrap(), &provider);
    assert_eq!(token.symbol().call().await.unwrap(), "TST");

    let receipt = token
        .mint(node.account(2), U256::from(42))
        .send()
        .await
        .unwrap()
        .get_receipt()
        .await
        .unwrap();
    assert!(receipt.status());
    assert_eq!(
        receipt.decoded_log::<Erc20::Transfer>().unwrap().value,
        U256::from(42)
    );

    assert_eq!(
        token.balanceOf(node.account(2)).call().await.unwrap(),
        U256::from(42)
    );
}

#[tokio::test]
async fn listens_over_websocket() {
    let node = node().await;
    let wallet = EthereumWallet::from(signer(0));
    let provider = ProviderBuilder::new()
        .wallet(wallet)
        .connect_ws(WsConnect::new(node.ws_url()))
        .await
        .unwrap();
    let token = Erc20::new(node.config().network.tokens[0].address, &provider);
    let mut heads = provider.subscribe_blocks().await.unwrap().into_stream();
    let mut transfers = token
        .Transfer_filter()
        .subscribe()
        .await
        .unwrap()
        .into_stream();

    assert_eq!(token.symbol().call().await.unwrap(), "WBTC");
    let before = token.balanceOf(node.account(1)).call().await.unwrap();
    let sent = token
        .transfer(node.account(1), U256::from(5))
        .send()
        .await
        .unwrap();
    let receipt = sent.get_receipt().await.unwrap();
    let (event, log) = transfers.next().await.unwrap().unwrap();
    assert_eq!((event.to, event.value), (node.account(1), U256::from(5)));
    assert_eq!(log.transaction_hash, Some(receipt.transaction_hash));
    assert_eq!(
        heads.next().await.unwrap().hash,
        receipt.block_hash.unwrap()
    );
    assert_eq!(
        token.balanceOf(node.account(1)).call().await.unwrap(),
        before + U256::from(5)
    );
}
