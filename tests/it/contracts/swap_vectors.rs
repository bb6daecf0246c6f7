//! The golden swap vectors, executed.

use alloy_primitives::{Address, Bytes, U256, address};
use serde_json::Value;
use tetrad_contracts::contracts::bindings::{SwapStatus, Vault, VaultErrors};

use super::{
    bench::refusal,
    network::{ALICE, Network, OWNER, VAULT},
    tokens::TokenInfo,
    vectors::{list, number, read, text},
};

/// The vectors' token that the vault does not trade.
const UNKNOWN: Address = address!("0x00000000000000000000000000000000000f00f0");

#[test]
fn every_swap_vector_is_reproduced() {
    let vectors = read("swap.json");
    let network = at_vector_prices(&vectors);
    for vector in list(&vectors["vectors"]) {
        let mut network = network.twin();
        execute(&mut network, vector);
    }
}

#[test]
fn the_sequence_from_genesis_reserves_is_reproduced() {
    let vectors = read("swap.json");
    let mut network = at_vector_prices(&vectors);
    for (symbol, reserve) in vectors["genesis_reserves_10M_usd"].as_object().unwrap() {
        set_reserve(&mut network, TokenInfo::of(symbol), number(reserve));
    }

    for step in list(&vectors["sequence_from_genesis_reserves"]) {
        let token_in = TokenInfo::of(text(&step["tokenIn"]));
        let token_out = TokenInfo::of(text(&step["tokenOut"]));
        let receipt = network
            .swap(
                ALICE,
                (token_in, token_out),
                number(&step["amountIn"]),
                U256::ZERO,
            )
            .unwrap();

        check_swap(&receipt.event(), &receipt.event(), &step["expect"]);
        assert_eq!(
            reserve(&mut network, token_in),
            number(&step["reserveIn_after"]),
            "{step}"
        );
        assert_eq!(
            reserve(&mut network, token_out),
            number(&step["reserveOut_after"]),
            "{step}"
        );

        let fees = network.look(
            VAULT,
            Vault::feesAccruedCall {
                token: token_out.address,
            },
        );
        assert_eq!(fees, number(&step["feesAccrued_out_after"]), "{step}");
    }
}

#[test]
fn constants_match_the_vectors() {
    let constants = &read("swap.json")["constants"];
    let mut network = Network::new();
    assert_eq!(
        network.look(VAULT, Vault::SWAP_FEE_BPSCall {}),
        number(&constants["SWAP_FEE_BPS"])
    );
    assert_eq!(
        network.look(VAULT, Vault::BPS_DENOMINATORCall {}),
        number(&constants["BPS_DENOMINATOR"])
    );
    assert_eq!(
        network.look(VAULT, Vault::MAX_PRICE_IMPACT_BPSCall {}),
        number(&constants["MAX_PRICE_IMPACT_BPS"])
    );
}

fn at_vector_prices(vectors: &Value) -> Network {
    let mut network = Network::new();
    for (symbol, token) in vectors["tokens"].as_object().unwrap() {
        network.set_price(TokenInfo::of(symbol), number(&token["price_1e8"]).to());
    }
    network
}

fn reserve(network: &mut Network, token: TokenInfo) -> U256 {
    network.look(
        VAULT,
        Vault::reservesCall {
            token: token.address,
        },
    )
}

fn set_reserve(network: &mut Network, token: TokenInfo, wanted: U256) {
    let amount = reserve(network, token);
    let token = token.address;
    network
        .send(
            OWNER,
            VAULT,
            Vault::removeLiquidityCall {
                token,
                amount,
                to: OWNER,
            },
        )
        .unwrap();
    if !wanted.is_zero() {
        network.mint(token, OWNER, wanted);
        network
            .send(
                OWNER,
                VAULT,
                Vault::addLiquidityCall {
                    token,
                    amount: wanted,
                },
            )
            .unwrap();
    }
}

