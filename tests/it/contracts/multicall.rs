//! The call aggregator that client libraries expect.

use alloy_primitives::{Address, B256, Bytes, U256, address};
use alloy_sol_types::SolCall;
use tetrad_contracts::contracts::bindings::{Multicall3, Multicall3Errors, Token, TokenErrors};

use super::{
    bench::{CHAIN_ID, refusal},
    network::{ALICE, BOB, Network, OWNER, STRANGER},
    tokens::TokenInfo,
};

const MULTICALL: Address = address!("0xca11bde05977b3631167028862be2a173976ca11");

fn deployed() -> Network {
    let mut network = Network::new();
    network.deploy(MULTICALL, OWNER, "Multicall3", &[]);
    network
}

fn good() -> (Address, Bytes) {
    (
        TokenInfo::of("USDC").address,
        Token::decimalsCall {}.abi_encode().into(),
    )
}

/// A transfer of more than the aggregator has.
fn bad() -> (Address, Bytes) {
    let call = Token::transferCall {
        to: BOB,
        value: U256::from(1),
    };
    (TokenInfo::of("USDC").address, call.abi_encode().into())
}

fn why_bad() -> Bytes {
    let balance = U256::ZERO;
    let needed = U256::from(1);
    refusal(TokenErrors::ERC20InsufficientBalance {
        sender: MULTICALL,
        balance,
        needed,
    })
}

fn calls(list: &[(Address, Bytes)]) -> Vec<Multicall3::Call> {
    list.iter()
        .map(|(target, data)| Multicall3::Call {
            target: *target,
            callData: data.clone(),
        })
        .collect()
}

fn six() -> Bytes {
    U256::from(6).to_be_bytes_vec().into()
}

#[test]
fn calls_that_must_all_succeed() {
    let mut network = deployed();
    let answer = network.look(
        MULTICALL,
        Multicall3::aggregateCall {
            calls: calls(&[good(), good()]),
        },
    );
    assert_eq!(
        (answer.blockNumber, answer.returnData),
        (network.block().number, vec![six(), six()])
    );

    let failed = refusal(Multicall3Errors::CallFailed {
        index: U256::from(1),
        returnData: why_bad(),
    });
    let list = calls(&[good(), bad()]);
    assert_eq!(
        network
            .send(
                ALICE,
                MULTICALL,
                Multicall3::aggregateCall {
                    calls: list.clone()
                }
            )
            .unwrap_err(),
        failed
    );
    let call = Multicall3::blockAndAggregateCall {
        calls: list.clone(),
    };
    assert_eq!(network.send(ALICE, MULTICALL, call).unwrap_err(), failed);
    let call = Multicall3::tryAggregateCall {
        requireSuccess: true,
        calls: list,
    };
    assert_eq!(network.send(ALICE, MULTICALL, call).unwrap_err(), failed);
}

#[test]
fn calls_that_may_fail() {
    let mut network = deployed();
    let expected = [
        Multicall3::Result {
            success: false,
            returnData: why_bad(),
        },
        Multicall3::Result {
            success: true,
            returnData: six(),
        },
    ];
    let list = calls(&[bad(), good()]);
    let call = Multicall3::tryAggregateCall {
        requireSuccess: false,
        calls: list.clone(),
    };
    assert_eq!(network.look(MULTICALL, call), expected);
    let call = Multicall3::tryBlockAndAggregateCall {
        requireSuccess: false,
        calls: list,
    };
    let answer = network.look(MULTICALL, call);
    assert_eq!(
        (answer.blockNumber, answer.blockHash),
        (network.block().number, B256::ZERO)
    );
    assert_eq!(answer.returnData, expected);
}

/// A call that succeeds, and one that fails, whose failure is allowed or not.
fn good_and_bad(allowed: bool) -> Vec<Multicall3::Call3> {
    let (target, callData) = bad();
    let (other, decimals) = good();
    vec![
        Multicall3::Call3 {
            target: other,
            allowFailure: false,
            callData: decimals,
        },
        Multicall3::Call3 {
            target,
            allowFailure: allowed,
            callData,
        },
    ]
}

