//! Set-up of the exchange in the genesis block: tokens, oracle, vault and the treasury's liquidity.

use alloy_primitives::{Address, U256, Uint};
use tetrad_chain::Step;
use tetrad_contracts::{
    artifacts,
    contracts::{
        bindings::{PriceOracle, Token as TokenContract, Vault},
        call, deploy, worth,
    },
};
use tetrad_network::network::{Network, Token};

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
    let mut steps = deploy_tokens(network, roles.treasury);
    steps.extend(deploy_oracle(network, roles, frozen_prices));
    steps.extend(deploy_vault(network, roles.treasury));
    for token in &network.tokens {
        steps.extend(provide_liquidity(network, roles.treasury, token));
    }
    steps
}

fn deploy_tokens(network: &Network, treasury: Address) -> Vec<Step> {
    let mut steps = Vec::with_capacity(network.tokens.len());
    for token in &network.tokens {
        let constructor = TokenContract::constructorCall {
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
    steps
}

fn deploy_oracle(network: &Network, roles: ExchangeRoles, frozen_prices: bool) -> Vec<Step> {
    let ExchangeRoles { treasury, updater } = roles;
    let oracle = network.contracts.oracle;
    let constructor = PriceOracle::constructorCall {
        owner_: treasury,
        updater_: updater,
    };
    let mut steps = vec![deploy(
        "oracle",
        oracle,
        treasury,
        artifacts::PRICE_ORACLE,
        constructor,
    )];

    let prices = PriceOracle::updatePricesCall {
        tokens: network.tokens.iter().map(|token| token.address).collect(),
        prices: network
            .tokens
            .iter()
            .map(|token| U256::from(token.reference_price))
            .collect(),
    };
    steps.push(call("first prices", updater, oracle, prices));

    if frozen_prices {
        let forever = PriceOracle::setMaxAgeCall {
            newSeconds: Uint::MAX,
        };
        steps.push(call("frozen prices", treasury, oracle, forever));
    }
    steps
}

fn deploy_vault(network: &Network, treasury: Address) -> Vec<Step> {
    let constructor = Vault::constructorCall {
        owner_: treasury,
        oracle_: network.contracts.oracle,
    };
    vec![deploy(
        "vault",
        network.contracts.vault,
        treasury,
        artifacts::VAULT,
        constructor,
    )]
}

/// Lists a token in the vault, with the treasury's liquidity.
fn provide_liquidity(network: &Network, treasury: Address, token: &Token) -> [Step; 4] {
    let vault = network.contracts.vault;
    let amount = worth(token, LIQUIDITY_USD);
    let list = Vault::addTokenCall {
        token: token.address,
    };
    let mint = TokenContract::mintCall {
        to: treasury,
        amount,
    };
    let approve = TokenContract::approveCall {
        spender: vault,
        value: amount,
    };
    let provide = Vault::addLiquidityCall {
        token: token.address,
        amount,
    };

    let symbol = &token.symbol;
    [
        call(&format!("list {symbol}"), treasury, vault, list),
        call(&format!("mint {symbol}"), treasury, token.address, mint),
        call(
            &format!("approve {symbol}"),
            treasury,
            token.address,
            approve,
        ),
        call(&format!("provide {symbol}"), treasury, vault, provide),
    ]
}
