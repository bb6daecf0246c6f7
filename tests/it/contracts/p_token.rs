//! The receipt tokens: an ERC-20 whose balances are claims on the pool.

use alloy_primitives::{Address, U256};
use tetrad_contracts::contracts::bindings::{
    LendingLens, LendingPool, LendingPoolErrors, PToken, PTokenErrors, Token, TokenErrors,
};

use super::{
    bench::refusal,
    network::{ALICE, BOB, CAROL, LENS, Network, OWNER, POOL, WHALE},
    tokens::{TOKENS, TokenInfo},
};

fn transfer(
    network: &mut Network,
    token: TokenInfo,
    value: U256,
) -> Result<super::bench::Receipt, alloy_primitives::Bytes> {
    network.send(
        ALICE,
        token.p_token(),
        Token::transferCall { to: BOB, value },
    )
}

#[test]
fn every_receipt_token_is_named_after_its_asset() {
    let mut network = Network::new();
    for token in TOKENS {
        let p_token = token.p_token();
        assert_eq!(
            network.look(p_token, Token::nameCall {}),
            format!("Pool {}", token.name)
        );
        assert_eq!(
            network.look(p_token, Token::symbolCall {}),
            format!("p{}", token.symbol)
        );
        assert_eq!(
            network.look(p_token, Token::decimalsCall {}),
            token.decimals
        );
        assert_eq!(network.look(p_token, PToken::poolCall {}), POOL);
        assert_eq!(network.look(p_token, PToken::assetCall {}), token.address);
    }
}

#[test]
fn a_transfer_moves_the_claim() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    network.deposit(ALICE, usdc, U256::from(1_000)).unwrap();
    let receipt = transfer(&mut network, usdc, U256::from(300)).unwrap();
    let (from, to, value) = (ALICE, BOB, U256::from(300));
    assert_eq!(
        receipt.event::<Token::Transfer>(),
        Token::Transfer { from, to, value }
    );
    let asset = usdc.address;
    let event = LendingPool::SupplyTransferred {
        asset,
        from,
        to,
        amount: value,
        scaledAmount: value,
    };
    assert_eq!(receipt.event::<LendingPool::SupplyTransferred>(), event);
    assert_eq!(network.balance_of(usdc.p_token(), ALICE), U256::from(700));
    assert_eq!(network.balance_of(usdc.p_token(), BOB), U256::from(300));
    network.withdraw(BOB, usdc, U256::MAX).unwrap();
}

#[test]
fn an_allowance_is_spent() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    network.deposit(ALICE, usdc, U256::from(1_000)).unwrap();
    let value = U256::from(10);
    let call = Token::transferFromCall {
        from: ALICE,
        to: CAROL,
        value,
    };
    let refused = network.send(BOB, usdc.p_token(), call.clone()).unwrap_err();
    let error = TokenErrors::ERC20InsufficientAllowance {
        spender: BOB,
        allowance: U256::ZERO,
        needed: value,
    };
    assert_eq!(refused, refusal(error));
    network.approve(ALICE, usdc.p_token(), BOB, value);
    network.send(BOB, usdc.p_token(), call).unwrap();
    assert_eq!(network.balance_of(usdc.p_token(), CAROL), value);
    let left = network.look(
        usdc.p_token(),
        Token::allowanceCall {
            owner: ALICE,
            spender: BOB,
        },
    );
    assert_eq!(left, U256::ZERO);
}

#[test]
fn transfers_above_the_balance_revert_with_the_standards_error() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    network.deposit(ALICE, usdc, U256::from(1_000)).unwrap();
    let error = TokenErrors::ERC20InsufficientBalance {
        sender: ALICE,
        balance: U256::from(1_000),
        needed: U256::from(1_001),
    };
    assert_eq!(
        transfer(&mut network, usdc, U256::from(1_001)).unwrap_err(),
        refusal(error)
    );
    let call = Token::transferCall {
        to: Address::ZERO,
        value: U256::from(1),
    };
    let refused = network.send(ALICE, usdc.p_token(), call).unwrap_err();
    assert_eq!(
        refused,
        refusal(TokenErrors::ERC20InvalidReceiver {
            receiver: Address::ZERO
        })
    );
}

