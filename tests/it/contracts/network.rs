//! All contracts, deployed and set up like genesis, in the order in `contracts/README.md`.

use std::{
    ops::{Deref, DerefMut},
    sync::LazyLock,
};

use alloy_primitives::{Address, Bytes, U256, address};
use alloy_sol_types::SolValue;
use revm::database::InMemoryDB;
use tetrad_contracts::contracts::bindings::{
    AccountView, LendingLens, LendingPool, PriceOracle, ReserveState, Token, Vault,
};

use super::{
    bench::{Bench, Receipt, START},
    tokens::{TOKENS, TokenInfo},
};

pub(crate) const OWNER: Address = address!("0x00000000000000000000000000000000000a0001");
pub(crate) const UPDATER: Address = address!("0x00000000000000000000000000000000000a0002");
pub(crate) const ALICE: Address = address!("0x00000000000000000000000000000000000a11ce");
pub(crate) const BOB: Address = address!("0x0000000000000000000000000000000000000b0b");
pub(crate) const CAROL: Address = address!("0x00000000000000000000000000000000000ca401");
pub(crate) const DAVE: Address = address!("0x000000000000000000000000000000000000da7e");
/// Supplies enough of every asset that no other account runs out of cash.
pub(crate) const WHALE: Address = address!("0x00000000000000000000000000000000000ba1e0");
/// Has no tokens and no history.
pub(crate) const STRANGER: Address = address!("0x0000000000000000000000000000000000005a4e");

pub(crate) const ORACLE: Address = address!("0x6e5da6d7a89c6b7cb0e5c64fcf326292f76a0352");
pub(crate) const VAULT: Address = address!("0x49b0f9a0554da1a7243a9c8ac5b45245a66d90ff");
pub(crate) const POOL: Address = address!("0x0000000000000000000000000000000000001001");
pub(crate) const LENS: Address = address!("0x0000000000000000000000000000000000001002");

pub(crate) struct Network {
    bench: Bench,
}

impl Deref for Network {
    type Target = Bench;

    fn deref(&self) -> &Bench {
        &self.bench
    }
}

impl DerefMut for Network {
    fn deref_mut(&mut self) -> &mut Bench {
        &mut self.bench
    }
}

impl Network {
    /// The contracts as deployed. The vault holds ten million dollars of every token, the pool is
    /// empty; the named users hold plenty of every token and have approved vault and pool.
    pub(crate) fn new() -> Self {
        static STATE: LazyLock<InMemoryDB> = LazyLock::new(|| set_up("LendingPool").state());
        Self {
            bench: Bench::resume(STATE.clone(), START),
        }
    }

    /// As [`Self::new`], with the lending pool in which tests set scores and positions.
    pub(crate) fn with_harness() -> Self {
        static STATE: LazyLock<InMemoryDB> = LazyLock::new(|| set_up("test/PoolHarness").state());
        Self {
            bench: Bench::resume(STATE.clone(), START),
        }
    }

    /// As [`Self::with_harness`], with the whale's deposits of a million dollars of every asset.
    pub(crate) fn funded() -> Self {
        static STATE: LazyLock<InMemoryDB> = LazyLock::new(|| {
            let mut network = Network::new();
            for token in TOKENS {
                network
                    .deposit(WHALE, token, token.worth(1_000_000))
                    .unwrap();
            }
            network.state()
        });
        Self {
            bench: Bench::resume(STATE.clone(), START),
        }
    }

    /// Alice with ten thousand dollars of USDC in the pool and a debt of a thousand in USDT.
    pub(crate) fn in_debt() -> Self {
        let mut network = Self::funded();
        let usdc = TokenInfo::of("USDC");
        let usdt = TokenInfo::of("USDT");
        network.deposit(ALICE, usdc, usdc.worth(10_000)).unwrap();
        network.borrow(ALICE, usdt, usdt.worth(1_000)).unwrap();
        network
    }

