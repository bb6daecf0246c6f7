//! The network as Keplr's `experimentalSuggestChain` takes it.

use std::net::SocketAddr;

use axum::http::{HeaderMap, uri::Authority};
use schemars::JsonSchema;
use serde::Serialize;
use tetrad_network::{
    account::Kind,
    network::{COIN_DECIMALS, Network},
};
use tetrad_stdx::text::excerpt;

use super::addresses::Addresses;

/// The hardened coin type of Ethereum's derivation path (SLIP-44).
const ETHEREUM: u32 = 60;

/// Most characters of a chain's name in Keplr.
const MAX_CHAIN_NAME: usize = 36;

/// Addresses and signatures are Ethereum's, and gas prices follow the base fee.
const FEATURES: [&str; 3] = ["eth-address-gen", "eth-key-sign", "evm-feemarket"];

/// The document (`ChainInfo`).
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeplrChain<'a> {
    rpc: String,
    rest: String,
    chain_id: &'a str,
    chain_name: &'a str,
    evm: EvmEndpoint,
    bip44: Bip44,
    bech32_config: Bech32Config,
    stake_currency: Currency<'a>,
    currencies: [Currency<'a>; 1],
    fee_currencies: [Currency<'a>; 1],
    features: [&'static str; 3],
    is_testnet: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EvmEndpoint {
    chain_id: u64,
    rpc: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Bip44 {
    coin_type: u32,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Bech32Config {
    bech32_prefix_acc_addr: String,
    bech32_prefix_acc_pub: String,
    bech32_prefix_val_addr: String,
    bech32_prefix_val_pub: String,
    bech32_prefix_cons_addr: String,
    bech32_prefix_cons_pub: String,
}

#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Currency<'a> {
    coin_denom: &'a str,
    coin_minimal_denom: &'a str,
    coin_decimals: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    gas_price_step: Option<GasPriceStep>,
}

/// Prices in the base denomination.
#[derive(Clone, Copy, Serialize, JsonSchema)]
struct GasPriceStep {
    low: u64,
    average: u64,
    high: u64,
}

/// The URLs of a node, as a client sees them.
pub(super) struct ClientUrls {
    scheme: &'static str,
    main: Authority,
    comet: Option<u16>,
    cosmos_rest: Option<u16>,
}

impl ClientUrls {
    /// Takes the host from the request. A client with another port than the main listener's is
    /// behind a proxy, which need not pass on the other listeners.
    pub(super) fn new(addresses: &Addresses, host: Option<Authority>, headers: &HeaderMap) -> Self {
        let forwarded = headers
            .get("x-forwarded-proto")
            .is_some_and(|scheme| scheme == "https");
        let main = host.unwrap_or_else(|| {
            addresses
                .main
                .to_string()
                .parse()
                .unwrap_or(Authority::from_static("localhost"))
        });

        let direct =
            Some(addresses.main).filter(|listener| main.port_u16() == Some(listener.port()));

        let is_encrypted = forwarded || addresses.tls.is_some();
        Self {
            scheme: if is_encrypted { "https" } else { "http" },
            comet: reachable_port(addresses.comet, direct),
            cosmos_rest: reachable_port(addresses.cosmos_rest, direct),
            main,
        }
    }

    /// Returns the origin of a listener of its own, or that of the main listener.
    fn origin(&self, own: Option<u16>) -> String {
        let scheme = self.scheme;
        let host = self.main.host();
        match own.or(self.main.port_u16()) {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        }
    }
}

/// Returns the port of a listener that clients of the main one reach by the same host; none if
/// they are not connected to it directly.
fn reachable_port(own: Option<SocketAddr>, direct: Option<SocketAddr>) -> Option<u16> {
    let own = own?;
    let direct = direct?;
    let is_reachable = own.ip().is_unspecified() || own.ip() == direct.ip();
    is_reachable.then_some(own.port())
}

impl<'a> KeplrChain<'a> {
    /// Returns the document. `gas_price` is the least at which the next block includes
    /// transactions.
    pub(super) fn new(
        network: &'a Network,
        chain_id: u64,
        gas_price: u64,
        urls: &ClientUrls,
    ) -> Self {
        let coin = Currency {
            coin_denom: &network.coin,
            coin_minimal_denom: &network.denomination,
            coin_decimals: COIN_DECIMALS,
            gas_price_step: None,
        };

        // The base fee doubles in six full blocks at the earliest.
        let average = gas_price.saturating_add(gas_price / 2);
        let step = GasPriceStep {
            low: gas_price,
            average,
            high: gas_price.saturating_mul(2),
        };

        let hrp = &network.hrp;
        Self {
            rpc: urls.origin(urls.comet),
            rest: urls.origin(urls.cosmos_rest),
            chain_id: &network.cosmos_chain_id,
            chain_name: excerpt(&network.cosmos_chain_id, MAX_CHAIN_NAME),
            evm: EvmEndpoint {
                chain_id,
                rpc: format!("{}/rpc", urls.origin(None)),
            },
            bip44: Bip44 {
                coin_type: ETHEREUM,
            },
            bech32_config: Bech32Config {
                bech32_prefix_acc_addr: hrp.address_prefix(Kind::Account),
                bech32_prefix_acc_pub: hrp.public_key_prefix(Kind::Account),
                bech32_prefix_val_addr: hrp.address_prefix(Kind::ValidatorOperator),
                bech32_prefix_val_pub: hrp.public_key_prefix(Kind::ValidatorOperator),
                bech32_prefix_cons_addr: hrp.address_prefix(Kind::Consensus),
                bech32_prefix_cons_pub: hrp.public_key_prefix(Kind::Consensus),
            },
            fee_currencies: [Currency {
                gas_price_step: Some(step),
                ..coin.clone()
            }],
            currencies: [coin.clone()],
            stake_currency: coin,
            features: FEATURES,
            is_testnet: true,
        }
    }
}