#[test]
fn a_transfer_of_everything_leaves_no_dust() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    let weth = TokenInfo::of("WETH");
    network.deposit(ALICE, usdc, usdc.worth(1_000)).unwrap();
    network.deposit(CAROL, weth, weth.worth(10_000)).unwrap();
    network.borrow(CAROL, usdc, usdc.worth(900)).unwrap();
    network.wait(86_400);
    let balance = network.balance_of(usdc.p_token(), ALICE);
    assert!(balance > usdc.worth(1_000), "the balance grows by itself");
    transfer(&mut network, usdc, balance).unwrap();
    assert_eq!(network.balance_of(usdc.p_token(), BOB), balance);
    let account = network
        .look(POOL, LendingPool::getAccountCall { user: ALICE })
        .account;
    assert!(account.holdings.is_empty());
}

#[test]
fn a_borrower_cannot_give_the_collateral_away() {
    let mut network = Network::funded();
    let usdc = TokenInfo::of("USDC");
    let weth = TokenInfo::of("WETH");
    network.deposit(ALICE, usdc, usdc.worth(10_000)).unwrap();
    network.borrow(ALICE, weth, weth.worth(3_500)).unwrap();
    let refused = transfer(&mut network, usdc, usdc.worth(6_000)).unwrap_err();
    assert_eq!(
        refused[..4],
        <LendingPoolErrors::BorrowingPowerExceeded as alloy_sol_types::SolError>::SELECTOR
    );
    transfer(&mut network, usdc, usdc.worth(4_000)).unwrap();
}

#[test]
fn transfers_of_nothing_or_to_the_sender_change_nothing() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    network.deposit(ALICE, usdc, U256::from(1_000)).unwrap();
    let receipt = transfer(&mut network, usdc, U256::ZERO).unwrap();
    assert_eq!(
        receipt.event::<Token::Transfer>().value,
        U256::ZERO,
        "ERC-20 requires the event even so"
    );
    let call = Token::transferCall {
        to: ALICE,
        value: U256::from(400),
    };
    network.send(ALICE, usdc.p_token(), call).unwrap();
    assert_eq!(network.balance_of(usdc.p_token(), ALICE), U256::from(1_000));
    assert_eq!(
        network.look(usdc.p_token(), Token::totalSupplyCall {}),
        U256::from(1_000)
    );
}

#[test]
fn a_borrower_who_sends_everything_to_themselves_keeps_the_collateral() {
    let mut network = Network::funded();
    let usdc = TokenInfo::of("USDC");
    let usdt = TokenInfo::of("USDT");
    network.deposit(ALICE, usdc, usdc.worth(10_000)).unwrap();
    network.borrow(ALICE, usdt, usdt.worth(1_000)).unwrap();

    let look =
        |network: &mut Network| network.look(LENS, LendingLens::getAccountCall { user: ALICE });
    let before = look(&mut network);
    let balance = network.balance_of(usdc.p_token(), ALICE);

    let receipt = network.give(ALICE, ALICE, usdc, balance).unwrap();
    assert_eq!(
        receipt.event::<Token::Transfer>(),
        Token::Transfer {
            from: ALICE,
            to: ALICE,
            value: balance
        }
    );
    assert!(receipt.logs.iter().all(|log| log.address != POOL));
    assert_eq!(look(&mut network), before);

    let needed = balance + U256::from(1);
    let refused = network.give(ALICE, ALICE, usdc, needed).unwrap_err();
    assert_eq!(
        refused,
        refusal(TokenErrors::ERC20InsufficientBalance {
            sender: ALICE,
            balance,
            needed
        })
    );
}

#[test]
fn only_the_receipt_token_moves_claims_and_only_the_pool_reports_them() {
    let mut network = Network::funded();
    let usdc = TokenInfo::of("USDC");
    let weth = TokenInfo::of("WETH");
    let (from, to, amount) = (WHALE, ALICE, U256::from(1));
    for caller in [ALICE, WHALE, OWNER, weth.p_token()] {
        let call = LendingPool::transferSupplyCall {
            asset: usdc.address,
            from,
            to,
            amount,
        };
        let refused = network.send(caller, POOL, call).unwrap_err();
        assert_eq!(refused, refusal(LendingPoolErrors::NotPToken { caller }));
    }
    let refused = network
        .send(
            ALICE,
            usdc.p_token(),
            PToken::recordTransferCall { from, to, amount },
        )
        .unwrap_err();
    assert_eq!(refused, refusal(PTokenErrors::NotPool { caller: ALICE }));
}

#[test]
fn a_transfer_of_an_unknown_asset_is_refused() {
    let mut network = Network::new();
    let call = LendingPool::transferSupplyCall {
        asset: ALICE,
        from: BOB,
        to: CAROL,
        amount: U256::from(1),
    };
    let refused = network.send(ALICE, POOL, call).unwrap_err();
    assert_eq!(
        refused,
        refusal(LendingPoolErrors::UnsupportedAsset { asset: ALICE })
    );
}
