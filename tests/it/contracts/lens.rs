//! The views for user interfaces and the REST server.

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolValue;
use tetrad_contracts::contracts::bindings::{
    AccountView, LendingLens, LendingPool, LimitsView, LiquidationSide, PoolView, PositionView,
};

use super::{
    harnesses::RogueToken::{self, Symbols},
    network::{ALICE, BOB, LENS, Network, OWNER, POOL, STRANGER},
    tokens::{TOKENS, TokenInfo},
};

const DAY: u64 = 86_400;

fn pool(network: &mut Network, token: TokenInfo) -> PoolView {
    network.look(
        LENS,
        LendingLens::getPoolCall {
            asset: token.address,
        },
    )
}

/// Alice supplies ten thousand dollars of WETH and five thousand of USDC, and owes four thousand of
/// USDC and two thousand of WBTC.
fn with_loans() -> Network {
    let mut network = Network::funded();
    let [weth, usdc, wbtc] = ["WETH", "USDC", "WBTC"].map(TokenInfo::of);
    network.deposit(ALICE, weth, weth.worth(10_000)).unwrap();
    network.deposit(ALICE, usdc, usdc.worth(5_000)).unwrap();
    network.borrow(ALICE, usdc, usdc.worth(4_000)).unwrap();
    network.borrow(ALICE, wbtc, wbtc.worth(2_000)).unwrap();
    network.wait(10 * DAY);
    network
}

#[test]
fn every_pool_is_described() {
    let mut network = with_loans();
    assert_eq!(network.look(LENS, LendingLens::poolCall {}), POOL);
    let views = network.look(LENS, LendingLens::getPoolsCall {});
    assert_eq!(views.len(), 12);

    for (view, token) in views.iter().zip(TOKENS) {
        assert_eq!((view.asset, view.pToken), (token.address, token.p_token()));
        assert_eq!(
            (view.symbol.as_str(), view.decimals, view.paused),
            (token.symbol, token.decimals, false)
        );
        assert_eq!(
            (view.price, view.priceFresh),
            (U256::from(token.price_usd_e8), true)
        );
        assert_eq!(view.parameters, token.parameters());
        assert_eq!((view.supplyCap, view.borrowCap), (U256::ZERO, U256::ZERO));
        assert_eq!(*view, pool(&mut network, token));
    }

    network.warp(601);
    assert!(!pool(&mut network, TOKENS[0]).priceFresh);

    let asset = TOKENS[0].address;
    let call = LendingPool::setPausedCall {
        asset,
        paused: true,
    };
    network.send(OWNER, POOL, call).unwrap();
    network
        .send(
            OWNER,
            POOL,
            LendingPool::setCapsCall {
                asset,
                supplyCapTokens: 7,
                borrowCapTokens: 8,
            },
        )
        .unwrap();

    let view = pool(&mut network, TOKENS[0]);
    let units = |tokens: u64| U256::from(tokens) * TOKENS[0].unit();
    assert_eq!(
        (view.paused, view.supplyCap, view.borrowCap),
        (true, units(7), units(8))
    );

    network
        .send(
            OWNER,
            POOL,
            LendingPool::setLeastLoanCall { usd: U256::from(9) },
        )
        .unwrap();
    let limits = |network: &mut Network| network.look(LENS, LendingLens::getLimitsCall { asset });
    let expected = LimitsView {
        supplyCapTokens: U256::from(7),
        borrowCapTokens: U256::from(8),
        leastLoanUsd: U256::from(9),
        priceHalted: false,
    };
    assert_eq!(limits(&mut network), expected);
    network.halt(TOKENS[0]);
    assert!(limits(&mut network).priceHalted);
}

#[test]
fn a_pool_view_matches_what_a_transaction_of_the_block_sees() {
    let mut network = with_loans();
    let usdc = TokenInfo::of("USDC");
    let view = pool(&mut network, usdc);
    let state = network.reserve(usdc.address);
    assert_eq!(
        (view.cash, view.treasury, view.deficit),
        (state.cash, state.treasury, state.deficit)
    );
    assert_eq!(view.liquidityIndex, state.liquidityIndex);
    let call = LendingPool::setParametersCall {
        asset: usdc.address,
        parameters: usdc.parameters(),
    };
    network.send(OWNER, POOL, call).unwrap();
    assert_eq!(pool(&mut network, usdc), view);
}

#[test]
fn suppliers_earn_borrowers_interest_less_the_reserve_factor() {
    let mut network = with_loans();
    let usdc = TokenInfo::of("USDC");
    let view = pool(&mut network, usdc);
    // Only one band has debts, so the average is its rate on the part that is lent.
    let income =
        view.totalDebt * view.borrowRates[0] * U256::from(9) / U256::from(10) / view.totalSupplied;
    assert!(view.supplyRate.abs_diff(income) <= U256::from(1));
    for band in 1..5 {
        assert!(view.borrowRates[band] < view.borrowRates[band - 1]);
    }
}