#[test]
fn each_call_decides_whether_it_may_fail() {
    let mut network = deployed();

    let answer = network.look(
        MULTICALL,
        Multicall3::aggregate3Call {
            calls: good_and_bad(true),
        },
    );
    assert_eq!(
        answer[0],
        Multicall3::Result {
            success: true,
            returnData: six()
        }
    );
    assert_eq!(
        answer[1],
        Multicall3::Result {
            success: false,
            returnData: why_bad()
        }
    );

    let failed = refusal(Multicall3Errors::CallFailed {
        index: U256::from(1),
        returnData: why_bad(),
    });
    let call = Multicall3::aggregate3Call {
        calls: good_and_bad(false),
    };
    assert_eq!(network.send(ALICE, MULTICALL, call).unwrap_err(), failed);
}

fn payment(target: Address, value: u64, allowFailure: bool) -> Multicall3::Call3Value {
    Multicall3::Call3Value {
        target,
        allowFailure,
        value: U256::from(value),
        callData: Bytes::new(),
    }
}

#[test]
fn calls_with_value_spend_exactly_what_is_sent() {
    let mut network = deployed();
    network.set_balance(ALICE, U256::from(1_000));

    let call = Multicall3::aggregate3ValueCall {
        calls: vec![payment(BOB, 3, false), payment(STRANGER, 4, false)],
    };

    for sent in [6, 8] {
        let refused = network
            .send_value(ALICE, MULTICALL, U256::from(sent), call.clone())
            .unwrap_err();
        let sent = U256::from(sent);
        let needed = U256::from(7);

        // With too little value, the second payment itself fails for lack of funds.
        let short = refusal(Multicall3Errors::CallFailed {
            index: U256::from(1),
            returnData: Bytes::new(),
        });
        let over = refusal(Multicall3Errors::ValueMismatch { sent, needed });
        assert!(refused == if sent < needed { short } else { over });
    }

    network
        .send_value(ALICE, MULTICALL, U256::from(7), call)
        .unwrap();
    assert_eq!(
        (network.balance(BOB), network.balance(STRANGER)),
        (U256::from(3), U256::from(4))
    );

    // A token accepts no coins; if its failure is allowed, the coins stay in the aggregator, where
    // no account can get them.
    let stuck = Multicall3::aggregate3ValueCall {
        calls: vec![payment(TokenInfo::of("USDC").address, 5, true)],
    };
    network
        .send_value(ALICE, MULTICALL, U256::from(5), stuck)
        .unwrap();

    let steal = Multicall3::aggregate3ValueCall {
        calls: vec![payment(BOB, 5, false)],
    };
    let refused = network.send(BOB, MULTICALL, steal).unwrap_err();
    let sent = U256::ZERO;
    let needed = U256::from(5);
    assert_eq!(
        refused,
        refusal(Multicall3Errors::ValueMismatch { sent, needed })
    );
}

#[test]
fn block_fields_are_returned() {
    let mut network = deployed();
    network.set_base_fee(7);
    network.set_balance(BOB, U256::from(42));

    let block = network.block().clone();
    assert_eq!(
        network.look(MULTICALL, Multicall3::getBlockNumberCall {}),
        block.number
    );
    assert_eq!(
        network.look(MULTICALL, Multicall3::getCurrentBlockCoinbaseCall {}),
        block.beneficiary
    );
    let random: U256 = block.prevrandao.unwrap().into();
    assert_eq!(
        network.look(MULTICALL, Multicall3::getCurrentBlockDifficultyCall {}),
        random
    );
    let limit = network.look(MULTICALL, Multicall3::getCurrentBlockGasLimitCall {});
    assert_eq!(limit, U256::from(block.gas_limit));
    assert_eq!(
        network.look(MULTICALL, Multicall3::getCurrentBlockTimestampCall {}),
        block.timestamp
    );
    assert_eq!(
        network.look(MULTICALL, Multicall3::getBasefeeCall {}),
        U256::from(7)
    );

    assert_eq!(
        network.look(MULTICALL, Multicall3::getChainIdCall {}),
        U256::from(CHAIN_ID)
    );
    assert_eq!(
        network.look(MULTICALL, Multicall3::getEthBalanceCall { addr: BOB }),
        U256::from(42)
    );

    let previous = block.number - U256::from(1);
    let hash = network.look(
        MULTICALL,
        Multicall3::getBlockHashCall {
            blockNumber: previous,
        },
    );
    assert_eq!(
        network.look(MULTICALL, Multicall3::getLastBlockHashCall {}),
        hash
    );
    assert_ne!(hash, B256::ZERO);
}
