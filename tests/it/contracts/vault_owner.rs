//! The owner's functions of the vault and their events, which no other account can use.

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolValue;
use tetrad_contracts::contracts::bindings::{Vault, VaultErrors};

use super::{
    bench::refusal,
    network::{ALICE, BOB, Network, ORACLE, OWNER, STRANGER, VAULT},
    tokens::{TOKENS, TokenInfo},
};

const NEW_TOKEN: Address = Address::repeat_byte(0x77);

fn deploy_token(network: &mut Network, decimals: u8) {
    let arguments = (
        "New".to_owned(),
        "NEW".to_owned(),
        U256::from(decimals),
        OWNER,
    )
        .abi_encode_params();
    network.deploy(NEW_TOKEN, OWNER, "Token", &arguments);
}

#[test]
fn a_token_is_added_once_and_listed() {
    let mut network = Network::new();
    deploy_token(&mut network, 18);
    let receipt = network
        .send(OWNER, VAULT, Vault::addTokenCall { token: NEW_TOKEN })
        .unwrap();
    assert_eq!(
        receipt.event::<Vault::TokenAdded>(),
        Vault::TokenAdded {
            token: NEW_TOKEN,
            decimals: 18
        }
    );
    let mut expected: Vec<Address> = TOKENS.iter().map(|token| token.address).collect();
    expected.push(NEW_TOKEN);
    assert_eq!(
        network.look(VAULT, Vault::getSupportedTokensCall {}),
        expected
    );

    let again = network
        .send(OWNER, VAULT, Vault::addTokenCall { token: NEW_TOKEN })
        .unwrap_err();
    assert_eq!(
        again,
        refusal(VaultErrors::AlreadySupported { token: NEW_TOKEN })
    );
    let nothing = network
        .send(OWNER, VAULT, Vault::addTokenCall { token: STRANGER })
        .unwrap_err();
    assert_eq!(
        nothing,
        refusal(VaultErrors::NotAContract { token: STRANGER })
    );
}

#[test]
fn more_than_18_decimals_are_refused() {
    let mut network = Network::new();
    deploy_token(&mut network, 19);
    let refused = network
        .send(OWNER, VAULT, Vault::addTokenCall { token: NEW_TOKEN })
        .unwrap_err();
    assert_eq!(
        refused,
        refusal(VaultErrors::UnsupportedDecimals { decimals: 19 })
    );
}

#[test]
fn the_owner_adds_and_removes_liquidity() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    let token = usdc.address;
    let reserve = usdc.worth(10_000_000);
    let amount = U256::from(1_000);
    let receipt = network
        .send(OWNER, VAULT, Vault::addLiquidityCall { token, amount })
        .unwrap();
    let event = Vault::LiquidityAdded {
        token,
        provider: OWNER,
        amount,
        reserve: reserve + amount,
    };
    assert_eq!(receipt.event::<Vault::LiquidityAdded>(), event);
    assert_eq!(
        network.look(VAULT, Vault::reservesCall { token }),
        reserve + amount
    );

    let receipt = network
        .send(
            OWNER,
            VAULT,
            Vault::removeLiquidityCall {
                token,
                amount,
                to: STRANGER,
            },
        )
        .unwrap();
    let event = Vault::LiquidityRemoved {
        token,
        receiver: STRANGER,
        amount,
        reserve,
    };
    assert_eq!(receipt.event::<Vault::LiquidityRemoved>(), event);
    assert_eq!(network.look(VAULT, Vault::reservesCall { token }), reserve);
    assert_eq!(network.balance_of(token, STRANGER), amount);

    let needed = reserve + U256::from(1);
    let refused = network.send(
        OWNER,
        VAULT,
        Vault::removeLiquidityCall {
            token,
            amount: needed,
            to: OWNER,
        },
    );
    assert_eq!(
        refused.unwrap_err(),
        refusal(VaultErrors::InsufficientLiquidity {
            needed,
            available: reserve
        })
    );
    network
        .send(
            OWNER,
            VAULT,
            Vault::removeLiquidityCall {
                token,
                amount: reserve,
                to: OWNER,
            },
        )
        .unwrap();
}

#[test]
fn liquidity_must_be_a_positive_amount_of_a_traded_token() {
    let mut network = Network::new();
    let token = TokenInfo::of("USDC").address;
    let amount = U256::ZERO;
    let to = OWNER;
    let zero = refusal(VaultErrors::ZeroAmount {});

    assert_eq!(
        network
            .send(OWNER, VAULT, Vault::addLiquidityCall { token, amount })
            .unwrap_err(),
        zero
    );
    assert_eq!(
        network
            .send(
                OWNER,
                VAULT,
                Vault::removeLiquidityCall { token, amount, to }
            )
            .unwrap_err(),
        zero
    );

    let unknown = refusal(VaultErrors::UnsupportedToken {});
    let token = STRANGER;
    let amount = U256::from(1);
    assert_eq!(
        network
            .send(OWNER, VAULT, Vault::addLiquidityCall { token, amount })
            .unwrap_err(),
        unknown
    );
    assert_eq!(
        network
            .send(
                OWNER,
                VAULT,
                Vault::removeLiquidityCall { token, amount, to }
            )
            .unwrap_err(),
        unknown
    );
}

fn withdraw_fees(token: Address, amount: U256) -> Vault::withdrawFeesCall {
    Vault::withdrawFeesCall {
        token,
        amount,
        to: STRANGER,
    }
}