fn execute(network: &mut Network, vector: &Value) {
    let token_out = TokenInfo::of(text(&vector["tokenOut"]));
    let amount_in = number(&vector["amountIn"]);
    set_reserve(network, token_out, number(&vector["reserveOut"]));

    if vector["tokenIn"] == "FOO" {
        let call = Vault::swapExactTokensForTokensCall {
            _tokenIn: UNKNOWN,
            _tokenOut: token_out.address,
            _amountIn: amount_in,
            _minAmountOut: U256::ZERO,
        };
        assert_eq!(
            network.send(ALICE, VAULT, call).unwrap_err(),
            refusal(VaultErrors::UnsupportedToken {})
        );
        return;
    }

    let token_in = TokenInfo::of(text(&vector["tokenIn"]));
    network.mint(token_in.address, ALICE, amount_in);
    let quote = network.look(
        VAULT,
        Vault::quoteSwapCall {
            tokenIn: token_in.address,
            tokenOut: token_out.address,
            amountIn: amount_in,
        },
    );
    let result = network.swap(
        ALICE,
        (token_in, token_out),
        amount_in,
        number(&vector["minAmountOut"]),
    );

    let expect = &vector["expect"];
    if let Some(error) = expect.get("error") {
        assert_eq!(
            result.unwrap_err(),
            expected_refusal(text(error), expect),
            "{vector}"
        );
        assert_eq!(quote.status, expected_status(text(error)), "{vector}");
    } else {
        let receipt = result.unwrap();
        check_swap(&receipt.event(), &receipt.event(), expect);
        assert_eq!(quote.status, SwapStatus::Ok, "{vector}");
        assert_eq!(quote.amountOut, number(&expect["out"]), "{vector}");
        assert_eq!(quote.fee, number(&expect["fee"]), "{vector}");
        assert_eq!(quote.impactBps, number(&expect["impact_bps"]), "{vector}");
    }
}

fn check_swap(swap: &Vault::Swap, priced: &Vault::SwapPriced, expect: &Value) {
    assert_eq!(swap.amountOut, number(&expect["out"]), "{expect}");
    assert_eq!(priced.fee, number(&expect["fee"]), "{expect}");
    assert_eq!(
        swap.amountOut + priced.fee,
        number(&expect["gross"]),
        "{expect}"
    );
    assert_eq!(priced.impactBps, number(&expect["impact_bps"]), "{expect}");
}

fn expected_refusal(error: &str, expect: &Value) -> Bytes {
    let argument = |index: usize| number(&expect["args"][index]);
    match error {
        "ZeroOutput" => refusal(VaultErrors::ZeroOutput {}),
        "ZeroAmount" => refusal(VaultErrors::ZeroAmount {}),
        "SameToken" => refusal(VaultErrors::SameToken {}),
        "AmountTooLarge" => refusal(VaultErrors::AmountTooLarge {}),
        "InsufficientOutputAmount" => refusal(VaultErrors::InsufficientOutputAmount {
            amountOut: argument(0),
            minAmountOut: argument(1),
        }),
        "InsufficientLiquidity" => refusal(VaultErrors::InsufficientLiquidity {
            needed: argument(0),
            available: argument(1),
        }),
        "PriceImpactTooHigh" => refusal(VaultErrors::PriceImpactTooHigh {
            impactBps: argument(0),
            maxImpactBps: argument(1),
        }),
        other => panic!("no such error: {other}"),
    }
}

/// A quote has no minimum, so a missed minimum is quoted as possible.
fn expected_status(error: &str) -> SwapStatus {
    match error {
        "ZeroOutput" => SwapStatus::ZeroOutput,
        "ZeroAmount" => SwapStatus::ZeroAmount,
        "SameToken" => SwapStatus::SameToken,
        "AmountTooLarge" => SwapStatus::AmountTooLarge,
        "InsufficientOutputAmount" => SwapStatus::Ok,
        "InsufficientLiquidity" => SwapStatus::InsufficientLiquidity,
        "PriceImpactTooHigh" => SwapStatus::PriceImpactTooHigh,
        other => panic!("no such error: {other}"),
    }
}
