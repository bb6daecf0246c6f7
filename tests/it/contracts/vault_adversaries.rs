//! Misbehaving tokens in the vault.

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::SolCall;
use tetrad_contracts::contracts::bindings::{PriceOracle, Token, Vault, VaultErrors};

use super::{
    bench::{Receipt, refusal},
    harnesses::{
        RogueToken::{self, Manners},
        RogueTokenErrors,
    },
    network::{ALICE, Network, ORACLE, OWNER, VAULT},
    rogue::{self, ROGUE, behave},
    tokens::TokenInfo,
};

const RESERVE: u64 = 1_000_000_000;

/// A vault that trades a token worth as much as USDC, which behaves until instructed otherwise.
fn with_rogue() -> Network {
    let mut network = Network::new();
    rogue::deploy(&mut network);

    for holder in [OWNER, ALICE] {
        network.mint(ROGUE, holder, U256::from(RESERVE));
        network.approve(holder, ROGUE, VAULT, U256::MAX);
    }

    let set_price = PriceOracle::setPriceCall {
        token: ROGUE,
        price: U256::from(100_000_000),
    };
    network.send(OWNER, ORACLE, set_price).unwrap();
    network
        .send(OWNER, VAULT, Vault::addTokenCall { token: ROGUE })
        .unwrap();
    let add_liquidity = Vault::addLiquidityCall {
        token: ROGUE,
        amount: U256::from(RESERVE),
    };
    network.send(OWNER, VAULT, add_liquidity).unwrap();

    network
}

fn swap(network: &mut Network, token_in: Address, token_out: Address) -> Result<Receipt, Bytes> {
    let call = Vault::swapExactTokensForTokensCall {
        _tokenIn: token_in,
        _tokenOut: token_out,
        _amountIn: U256::from(10_000),
        _minAmountOut: U256::ZERO,
    };
    network.send(ALICE, VAULT, call)
}

/// The vault's obligations in the rogue token, from reserve and fees, and its balance.
fn owed_and_held(network: &mut Network) -> (U256, U256) {
    let reserve = network.look(VAULT, Vault::reservesCall { token: ROGUE });
    let fees = network.look(VAULT, Vault::feesAccruedCall { token: ROGUE });
    (reserve + fees, network.balance_of(ROGUE, VAULT))
}

#[test]
fn a_token_that_returns_nothing_works() {
    let mut network = with_rogue();
    behave(&mut network, Manners::ReturnsNothing);
    let usdc = TokenInfo::of("USDC").address;
    swap(&mut network, ROGUE, usdc).unwrap();
    swap(&mut network, usdc, ROGUE).unwrap();
    let (owed, held) = owed_and_held(&mut network);
    assert_eq!(owed, held);
}

#[test]
fn a_token_that_transfers_another_amount_is_rejected() {
    let usdc = TokenInfo::of("USDC").address;
    let expected = U256::from(10_000);
    for (manners, received) in [
        (Manners::TakesFee, 9_900),
        (Manners::Lies, 0),
        (Manners::Overpays, 10_001),
    ] {
        let mut network = with_rogue();
        behave(&mut network, manners);
        let received = U256::from(received);
        let mismatch = refusal(VaultErrors::TransferMismatch { expected, received });
        assert_eq!(swap(&mut network, ROGUE, usdc).unwrap_err(), mismatch);
        let add = Vault::addLiquidityCall {
            token: ROGUE,
            amount: expected,
        };
        network.mint(ROGUE, OWNER, expected);
        assert_eq!(network.send(OWNER, VAULT, add).unwrap_err(), mismatch);
        let (owed, held) = owed_and_held(&mut network);
        assert_eq!(owed, held);
    }
}

#[test]
fn a_failed_transfer_reverts_the_operation() {
    let usdc = TokenInfo::of("USDC").address;
    let mut network = with_rogue();
    behave(&mut network, Manners::ReturnsFalse);
    let failed = refusal(VaultErrors::SafeERC20FailedOperation { token: ROGUE });
    assert_eq!(swap(&mut network, ROGUE, usdc).unwrap_err(), failed);
    assert_eq!(swap(&mut network, usdc, ROGUE).unwrap_err(), failed);
    behave(&mut network, Manners::Reverts);
    assert_eq!(
        swap(&mut network, ROGUE, usdc).unwrap_err(),
        refusal(RogueTokenErrors::Refused {})
    );
    assert_eq!(
        swap(&mut network, usdc, ROGUE).unwrap_err(),
        refusal(RogueTokenErrors::Refused {})
    );
}

