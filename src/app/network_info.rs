//! `GET /api/network`: the facts that wallets and scripts need about the network, in one response.
//!
//! The response has the contracts at its top level, each token map keyed by symbol.

use std::{borrow::Cow, sync::Arc};

use alloy_primitives::Address;
use axum::{Router, body::Bytes, extract::State, http::HeaderMap};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use tetrad_chain::Chain;
use tetrad_network::network::{COIN_DECIMALS, Network, Token};
use tetrad_web::{Api, NamedHost, Operation, Serialized, method_not_allowed};

use super::{
    addresses::Addresses,
    keplr::{ClientUrls, KeplrChain},
};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NetworkInfo<'a> {
    chain_id: u64,
    cosmos_chain_id: &'a str,
    native_coin: NativeCoin<'a>,
    bech32_prefix: &'a str,
    oracle: String,
    vault: String,
    lending_pool: String,
    lending_lens: String,
    tokens: BySymbol<'a>,
    p_tokens: BySymbol<'a>,
    /// What Keplr's `experimentalSuggestChain` takes.
    keplr: KeplrChain<'a>,
}

#[derive(Serialize, JsonSchema)]
struct NativeCoin<'a> {
    symbol: &'a str,
    denomination: &'a str,
    decimals: u8,
}

/// Addresses by token symbol.
struct BySymbol<'a>(Vec<(&'a str, String)>);

impl JsonSchema for BySymbol<'_> {
    fn schema_name() -> Cow<'static, str> {
        "AddressesBySymbol".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": { "type": "string" } })
    }
}

impl Serialize for BySymbol<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(symbol, address)| (symbol, address)))
    }
}

/// The parts of the node that the response describes.
struct DescribedNode {
    network: Arc<Network>,
    chain: Chain,
    addresses: Addresses,
}

/// Returns the route.
pub(super) fn router(
    network: Arc<Network>,
    chain: Chain,
    addresses: Addresses,
) -> (Router, Vec<Operation>) {
    Api::new("Node")
        .get(
            "/api/network",
            network_info,
            "Chain ids, native coin, prefix, contracts, tokens, and the chain for Keplr.",
        )
        .and(|router| router.method_not_allowed_fallback(method_not_allowed))
        .with_state(Arc::new(DescribedNode {
            network,
            chain,
            addresses,
        }))
}

async fn network_info(
    State(node): State<Arc<DescribedNode>>,
    NamedHost(host): NamedHost,
    headers: HeaderMap,
) -> Serialized<NetworkInfo<'static>> {
    let urls = ClientUrls::new(&node.addresses, host, &headers);
    Serialized::from(render(&node.network, &node.chain, &urls))
}

fn render(network: &Network, chain: &Chain, urls: &ClientUrls) -> Bytes {
    let contracts = &network.contracts;
    let chain_id = chain.params().chain_id;
    let base_fee = chain.next_base_fee(&chain.head()).unwrap_or(0);
    let gas_price = base_fee.saturating_add(u64::try_from(chain.min_tip()).unwrap_or(u64::MAX));

    // Addresses carry the EIP-55 checksum, as wallets expect.
    let info = NetworkInfo {
        chain_id,
        cosmos_chain_id: &network.cosmos_chain_id,
        native_coin: NativeCoin {
            symbol: &network.coin,
            denomination: &network.denomination,
            decimals: COIN_DECIMALS,
        },
        bech32_prefix: network.hrp.as_str(),
        oracle: contracts.oracle.to_checksum(None),
        vault: contracts.vault.to_checksum(None),
        lending_pool: contracts.lending_pool.to_checksum(None),
        lending_lens: contracts.lending_lens.to_checksum(None),
        tokens: by_symbol(network, |token| token.address),
        p_tokens: by_symbol(network, |token| token.receipt),
        keplr: KeplrChain::new(network, chain_id, gas_price, urls),
    };

    // Serialising these types cannot fail.
    Bytes::from(serde_json::to_vec(&info).unwrap_or_default())
}

fn by_symbol(network: &Network, address: impl Fn(&Token) -> Address) -> BySymbol<'_> {
    BySymbol(
        network
            .tokens
            .iter()
            .map(|token| (token.symbol.as_str(), address(token).to_checksum(None)))
            .collect(),
    )
}
