//! REST matches the contracts' views of the same block.

use alloy::{
    primitives::{Address, U256},
    signers::local::PrivateKeySigner,
};
use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::{
    LendingLens, LendingPool, LimitsView, LiquidationSide, PoolView, PriceOracle, Token,
};
use tetrad_lending::lending::yearly_percent;
use tetrad_stdx::decimal::{hundredths, with_point};

use crate::{
    contracts::random::Random,
    support::{
        TestNode,
        chain::{ORACLE, token, units},
        node,
    },
};

fn usd(amount: U256) -> Value {
    with_point(amount, 8).into()
}

fn number(value: U256) -> Value {
    value.to::<u64>().into()
}

fn time(seconds: U256) -> Value {
    if seconds.is_zero() {
        Value::Null
    } else {
        (seconds.to::<u64>() * 1_000).into()
    }
}

fn health(bps: U256) -> Value {
    if bps == U256::MAX {
        Value::Null
    } else {
        with_point(bps, 4).into()
    }
}

fn percent(bps: U256) -> Value {
    hundredths(bps.to::<u64>().into()).into()
}

/// Utilisation as per cent, from the ray by way of long division.
fn share(ray: U256) -> Value {
    let whole = U256::from(10).pow(U256::from(23));
    let (quotient, rest) = ray.div_rem(whole);
    let up = u64::from(rest * U256::from(2) >= whole);
    hundredths(i128::from(quotient.to::<u64>() + up)).into()
}

/// A cap in units of the asset, of which zero is none.
fn cap_or_null(cap: U256, decimals: u8) -> Value {
    if cap.is_zero() {
        Value::Null
    } else {
        with_point(cap, decimals).into()
    }
}

/// `/api/pools/<asset>` as expected from the view.
fn details(view: &PoolView, limits: &LimitsView, number: u64, time: u64) -> Value {
    let whole = |amount| Value::from(with_point(amount, view.decimals));
    let bps = |bps: u16| percent(U256::from(bps));
    let parameters = &view.parameters;

    json!({
        "assetAddress": view.asset.to_checksum(None),
        "pTokenAddress": view.pToken.to_checksum(None),
        "symbol": view.symbol,
        "decimals": view.decimals,
        "totalSupplied": whole(view.totalSupplied),
        "supplyApy": yearly_percent(view.supplyRate),
        "borrowApy": yearly_percent(view.borrowRates[0]),
        "blockNumber": number,
        "timestamp": time * 1_000,
        "paused": view.paused,
        "totalBorrowed": whole(view.totalDebt),
        "availableLiquidity": whole(view.cash),
        "treasury": whole(view.treasury),
        "deficit": whole(view.deficit),
        "utilisation": share(view.utilisation),
        "borrowApyByBand": view.borrowRates.map(yearly_percent),
        "liquidityIndex": with_point(view.liquidityIndex, 27),
        "supplyCap": cap_or_null(view.supplyCap, view.decimals),
        "borrowCap": cap_or_null(view.borrowCap, view.decimals),
        "leastLoan": if limits.leastLoanUsd.is_zero() { Value::Null } else { usd(limits.leastLoanUsd) },
        "price": usd(view.price),
        "priceFresh": view.priceFresh,
        "priceHalted": limits.priceHalted,
        "parameters": {
            "baseRate": bps(parameters.baseRateBps),
            "slope1": bps(parameters.slope1Bps),
            "slope2": bps(parameters.slope2Bps),
            "kink": bps(parameters.kinkBps),
            "reserveFactor": bps(parameters.reserveFactorBps),
            "minLoanToValue": bps(parameters.minLtvBps),
            "maxLoanToValue": bps(parameters.maxLtvBps),
            "liquidationThreshold": bps(parameters.liquidationThresholdBps),
            "liquidationBonus": bps(parameters.liquidationBonusBps),
        },
    })
}