#[test]
fn callbacks_cannot_reenter_the_contract() {
    let usdc = TokenInfo::of("USDC").address;
    let again = Vault::swapExactTokensForTokensCall {
        _tokenIn: usdc,
        _tokenOut: ROGUE,
        _amountIn: U256::from(1_000),
        _minAmountOut: U256::ZERO,
    };
    for (token_in, token_out) in [(ROGUE, usdc), (usdc, ROGUE)] {
        let mut network = with_rogue();
        let call = RogueToken::callBackCall {
            target_: VAULT,
            data_: again.abi_encode().into(),
        };
        network.send(OWNER, ROGUE, call).unwrap();
        swap(&mut network, token_in, token_out).unwrap();
        assert!(!network.look(ROGUE, RogueToken::callSucceededCall {}));
        let result = network.look(ROGUE, RogueToken::callResultCall {});
        assert_eq!(
            result,
            refusal(VaultErrors::ReentrancyGuardReentrantCall {})
        );
        let (owed, held) = owed_and_held(&mut network);
        assert_eq!(owed, held);
    }
}

#[test]
fn the_owners_functions_are_guarded_against_reentrancy() {
    let to = OWNER;
    let token = ROGUE;
    let amount = U256::from(1);

    let calls: [Vec<u8>; 3] = [
        Vault::addLiquidityCall { token, amount }.abi_encode(),
        Vault::removeLiquidityCall { token, amount, to }.abi_encode(),
        Vault::withdrawFeesCall { token, amount, to }.abi_encode(),
    ];

    for data in calls {
        let mut network = with_rogue();

        // The token owns the vault, so that only the guard can stop it.
        let transfer_ownership = Vault::transferOwnershipCall { newOwner: ROGUE };
        network.send(OWNER, VAULT, transfer_ownership).unwrap();
        let accept = Vault::acceptOwnershipCall {}.abi_encode();
        let call_back = RogueToken::callBackCall {
            target_: VAULT,
            data_: accept.into(),
        };
        network.send(OWNER, ROGUE, call_back).unwrap();
        let transfer = Token::transferCall {
            to: OWNER,
            value: amount,
        };
        network.send(ALICE, ROGUE, transfer).unwrap();

        let call_back = RogueToken::callBackCall {
            target_: VAULT,
            data_: data.into(),
        };
        network.send(OWNER, ROGUE, call_back).unwrap();
        swap(&mut network, ROGUE, TokenInfo::of("USDC").address).unwrap();

        let result = network.look(ROGUE, RogueToken::callResultCall {});
        assert_eq!(
            result,
            refusal(VaultErrors::ReentrancyGuardReentrantCall {})
        );
    }
}

#[test]
fn views_are_consistent_during_a_callback() {
    // A contract that is called during a swap sees the final reserves: views are always consistent.
    let mut network = with_rogue();
    let usdc = TokenInfo::of("USDC").address;
    let view = Vault::reservesCall { token: ROGUE };
    let call = RogueToken::callBackCall {
        target_: VAULT,
        data_: view.abi_encode().into(),
    };
    network.send(OWNER, ROGUE, call).unwrap();
    swap(&mut network, ROGUE, usdc).unwrap();
    let seen = network.look(ROGUE, RogueToken::callResultCall {});
    assert_eq!(U256::from_be_slice(&seen), network.look(VAULT, view));
}

#[test]
fn a_donation_changes_nothing() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    let weth = TokenInfo::of("WETH");
    let quote = Vault::quoteSwapCall {
        tokenIn: weth.address,
        tokenOut: usdc.address,
        amountIn: weth.unit(),
    };
    let before = network.look(VAULT, quote.clone());
    let donation = Token::transferCall {
        to: VAULT,
        value: usdc.worth(5_000_000),
    };
    network.send(ALICE, usdc.address, donation).unwrap();
    let after = network.look(VAULT, quote);
    assert_eq!(
        (before.amountOut, before.impactBps),
        (after.amountOut, after.impactBps)
    );
    let reserve = network.look(
        VAULT,
        Vault::reservesCall {
            token: usdc.address,
        },
    );
    assert_eq!(reserve, usdc.worth(10_000_000));
}
