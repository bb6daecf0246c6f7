//! Extreme conditions: decades, the largest numbers, the smallest pools.

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolValue;
use tetrad_contracts::contracts::bindings::{
    LendingLens, LendingPool, LendingPoolErrors, PriceOracle, Token,
};

use super::{
    bench::refusal,
    harnesses::{MATH, MathHarness, PoolHarness, math},
    model::ray,
    network::{ALICE, BOB, LENS, Network, ORACLE, OWNER, POOL, WHALE},
    tokens::{TOKENS, TokenInfo},
};

const YEAR: u64 = 31_536_000;

#[test]
fn a_pool_survives_centuries() {
    // Test networks jump in time. The whole supply is lent at the highest rate; the indexes reach
    // their ceiling, and operations still succeed.
    let mut network = Network::new();
    let uni = TokenInfo::of("UNI");
    let wbtc = TokenInfo::of("WBTC");
    network.deposit(WHALE, uni, uni.worth(1_000)).unwrap();
    network.deposit(ALICE, wbtc, wbtc.worth(100_000)).unwrap();
    network.borrow(ALICE, uni, uni.worth(1_000)).unwrap();
    let mut last = U256::ZERO;
    for _ in 0..40 {
        network.wait(5 * YEAR);
        network
            .send(OWNER, POOL, LendingPool::refreshCall { user: ALICE })
            .unwrap();
        let call = LendingPool::setParametersCall {
            asset: uni.address,
            parameters: uni.parameters(),
        };
        network.send(OWNER, POOL, call).unwrap();
        let view = network.look(LENS, LendingLens::getPoolCall { asset: uni.address });
        assert!(view.liquidityIndex >= last);
        assert!(view.cash + view.totalDebt + view.deficit >= view.totalSupplied + view.treasury);
        last = view.liquidityIndex;
    }
    let state = network.reserve(uni.address);
    assert_eq!(state.borrowIndexes, [U256::from(u128::MAX); 5]);
    network.look(LENS, LendingLens::getPoolsCall {});
    network.look(LENS, LendingLens::getAccountCall { user: ALICE });

    network.deposit(BOB, uni, uni.worth(1_000)).unwrap();
    network.deposit(ALICE, wbtc, wbtc.worth(1_000)).unwrap();
    let owed = network.look(LENS, LendingLens::getAccountCall { user: ALICE });
    let owed = owed
        .positions
        .iter()
        .find(|position| position.asset == uni.address)
        .unwrap()
        .debt;
    network.mint(uni.address, ALICE, owed);
    network
        .repay(ALICE, uni, U256::from(u128::MAX) / U256::from(2))
        .unwrap();
}

#[test]
fn compounding_is_capped_and_never_wraps() {
    let mut bench = math();
    let mut rpow = |base: U256, exponent: u64| {
        bench.look(
            MATH,
            MathHarness::rpowCall {
                base,
                exponent: U256::from(exponent),
            },
        )
    };
    let most = U256::from(u128::MAX);
    assert_eq!(rpow(ray() * U256::from(2), 38), ray() << 38);
    assert_eq!(rpow(ray() * U256::from(2), 39), most);
    assert_eq!(rpow(ray() * U256::from(2), u64::MAX), most);
    assert_eq!(rpow(most, 2), most);
    assert_eq!(rpow(most, 1), most);
    assert_eq!(rpow(most, 0), ray());
    assert_eq!(rpow(ray(), u64::MAX), ray());
    assert_eq!(rpow(ray() + U256::from(1), 3), ray() + U256::from(3));
}

