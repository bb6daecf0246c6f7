//! Supply to the pool and withdrawal.

use alloy_primitives::{Address, U256};
use tetrad_contracts::contracts::bindings::{Account, LendingPool, LendingPoolErrors, Token};

use super::{
    bench::refusal,
    network::{ALICE, BOB, Network, OWNER, POOL, STRANGER, WHALE},
    tokens::TokenInfo,
};

#[test]
fn a_deposit_becomes_a_claim() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    let before = network.balance_of(usdc.address, ALICE);
    let amount = usdc.worth(1_000);

    let receipt = network.deposit(ALICE, usdc, amount).unwrap();
    let event = LendingPool::Deposit {
        asset: usdc.address,
        user: ALICE,
        amount,
    };
    assert_eq!(receipt.event::<LendingPool::Deposit>(), event);

    let minted = Token::Transfer {
        from: Address::ZERO,
        to: ALICE,
        value: amount,
    };
    assert!(
        receipt.events::<Token::Transfer>().contains(&minted),
        "a wallet must see the transfer of the receipt token"
    );

    assert_eq!(network.balance_of(usdc.address, ALICE), before - amount);
    assert_eq!(network.balance_of(usdc.p_token(), ALICE), amount);
    assert_eq!(
        network.look(
            POOL,
            LendingPool::totalSuppliedCall {
                asset: usdc.address
            }
        ),
        amount
    );

    assert!(
        receipt.output.is_empty(),
        "the published function returns nothing"
    );
}

#[test]
fn a_withdrawal_is_limited_to_the_position() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    let before = network.balance_of(usdc.address, ALICE);
    network.deposit(ALICE, usdc, U256::from(1_000)).unwrap();
    let receipt = network.withdraw(ALICE, usdc, U256::from(400)).unwrap();
    let amount = U256::from(400);
    let event = LendingPool::Withdraw {
        asset: usdc.address,
        user: ALICE,
        amount,
    };
    assert_eq!(receipt.event::<LendingPool::Withdraw>(), event);
    let burned = Token::Transfer {
        from: ALICE,
        to: Address::ZERO,
        value: amount,
    };
    assert!(receipt.events::<Token::Transfer>().contains(&burned));

    let receipt = network.withdraw(ALICE, usdc, U256::MAX).unwrap();
    assert_eq!(
        receipt.event::<LendingPool::Withdraw>().amount,
        U256::from(600)
    );
    assert_eq!(network.balance_of(usdc.address, ALICE), before);
    let (account, _) = account(&mut network, ALICE);
    assert!(
        account.holdings.is_empty(),
        "an emptied position is forgotten"
    );
    assert_eq!((account.credit.borrowed, account.credit.collateral), (0, 0));
}

fn account(network: &mut Network, user: Address) -> (Account, U256) {
    let answer = network.look(POOL, LendingPool::getAccountCall { user });
    (answer.account, answer.score)
}

#[test]
fn an_amount_of_zero_is_refused() {
    let mut network = Network::funded();
    let usdc = TokenInfo::of("USDC");
    let zero = refusal(LendingPoolErrors::ZeroAmount {});
    assert_eq!(network.deposit(ALICE, usdc, U256::ZERO).unwrap_err(), zero);
    assert_eq!(network.withdraw(ALICE, usdc, U256::ZERO).unwrap_err(), zero);
    assert_eq!(network.borrow(ALICE, usdc, U256::ZERO).unwrap_err(), zero);
    assert_eq!(network.repay(ALICE, usdc, U256::ZERO).unwrap_err(), zero);
}

#[test]
fn an_unknown_asset_is_refused() {
    let mut network = Network::new();
    let asset = STRANGER;
    let amount = U256::from(1);
    let unsupported = refusal(LendingPoolErrors::UnsupportedAsset { asset });
    let refused = [
        network.send(ALICE, POOL, LendingPool::depositCall { asset, amount }),
        network.send(ALICE, POOL, LendingPool::withdrawCall { asset, amount }),
        network.send(ALICE, POOL, LendingPool::borrowCall { asset, amount }),
        network.send(ALICE, POOL, LendingPool::repayCall { asset, amount }),
    ];
    for result in refused {
        assert_eq!(result.unwrap_err(), unsupported);
    }
    let view = network
        .try_look(ALICE, POOL, LendingPool::getReserveCall { asset })
        .unwrap_err();
    assert_eq!(view, unsupported);
    assert_eq!(
        network
            .try_look(ALICE, POOL, LendingPool::totalSuppliedCall { asset })
            .unwrap_err(),
        unsupported
    );
    let call = LendingPool::suppliedByCall { asset, user: ALICE };
    assert_eq!(
        network.try_look(ALICE, POOL, call).unwrap_err(),
        unsupported
    );
}

#[test]
fn a_withdrawal_requires_a_supply() {
    let mut network = Network::funded();
    let usdc = TokenInfo::of("USDC");
    let refused = network.withdraw(ALICE, usdc, U256::MAX).unwrap_err();
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::NothingSupplied {
            asset: usdc.address,
            user: ALICE
        })
    );
}