/// Compares everything that REST says about the pools and a user with the views of the newest
/// block.
pub(crate) async fn assert_rest_matches_the_views(node: &TestNode, user: Address) {
    let lens = node.config().network.contracts.lending_lens;
    let block = node.chain().head().block.clone();
    let height = block.number();

    let pools = node
        .view_at(lens, LendingLens::getPoolsCall {}, height)
        .await;
    let listed = node.get_json("/api/pools").await;
    for (position, view) in pools.iter().enumerate() {
        let limits = node
            .view_at(
                lens,
                LendingLens::getLimitsCall { asset: view.asset },
                height,
            )
            .await;

        let expected = details(view, &limits, height, block.header.timestamp);

        let path = format!(
            "/api/pools/{}",
            if position % 2 == 0 {
                view.symbol.clone()
            } else {
                view.asset.to_string()
            }
        );
        assert_eq!(node.get_json(&path).await, expected, "{path}");

        for (name, value) in listed[position].as_object().expect("an object") {
            assert_eq!(*value, expected[name], "{name} of {}", view.symbol);
        }
    }

    let account = node
        .view_at(lens, LendingLens::getAccountCall { user }, height)
        .await;
    let collateral = node
        .view_at(lens, LendingLens::getCollateralCall { user }, height)
        .await;

    let mut expected = json!({
        "address": user.to_checksum(None),
        "creditScore": number(account.score),
        "borrowingPower": usd(account.borrowingPowerUsd),
        "amountBorrowed": usd(account.debtUsd),
        "availableToBorrow": usd(account.availableUsd),
    });
    assert_eq!(node.get_json(&format!("/api/user/{user}")).await, expected);

    let positions = account.positions.iter().map(|view| {
        let side = match view.liquidationSide {
            LiquidationSide::Below => "below".into(),
            LiquidationSide::Above => "above".into(),
            _ => Value::Null,
        };
        json!({
            "assetAddress": view.asset.to_checksum(None),
            "symbol": view.symbol,
            "decimals": view.decimals,
            "supplied": with_point(view.supplied, view.decimals),
            "borrowed": with_point(view.debt, view.decimals),
            "suppliedUsd": usd(view.suppliedUsd),
            "borrowedUsd": usd(view.debtUsd),
            "price": usd(view.price),
            "priceFresh": view.priceFresh,
            "collateral": collateral.contains(&view.asset),
            "supplyApy": yearly_percent(view.supplyRate),
            "borrowApy": yearly_percent(view.borrowRate),
            "loanToValue": percent(view.loanToValueBps),
            "liquidationThreshold": percent(view.liquidationThresholdBps),
            "liquidationPrice": if side.is_null() { Value::Null } else { usd(view.liquidationPrice) },
            "liquidationSide": side,
        })
    });

    let more = [
        ("band", number(account.band)),
        ("amountSupplied", usd(account.suppliedUsd)),
        ("healthFactor", health(account.healthFactorBps)),
        ("nextDueDate", time(account.dueAt)),
        ("positions", positions.collect()),
    ];
    more.into_iter()
        .for_each(|(name, value)| expected[name] = value);
    assert_eq!(
        node.get_json(&format!("/api/user/{user}/positions")).await,
        expected
    );

    let view = node
        .view_at(lens, LendingLens::getScoreCall { user }, height)
        .await;

    let expected = json!({
        "address": user.to_checksum(None),
        "creditScore": number(view.score),
        "band": number(view.band),
        "components": {
            "base": 300,
            "deposits": { "points": number(view.depositPoints), "seconds": number(view.depositSeconds) },
            "payments": { "points": number(view.paymentPoints), "onTime": number(view.onTimePayments) },
            "health": { "points": number(view.healthPoints) },
            "history": { "points": number(view.historyPoints), "seconds": number(view.healthySeconds) },
            "penalty": {
                "points": number(view.penaltyPoints), "initial": number(view.penalty), "since": time(view.penaltyAt),
            },
            "overdue": { "points": number(view.overduePoints) },
        },
        "healthFactor": health(view.healthFactorBps),
        "nextDueDate": time(view.dueAt),
        "late": view.late,
        "lastBorrowAt": time(view.lastBorrowAt),
        "lastPaymentAt": time(view.lastPaymentAt),
    });

    assert_eq!(
        node.get_json(&format!("/api/user/{user}/score")).await,
        expected
    );
    assert_eq!(
        node.block_number().await,
        height,
        "no block was sealed meanwhile"
    );
}

