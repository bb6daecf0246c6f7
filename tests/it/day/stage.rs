//! The users, their actions, and the checks after each.

use std::collections::BTreeMap;

use alloy::{
    primitives::{Address, U256},
    signers::local::PrivateKeySigner,
    sol_types::SolCall,
};
use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::{LendingPool, Vault};
use tetrad_network::network::Token;

use super::ledger::Books;
use crate::{
    lending::views::assert_rest_matches_the_views,
    support::{
        TestNode,
        chain::{VAULT, key, usd_e8},
        node_with,
        socket::PriceSocket,
    },
};

/// The users, each with a separate account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Actor {
    Lender = 1,
    Borrower,
    Trader,
    Liquidator,
}

impl Actor {
    pub(super) const ALL: [Self; 4] =
        [Self::Lender, Self::Borrower, Self::Trader, Self::Liquidator];
}

/// A node, a client of its price WebSocket, and the recorded actions of all users.
pub(super) struct Stage {
    pub node: TestNode,
    socket: PriceSocket,
    /// The newest price of each token on the price WebSocket.
    received_prices: BTreeMap<String, u64>,
    done: BTreeMap<Actor, Vec<&'static str>>,
    books: Books,
}

impl Stage {
    pub(super) async fn set() -> Self {
        let node = node_with(|config| config.rate_limit = 0).await;
        let mut socket = PriceSocket::connect(&node.exchange_ws_url()).await;
        assert_eq!(socket.json().await["type"], "connection");
        let mut stage = Self {
            socket,
            node,
            received_prices: BTreeMap::new(),
            done: BTreeMap::new(),
            books: Books::default(),
        };
        for actor in Actor::ALL {
            let signer = stage.signer(actor);
            stage.node.approve_all(&signer, VAULT).await;
            stage.node.approve_all(&signer, stage.pool()).await;
        }
        stage.listen().await;
        stage
    }

    pub(super) fn signer(&self, actor: Actor) -> PrivateKeySigner {
        self.node.signer(actor as usize)
    }

    pub(super) fn address(&self, actor: Actor) -> Address {
        self.node.account(actor as usize)
    }

    pub(super) fn pool(&self) -> Address {
        self.node.config().network.contracts.lending_pool
    }

    pub(super) fn lens(&self) -> Address {
        self.node.config().network.contracts.lending_lens
    }

    /// Calls a contract, which must succeed.
    pub(super) async fn call(&self, actor: Actor, to: Address, call: impl SolCall) {
        let receipt = self.node.send(&self.signer(actor), to, call).await;
        assert!(receipt.status(), "{actor:?}");
    }

    /// Calls the lending pool.
    pub(super) async fn act(&self, actor: Actor, call: impl SolCall) {
        self.call(actor, self.pool(), call).await;
    }

    /// Records an action of a user, as it must appear in the history.
    pub(super) fn record(&mut self, actor: Actor, what: &'static str) {
        self.done.entry(actor).or_default().push(what);
    }

    pub(super) async fn lend(&mut self, actor: Actor, token: &Token, amount: U256) {
        self.act(
            actor,
            LendingPool::depositCall {
                asset: token.address,
                amount,
            },
        )
        .await;
        self.record(actor, "deposit");
        self.check().await;
    }

    pub(super) async fn borrow(&mut self, actor: Actor, token: &Token, amount: U256) {
        self.act(
            actor,
            LendingPool::borrowCall {
                asset: token.address,
                amount,
            },
        )
        .await;
        self.record(actor, "borrow");
        self.check().await;
    }

    /// Swaps for exactly the amount quoted in the previous block, whose prices still hold.
    pub(super) async fn swap(&mut self, actor: Actor, from: &Token, to: &Token, amount: U256) {
        let path = format!(
            "/api/quote?tokenIn={}&tokenOut={}&amountIn={amount}",
            from.symbol, to.symbol
        );
        let quote = self.node.get_json(&path).await["data"].clone();
        let expected: U256 = quote["amountOut"]
            .as_str()
            .expect("text")
            .parse()
            .expect("a number");
        let before = self.node.balance(to, self.address(actor)).await;
        let call = Vault::swapExactTokensForTokensCall {
            _tokenIn: from.address,
            _tokenOut: to.address,
            _amountIn: amount,
            _minAmountOut: expected,
        };
        self.call(actor, VAULT, call).await;
        assert_eq!(
            self.node.balance(to, self.address(actor)).await - before,
            expected
        );
        self.record(actor, "swap");
        self.check().await;
    }

    /// Lets time pass, and seals a block with the new time.
    pub(super) async fn pass(&mut self, seconds: u64) {
        self.node.increase_time(seconds).await;
        self.node.mine().await;
        self.check().await;
    }

    /// Sets a price, in US dollars × 10^8.
    pub(super) async fn price(&mut self, token: &Token, price: u64) {
        let url = format!("{}/api/admin/prices/{}", self.node.rest_url(), key(token));
        let body = json!({ "price": tetrad_stdx::decimal::shortest(U256::from(price), 8) });
        let response = self
            .node
            .http
            .post(url)
            .json(&body)
            .send()
            .await
            .expect("an answer");
        assert_eq!(response.status(), 200);
        assert_eq!(self.node.oracle_price(token).await.0, price);
        self.check().await;
    }

    /// Reads frames until the received prices are the oracle's.
    async fn listen(&mut self) {
        for token in self.node.config().network.tokens.clone() {
            let (price, _) = self.node.oracle_price(&token).await;
            while self.received_prices.get(&key(&token)) != Some(&price) {
                let frame = self.socket.prices().await;
                let entries = frame["data"].as_object().expect("an object");
                self.received_prices.extend(
                    entries
                        .iter()
                        .map(|(address, entry)| (address.clone(), usd_e8(&entry["price"]))),
                );
            }
        }
        let listed = self.node.get_json("/api/prices").await;
        for (address, price) in &self.received_prices {
            assert_eq!(
                usd_e8(&listed["data"][address]["price"]),
                *price,
                "{address}"
            );
        }
    }

    /// Compares all interfaces.
    pub(super) async fn check(&mut self) {
        self.listen().await;
        for actor in Actor::ALL {
            assert_rest_matches_the_views(&self.node, self.address(actor)).await;
        }
        self.books.balance(&self.node).await;
    }

    /// Checks that every user's history consists of the recorded actions, newest first.
    pub(super) async fn check_histories(&self) {
        for actor in Actor::ALL {
            let page = self
                .node
                .get_json(&format!("/api/user/{}/history", self.address(actor)))
                .await;
            let entries = page["data"].as_array().expect("a list").iter();
            let kinds: Vec<_> = entries
                .map(|entry| entry["type"].as_str().unwrap_or_default().to_owned())
                .collect();
            let mut expected = self.done.get(&actor).cloned().unwrap_or_default();
            expected.reverse();
            assert_eq!(kinds, expected, "{actor:?}");
            assert_eq!(page["next"], Value::Null);
        }
    }

    pub(super) async fn end(self) {
        self.node.end().await;
    }
}