fn sum(view: &AccountView, part: fn(&PositionView) -> U256) -> U256 {
    view.positions
        .iter()
        .map(part)
        .fold(U256::ZERO, |sum, value| sum + value)
}

#[test]
fn the_sums_of_an_account_match_its_positions() {
    let mut network = with_loans();
    let view = network.account(ALICE);

    assert_eq!(
        view.suppliedUsd,
        sum(&view, |position| position.suppliedUsd)
    );
    assert_eq!(view.debtUsd, sum(&view, |position| position.debtUsd));

    let power = sum(&view, |position| {
        position.suppliedUsd * position.loanToValueBps / U256::from(10_000)
    });
    assert_eq!(view.borrowingPowerUsd, power);
    assert_eq!(view.availableUsd, power - view.debtUsd);

    let cover = sum(&view, |position| {
        position.suppliedUsd * position.liquidationThresholdBps / U256::from(10_000)
    });
    assert_eq!(
        view.healthFactorBps,
        cover * U256::from(10_000) / view.debtUsd
    );

    let symbols: Vec<&str> = view
        .positions
        .iter()
        .map(|position| position.symbol.as_str())
        .collect();
    assert_eq!(symbols, ["WBTC", "WETH", "USDC"]);
    for position in &view.positions {
        let token = TokenInfo::of(&position.symbol);
        assert_eq!(
            (position.asset, position.decimals),
            (token.address, token.decimals)
        );
        assert_eq!(
            (position.price, position.priceFresh),
            (U256::from(token.price_usd_e8), true)
        );

        let pool = pool(&mut network, token);
        assert_eq!(position.supplyRate, pool.supplyRate);
        assert_eq!(
            position.borrowRate,
            pool.borrowRates[view.band.to::<usize>()]
        );
        assert_eq!(
            position.supplied,
            network.balance_of(token.p_token(), ALICE)
        );

        let asset = token.address;
        let answer = network.look(
            LENS,
            LendingLens::getLiquidationPriceCall { user: ALICE, asset },
        );
        assert_eq!(
            (answer.price, answer.side),
            (position.liquidationPrice, position.liquidationSide)
        );
    }
}

#[test]
fn a_stranger_is_a_valid_user() {
    let mut network = Network::funded();
    let view = network.account(STRANGER);
    assert_eq!(
        (view.score, view.band, view.dueAt),
        (U256::from(300), U256::ZERO, U256::ZERO)
    );
    assert_eq!(
        (view.suppliedUsd, view.borrowingPowerUsd),
        (U256::ZERO, U256::ZERO)
    );
    assert_eq!((view.debtUsd, view.availableUsd), (U256::ZERO, U256::ZERO));
    assert_eq!((view.healthFactorBps, view.positions.len()), (U256::MAX, 0));
    let asset = TOKENS[0].address;
    let answer = network.look(
        LENS,
        LendingLens::getLiquidationPriceCall {
            user: STRANGER,
            asset,
        },
    );
    assert_eq!(
        (answer.price, answer.side),
        (U256::ZERO, LiquidationSide::None)
    );
}

#[test]
fn nothing_is_available_beyond_the_limit() {
    let mut network = with_loans();
    network.set_price(TokenInfo::of("WETH"), 100_000_000_000);
    let view = network.account(ALICE);
    assert!(view.debtUsd > view.borrowingPowerUsd);
    assert_eq!(view.availableUsd, U256::ZERO);
}

/// The health factor of Alice's account at another price of a token.
fn health_at(network: &Network, token: TokenInfo, price: u64) -> u64 {
    let mut network = network.twin();
    network.set_price(token, price);
    network.account(ALICE).healthFactorBps.to()
}

#[test]
fn liquidation_starts_at_the_liquidation_price() {
    let mut network = with_loans();
    for (symbol, side) in [
        ("WETH", LiquidationSide::Below),
        ("WBTC", LiquidationSide::Above),
        ("USDC", LiquidationSide::None),
    ] {
        let token = TokenInfo::of(symbol);
        let user = ALICE;
        let asset = token.address;
        let answer = network.look(LENS, LendingLens::getLiquidationPriceCall { user, asset });
        assert_eq!(answer.side, side, "{symbol}");

        let price: u64 = answer.price.to();
        // At the price itself the account is still safe, a millionth beyond it no longer.
        match side {
            LiquidationSide::Below => {
                assert!(
                    health_at(&network, token, price) >= 10_000
                        && health_at(&network, token, price - price / 1_000_000) < 10_000,
                    "{symbol}"
                );
            }
            LiquidationSide::Above => {
                assert!(
                    health_at(&network, token, price) >= 10_000
                        && health_at(&network, token, price + price / 1_000_000) < 10_000,
                    "{symbol}"
                );
            }
            _ => assert_eq!(price, 0),
        }
    }
}

