//! Set-up of the exchange in the genesis block: tokens, oracle, vault and the treasury's liquidity.

use alloy_primitives::{Address, U256, Uint};
use tetrad_chain::Step;
use tetrad_contracts::{
    artifacts,
    contracts::{
        bindings::{PriceOracle, Token, Vault},
        call, deploy, worth,
    },
};
use tetrad_network::network::Network;

/// Dollars' worth of each token that the vault starts with.
const LIQUIDITY_USD: u64 = 10_000_000;

/// The accounts of the set-up.
#[derive(Clone, Copy, Debug)]
pub struct ExchangeRoles {
    /// Owns the contracts, mints tokens and provides liquidity.
    pub treasury: Address,
    /// Pushes prices.
    pub updater: Address,
}

/// Deployments and set-up calls, in order. Frozen prices never age.
pub fn steps(network: &Network, roles: ExchangeRoles, frozen_prices: bool) -> Vec<Step> {
    let ExchangeRoles { treasury, updater } = roles;
    let contracts = &network.contracts;
    let mut steps = Vec::new();
    for token in &network.tokens {
        let constructor = Token::constructorCall {
            name_: token.name.clone(),
            symbol_: token.symbol.clone(),
            decimals_: token.decimals,
            owner_: treasury,
        };
        steps.push(deploy(
            &token.symbol,
            token.address,
            treasury,
            artifacts::TOKEN,
            constructor,
        ));
    }
    let constructor = PriceOracle::constructorCall {
        owner_: treasury,
        updater_: updater,
    };
    steps.push(deploy(
        "oracle",
        contracts.oracle,
        treasury,
        artifacts::PRICE_ORACLE,
        constructor,
    ));
    let prices = PriceOracle::updatePricesCall {
        tokens: network.tokens.iter().map(|token| token.address).collect(),
        prices: network
            .tokens
            .iter()
            .map(|token| U256::from(token.reference_price))
            .collect(),
    };
    steps.push(call("first prices", updater, contracts.oracle, prices));
    if frozen_prices {
        let forever = PriceOracle::setMaxAgeCall {
            newSeconds: Uint::MAX,
        };
        steps.push(call("frozen prices", treasury, contracts.oracle, forever));
    }
    let constructor = Vault::constructorCall {
        owner_: treasury,
        oracle_: contracts.oracle,
    };
    steps.push(deploy(
        "vault",
        contracts.vault,
        treasury,
        artifacts::VAULT,
        constructor,
    ));
    for token in &network.tokens {
        let amount = worth(token, LIQUIDITY_USD);
        let what = |verb: &str| format!("{verb} {}", token.symbol);
        steps.extend([
            call(
                &what("list"),
                treasury,
                contracts.vault,
                Vault::addTokenCall {
                    token: token.address,
                },
            ),
            call(
                &what("mint"),
                treasury,
                token.address,
                Token::mintCall {
                    to: treasury,
                    amount,
                },
            ),
            call(
                &what("approve"),
                treasury,
                token.address,
                Token::approveCall {
                    spender: contracts.vault,
                    value: amount,
                },
            ),
            call(
                &what("provide"),
                treasury,
                contracts.vault,
                Vault::addLiquidityCall {
                    token: token.address,
                    amount,
                },
            ),
        ]);
    }
    steps
}