#[test]
fn a_small_remaining_supply_cannot_lock_an_asset() {
    // A few units of supply collect the interest of a large debt: the index would overflow, and
    // stops instead.
    let mut network = Network::new();
    let uni = TokenInfo::of("UNI");
    let wbtc = TokenInfo::of("WBTC");
    network.deposit(WHALE, uni, uni.worth(1_000_000)).unwrap();
    network
        .deposit(ALICE, wbtc, wbtc.worth(10_000_000))
        .unwrap();
    network.borrow(ALICE, uni, uni.worth(1_000_000)).unwrap();

    network.wait(YEAR);
    network.repay(ALICE, uni, U256::MAX).unwrap();

    let supplied = network.balance_of(uni.p_token(), WHALE);
    network
        .withdraw(WHALE, uni, supplied - U256::from(40))
        .unwrap();

    // The remaining cash is the treasury's; Alice borrows it.
    let cash = network.reserve(uni.address).cash;
    network.borrow(ALICE, uni, cash).unwrap();

    for _ in 0..4 {
        network.wait(YEAR);
        let call = LendingPool::setParametersCall {
            asset: uni.address,
            parameters: uni.parameters(),
        };
        network.send(OWNER, POOL, call).unwrap();
    }

    let state = network.reserve(uni.address);
    assert_eq!(state.liquidityIndex, U256::from(u128::MAX));

    let unit = U256::from(u128::MAX) / ray() + U256::from(1);
    network.deposit(BOB, uni, uni.worth(1_000)).unwrap();

    let claim = network.balance_of(uni.p_token(), BOB);
    assert!(claim <= uni.worth(1_000) && uni.worth(1_000) - claim <= unit);

    // A deposit of fewer than ten thousand of these units could lose more than a ten-thousandth.
    let refused = network
        .deposit(BOB, uni, (unit - U256::from(1)) * U256::from(5_000))
        .unwrap_err();
    assert_eq!(refused, refusal(LendingPoolErrors::AmountTooSmall {}));

    network.deposit(BOB, uni, unit * U256::from(5_000)).unwrap();
    network.withdraw(BOB, uni, U256::MAX).unwrap();
    network.repay(ALICE, uni, uni.worth(1_000)).unwrap();
}

#[test]
fn debts_of_any_size_can_be_settled() {
    // The maximum that storage can hold, in every band: the products of interest exceed 256 bits.
    let mut network = Network::with_harness();
    let uni = TokenInfo::of("UNI");

    for (index, score) in [300_u64, 580, 670, 740, 800].into_iter().enumerate() {
        let user = Address::with_last_byte(index as u8 + 1);
        let force_score = PoolHarness::forceScoreCall {
            user,
            score: U256::from(score),
        };
        network.send(OWNER, POOL, force_score).unwrap();
        network
            .send(OWNER, POOL, LendingPool::refreshCall { user })
            .unwrap();

        let call = PoolHarness::forcePositionCall {
            user,
            asset: uni.address,
            supplied: 1,
            owed: u128::MAX,
        };
        network.send(OWNER, POOL, call).unwrap();
    }

    for _ in 0..3 {
        network.wait(50 * YEAR);
        let call = LendingPool::setParametersCall {
            asset: uni.address,
            parameters: uni.parameters(),
        };
        network.send(OWNER, POOL, call).unwrap();
    }

    let view = network.look(LENS, LendingLens::getPoolCall { asset: uni.address });
    assert_eq!(view.liquidityIndex, U256::from(u128::MAX));
    assert_eq!(
        view.treasury,
        U256::from(u128::MAX),
        "income beyond the treasury's maximum stays in the pool"
    );
}

#[test]
fn interest_without_suppliers_stays_in_the_pool() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    let weth = TokenInfo::of("WETH");
    network.deposit(WHALE, usdc, usdc.worth(100_000)).unwrap();
    network.deposit(ALICE, weth, weth.worth(1_000_000)).unwrap();
    network.borrow(ALICE, usdc, usdc.worth(100_000)).unwrap();
    network.wait(YEAR);
    network.repay(ALICE, usdc, U256::MAX).unwrap();
    network.withdraw(WHALE, usdc, U256::MAX).unwrap();
    let asset = usdc.address;
    let cash = network.reserve(asset).cash;
    network.borrow(ALICE, usdc, cash).unwrap();
    let before = network.look(LENS, LendingLens::getPoolCall { asset });
    network.wait(YEAR);
    let after = network.look(LENS, LendingLens::getPoolCall { asset });
    assert_eq!(
        (after.totalSupplied, after.supplyRate),
        (U256::ZERO, U256::ZERO)
    );
    assert_eq!(after.liquidityIndex, before.liquidityIndex);
    let interest = after.totalDebt - before.totalDebt;
    assert_eq!(
        after.treasury - before.treasury,
        interest.div_ceil(U256::from(10))
    );
}

