//! The costs of the contracts. `contracts/gas.json` records the gas of every public function that
//! changes state, in a typical case, and the size of every contract, so that reviews see growth.

use std::{collections::BTreeMap, env, fs, path::Path};

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::{SolCall, SolValue};
use serde_json::json;
use tetrad_contracts::contracts::bindings::{LendingPool, Multicall3, PriceOracle, Token, Vault};

use super::{
    artifacts::runtime_code,
    bench::Receipt,
    network::{ALICE, BOB, CAROL, Network, ORACLE, OWNER, POOL, UPDATER, VAULT, WHALE},
    tokens::{TOKENS, TokenInfo},
};
use crate::support::golden::assert_golden;

const CONTRACTS: [&str; 7] = [
    "LendingLens",
    "LendingPool",
    "Multicall3",
    "PToken",
    "PriceOracle",
    "Token",
    "Vault",
];
/// EIP-170.
const LARGEST_CODE: usize = 24_576;
const DAY: u64 = 86_400;

type Costs = BTreeMap<&'static str, u64>;
type Operation = (&'static str, fn(&mut Network) -> Result<Receipt, Bytes>);

#[test]
fn costs_match_the_recorded_ones() {
    // A mutated contract almost always has other costs, which would hide whether tests of its
    // behaviour detect the mutation.
    if env::var_os("TETRAD_ARTIFACTS").is_some() {
        return;
    }
    let sizes: BTreeMap<_, _> = CONTRACTS
        .map(|name| (name, runtime_code(name).len()))
        .into();
    let mut gas = Costs::new();
    measure(&mut gas, &exchange(), &EXCHANGE);
    measure(&mut gas, &lending(), &LENDING);
    let text = serde_json::to_string_pretty(&json!({ "gas": gas, "size": sizes })).unwrap() + "\n";
    assert_golden("contracts/gas.json", &text);
}

#[test]
fn the_readme_lists_the_sizes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts/README.md");
    let readme = fs::read_to_string(path).unwrap();
    for name in CONTRACTS
        .iter()
        .filter(|_| env::var_os("TETRAD_ARTIFACTS").is_none())
    {
        let size = runtime_code(name).len();
        let row = format!("| `{name}` | {},{:03} |", size / 1_000, size % 1_000);
        assert!(
            readme.contains(&row),
            "contracts/README.md lacks the row {row}"
        );
    }
}

#[test]
fn every_contract_fits_the_code_size_limit() {
    for name in CONTRACTS {
        let size = runtime_code(name).len();
        assert!(size <= LARGEST_CODE, "{name} has {size} bytes");
    }
}

fn measure(costs: &mut Costs, network: &Network, operations: &[Operation]) {
    for (name, operation) in operations {
        let receipt =
            operation(&mut network.twin()).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        costs.insert(name, receipt.gas);
    }
}

/// A vault after some swaps.
fn exchange() -> Network {
    let mut network = Network::new();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    network
        .swap(ALICE, (weth, usdc), weth.unit(), U256::ZERO)
        .unwrap();
    network.warp(2);
    network
}

