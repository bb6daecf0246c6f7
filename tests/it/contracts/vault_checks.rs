//! The reasons for which a swap is refused, and their order. A refusal has no effect.

use alloy_primitives::{Address, Bytes, U256};
use tetrad_contracts::contracts::bindings::{SwapStatus, TokenErrors, Vault, VaultErrors};

use super::{
    bench::refusal,
    harnesses::MathHarness,
    network::{ALICE, Network, OWNER, STRANGER, VAULT},
    tokens::TokenInfo,
};

/// A swap with every error, which are corrected one after another.
struct Attempt {
    token_in: Address,
    token_out: Address,
    amount_in: U256,
    min_amount_out: U256,
}

impl Attempt {
    fn send(&self, network: &mut Network) -> Result<(), Bytes> {
        let call = Vault::swapExactTokensForTokensCall {
            _tokenIn: self.token_in,
            _tokenOut: self.token_out,
            _amountIn: self.amount_in,
            _minAmountOut: self.min_amount_out,
        };
        network.send(STRANGER, VAULT, call).map(drop)
    }

    fn status(&self, network: &mut Network) -> SwapStatus {
        let tokenIn = self.token_in;
        let tokenOut = self.token_out;
        let amountIn = self.amount_in;
        network
            .look(
                VAULT,
                Vault::quoteSwapCall {
                    tokenIn,
                    tokenOut,
                    amountIn,
                },
            )
            .status
    }

    /// The swap reverts with this error, and the quote shows this status.
    fn assert_refused(&self, network: &mut Network, error: Bytes, status: SwapStatus) {
        assert_eq!(self.send(network), Err(error), "{status:?}");
        assert_eq!(self.status(network), status);
    }
}

fn halted(token: TokenInfo) -> Bytes {
    refusal(VaultErrors::TokenHalted {
        token: token.address,
    })
}