#[test]
fn fees_are_collected_apart_from_the_reserve() {
    let mut network = Network::new();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");

    let fee = network
        .swap(ALICE, (weth, usdc), weth.unit(), U256::ZERO)
        .unwrap()
        .event::<Vault::SwapPriced>()
        .fee;

    let token = usdc.address;
    let reserve = network.look(VAULT, Vault::reservesCall { token });
    assert_eq!(network.look(VAULT, Vault::feesAccruedCall { token }), fee);

    let amount = fee - U256::from(1);
    let receipt = network
        .send(OWNER, VAULT, withdraw_fees(token, amount))
        .unwrap();

    let event = Vault::FeesWithdrawn {
        token,
        receiver: STRANGER,
        amount,
    };
    assert_eq!(receipt.event::<Vault::FeesWithdrawn>(), event);

    network
        .send(OWNER, VAULT, withdraw_fees(token, U256::MAX))
        .unwrap();
    assert_eq!(network.balance_of(token, STRANGER), fee);
    assert_eq!(
        network.look(VAULT, Vault::feesAccruedCall { token }),
        U256::ZERO
    );
    assert_eq!(network.look(VAULT, Vault::reservesCall { token }), reserve);

    let refused = network
        .send(OWNER, VAULT, withdraw_fees(token, amount))
        .unwrap_err();
    assert_eq!(refused, refusal(VaultErrors::ZeroAmount {}));
}

#[test]
fn the_owner_pauses_and_resumes_trading() {
    let mut network = Network::new();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    let refused = network
        .send(OWNER, VAULT, Vault::unpauseCall {})
        .unwrap_err();
    assert_eq!(refused, refusal(VaultErrors::NotPaused {}));
    let receipt = network.send(OWNER, VAULT, Vault::pauseCall {}).unwrap();
    assert_eq!(
        receipt.event::<Vault::Paused>(),
        Vault::Paused { account: OWNER }
    );
    assert!(network.look(VAULT, Vault::pausedCall {}));
    let refused = network.send(OWNER, VAULT, Vault::pauseCall {}).unwrap_err();
    assert_eq!(refused, refusal(VaultErrors::Paused {}));
    assert_eq!(
        network
            .swap(ALICE, (weth, usdc), weth.unit(), U256::ZERO)
            .unwrap_err(),
        refused
    );
    let receipt = network.send(OWNER, VAULT, Vault::unpauseCall {}).unwrap();
    assert_eq!(
        receipt.event::<Vault::Unpaused>(),
        Vault::Unpaused { account: OWNER }
    );
    network
        .swap(ALICE, (weth, usdc), weth.unit(), U256::ZERO)
        .unwrap();
}

#[test]
fn prices_can_come_from_another_oracle() {
    let mut network = Network::new();
    assert_eq!(network.look(VAULT, Vault::oracleCall {}), ORACLE);

    let other = Address::repeat_byte(0x66);
    let refused = network
        .send(OWNER, VAULT, Vault::setOracleCall { newOracle: other })
        .unwrap_err();
    assert_eq!(refused, refusal(VaultErrors::NotAContract { token: other }));

    network.deploy(
        other,
        OWNER,
        "PriceOracle",
        &(OWNER, OWNER).abi_encode_params(),
    );

    let receipt = network
        .send(OWNER, VAULT, Vault::setOracleCall { newOracle: other })
        .unwrap();
    let event = Vault::OracleChanged {
        previousOracle: ORACLE,
        newOracle: other,
    };
    assert_eq!(receipt.event::<Vault::OracleChanged>(), event);

    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    let refused = network
        .swap(ALICE, (weth, usdc), weth.unit(), U256::ZERO)
        .unwrap_err();
    assert_eq!(
        refused,
        refusal(VaultErrors::StalePrice {}),
        "the new oracle has no prices yet"
    );
}

#[test]
fn a_reserve_never_outgrows_its_slot() {
    let mut network = Network::new();
    let token = TokenInfo::of("USDC").address;
    let amount = U256::from(1) << 160;
    network.mint(token, OWNER, amount);
    let refused = network
        .send(OWNER, VAULT, Vault::addLiquidityCall { token, amount })
        .unwrap_err();
    let value = amount + TokenInfo::of("USDC").worth(10_000_000);
    assert_eq!(
        refused,
        refusal(VaultErrors::SafeCastOverflowedUintDowncast { bits: 160, value })
    );
}

#[test]
fn only_the_owner_can_call_the_owners_functions() {
    let mut network = Network::new();
    let token = TokenInfo::of("USDC").address;
    let amount = U256::from(1);
    let to = BOB;
    let refused = [
        network.send(BOB, VAULT, Vault::addTokenCall { token }),
        network.send(BOB, VAULT, Vault::addLiquidityCall { token, amount }),
        network.send(BOB, VAULT, Vault::removeLiquidityCall { token, amount, to }),
        network.send(BOB, VAULT, Vault::withdrawFeesCall { token, amount, to }),
        network.send(BOB, VAULT, Vault::pauseCall {}),
        network.send(BOB, VAULT, Vault::unpauseCall {}),
        network.send(BOB, VAULT, Vault::setOracleCall { newOracle: ORACLE }),
        network.send(BOB, VAULT, Vault::setImpactWindowCall { bpsPerHour: 1 }),
        network.send(BOB, VAULT, Vault::transferOwnershipCall { newOwner: BOB }),
    ];
    for result in refused {
        assert_eq!(
            result.unwrap_err(),
            refusal(VaultErrors::OwnableUnauthorizedAccount { account: BOB })
        );
    }
}