    pub(crate) fn twin(&self) -> Self {
        Self {
            bench: self.bench.fork(),
        }
    }

    pub(crate) fn set_price(&mut self, token: TokenInfo, price: u64) {
        let price = U256::from(price);
        self.send(
            OWNER,
            ORACLE,
            PriceOracle::setPriceCall {
                token: token.address,
                price,
            },
        )
        .unwrap();
    }

    /// Makes every price fresh again after time has passed.
    pub(crate) fn renew_prices(&mut self) {
        self.renew(&TOKENS);
    }

    /// As [`Self::renew_prices`], for some of the prices.
    pub(crate) fn renew(&mut self, tokens: &[TokenInfo]) {
        let tokens: Vec<Address> = tokens.iter().map(|token| token.address).collect();
        let prices = self
            .look(
                ORACLE,
                PriceOracle::getPricesCall {
                    tokens: tokens.clone(),
                },
            )
            .prices;
        self.send(
            UPDATER,
            ORACLE,
            PriceOracle::updatePricesCall { tokens, prices },
        )
        .unwrap();
    }

    /// Lets time pass until every price is stale except those of `tokens`.
    pub(crate) fn keep_fresh(&mut self, tokens: &[TokenInfo]) {
        self.warp(601);
        self.renew(tokens);
    }

    pub(crate) fn mint(&mut self, token: Address, to: Address, amount: U256) {
        self.send(OWNER, token, Token::mintCall { to, amount })
            .unwrap();
    }

    pub(crate) fn approve(
        &mut self,
        owner: Address,
        token: Address,
        spender: Address,
        value: U256,
    ) {
        self.send(owner, token, Token::approveCall { spender, value })
            .unwrap();
    }

    /// The pool's state of an asset.
    pub(crate) fn reserve(&mut self, asset: Address) -> ReserveState {
        self.look(POOL, LendingPool::getReserveCall { asset }).state
    }

    /// The user's loans as the lens shows them.
    pub(crate) fn account(&mut self, user: Address) -> AccountView {
        self.look(LENS, LendingLens::getAccountCall { user })
    }

    pub(crate) fn halt(&mut self, token: TokenInfo) {
        let call = PriceOracle::haltCall {
            token: token.address,
            target: U256::ZERO,
        };
        self.send(OWNER, ORACLE, call).unwrap();
    }

    pub(crate) fn resume_trading(&mut self, token: TokenInfo) {
        self.send(
            OWNER,
            ORACLE,
            PriceOracle::resumeCall {
                token: token.address,
            },
        )
        .unwrap();
    }

    /// Lets time pass without changes of prices.
    pub(crate) fn wait(&mut self, seconds: u64) {
        self.warp(seconds);
        self.renew_prices();
    }

    pub(crate) fn balance_of(&mut self, token: Address, account: Address) -> U256 {
        self.look(token, Token::balanceOfCall { account })
    }

    pub(crate) fn swap(
        &mut self,
        user: Address,
        (token_in, token_out): (TokenInfo, TokenInfo),
        amount_in: U256,
        min_amount_out: U256,
    ) -> Result<Receipt, Bytes> {
        let call = Vault::swapExactTokensForTokensCall {
            _tokenIn: token_in.address,
            _tokenOut: token_out.address,
            _amountIn: amount_in,
            _minAmountOut: min_amount_out,
        };
        self.send(user, VAULT, call)
    }

    pub(crate) fn deposit(
        &mut self,
        user: Address,
        token: TokenInfo,
        amount: U256,
    ) -> Result<Receipt, Bytes> {
        self.send(
            user,
            POOL,
            LendingPool::depositCall {
                asset: token.address,
                amount,
            },
        )
    }

    pub(crate) fn withdraw(
        &mut self,
        user: Address,
        token: TokenInfo,
        amount: U256,
    ) -> Result<Receipt, Bytes> {
        self.send(
            user,
            POOL,
            LendingPool::withdrawCall {
                asset: token.address,
                amount,
            },
        )
    }