#[test]
fn the_liquidation_price_follows_the_larger_side_of_an_asset() {
    let mut network = Network::funded();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    network.deposit(BOB, weth, weth.worth(1_000)).unwrap();
    network.deposit(BOB, usdc, usdc.worth(10_000)).unwrap();
    network.borrow(BOB, weth, weth.worth(5_000)).unwrap();
    let answer = network.look(
        LENS,
        LendingLens::getLiquidationPriceCall {
            user: BOB,
            asset: weth.address,
        },
    );
    assert_eq!(answer.side, LiquidationSide::Above);
    // 9,000 dollars of other collateral, weighted, over the part of the debt that WETH itself does
    // not cover: 4,150 dollars at present.
    let expected = u128::from(weth.price_usd_e8) * 9_000 / 4_150;
    assert!(
        answer.price.abs_diff(U256::from(expected)) <= U256::from(10),
        "{}",
        answer.price
    );
}

#[test]
fn a_score_is_the_sum_of_its_parts() {
    let mut network = with_loans();
    let usdc = TokenInfo::of("USDC");
    network.repay(ALICE, usdc, usdc.worth(1_000)).unwrap();
    network.wait(32 * DAY);

    let view = network.look(LENS, LendingLens::getScoreCall { user: ALICE });
    let gained = view.depositPoints + view.paymentPoints + view.healthPoints + view.historyPoints;
    assert_eq!(
        view.score,
        U256::from(300) + gained - view.penaltyPoints - view.overduePoints
    );
    assert_eq!(view.score, network.account(ALICE).score);

    for part in [
        view.depositPoints,
        view.paymentPoints,
        view.healthPoints,
        view.penaltyPoints,
        view.overduePoints,
    ] {
        assert!(part > U256::ZERO, "{view:?}");
    }
    assert_eq!(view.healthFactorBps, network.account(ALICE).healthFactorBps);
    assert_eq!((view.onTimePayments, view.late), (U256::from(1), true));
    assert_eq!(view.depositSeconds, U256::from(42 * DAY));
    assert_eq!(view.dueAt, network.account(ALICE).dueAt);
    assert_eq!(
        view.lastPaymentAt + U256::from(32 * DAY),
        U256::from(network.now())
    );
    assert_eq!(
        view.lastBorrowAt + U256::from(42 * DAY),
        U256::from(network.now())
    );
}

#[test]
fn an_asset_without_a_readable_symbol_does_not_hide_others() {
    const ROGUE: Address = Address::repeat_byte(0x71);
    const P_ROGUE: Address = Address::repeat_byte(0x72);

    let mut network = with_loans();
    network.deploy(ROGUE, OWNER, "test/RogueToken", &U256::from(6).abi_encode());
    network.deploy(P_ROGUE, OWNER, "PToken", &(POOL, ROGUE).abi_encode_params());
    let parameters = TOKENS[0].parameters();
    let add = LendingPool::addAssetCall {
        asset: ROGUE,
        pToken: P_ROGUE,
        parameters,
        supplyCapTokens: 0,
        borrowCapTokens: 0,
    };
    network.send(OWNER, POOL, add).unwrap();

    let amount = U256::from(1_000_000);
    network.mint(ROGUE, ALICE, amount);
    network.approve(ALICE, ROGUE, POOL, amount);
    let deposit = LendingPool::depositCall {
        asset: ROGUE,
        amount,
    };
    network.send(ALICE, POOL, deposit).unwrap();

    for (symbols_, symbol) in [
        (Symbols::Good, "RGE"),
        (Symbols::Reverts, ""),
        (Symbols::Loops, ""),
        (Symbols::IsWord, ""),
        (Symbols::IsLong, ""),
        (Symbols::IsCut, ""),
    ] {
        network
            .send(OWNER, ROGUE, RogueToken::markCall { symbols_ })
            .unwrap();

        let pools = network.look(LENS, LendingLens::getPoolsCall {});
        assert_eq!(
            (pools.len(), pools[12].symbol.as_str(), pools[12].decimals),
            (13, symbol, 6)
        );
        assert_eq!(pools[0].symbol, TOKENS[0].symbol);

        let view = network.account(ALICE);
        let position = view
            .positions
            .iter()
            .find(|position| position.asset == ROGUE)
            .unwrap();
        assert_eq!(
            (
                position.symbol.as_str(),
                position.decimals,
                position.supplied
            ),
            (symbol, 6, amount)
        );
    }
}