#[test]
fn a_withdrawal_is_whole_or_not_at_all() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    let weth = TokenInfo::of("WETH");
    network.deposit(WHALE, usdc, usdc.worth(1_000)).unwrap();
    network.deposit(ALICE, weth, weth.worth(10_000)).unwrap();
    network.borrow(ALICE, usdc, usdc.worth(400)).unwrap();
    let needed = usdc.worth(600) + U256::from(1);
    let available = usdc.worth(600);
    let short = refusal(LendingPoolErrors::InsufficientLiquidity { needed, available });
    assert_eq!(network.withdraw(WHALE, usdc, needed).unwrap_err(), short);
    network.withdraw(WHALE, usdc, available).unwrap();
}

#[test]
fn a_cap_limits_supply_and_lending() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    let weth = TokenInfo::of("WETH");
    // In whole tokens, each of which has a million units.
    let supply_cap = 1_000;
    let borrow_cap = 1;
    let call = LendingPool::setCapsCall {
        asset: usdc.address,
        supplyCapTokens: supply_cap,
        borrowCapTokens: borrow_cap,
    };
    let receipt = network.send(OWNER, POOL, call).unwrap();
    let supplyCapTokens = U256::from(supply_cap);
    let borrowCapTokens = U256::from(borrow_cap);
    let event = LendingPool::CapsChanged {
        asset: usdc.address,
        supplyCapTokens,
        borrowCapTokens,
    };
    assert_eq!(receipt.event::<LendingPool::CapsChanged>(), event);

    network.deposit(ALICE, weth, weth.worth(10_000)).unwrap();
    network
        .deposit(WHALE, usdc, U256::from(999_999_999))
        .unwrap();
    let supplied = U256::from(1_000_000_001);
    let cap = U256::from(1_000_000_000);
    let refused = network.deposit(WHALE, usdc, U256::from(2)).unwrap_err();
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::SupplyCapExceeded { supplied, cap })
    );
    network.deposit(WHALE, usdc, U256::from(1)).unwrap();

    let borrowed = U256::from(1_000_001);
    let cap = U256::from(1_000_000);
    let refused = network.borrow(ALICE, usdc, borrowed).unwrap_err();
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::BorrowCapExceeded { borrowed, cap })
    );
    network.borrow(ALICE, usdc, cap).unwrap();
}

#[test]
fn a_deposit_too_small_for_a_share_is_refused() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    grow_index(&mut network, usdc);
    let refused = network.deposit(BOB, usdc, U256::from(1)).unwrap_err();
    assert_eq!(refused, refusal(LendingPoolErrors::AmountTooSmall {}));
    network.deposit(BOB, usdc, U256::from(2)).unwrap();
}

/// Gives suppliers income, so that one unit of the asset is worth less than one of the index.
fn grow_index(network: &mut Network, token: TokenInfo) {
    let weth = TokenInfo::of("WETH");
    network.deposit(WHALE, token, token.worth(1_000)).unwrap();
    network.deposit(ALICE, weth, weth.worth(10_000)).unwrap();
    network.borrow(ALICE, token, token.worth(900)).unwrap();
    network.wait(30 * 86_400);
}

#[test]
fn depositing_and_withdrawing_at_once_earns_nothing() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    grow_index(&mut network, usdc);
    for amount in [2_u64, 3, 10, 999, 1_000_001, 123_456_789] {
        let before = network.balance_of(usdc.address, BOB);
        network.deposit(BOB, usdc, U256::from(amount)).unwrap();
        network.withdraw(BOB, usdc, U256::MAX).unwrap();
        let after = network.balance_of(usdc.address, BOB);
        assert!(
            after <= before && before - after <= U256::from(2),
            "{amount}: {before} -> {after}"
        );
    }
}

#[test]
fn interest_reaches_the_suppliers_and_the_treasury() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    grow_index(&mut network, usdc);
    let claim = network.balance_of(usdc.p_token(), WHALE);
    let earned = claim - usdc.worth(1_000);
    let state = network.reserve(usdc.address);
    // 90 % of the supply lent at 5 % a year for 30 days, of which the treasury keeps a tenth.
    assert!(earned > usdc.worth(3) && earned < usdc.worth(4), "{earned}");
    assert!(state.treasury >= earned / U256::from(9));
    assert!(state.treasury <= earned / U256::from(9) + U256::from(1));

    network.repay(ALICE, usdc, U256::MAX).unwrap();
    let paid = network
        .withdraw(WHALE, usdc, U256::MAX)
        .unwrap()
        .event::<LendingPool::Withdraw>()
        .amount;
    assert_eq!(
        paid, claim,
        "a view promises what a transaction of the same block pays"
    );
}

#[test]
fn a_donation_changes_nothing() {
    let mut network = Network::funded();
    let usdc = TokenInfo::of("USDC");
    let before = network.reserve(usdc.address);
    let claim = network.balance_of(usdc.p_token(), WHALE);
    network
        .send(
            ALICE,
            usdc.address,
            Token::transferCall {
                to: POOL,
                value: usdc.worth(1_000_000),
            },
        )
        .unwrap();
    assert_eq!(network.reserve(usdc.address), before);
    assert_eq!(network.balance_of(usdc.p_token(), WHALE), claim);
}