const EXCHANGE: [Operation; 18] = [
    ("Multicall3.aggregate3 of two views", |network| {
        let target = Address::repeat_byte(0xca);
        network.deploy(target, OWNER, "Multicall3", &[]);
        let call = Multicall3::Call3 {
            target: TokenInfo::of("USDC").address,
            allowFailure: true,
            callData: Token::decimalsCall {}.abi_encode().into(),
        };
        network.send(
            ALICE,
            target,
            Multicall3::aggregate3Call {
                calls: vec![call.clone(), call],
            },
        )
    }),
    ("PriceOracle.halt", |network| {
        let call = PriceOracle::haltCall {
            token: TokenInfo::of("USDC").address,
            target: U256::from(90_000_000),
        };
        network.send(OWNER, ORACLE, call)
    }),
    ("PriceOracle.resume", |network| {
        let token = TokenInfo::of("USDC").address;
        network.send(
            OWNER,
            ORACLE,
            PriceOracle::haltCall {
                token,
                target: U256::from(90_000_000),
            },
        )?;
        network.send(OWNER, ORACLE, PriceOracle::resumeCall { token })
    }),
    ("PriceOracle.setMaxAge", |network| {
        network.send(
            OWNER,
            ORACLE,
            PriceOracle::setMaxAgeCall {
                newSeconds: "60".parse().unwrap(),
            },
        )
    }),
    ("PriceOracle.setMaxMoveBps", |network| {
        network.send(
            OWNER,
            ORACLE,
            PriceOracle::setMaxMoveBpsCall { newBps: 100 },
        )
    }),
    ("PriceOracle.setPrice", |network| {
        let call = PriceOracle::setPriceCall {
            token: TokenInfo::of("USDC").address,
            price: U256::from(100_010_000),
        };
        network.send(OWNER, ORACLE, call)
    }),
    ("PriceOracle.setUpdater", |network| {
        network.send(
            OWNER,
            ORACLE,
            PriceOracle::setUpdaterCall { newUpdater: ALICE },
        )
    }),
    ("PriceOracle.updatePrices of twelve", |network| {
        let tokens = TOKENS.map(|token| token.address).to_vec();
        let prices = TOKENS
            .map(|token| U256::from(token.price_usd_e8 + 1))
            .to_vec();
        network.send(
            UPDATER,
            ORACLE,
            PriceOracle::updatePricesCall { tokens, prices },
        )
    }),
    ("PriceOracle.updatePricesToward of twelve", |network| {
        let tokens = TOKENS.map(|token| token.address).to_vec();
        let prices = TOKENS
            .map(|token| U256::from(token.price_usd_e8 + 1))
            .to_vec();
        let call = PriceOracle::updatePricesTowardCall {
            tokens,
            targets: prices.clone(),
            prices,
        };
        network.send(UPDATER, ORACLE, call)
    }),
    ("Token.approve", |network| {
        let call = Token::approveCall {
            spender: BOB,
            value: U256::MAX,
        };
        network.send(ALICE, TokenInfo::of("USDC").address, call)
    }),
    ("Token.mint", |network| {
        let call = Token::mintCall {
            to: ALICE,
            amount: U256::from(1),
        };
        network.send(OWNER, TokenInfo::of("USDC").address, call)
    }),
    ("Token.transfer", |network| {
        let call = Token::transferCall {
            to: BOB,
            value: U256::from(1),
        };
        network.send(ALICE, TokenInfo::of("USDC").address, call)
    }),
    ("Vault.addLiquidity", |network| {
        let token = TokenInfo::of("USDC").address;
        let amount = U256::from(1_000_000);
        network.send(OWNER, VAULT, Vault::addLiquidityCall { token, amount })
    }),
    ("Vault.pause", |network| {
        network.send(OWNER, VAULT, Vault::pauseCall {})
    }),
    ("Vault.removeLiquidity", |network| {
        let token = TokenInfo::of("USDC").address;
        let amount = U256::from(1_000_000);
        let to = OWNER;
        network.send(
            OWNER,
            VAULT,
            Vault::removeLiquidityCall { token, amount, to },
        )
    }),
    ("Vault.setImpactWindow", |network| {
        network.send(OWNER, VAULT, Vault::setImpactWindowCall { bpsPerHour: 100 })
    }),
    ("Vault.swapExactTokensForTokens", |network| {
        let weth = TokenInfo::of("WETH");
        let usdc = TokenInfo::of("USDC");
        network.swap(ALICE, (weth, usdc), weth.unit(), U256::ZERO)
    }),
    ("Vault.withdrawFees", |network| {
        let token = TokenInfo::of("USDC").address;
        let amount = U256::MAX;
        let to = OWNER;
        network.send(OWNER, VAULT, Vault::withdrawFeesCall { token, amount, to })
    }),
];

/// Alice has WETH in the pool and owes USDC; Bob supplied USDC; a day has passed.
fn lending() -> Network {
    let mut network = Network::funded();
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    network.deposit(ALICE, weth, weth.worth(20_000)).unwrap();
    network.borrow(ALICE, usdc, usdc.worth(10_000)).unwrap();
    network.deposit(BOB, usdc, usdc.worth(10_000)).unwrap();
    network.wait(DAY);
    network
}

fn liquidate(network: &mut Network, in_kind: bool) -> Result<Receipt, Bytes> {
    let weth = TokenInfo::of("WETH");
    let usdc = TokenInfo::of("USDC");
    network.set_price(weth, weth.price_usd_e8 * 55 / 100);
    let call = LendingPool::liquidateCall {
        borrower: ALICE,
        debtAsset: usdc.address,
        collateralAsset: weth.address,
        amount: usdc.worth(1_000),
        inKind: in_kind,
    };
    network.send(BOB, POOL, call)
}