#[test]
fn the_first_failed_check_is_reported() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    let weth = TokenInfo::of("WETH");
    network
        .send(OWNER, VAULT, Vault::setImpactWindowCall { bpsPerHour: 1 })
        .unwrap();
    network.send(OWNER, VAULT, Vault::pauseCall {}).unwrap();
    network.warp(601);

    let mut attempt = Attempt {
        token_in: STRANGER,
        token_out: STRANGER,
        amount_in: U256::ZERO,
        min_amount_out: U256::MAX,
    };
    attempt.assert_refused(
        &mut network,
        refusal(VaultErrors::Paused {}),
        SwapStatus::Paused,
    );

    network.send(OWNER, VAULT, Vault::unpauseCall {}).unwrap();
    attempt.assert_refused(
        &mut network,
        refusal(VaultErrors::SameToken {}),
        SwapStatus::SameToken,
    );

    attempt.token_out = weth.address;
    attempt.assert_refused(
        &mut network,
        refusal(VaultErrors::UnsupportedToken {}),
        SwapStatus::UnsupportedToken,
    );

    (attempt.token_in, attempt.token_out) = (weth.address, STRANGER);
    attempt.assert_refused(
        &mut network,
        refusal(VaultErrors::UnsupportedToken {}),
        SwapStatus::UnsupportedToken,
    );

    (attempt.token_in, attempt.token_out) = (weth.address, usdc.address);
    attempt.assert_refused(
        &mut network,
        refusal(VaultErrors::ZeroAmount {}),
        SwapStatus::ZeroAmount,
    );

    attempt.amount_in = U256::from(1) << 128;
    attempt.assert_refused(
        &mut network,
        refusal(VaultErrors::AmountTooLarge {}),
        SwapStatus::AmountTooLarge,
    );

    attempt.amount_in = U256::from(1);
    attempt.assert_refused(
        &mut network,
        refusal(VaultErrors::StalePrice {}),
        SwapStatus::StalePrice,
    );

    network.set_price(weth, weth.price_usd_e8);
    attempt.assert_refused(
        &mut network,
        refusal(VaultErrors::StalePrice {}),
        SwapStatus::StalePrice,
    );

    network.warp(601);
    network.set_price(usdc, usdc.price_usd_e8);
    attempt.assert_refused(
        &mut network,
        refusal(VaultErrors::StalePrice {}),
        SwapStatus::StalePrice,
    );

    network.halt(usdc);
    attempt.assert_refused(
        &mut network,
        refusal(VaultErrors::StalePrice {}),
        SwapStatus::StalePrice,
    );

    network.renew_prices();
    attempt.assert_refused(&mut network, halted(usdc), SwapStatus::Halted);

    network.halt(weth);
    attempt.assert_refused(&mut network, halted(weth), SwapStatus::Halted);

    network.resume_trading(usdc);
    attempt.assert_refused(&mut network, halted(weth), SwapStatus::Halted);

    // The function that only quotes refuses as well.
    let amountOut = Vault::getAmountOutCall {
        tokenIn: weth.address,
        tokenOut: usdc.address,
        amountIn: U256::from(1),
    };
    assert_eq!(
        network.try_look(ALICE, VAULT, amountOut).unwrap_err(),
        halted(weth)
    );

    network.resume_trading(weth);
    attempt.assert_refused(
        &mut network,
        refusal(VaultErrors::ZeroOutput {}),
        SwapStatus::ZeroOutput,
    );

    attempt.amount_in = weth.worth(20_000_000);
    let quote = network.look(
        VAULT,
        Vault::quoteSwapCall {
            tokenIn: weth.address,
            tokenOut: usdc.address,
            amountIn: attempt.amount_in,
        },
    );
    let error = VaultErrors::InsufficientOutputAmount {
        amountOut: quote.amountOut,
        minAmountOut: U256::MAX,
    };
    assert_eq!(attempt.send(&mut network), Err(refusal(error)));

    attempt.min_amount_out = quote.amountOut;
    let error = VaultErrors::InsufficientLiquidity {
        needed: quote.amountOut + quote.fee,
        available: usdc.worth(10_000_000),
    };
    attempt.assert_refused(
        &mut network,
        refusal(error),
        SwapStatus::InsufficientLiquidity,
    );

    (attempt.amount_in, attempt.min_amount_out) =
        (weth.worth(1_000_001) + U256::from(1), U256::ZERO);
    let error = VaultErrors::PriceImpactTooHigh {
        impactBps: U256::from(1_001),
        maxImpactBps: U256::from(1_000),
    };
    attempt.assert_refused(&mut network, refusal(error), SwapStatus::PriceImpactTooHigh);

    attempt.amount_in = weth.worth(1_000_000);
    let error = VaultErrors::ImpactWindowExceeded {
        impactBps: U256::from(1_000),
        maxImpactBps: U256::from(1),
    };
    attempt.assert_refused(
        &mut network,
        refusal(error),
        SwapStatus::ImpactWindowExceeded,
    );

    network
        .send(OWNER, VAULT, Vault::setImpactWindowCall { bpsPerHour: 0 })
        .unwrap();

    let balance = U256::ZERO;
    let needed = attempt.amount_in;
    let error = TokenErrors::ERC20InsufficientAllowance {
        spender: VAULT,
        allowance: balance,
        needed,
    };
    attempt.assert_refused(&mut network, refusal(error), SwapStatus::Ok);

    network.approve(STRANGER, weth.address, VAULT, needed);
    let error = TokenErrors::ERC20InsufficientBalance {
        sender: STRANGER,
        balance,
        needed,
    };
    attempt.assert_refused(&mut network, refusal(error), SwapStatus::Ok);

    network.mint(weth.address, STRANGER, needed);

    assert_eq!(attempt.send(&mut network), Ok(()));
}

#[test]
fn the_largest_amount_is_just_below_128_bits() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    let weth = TokenInfo::of("WETH");
    let amountIn = U256::from(u128::MAX);
    let quote = Vault::quoteSwapCall {
        tokenIn: usdc.address,
        tokenOut: weth.address,
        amountIn,
    };
    assert_eq!(
        network.look(VAULT, quote).status,
        SwapStatus::InsufficientLiquidity
    );
    network.set_price(usdc, (1 << 63) - 1);
    network.set_price(weth, 1);
    let quote = Vault::quoteSwapCall {
        tokenIn: usdc.address,
        tokenOut: weth.address,
        amountIn,
    };
    assert_eq!(
        network.look(VAULT, quote).status,
        SwapStatus::InsufficientLiquidity
    );
}

#[test]
fn the_arithmetic_fits_256_bits() {
    // The largest amount of the most expensive token without decimals, for the cheapest with 18.
    let mut network = Network::new();
    let math = Address::repeat_byte(0x3a);
    network.deploy(math, OWNER, "test/MathHarness", &[]);
    let amountIn = U256::from(u128::MAX);
    let priceIn = U256::from((1_u64 << 63) - 1);
    let call = MathHarness::swapCall {
        amountIn,
        priceIn,
        decimalsIn: 0,
        priceOut: U256::from(1),
        decimalsOut: 18,
    };
    let answer = network.look(math, call);
    let gross = amountIn * priceIn * U256::from(10).pow(U256::from(18));
    assert_eq!(
        (answer.grossOut, answer.fee),
        (gross, (gross * U256::from(30)).div_ceil(U256::from(10_000)))
    );
}