    pub(crate) fn borrow(
        &mut self,
        user: Address,
        token: TokenInfo,
        amount: U256,
    ) -> Result<Receipt, Bytes> {
        self.send(
            user,
            POOL,
            LendingPool::borrowCall {
                asset: token.address,
                amount,
            },
        )
    }

    pub(crate) fn set_collateral(
        &mut self,
        user: Address,
        token: TokenInfo,
        enabled: bool,
    ) -> Result<Receipt, Bytes> {
        self.send(
            user,
            POOL,
            LendingPool::setCollateralCall {
                asset: token.address,
                enabled,
            },
        )
    }

    /// Transfers a claim on a token in the pool.
    pub(crate) fn give(
        &mut self,
        from: Address,
        to: Address,
        token: TokenInfo,
        value: U256,
    ) -> Result<Receipt, Bytes> {
        self.send(from, token.p_token(), Token::transferCall { to, value })
    }

    pub(crate) fn repay(
        &mut self,
        user: Address,
        token: TokenInfo,
        amount: U256,
    ) -> Result<Receipt, Bytes> {
        self.send(
            user,
            POOL,
            LendingPool::repayCall {
                asset: token.address,
                amount,
            },
        )
    }
}

/// Every contract of the network, with all tokens listed.
fn set_up(pool_artifact: &str) -> Bench {
    let mut bench = Bench::new();

    for token in TOKENS {
        let arguments = (
            token.name.to_owned(),
            token.symbol.to_owned(),
            U256::from(token.decimals),
            OWNER,
        );
        let arguments = arguments.abi_encode_params();
        bench.deploy(token.address, OWNER, "Token", &arguments);
    }

    let with_updater = (OWNER, UPDATER).abi_encode_params();
    let with_oracle = (OWNER, ORACLE).abi_encode_params();
    bench.deploy(ORACLE, OWNER, "PriceOracle", &with_updater);
    bench.deploy(VAULT, OWNER, "Vault", &with_oracle);
    bench.deploy(POOL, OWNER, pool_artifact, &with_oracle);
    bench.deploy(LENS, OWNER, "LendingLens", &(POOL,).abi_encode_params());

    for token in TOKENS {
        let arguments = (POOL, token.address).abi_encode_params();
        bench.deploy(token.p_token(), OWNER, "PToken", &arguments);
    }
    for token in TOKENS {
        list(&mut bench, token);
    }
    bench
}

/// Gives a token its price and its holders, and lists it in the vault and the pool.
fn list(bench: &mut Bench, token: TokenInfo) {
    let asset = token.address;
    let set_price = PriceOracle::setPriceCall {
        token: asset,
        price: U256::from(token.price_usd_e8),
    };
    bench.send(OWNER, ORACLE, set_price).unwrap();

    for holder in [OWNER, ALICE, BOB, CAROL, DAVE, WHALE] {
        let mint = Token::mintCall {
            to: holder,
            amount: token.worth(1_000_000_000),
        };
        bench.send(OWNER, asset, mint).unwrap();

        for spender in [VAULT, POOL] {
            let approve = Token::approveCall {
                spender,
                value: U256::MAX,
            };
            bench.send(holder, asset, approve).unwrap();
        }
    }

    let add_token = Vault::addTokenCall { token: asset };
    bench.send(OWNER, VAULT, add_token).unwrap();
    let add_liquidity = Vault::addLiquidityCall {
        token: asset,
        amount: token.worth(10_000_000),
    };
    bench.send(OWNER, VAULT, add_liquidity).unwrap();

    let add_asset = LendingPool::addAssetCall {
        asset,
        pToken: token.p_token(),
        parameters: token.parameters(),
        supplyCapTokens: 0,
        borrowCapTokens: 0,
    };
    bench.send(OWNER, POOL, add_asset).unwrap();
}
