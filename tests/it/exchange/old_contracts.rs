//! A chain whose oracle and vault were deployed before tokens could be halted.

use std::{path::Path, sync::Arc, time::Duration};

use alloy::{
    primitives::U256,
    sol_types::{SolCall, SolEvent},
};
use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::{PriceOracle, Token, Vault};
use tetrad_exchange::feed::SourceSpec;
use tetrad_stdx::clock::{Clock, ManualClock, SystemClock};

use crate::{
    durability::commands::chain,
    support::{
        TestNode,
        chain::{ORACLE, VAULT, token, units},
        node_at,
    },
};

/// A node on a copy of the chain, and its clock. WETH falls by half as soon as the node runs.
async fn node_on(place: &Path) -> (TestNode, Arc<ManualClock>) {
    let directory = place.join("chain");
    let file = place.join("chain.tetrad");
    let prices = place.join("prices.csv");
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/chain-v1.tetrad.gz");
    let mut unpacked = flate2::read::GzDecoder::new(std::fs::File::open(packed).unwrap());
    std::io::copy(&mut unpacked, &mut std::fs::File::create(&file).unwrap()).unwrap();
    let (imported, said) = chain(&directory, &["import", file.to_str().unwrap()]);
    assert!(imported, "{said}");
    std::fs::write(&prices, "time,WETH\n0,1756.175\n").unwrap();
    // The chain's newest block is no later than now.
    let clock = Arc::new(ManualClock::at(SystemClock.now_ms()));
    let node = node_at(clock.clone(), |config| {
        config.data_dir = Some(directory);
        config.exchange.price_tick = Some(Duration::from_secs(2));
        config.exchange.price_sources = vec![SourceSpec::Replay(prices), SourceSpec::Simulation];
        config.rate_limit = 0;
    });
    (node.await, clock)
}

#[tokio::test]
async fn a_chain_of_the_previous_version_updates_prices_and_swaps() {
    let place = tempfile::tempdir().unwrap();
    let (node, clock) = node_on(place.path()).await;
    let weth = token("WETH");
    let usdc = token("USDC");
    let input = PriceOracle::haltedCall {
        token: weth.address,
    }
    .abi_encode();
    let call = json!({ "to": ORACLE, "data": alloy::primitives::Bytes::from(input) });
    node.rpc_error("eth_call", json!([call, "latest"])).await;

    // Prices walk as they did, without halts.
    let mut steps = 0;
    while node.oracle_price(&weth).await.0 != weth.reference_price / 2 {
        assert!(steps < 4, "the price does not arrive");
        steps += 1;
        clock.advance(2_000);
        node.wake().await;
        let block = node.chain().head().block.clone();
        assert!(block.receipts[0].succeeded());
        let updates = block
            .logs()
            .filter_map(|at| PriceOracle::PriceUpdated::decode_log_data(&at.log.data).ok());
        assert!(updates.count() > 10);
        assert_eq!(node.price_entry(&weth).await["halted"], Value::Null);
    }
    // The node's own timer may have been first with one of them.
    assert!(steps >= 3, "{steps} steps");

    let quote = node
        .get_json("/api/quote?tokenIn=WETH&tokenOut=USDC&amountIn=1000000000000000000")
        .await;
    assert_eq!(quote["data"]["status"], "ok");
    let quote = node
        .get_json("/api/quote?tokenIn=WETH&tokenOut=USDC&amountIn=1")
        .await;
    assert_eq!(quote["data"]["status"], "zeroOutput");
    let user = node.signer(0);
    let amount = units(&weth, 1);
    let approve = Token::approveCall {
        spender: VAULT,
        value: amount,
    };
    assert!(node.send(&user, weth.address, approve).await.status());
    let before = node.balance(&usdc, user.address()).await;
    let swap = Vault::swapExactTokensForTokensCall {
        _tokenIn: weth.address,
        _tokenOut: usdc.address,
        _amountIn: amount,
        _minAmountOut: units(&usdc, 1_700),
    };
    assert!(node.send(&user, VAULT, swap).await.status());
    assert!(node.balance(&usdc, user.address()).await - before > U256::from(1_700_000_000u64));
    assert_eq!(node.get_json("/api/health").await["status"], "ok");
    node.end().await;
}
