//! Set-up of the exchange in the genesis block: tokens, oracle, vault and the treasury's liquidity.

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolValue;

use super::contract::{PriceOracle, Vault};
use crate::{
    artifacts,
    chain::Step,
    contracts::{Erc20, call, deploy, worth},
    network::Network,
};

/// Dollars' worth of each token that the vault starts with.
const LIQUIDITY_USD: u64 = 10_000_000;

/// The accounts of the set-up.
#[derive(Clone, Copy, Debug)]
pub struct Roles {
    /// Owns the contracts, mints tokens and provides liquidity.
    pub treasury: Address,
    /// Pushes prices.
    pub updater: Address,
}

/// Deployments and set-up calls, in order.
pub fn steps(network: &Network, roles: Roles) -> Vec<Step> {
    let Roles { treasury, updater } = roles;
    let contracts = &network.contracts;
    let mut steps = Vec::new();
    for token in &network.tokens {
        let arguments = (token.name.clone(), token.symbol.clone(), U256::from(token.decimals), treasury);
        steps.push(deploy(&token.symbol, token.address, treasury, artifacts::token(), arguments.abi_encode_params()));
    }
    let arguments = (treasury, updater).abi_encode_params();
    steps.push(deploy("oracle", contracts.oracle, treasury, artifacts::price_oracle(), arguments));
    let prices = PriceOracle::updatePricesCall {
        tokens: network.tokens.iter().map(|token| token.address).collect(),
        prices: network.tokens.iter().map(|token| U256::from(token.reference_price)).collect(),
    };
    steps.push(call("first prices", updater, contracts.oracle, prices));
    let arguments = (treasury, contracts.oracle).abi_encode_params();
    steps.push(deploy("vault", contracts.vault, treasury, artifacts::vault(), arguments));
    for token in &network.tokens {
        let amount = worth(token, LIQUIDITY_USD);
        let what = |verb: &str| format!("{verb} {}", token.symbol);
        steps.extend([
            call(&what("list"), treasury, contracts.vault, Vault::addTokenCall { token: token.address }),
            call(&what("mint"), treasury, token.address, Erc20::mintCall { to: treasury, amount }),
            call(
                &what("approve"),
                treasury,
                token.address,
                Erc20::approveCall { spender: contracts.vault, value: amount },
            ),
            call(&what("provide"), treasury, contracts.vault, Vault::addLiquidityCall { token: token.address, amount }),
        ]);
    }
    steps
}