#[test]
fn the_frequency_of_settlement_hardly_affects_interest() {
    let usdc = TokenInfo::of("USDC");
    let weth = TokenInfo::of("WETH");
    let mut debts = [1_u64, 365].map(|settlements| {
        let mut network = Network::funded();
        network.deposit(ALICE, weth, weth.worth(1_000_000)).unwrap();
        network.borrow(ALICE, usdc, usdc.worth(500_000)).unwrap();
        for _ in 0..settlements {
            network.warp(YEAR / settlements);
            let call = LendingPool::setParametersCall {
                asset: usdc.address,
                parameters: usdc.parameters(),
            };
            network.send(OWNER, POOL, call).unwrap();
        }
        network
            .look(
                LENS,
                LendingLens::getPoolCall {
                    asset: usdc.address,
                },
            )
            .totalDebt
    });
    // The rate itself depends on the debt; over a year that makes less than a thousandth.
    debts.sort();
    assert!(
        debts[1] - debts[0] < debts[0] / U256::from(1_000),
        "{debts:?}"
    );
}

#[test]
fn the_largest_accounts_fit_a_transaction() {
    // Two users with positions in each of 64 assets, one of whom owes most of them, and a year
    // without settled interest. A transfer between them opens both accounts, as does the most
    // expensive liquidation. EIP-7825 allows 2^24 gas.
    let mut network = Network::new();
    let assets: Vec<(Address, Address)> = (12..64).map(|index| list(&mut network, index)).collect();

    for token in TOKENS {
        for user in [ALICE, BOB] {
            network.deposit(user, token, token.worth(1_000)).unwrap();
        }
    }

    for &(asset, _) in &assets {
        let amount = U256::from(1_000_000_000);
        for user in [WHALE, ALICE, BOB] {
            network
                .send(user, POOL, LendingPool::depositCall { asset, amount })
                .unwrap();
        }

        let amount = U256::from(100_000_000);
        network
            .send(ALICE, POOL, LendingPool::borrowCall { asset, amount })
            .unwrap();
    }

    network.warp(YEAR);
    network.renew_prices();
    for &(token, _) in &assets {
        let price = U256::from(100_000_000);
        network
            .send(OWNER, ORACLE, PriceOracle::setPriceCall { token, price })
            .unwrap();
    }

    let call = Token::transferCall {
        to: BOB,
        value: U256::from(1_000),
    };
    let receipt = network.send(ALICE, assets[0].1, call).unwrap();
    assert!(receipt.gas < 1 << 24, "{} gas", receipt.gas);
}

/// Adds a token worth a dollar to the pool, with plenty of it for every user. Returns the asset and
/// its receipt token.
fn list(network: &mut Network, index: u8) -> (Address, Address) {
    let [asset, p_token] = [0xa1, 0xa2].map(|kind| {
        let mut bytes = [kind; 20];
        bytes[19] = index;
        Address::new(bytes)
    });

    let arguments = (
        format!("Token {index}"),
        format!("T{index}"),
        U256::from(6),
        OWNER,
    )
        .abi_encode_params();
    network.deploy(asset, OWNER, "Token", &arguments);
    network.deploy(p_token, OWNER, "PToken", &(POOL, asset).abi_encode_params());

    let price = U256::from(100_000_000);
    network
        .send(
            OWNER,
            ORACLE,
            PriceOracle::setPriceCall {
                token: asset,
                price,
            },
        )
        .unwrap();

    let parameters = TokenInfo::of("UNI").parameters();
    let call = LendingPool::addAssetCall {
        asset,
        pToken: p_token,
        parameters,
        supplyCapTokens: 0,
        borrowCapTokens: 0,
    };
    network.send(OWNER, POOL, call).unwrap();

    for user in [WHALE, ALICE, BOB] {
        let amount = U256::from(1_000_000_000_000_u64);
        network.mint(asset, user, amount);
        network.approve(user, asset, POOL, U256::MAX);
    }

    (asset, p_token)
}