#[test]
fn the_reserve_must_cover_the_fee_as_well() {
    // The user would get less than the reserve, but fee and output together exceed it.
    let mut network = Network::new();
    let usdt = TokenInfo::of("USDT");
    let usdc = TokenInfo::of("USDC");
    let reserve = usdc.worth(10_000_000);
    let needed = reserve + U256::from(1);
    let refused = network
        .swap(ALICE, (usdt, usdc), needed, U256::ZERO)
        .unwrap_err();
    assert_eq!(
        refused,
        refusal(VaultErrors::InsufficientLiquidity {
            needed,
            available: reserve
        })
    );
    let refused = network
        .swap(ALICE, (usdt, usdc), reserve, U256::ZERO)
        .unwrap_err();
    let impactBps = U256::from(10_000);
    let maxImpactBps = U256::from(1_000);
    assert_eq!(
        refused,
        refusal(VaultErrors::PriceImpactTooHigh {
            impactBps,
            maxImpactBps
        })
    );
}

#[test]
fn an_empty_reserve_is_quoted_without_a_revert() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    let weth = TokenInfo::of("WETH");
    let token = weth.address;
    let amount = weth.worth(10_000_000);
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
    let call = Vault::quoteSwapCall {
        tokenIn: usdc.address,
        tokenOut: token,
        amountIn: U256::from(3_512_350_000_u64),
    };
    let quote = network.look(VAULT, call);
    assert_eq!(quote.status, SwapStatus::InsufficientLiquidity);
    assert_eq!(quote.impactBps, U256::MAX);
    assert_eq!(quote.amountOut + quote.fee, weth.unit());
}

fn amount_out(token_in: TokenInfo, token_out: Address, amount: U256) -> Vault::getAmountOutCall {
    Vault::getAmountOutCall {
        tokenIn: token_in.address,
        tokenOut: token_out,
        amountIn: amount,
    }
}

fn refused(network: &mut Network, call: Vault::getAmountOutCall) -> Bytes {
    network.try_look(ALICE, VAULT, call).unwrap_err()
}

#[test]
fn the_amount_out_needs_prices_but_no_reserve() {
    let mut network = Network::new();
    let usdc = TokenInfo::of("USDC");
    let weth = TokenInfo::of("WETH");

    network.send(OWNER, VAULT, Vault::pauseCall {}).unwrap();
    let answer = network.look(
        VAULT,
        amount_out(weth, usdc.address, weth.unit() * U256::from(1_000_000)),
    );
    assert_eq!(
        answer.amountOut + answer.fee,
        U256::from(3_512_350_000_000_000_u64)
    );
    assert_eq!(answer.fee, U256::from(10_537_050_000_000_u64));

    let nothing = network.look(VAULT, amount_out(weth, usdc.address, U256::from(1)));
    assert_eq!((nothing.amountOut, nothing.fee), (U256::ZERO, U256::ZERO));

    assert_eq!(
        refused(&mut network, amount_out(weth, weth.address, U256::from(1))),
        refusal(VaultErrors::SameToken {})
    );
    assert_eq!(
        refused(&mut network, amount_out(weth, STRANGER, U256::from(1))),
        refusal(VaultErrors::UnsupportedToken {})
    );
    assert_eq!(
        refused(&mut network, amount_out(weth, usdc.address, U256::ZERO)),
        refusal(VaultErrors::ZeroAmount {})
    );
    assert_eq!(
        refused(
            &mut network,
            amount_out(weth, usdc.address, U256::from(1) << 128)
        ),
        refusal(VaultErrors::AmountTooLarge {})
    );

    network.warp(601);
    assert_eq!(
        refused(&mut network, amount_out(weth, usdc.address, U256::from(1))),
        refusal(VaultErrors::StalePrice {})
    );
}

#[test]
fn the_swap_of_a_published_client_succeeds() {
    // Such a client computes out = in * (1 - 0.003) * priceIn / priceOut, less 50 basis points,
    // then approves and swaps.
    let mut network = Network::new();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    let expected = 1.5 * (1.0 - 0.003) * 3_512.35 / 1.0;
    let min = U256::from((expected * 1e6 * 0.995) as u64);
    let amount = weth.unit() * U256::from(3) / U256::from(2);
    let before = network.balance_of(usdc.address, ALICE);
    network.approve(ALICE, weth.address, VAULT, amount);
    let receipt = network.swap(ALICE, (weth, usdc), amount, min).unwrap();
    let swap = receipt.event::<Vault::Swap>();
    assert_eq!(
        (swap.user, swap.tokenIn, swap.tokenOut, swap.amountIn),
        (ALICE, weth.address, usdc.address, amount)
    );
    assert!(swap.amountOut >= min);
    assert_eq!(
        network.balance_of(usdc.address, ALICE),
        before + swap.amountOut
    );
    assert!(
        receipt.output.is_empty(),
        "the published function returns nothing"
    );
}