const LENDING: [Operation; 21] = [
    ("LendingPool.addAsset", |network| {
        let asset = Address::repeat_byte(0x71);
        let p_token = Address::repeat_byte(0x72);
        let arguments =
            ("New".to_owned(), "NEW".to_owned(), U256::from(18), OWNER).abi_encode_params();
        network.deploy(asset, OWNER, "Token", &arguments);
        network.deploy(p_token, OWNER, "PToken", &(POOL, asset).abi_encode_params());
        let parameters = TokenInfo::of("UNI").parameters();
        let call = LendingPool::addAssetCall {
            asset,
            pToken: p_token,
            parameters,
            supplyCapTokens: 0,
            borrowCapTokens: 0,
        };
        network.send(OWNER, POOL, call)
    }),
    ("LendingPool.borrow again", |network| {
        let usdc = TokenInfo::of("USDC");
        network.borrow(ALICE, usdc, usdc.worth(100))
    }),
    ("LendingPool.borrow for the first time", |network| {
        let usdt = TokenInfo::of("USDT");
        network.borrow(BOB, usdt, usdt.worth(100))
    }),
    ("LendingPool.collectTreasury", |network| {
        let asset = TokenInfo::of("USDC").address;
        let amount = U256::MAX;
        let to = OWNER;
        network.send(
            OWNER,
            POOL,
            LendingPool::collectTreasuryCall { asset, amount, to },
        )
    }),
    ("LendingPool.deposit again", |network| {
        let usdc = TokenInfo::of("USDC");
        network.deposit(BOB, usdc, usdc.worth(100))
    }),
    ("LendingPool.deposit for the first time", |network| {
        let usdt = TokenInfo::of("USDT");
        network.deposit(CAROL, usdt, usdt.worth(100))
    }),
    ("LendingPool.liquidate in kind", |network| {
        liquidate(network, true)
    }),
    ("LendingPool.liquidate paid out", |network| {
        liquidate(network, false)
    }),
    ("LendingPool.refresh", |network| {
        network.send(BOB, POOL, LendingPool::refreshCall { user: ALICE })
    }),
    ("LendingPool.repay a part", |network| {
        let usdc = TokenInfo::of("USDC");
        network.repay(ALICE, usdc, usdc.worth(2_000))
    }),
    ("LendingPool.repay everything", |network| {
        network.repay(ALICE, TokenInfo::of("USDC"), U256::MAX)
    }),
    ("LendingPool.setCaps", |network| {
        let asset = TokenInfo::of("USDC").address;
        network.send(
            OWNER,
            POOL,
            LendingPool::setCapsCall {
                asset,
                supplyCapTokens: 1,
                borrowCapTokens: 1,
            },
        )
    }),
    ("LendingPool.setCollateral", |network| {
        network.set_collateral(BOB, TokenInfo::of("USDC"), false)
    }),
    ("LendingPool.setLeastLoan", |network| {
        network.send(
            OWNER,
            POOL,
            LendingPool::setLeastLoanCall {
                usd: U256::from(1_000_000_000),
            },
        )
    }),
    ("LendingPool.setParameters", |network| {
        let asset = TokenInfo::of("USDC").address;
        let parameters = TokenInfo::of("UNI").parameters();
        network.send(
            OWNER,
            POOL,
            LendingPool::setParametersCall { asset, parameters },
        )
    }),
    ("LendingPool.setPaused", |network| {
        let asset = TokenInfo::of("USDC").address;
        network.send(
            OWNER,
            POOL,
            LendingPool::setPausedCall {
                asset,
                paused: true,
            },
        )
    }),
    ("LendingPool.withdraw a part, in debt", |network| {
        let weth = TokenInfo::of("WETH");
        network.withdraw(ALICE, weth, weth.worth(100))
    }),
    ("LendingPool.withdraw everything", |network| {
        network.withdraw(BOB, TokenInfo::of("USDC"), U256::MAX)
    }),
    ("LendingPool.writeOff", |network| {
        let weth = TokenInfo::of("WETH");
        let usdc = TokenInfo::of("USDC");
        network
            .deposit(CAROL, weth, U256::from(2_000_000_000))
            .unwrap();
        network.borrow(CAROL, usdc, U256::from(2)).unwrap();
        network.set_price(weth, 1);
        network.send(BOB, POOL, LendingPool::writeOffCall { user: CAROL })
    }),
    ("PToken.transfer", |network| {
        let usdc = TokenInfo::of("USDC");
        let call = Token::transferCall {
            to: ALICE,
            value: usdc.worth(100),
        };
        network.send(BOB, usdc.p_token(), call)
    }),
    ("PToken.transfer to collateral", |network| {
        let weth = TokenInfo::of("WETH");
        network.give(WHALE, ALICE, weth, weth.worth(100))
    }),
];
