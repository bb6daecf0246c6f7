//! Misbehaving assets in the pool.

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::{SolCall, SolValue};
use tetrad_contracts::contracts::bindings::{LendingPool, LendingPoolErrors, PriceOracle, Token};

use super::{
    bench::{Receipt, refusal},
    harnesses::{
        RogueToken::{self, Manners},
        RogueTokenErrors,
    },
    network::{ALICE, BOB, Network, ORACLE, OWNER, POOL, WHALE},
    rogue::{self, ROGUE, behave},
    tokens::TokenInfo,
};

const P_ROGUE: Address = Address::repeat_byte(0x9a);
const DOLLAR: u64 = 100_000_000;

/// A pool with a token worth a dollar, which behaves until instructed otherwise. The whale supplied
/// a million of it, Alice ten thousand.
fn with_rogue() -> Network {
    let mut network = Network::funded();
    rogue::deploy(&mut network);
    network.deploy(P_ROGUE, OWNER, "PToken", &(POOL, ROGUE).abi_encode_params());

    let set_price = PriceOracle::setPriceCall {
        token: ROGUE,
        price: U256::from(DOLLAR),
    };
    network.send(OWNER, ORACLE, set_price).unwrap();
    let add_asset = LendingPool::addAssetCall {
        asset: ROGUE,
        pToken: P_ROGUE,
        parameters: TokenInfo::of("USDC").parameters(),
        supplyCapTokens: 0,
        borrowCapTokens: 0,
    };
    network.send(OWNER, POOL, add_asset).unwrap();

    for (holder, dollars) in [(WHALE, 1_000_000_u64), (ALICE, 10_000), (BOB, 0)] {
        let amount = U256::from(dollars * 1_000_000);
        network.mint(ROGUE, holder, amount + amount);
        network.approve(holder, ROGUE, POOL, U256::MAX);
        if dollars > 0 {
            let deposit = LendingPool::depositCall {
                asset: ROGUE,
                amount,
            };
            network.send(holder, POOL, deposit).unwrap();
        }
    }
    network
}

fn deposit(amount: u64) -> LendingPool::depositCall {
    LendingPool::depositCall {
        asset: ROGUE,
        amount: U256::from(amount),
    }
}

fn every_operation(network: &mut Network) -> [Result<Receipt, Bytes>; 4] {
    let asset = ROGUE;
    let amount = U256::from(10_000);
    [
        network.send(ALICE, POOL, LendingPool::depositCall { asset, amount }),
        network.send(
            ALICE,
            POOL,
            LendingPool::borrowCall {
                asset,
                amount: amount + amount,
            },
        ),
        network.send(ALICE, POOL, LendingPool::repayCall { asset, amount }),
        network.send(ALICE, POOL, LendingPool::withdrawCall { asset, amount }),
    ]
}

#[test]
fn a_token_that_returns_nothing_works() {
    let mut network = with_rogue();
    behave(&mut network, Manners::ReturnsNothing);
    assert!(every_operation(&mut network).iter().all(Result::is_ok));
    assert_eq!(network.balance_of(ROGUE, POOL), network.reserve(ROGUE).cash);
}

#[test]
fn a_token_that_transfers_another_amount_is_rejected() {
    let expected = U256::from(10_000);
    for (manners, received) in [
        (Manners::TakesFee, 9_900),
        (Manners::Lies, 0),
        (Manners::Overpays, 10_001),
    ] {
        let mut network = with_rogue();
        network
            .send(
                ALICE,
                POOL,
                LendingPool::borrowCall {
                    asset: ROGUE,
                    amount: expected,
                },
            )
            .unwrap();

        behave(&mut network, manners);
        let before = network.reserve(ROGUE);
        let mismatch = refusal(LendingPoolErrors::TransferMismatch {
            expected,
            received: U256::from(received),
        });

        assert_eq!(
            network.send(ALICE, POOL, deposit(10_000)).unwrap_err(),
            mismatch
        );
        let repay = LendingPool::repayCall {
            asset: ROGUE,
            amount: U256::MAX,
        };
        assert_eq!(network.send(ALICE, POOL, repay).unwrap_err(), mismatch);
        assert_eq!(network.reserve(ROGUE), before);
    }
}

#[test]
fn a_failed_transfer_reverts_the_operation() {
    let mut network = with_rogue();
    network
        .send(
            ALICE,
            POOL,
            LendingPool::borrowCall {
                asset: ROGUE,
                amount: U256::from(50_000),
            },
        )
        .unwrap();
    let before = network.reserve(ROGUE);
    for (manners, error) in [
        (
            Manners::ReturnsFalse,
            refusal(LendingPoolErrors::SafeERC20FailedOperation { token: ROGUE }),
        ),
        (Manners::Reverts, refusal(RogueTokenErrors::Refused {})),
    ] {
        behave(&mut network, manners);
        for result in every_operation(&mut network) {
            assert_eq!(result.unwrap_err(), error);
        }
        assert_eq!(network.reserve(ROGUE), before);
    }
}

