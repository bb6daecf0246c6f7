//! The tokens: an ERC-20 that its owner can mint, with permits.

use alloy_primitives::{Address, B256, U256};
use alloy_sol_types::{SolError, SolStruct, SolValue, eip712_domain, sol};
use k256::ecdsa::SigningKey;
use tetrad_contracts::contracts::bindings::{Token, TokenErrors};

use super::{
    bench::{CHAIN_ID, refusal},
    network::{ALICE, BOB, Network, OWNER, STRANGER},
    tokens::{TOKENS, TokenInfo},
};

#[test]
fn every_token_has_its_name_symbol_and_decimals() {
    let mut network = Network::new();
    for token in TOKENS {
        assert_eq!(network.look(token.address, Token::nameCall {}), token.name);
        assert_eq!(
            network.look(token.address, Token::symbolCall {}),
            token.symbol
        );
        assert_eq!(
            network.look(token.address, Token::decimalsCall {}),
            token.decimals
        );
    }
}

#[test]
fn only_the_owner_mints() {
    let mut network = Network::new();
    let token = TokenInfo::of("USDC").address;
    let mint = Token::mintCall {
        to: STRANGER,
        amount: U256::from(7),
    };
    let refused = network.send(ALICE, token, mint.clone()).unwrap_err();
    assert_eq!(
        refused,
        refusal(TokenErrors::OwnableUnauthorizedAccount { account: ALICE })
    );

    let receipt = network.send(OWNER, token, mint).unwrap();
    let event = Token::Transfer {
        from: Address::ZERO,
        to: STRANGER,
        value: U256::from(7),
    };
    assert_eq!(receipt.event::<Token::Transfer>(), event);
    assert_eq!(network.balance_of(token, STRANGER), U256::from(7));
}

#[test]
fn ownership_moves_in_two_steps() {
    let mut network = Network::new();
    let token = TokenInfo::of("USDC").address;
    network
        .send(OWNER, token, Token::transferOwnershipCall { newOwner: BOB })
        .unwrap();
    assert_eq!(network.look(token, Token::ownerCall {}), OWNER);
    assert_eq!(network.look(token, Token::pendingOwnerCall {}), BOB);
    let refused = network
        .send(ALICE, token, Token::acceptOwnershipCall {})
        .unwrap_err();
    assert_eq!(
        refused,
        refusal(TokenErrors::OwnableUnauthorizedAccount { account: ALICE })
    );
    network
        .send(BOB, token, Token::acceptOwnershipCall {})
        .unwrap();
    assert_eq!(network.look(token, Token::ownerCall {}), BOB);
}

#[test]
fn a_token_must_have_an_owner() {
    let arguments = (
        "T".to_owned(),
        "T".to_owned(),
        U256::from(18),
        Address::ZERO,
    )
        .abi_encode_params();
    let refused = Network::new()
        .try_deploy(Address::repeat_byte(9), OWNER, "Token", &arguments)
        .unwrap_err();
    assert_eq!(
        refused,
        refusal(TokenErrors::OwnableInvalidOwner {
            owner: Address::ZERO
        })
    );
}

#[test]
fn a_permit_approves_without_a_transaction() {
    let mut network = Network::new();
    let token = TokenInfo::of("WETH");
    let key = SigningKey::from_slice(&[7; 32]).unwrap();
    let signer = Address::from_public_key(key.verifying_key());
    let deadline = U256::from(network.now());
    let permit = Permit {
        owner: signer,
        spender: BOB,
        value: U256::from(5),
        nonce: U256::ZERO,
        deadline,
    };
    let call = signed(&key, token, &permit);

    let mut forged = call.clone();
    forged.value = U256::from(6);
    let refused = network.send(BOB, token.address, forged).unwrap_err();
    assert_eq!(refused[..4], TokenErrors::ERC2612InvalidSigner::SELECTOR);

    network.send(BOB, token.address, call.clone()).unwrap();
    let allowance = network.look(
        token.address,
        Token::allowanceCall {
            owner: signer,
            spender: BOB,
        },
    );
    assert_eq!(allowance, U256::from(5));
    assert!(
        network.send(BOB, token.address, call).is_err(),
        "a permit must not work twice"
    );

    network.warp(1);
    let late = signed(
        &key,
        token,
        &Permit {
            nonce: U256::from(1),
            ..permit
        },
    );
    let refused = network.send(BOB, token.address, late).unwrap_err();
    assert_eq!(
        refused,
        refusal(TokenErrors::ERC2612ExpiredSignature { deadline })
    );
}

sol! {
    struct Permit {
        address owner;
        address spender;
        uint256 value;
        uint256 nonce;
        uint256 deadline;
    }
}

/// The call that carries an EIP-2612 signature.
fn signed(key: &SigningKey, token: TokenInfo, permit: &Permit) -> Token::permitCall {
    let domain = eip712_domain! {
        name: token.name,
        version: "1",
        chain_id: CHAIN_ID,
        verifying_contract: token.address,
    };
    let digest = permit.eip712_signing_hash(&domain);
    let (signature, recovery) = key.sign_prehash_recoverable(digest.as_slice()).unwrap();
    Token::permitCall {
        owner: permit.owner,
        spender: permit.spender,
        value: permit.value,
        deadline: permit.deadline,
        v: 27 + recovery.to_byte(),
        r: B256::from_slice(&signature.r().to_bytes()),
        s: B256::from_slice(&signature.s().to_bytes()),
    }
}
