//! Set-up of lending in the genesis block: pool, receipt tokens, and some loans, without which
//! deposits would earn no interest.

use alloy_primitives::{Address, U256};
use tetrad_chain::Step;
use tetrad_contracts::{
    artifacts,
    contracts::{
        bindings::{AssetParameters, LendingLens, LendingPool, PToken, Token},
        call, deploy, unit, worth,
    },
};
use tetrad_network::network::{self, LendingClass, Network};

/// Dollars' worth of each asset that the treasury lends.
const SUPPLY_USD: u64 = 1_000_000;
/// The caps of each asset's supply and debt, as a multiple of what the treasury lends.
const CAP_MULTIPLE: u64 = 10;
/// The least loan in US dollars.
const LEAST_LOAN_USD: u64 = 10;
/// Dollars' worth of each dollar token that the borrower deposits as collateral.
const COLLATERAL_USD: u64 = 2_500_000;

/// The accounts of the set-up.
#[derive(Clone, Copy, Debug)]
pub struct LendingRoles {
    /// Owns the pool and lends.
    pub treasury: Address,
    /// Borrows.
    pub borrower: Address,
}

/// Deployments and set-up calls, in order. Tokens and oracle exist already. With `limited`, assets
/// have caps, and there is a least loan.
pub fn steps(network: &Network, roles: LendingRoles, limited: bool) -> Vec<Step> {
    let LendingRoles { treasury, borrower } = roles;
    let pool = network.contracts.lending_pool;

    let mut steps = Vec::from(deployments(network, treasury));
    for token in &network.tokens {
        steps.extend(listing(token, treasury, pool, limited));
        steps.extend(supply(token, SUPPLY_USD, treasury, treasury, pool));
    }
    if limited {
        let least_loan = LendingPool::setLeastLoanCall {
            usd: U256::from(LEAST_LOAN_USD * 100_000_000),
        };
        steps.push(call("set the least loan", treasury, pool, least_loan));
    }

    // The pool lends against collateral only.
    let stable = network
        .tokens
        .iter()
        .filter(|token| token.lending == LendingClass::Stable);
    for token in stable {
        steps.extend(supply(token, COLLATERAL_USD, treasury, borrower, pool));
    }

    // Without loans, every APY would be zero.
    for token in &network.tokens {
        let loan = LendingPool::borrowCall {
            asset: token.address,
            amount: worth(token, loan_usd(token.lending)),
        };
        let name = format!("borrow {}", token.symbol);
        steps.push(call(&name, borrower, pool, loan));
    }
    steps
}

/// Deploys the pool and its lens.
fn deployments(network: &Network, treasury: Address) -> [Step; 2] {
    let contracts = &network.contracts;
    let pool = contracts.lending_pool;
    [
        deploy(
            "lending pool",
            pool,
            treasury,
            artifacts::LENDING_POOL,
            LendingPool::constructorCall {
                owner_: treasury,
                oracle_: contracts.oracle,
            },
        ),
        deploy(
            "lending lens",
            contracts.lending_lens,
            treasury,
            artifacts::LENDING_LENS,
            LendingLens::constructorCall { pool_: pool },
        ),
    ]
}

/// Deploys the receipt token of an asset, and lists the asset.
fn listing(token: &network::Token, treasury: Address, pool: Address, limited: bool) -> [Step; 2] {
    let cap = if limited { cap(token) } else { 0 };
    [
        deploy(
            &format!("p{}", token.symbol),
            token.receipt,
            treasury,
            artifacts::RECEIPT_TOKEN,
            PToken::constructorCall {
                pool_: pool,
                asset_: token.address,
            },
        ),
        call(
            &format!("list {}", token.symbol),
            treasury,
            pool,
            LendingPool::addAssetCall {
                asset: token.address,
                pToken: token.receipt,
                parameters: parameters(token.lending),
                supplyCapTokens: cap,
                borrowCapTokens: cap,
            },
        ),
    ]
}

/// The cap of an asset's supply and debt in whole tokens.
fn cap(token: &network::Token) -> u128 {
    (worth(token, CAP_MULTIPLE * SUPPLY_USD) / unit(token)).saturating_to()
}

/// Mints a token for `lender`, who then deposits it.
fn supply(
    token: &network::Token,
    usd: u64,
    treasury: Address,
    lender: Address,
    pool: Address,
) -> [Step; 3] {
    let amount = worth(token, usd);
    let symbol = &token.symbol;
    [
        call(
            &format!("mint {symbol}"),
            treasury,
            token.address,
            Token::mintCall { to: lender, amount },
        ),
        call(
            &format!("approve {symbol}"),
            lender,
            token.address,
            Token::approveCall {
                spender: pool,
                value: amount,
            },
        ),
        call(
            &format!("lend {symbol}"),
            lender,
            pool,
            LendingPool::depositCall {
                asset: token.address,
                amount,
            },
        ),
    ]
}

/// Dollars' worth of the first loan.
fn loan_usd(class: LendingClass) -> u64 {
    match class {
        LendingClass::Stable => 900_000,
        LendingClass::Ether => 250_000,
        LendingClass::Bitcoin | LendingClass::Major => 150_000,
        LendingClass::Other => 80_000,
    }
}

/// Rate curve and collateral ratios of a class, in basis points.
fn parameters(class: LendingClass) -> AssetParameters {
    let (kink, base, slope1, slope2, reserve_factor) = match class {
        LendingClass::Stable => (9_000, 0, 500, 7_500, 1_000),
        LendingClass::Ether => (8_000, 0, 400, 8_000, 1_500),
        LendingClass::Bitcoin | LendingClass::Major => (6_500, 0, 400, 10_000, 2_000),
        LendingClass::Other => (4_500, 100, 700, 30_000, 2_000),
    };
    let (min_ltv, max_ltv, threshold, bonus) = match class {
        LendingClass::Stable => (7_000, 8_500, 9_000, 500),
        LendingClass::Ether => (6_500, 8_000, 8_500, 500),
        LendingClass::Bitcoin => (6_000, 7_500, 8_000, 700),
        LendingClass::Major | LendingClass::Other => (4_500, 6_000, 6_800, 1_000),
    };

    AssetParameters {
        baseRateBps: base,
        slope1Bps: slope1,
        slope2Bps: slope2,
        kinkBps: kink,
        reserveFactorBps: reserve_factor,
        minLtvBps: min_ltv,
        maxLtvBps: max_ltv,
        liquidationThresholdBps: threshold,
        liquidationBonusBps: bonus,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_loans_are_covered() {
        let network = Network::default();
        let borrowed: u64 = network
            .tokens
            .iter()
            .map(|token| loan_usd(token.lending))
            .sum();

        let power = 2 * COLLATERAL_USD * 7 / 10;
        assert!(borrowed <= power, "{borrowed} of {power}");

        let amounts = network.tokens.iter().map(|token| worth(token, SUPPLY_USD));
        assert!(
            amounts
                .into_iter()
                .all(|amount| amount < U256::from(u128::MAX))
        );
    }

    #[test]
    fn caps_are_ten_times_the_first_supply_in_whole_tokens() {
        let network = Network::default();
        for token in &network.tokens {
            let cap = U256::from(cap(token)) * unit(token);
            assert!(
                cap <= worth(token, 10 * SUPPLY_USD) && cap > worth(token, 9 * SUPPLY_USD),
                "{}",
                token.symbol
            );
        }
    }
}
