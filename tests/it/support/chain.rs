//! Access of tests to the chain as a client: signed transactions through a provider.

use std::sync::Arc;

use alloy::{
    network::{EthereumWallet, TransactionBuilder},
    primitives::{Address, B256, U256, Uint, address},
    providers::{DynProvider, Provider, ProviderBuilder},
    rpc::types::{TransactionReceipt, TransactionRequest},
    signers::local::PrivateKeySigner,
};
use alloy_sol_types::SolCall;
use serde_json::{Value, json};
use tetrad::account::Mnemonic;
use tetrad_chain::{Chain, ChangeError, Pace};
use tetrad_contracts::contracts::bindings::{self, PriceOracle};
use tetrad_network::network::{Network, Token};
use tetrad_primitives::block::Block;

use super::TestNode;

pub(crate) const VAULT: Address = address!("0x49B0f9a0554da1A7243A9C8ac5B45245A66D90ff");
pub(crate) const ORACLE: Address = address!("0x6e5da6d7a89c6B7cB0e5c64fcf326292F76A0352");

/// Seals a block of all ready transactions, at least this many seconds later than its parent.
pub(crate) async fn seal(chain: &Chain, at_least: u64) -> Result<Arc<Block>, ChangeError> {
    chain
        .mine(
            1,
            Pace {
                at_least,
                ..Pace::default()
            },
        )
        .await?;
    Ok(chain.head().block.clone())
}

/// A token of the network by its symbol.
pub(crate) fn token(symbol: &str) -> Token {
    Network::default()
        .tokens
        .into_iter()
        .find(|token| token.symbol == symbol)
        .expect("a token")
}

/// Whole tokens in the smallest unit.
pub(crate) fn units(token: &Token, whole: u64) -> U256 {
    U256::from(whole) * U256::from(10).pow(U256::from(token.decimals))
}

impl TestNode {
    /// The key of a development account.
    pub(crate) fn signer(&self, index: usize) -> PrivateKeySigner {
        self.development_accounts()[index].1.parse().expect("a key")
    }

    /// Lets frozen prices age like others.
    pub(crate) async fn let_prices_age(&self) {
        let call = PriceOracle::setMaxAgeCall {
            newSeconds: Uint::from(600),
        };
        assert!(self.send(&self.treasury(), ORACLE, call).await.status());
    }

    /// The key of the account that owns the contracts.
    pub(crate) fn treasury(&self) -> PrivateKeySigner {
        let seed = Mnemonic::from_phrase(&self.config().mnemonic)
            .expect("a mnemonic")
            .to_seed("");
        let key = seed
            .derive(&"m/44'/60'/1'/0/0".parse().expect("a path"))
            .expect("a key");
        PrivateKeySigner::from_slice(key.to_bytes().as_slice()).expect("a key")
    }

    /// A provider that signs with this key.
    pub(crate) fn provider(&self, signer: PrivateKeySigner) -> DynProvider {
        let wallet = EthereumWallet::from(signer);
        ProviderBuilder::new()
            .wallet(wallet)
            .connect_http(self.rpc_url().parse().expect("a URL"))
            .erased()
    }

    /// A provider that only reads.
    pub(crate) fn reader(&self) -> DynProvider {
        ProviderBuilder::new()
            .connect_http(self.rpc_url().parse().expect("a URL"))
            .erased()
    }

    /// Sends a call and returns its receipt, which is there at once.
    pub(crate) async fn send(
        &self,
        signer: &PrivateKeySigner,
        to: Address,
        call: impl SolCall,
    ) -> TransactionReceipt {
        let provider = self.provider(signer.clone());
        let request = TransactionRequest::default()
            .with_to(to)
            .with_input(call.abi_encode());
        let pending = provider
            .send_transaction(request)
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        self.receipt(*pending.tx_hash()).await
    }

    /// The same without an estimate, for calls that revert.
    pub(crate) async fn send_anyway(
        &self,
        signer: &PrivateKeySigner,
        to: Address,
        call: impl SolCall,
    ) -> TransactionReceipt {
        let provider = self.provider(signer.clone());
        let request = TransactionRequest::default()
            .with_to(to)
            .with_input(call.abi_encode())
            .with_gas_limit(1_000_000);
        let pending = provider
            .send_transaction(request)
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        self.receipt(*pending.tx_hash()).await
    }

    /// The result of a contract's view as of a block.
    pub(crate) async fn view_at<C: SolCall>(&self, to: Address, call: C, block: u64) -> C::Return {
        let request = TransactionRequest::default()
            .with_to(to)
            .with_input(call.abi_encode());
        let output = self
            .reader()
            .call(request)
            .block(block.into())
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        C::abi_decode_returns(&output).expect("the function's output")
    }

    /// The result of a contract's view at the newest block.
    pub(crate) async fn view<C: SolCall>(&self, to: Address, call: C) -> C::Return {
        self.view_at(to, call, self.block_number().await).await
    }

    /// Lets a contract take any amount of every token.
    pub(crate) async fn approve_all(&self, signer: &PrivateKeySigner, spender: Address) {
        for token in &self.config().network.tokens {
            let approve = bindings::Token::approveCall {
                spender,
                value: U256::MAX,
            };
            assert!(
                self.send(signer, token.address, approve).await.status(),
                "{}",
                token.symbol
            );
        }
    }

    pub(crate) async fn receipt(&self, hash: B256) -> TransactionReceipt {
        self.reader()
            .get_transaction_receipt(hash)
            .await
            .expect("an answer")
            .expect("a receipt")
    }

    /// A token balance.
    pub(crate) async fn balance(&self, token: &Token, account: Address) -> U256 {
        self.view(token.address, bindings::Token::balanceOfCall { account })
            .await
    }

    /// The oracle's price of a token and when it was set.
    pub(crate) async fn oracle_price(&self, token: &Token) -> (u64, u64) {
        let price = self
            .view(
                ORACLE,
                PriceOracle::getPriceCall {
                    token: token.address,
                },
            )
            .await;
        (price.price.to(), price.updatedAt.to())
    }

    /// Whether the oracle calls a token's price fresh at the newest block.
    pub(crate) async fn is_fresh(&self, token: &Token) -> bool {
        self.view(
            ORACLE,
            PriceOracle::readPriceCall {
                token: token.address,
            },
        )
        .await
        .fresh
    }

    /// Seals a block.
    pub(crate) async fn mine(&self) {
        self.rpc("evm_mine", json!([])).await;
    }

    /// Advances the chain's time.
    pub(crate) async fn increase_time(&self, seconds: u64) {
        self.rpc("evm_increaseTime", json!([seconds])).await;
    }

    pub(crate) async fn block_number(&self) -> u64 {
        self.reader().get_block_number().await.expect("a number")
    }

    /// The entry of a token in `/api/prices`.
    pub(crate) async fn price_entry(&self, token: &Token) -> Value {
        self.get_json("/api/prices").await["data"][key(token)].clone()
    }
}

/// A token's address as a client of the REST interface writes it.
pub(crate) fn key(token: &Token) -> String {
    token.address.to_string().to_lowercase()
}

/// A JSON number as US dollars × 10^8, exactly.
pub(crate) fn usd_e8(number: &Value) -> u64 {
    let text = number.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    format!("{whole}{fraction:0<8}")
        .parse()
        .unwrap_or_else(|_| panic!("{text} is no price"))
}