#[test]
fn callbacks_cannot_reenter_the_contract() {
    let asset = ROGUE;
    let amount = U256::from(1_000);
    let from = WHALE;
    let to = ALICE;
    let user = WHALE;
    let borrower = ALICE;
    let debtAsset = ROGUE;
    let collateralAsset = ROGUE;
    let inKind = false;

    let entrances: [Vec<u8>; 10] = [
        LendingPool::depositCall { asset, amount }.abi_encode(),
        LendingPool::withdrawCall { asset, amount }.abi_encode(),
        LendingPool::borrowCall { asset, amount }.abi_encode(),
        LendingPool::repayCall { asset, amount }.abi_encode(),
        LendingPool::liquidateCall {
            borrower,
            debtAsset,
            collateralAsset,
            amount,
            inKind,
        }
        .abi_encode(),
        LendingPool::refreshCall { user }.abi_encode(),
        LendingPool::setCollateralCall {
            asset,
            enabled: true,
        }
        .abi_encode(),
        LendingPool::writeOffCall { user }.abi_encode(),
        LendingPool::transferSupplyCall {
            asset,
            from,
            to,
            amount,
        }
        .abi_encode(),
        LendingPool::collectTreasuryCall { asset, amount, to }.abi_encode(),
    ];

    let guarded = refusal(LendingPoolErrors::ReentrancyGuardReentrantCall {});
    for data in entrances {
        let mut network = with_rogue();
        own_the_pool(&mut network);

        let call = RogueToken::callBackCall {
            target_: POOL,
            data_: data.into(),
        };
        network.send(OWNER, ROGUE, call).unwrap();

        network.send(ALICE, POOL, deposit(10_000)).unwrap();
        assert_eq!(network.look(ROGUE, RogueToken::callResultCall {}), guarded);

        let withdraw = LendingPool::withdrawCall { asset, amount };
        network.send(ALICE, POOL, withdraw).unwrap();
        assert_eq!(network.look(ROGUE, RogueToken::callResultCall {}), guarded);

        assert!(!network.look(ROGUE, RogueToken::callSucceededCall {}));
    }
}

/// Makes the token the pool's owner, so that only the guard can stop it.
fn own_the_pool(network: &mut Network) {
    network
        .send(
            OWNER,
            POOL,
            LendingPool::transferOwnershipCall { newOwner: ROGUE },
        )
        .unwrap();
    let accept = LendingPool::acceptOwnershipCall {}.abi_encode();
    network
        .send(
            OWNER,
            ROGUE,
            RogueToken::callBackCall {
                target_: POOL,
                data_: accept.into(),
            },
        )
        .unwrap();
    network
        .send(
            ALICE,
            ROGUE,
            Token::transferCall {
                to: BOB,
                value: U256::from(1),
            },
        )
        .unwrap();
    assert_eq!(network.look(POOL, LendingPool::ownerCall {}), ROGUE);
}

fn transfer_to(to: Address) -> Token::transferCall {
    Token::transferCall {
        to,
        value: U256::from(5_000),
    }
}

#[test]
fn a_receipt_token_cannot_be_transferred_during_a_withdrawal() {
    let mut network = with_rogue();

    // The token holds a claim itself and tries to transfer it while Alice withdraws.
    network.send(ALICE, P_ROGUE, transfer_to(ROGUE)).unwrap();
    let call_back = RogueToken::callBackCall {
        target_: P_ROGUE,
        data_: transfer_to(BOB).abi_encode().into(),
    };
    network.send(OWNER, ROGUE, call_back).unwrap();

    let withdraw = LendingPool::withdrawCall {
        asset: ROGUE,
        amount: U256::from(1_000),
    };
    network.send(ALICE, POOL, withdraw).unwrap();

    let result = network.look(ROGUE, RogueToken::callResultCall {});
    assert_eq!(
        result,
        refusal(LendingPoolErrors::ReentrancyGuardReentrantCall {})
    );
}

#[test]
fn views_are_consistent_during_a_callback() {
    // A contract that is called during an operation sees the final state: views are always
    // consistent.
    let mut network = with_rogue();
    let view = LendingPool::suppliedByCall {
        asset: ROGUE,
        user: ALICE,
    };
    let call = RogueToken::callBackCall {
        target_: POOL,
        data_: view.abi_encode().into(),
    };
    network.send(OWNER, ROGUE, call).unwrap();
    let withdraw = LendingPool::withdrawCall {
        asset: ROGUE,
        amount: U256::from(1_000),
    };
    network.send(ALICE, POOL, withdraw).unwrap();
    let seen = network.look(ROGUE, RogueToken::callResultCall {});
    assert_eq!(U256::from_be_slice(&seen), network.look(POOL, view));
}

/// A liquidation of Bob's debt in the rogue token.
fn liquidation(collateral: TokenInfo, amount: U256, in_kind: bool) -> LendingPool::liquidateCall {
    LendingPool::liquidateCall {
        borrower: BOB,
        debtAsset: ROGUE,
        collateralAsset: collateral.address,
        amount,
        inKind: in_kind,
    }
}

#[test]
fn a_liquidator_must_really_pay() {
    let mut network = with_rogue();
    let weth = TokenInfo::of("WETH");
    network.deposit(BOB, weth, weth.worth(10_000)).unwrap();

    network
        .send(
            BOB,
            POOL,
            LendingPool::borrowCall {
                asset: ROGUE,
                amount: U256::from(6_000_000_000_u64),
            },
        )
        .unwrap();

    network.set_price(weth, weth.price_usd_e8 * 2 / 3);

    let amount = U256::from(1_000_000);
    behave(&mut network, Manners::Lies);
    let mismatch = refusal(LendingPoolErrors::TransferMismatch {
        expected: amount,
        received: U256::ZERO,
    });
    for in_kind in [false, true] {
        assert_eq!(
            network
                .send(ALICE, POOL, liquidation(weth, amount, in_kind))
                .unwrap_err(),
            mismatch
        );
    }

    behave(&mut network, Manners::Good);
    network
        .send(ALICE, POOL, liquidation(weth, amount, false))
        .unwrap();
}
