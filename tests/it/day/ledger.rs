//! Checks of every token's balances, to the last unit.

use std::collections::BTreeMap;

use alloy::{
    primitives::{Address, U256},
    providers::Provider,
    rpc::types::Filter,
    sol_types::{SolCall, SolEvent},
};
use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::{LendingLens, LendingPool, PoolView, Token, Vault};

use crate::support::{TestNode, chain::VAULT};

/// The results of views that return a number, all in one call and of one block.
async fn ask(node: &TestNode, calls: Vec<(Address, Vec<u8>)>) -> Vec<U256> {
    let block = format!("{:#x}", node.block_number().await);
    let batch: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(id, (to, input))| {
            let call = json!({ "to": to, "input": alloy::hex::encode_prefixed(input) });
            json!({ "jsonrpc": "2.0", "id": id, "method": "eth_call", "params": [call, block] })
        })
        .collect();
    let answers = node.post(Value::from(batch).to_string()).await;

    answers
        .as_array()
        .expect("a list")
        .iter()
        .map(|answer| {
            answer["result"]
                .as_str()
                .unwrap_or_else(|| panic!("{answer}"))
                .parse()
                .expect("a number")
        })
        .collect()
}

/// The surpluses of pools over their obligations.
#[derive(Default)]
pub(super) struct Books {
    /// The block up to which the chain has been read.
    seen: u64,
    /// Each pool's surplus as of the last operation on it.
    surplus: BTreeMap<Address, U256>,
}

impl Books {
    /// Checks every token and every pool.
    pub(super) async fn balance(&mut self, node: &TestNode) {
        self.follow(node).await;
        let contracts = node.config().network.contracts;
        let tokens = node.config().network.tokens.clone();

        let own = [0, 2].map(|index| derived(node, index));
        let accounts: Vec<Address> = node
            .development_accounts()
            .iter()
            .map(|(address, _)| *address)
            .chain(own)
            .chain([VAULT, contracts.lending_pool])
            .collect();

        let mut calls = Vec::new();
        for token in &tokens {
            calls.push((token.address, Token::totalSupplyCall {}.abi_encode()));
            calls.push((
                VAULT,
                Vault::reservesCall {
                    token: token.address,
                }
                .abi_encode(),
            ));
            calls.push((
                VAULT,
                Vault::feesAccruedCall {
                    token: token.address,
                }
                .abi_encode(),
            ));

            calls.extend(accounts.iter().map(|account| {
                (
                    token.address,
                    Token::balanceOfCall { account: *account }.abi_encode(),
                )
            }));
        }

        let numbers = ask(node, calls).await;
        let pools = node
            .view(contracts.lending_lens, LendingLens::getPoolsCall {})
            .await;

        for ((token, numbers), pool) in tokens
            .iter()
            .zip(numbers.chunks_exact(3 + accounts.len()))
            .zip(&pools)
        {
            let [supply, reserve, fees, balances @ ..] = numbers else {
                panic!("{numbers:?}")
            };

            let sum: U256 = balances.iter().sum();
            assert_eq!(sum, *supply, "{}: a holder is missing", token.symbol);

            let [.., vault, lending] = balances else {
                panic!("{balances:?}")
            };
            assert_eq!(*vault, reserve + fees, "{} in the vault", token.symbol);
            assert_eq!(*lending, pool.cash, "{} in the pool", token.symbol);

            let before = self
                .surplus
                .get(&token.address)
                .copied()
                .unwrap_or_default();
            assert!(
                surplus(pool) >= before,
                "the surplus of the pool of {} fell",
                token.symbol
            );
        }
    }

    /// Reads the operations since the last call. The rounding in favour of a pool is settled with
    /// each operation; in between, a view may round differently, but never below that.
    async fn follow(&mut self, node: &TestNode) {
        let contracts = node.config().network.contracts;
        let head = node.block_number().await;
        let filter = Filter::new()
            .address(contracts.lending_pool)
            .event_signature(LendingPool::ReserveUpdated::SIGNATURE_HASH)
            .from_block(self.seen + 1)
            .to_block(head);

        if self.seen < head {
            for log in node.reader().get_logs(&filter).await.expect("logs") {
                let asset = Address::from_word(log.topics()[1]);
                let block = log.block_number.expect("a number");
                let pool = node
                    .view_at(
                        contracts.lending_lens,
                        LendingLens::getPoolCall { asset },
                        block,
                    )
                    .await;

                let before = self
                    .surplus
                    .insert(asset, surplus(&pool))
                    .unwrap_or_default();
                assert!(
                    surplus(&pool) >= before,
                    "an operation reduced the surplus of the pool of {}",
                    pool.symbol
                );
            }
        }

        self.seen = head;
    }
}

/// A pool's assets beyond its obligations.
fn surplus(pool: &PoolView) -> U256 {
    let has = pool.cash + pool.totalDebt + pool.deficit;
    let owes = pool.totalSupplied + pool.treasury;
    has.checked_sub(owes)
        .unwrap_or_else(|| panic!("{} owes {owes} and has {has}", pool.symbol))
}

/// One of the node's own accounts.
fn derived(node: &TestNode, index: u32) -> Address {
    let mnemonic =
        tetrad::account::Mnemonic::from_phrase(&node.config().mnemonic).expect("a mnemonic");
    let path = format!("m/44'/60'/1'/0/{index}").parse().expect("a path");
    mnemonic.to_seed("").derive(&path).expect("a key").address()
}