/// A random action of a user or the market, or a lapse of time. Many actions revert, which changes
/// nothing.
async fn act(node: &TestNode, user: &PrivateKeySigner, random: &mut Random) {
    let tokens = node.config().network.tokens.clone();
    let token = &tokens[random.below(12) as usize];
    let pool = node.config().network.contracts.lending_pool;
    let amount = units(token, token.development_balance) / U256::from(2 + random.below(50));
    let asset = token.address;

    match random.below(10) {
        0 | 1 => drop(
            node.send_anyway(user, pool, LendingPool::depositCall { asset, amount })
                .await,
        ),
        2 | 3 => drop(
            node.send_anyway(user, pool, LendingPool::borrowCall { asset, amount })
                .await,
        ),
        4 => drop(
            node.send_anyway(user, pool, LendingPool::repayCall { asset, amount })
                .await,
        ),
        5 => drop(
            node.send_anyway(user, pool, LendingPool::withdrawCall { asset, amount })
                .await,
        ),
        8 => {
            let enabled = random.below(2) == 0;
            let set_collateral = LendingPool::setCollateralCall { asset, enabled };
            drop(node.send_anyway(user, pool, set_collateral).await);
        }
        9 => {
            // A claim from another account, which is not collateral.
            let claim = Token::transferCall {
                to: user.address(),
                value: U256::from(1 + random.below(1_000_000)),
            };
            drop(
                node.send_anyway(&node.treasury(), token.receipt, claim)
                    .await,
            );
        }
        6 => {
            let (price, _) = node.oracle_price(token).await;
            let price = U256::from(price * (70 + random.below(60)) / 100);
            let set_price = PriceOracle::setPriceCall {
                token: asset,
                price,
            };
            assert!(
                node.send(&node.treasury(), ORACLE, set_price)
                    .await
                    .status()
            );
        }
        _ => {
            node.increase_time(random.below(20 * 86_400)).await;
            node.mine().await;
        }
    }
}

#[tokio::test]
async fn rest_matches_the_views_after_random_actions() {
    let node = node().await;
    let user = node.signer(2);
    node.approve_all(&user, node.config().network.contracts.lending_pool)
        .await;
    let mut random = Random::new(7);
    for _ in 0..60 {
        act(&node, &user, &mut random).await;
        assert_rest_matches_the_views(&node, user.address()).await;
    }
    let positions = node
        .get_json(&format!("/api/user/{}/positions", user.address()))
        .await;
    assert!(
        positions["positions"].as_array().expect("a list").len() > 2,
        "the actions opened positions: {positions}"
    );
    node.end().await;
}

#[tokio::test]
async fn a_revert_removes_a_loan_from_rest() {
    let node = node().await;
    let user = node.signer(1);
    let pool = node.config().network.contracts.lending_pool;
    node.approve_all(&user, pool).await;
    let usdc = token("USDC");
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    let before = node.get_json("/api/pools/usdc").await;
    let deposit = LendingPool::depositCall {
        asset: usdc.address,
        amount: units(&usdc, 1_000),
    };
    assert!(node.send(&user, pool, deposit).await.status());
    assert_rest_matches_the_views(&node, user.address()).await;
    assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, true);
    assert_eq!(node.get_json("/api/pools/usdc").await, before);
    assert_rest_matches_the_views(&node, user.address()).await;
    node.end().await;
}

#[tokio::test]
async fn an_unknown_pool_is_not_found() {
    let node = node().await;
    for asset in ["DOGE", "0x00000000000000000000000000000000000000aa", "0x12"] {
        assert_eq!(
            node.get(&format!("/api/pools/{asset}")).await.status(),
            404,
            "{asset}"
        );
        assert_eq!(
            node.get(&format!("/api/pools/{asset}/history"))
                .await
                .status(),
            404,
            "{asset}"
        );
    }
    assert_eq!(node.get("/api/pools/%ff").await.status(), 400);
    node.end().await;
}
