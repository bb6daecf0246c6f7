//! Records as JSON. Amounts are whole tokens, prices US dollars, both exact.

use alloy_primitives::{Address, U256};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    record::{Deed, Movement, Record},
    scan::{Page, Position},
};
use crate::{
    decimal::with_point,
    network::{Network, Token},
};

/// Decimals of dollars on chain.
const USD_DECIMALS: u8 = 8;

/// A page of what users did, newest first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActivityPage")]
pub(super) struct PageBody {
    success: bool,
    data: Vec<Entry>,
    count: usize,
    /// What to pass as `before` for the next page, which may be there even if this one is short; none if this is the last.
    next: Option<String>,
}

/// Something that a user did.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ActivityEntry")]
struct Entry {
    /// Where it stands: block and log.
    id: String,
    transaction_hash: String,
    block_number: u64,
    /// The block's time in milliseconds since the Unix epoch.
    timestamp: u64,
    #[serde(flatten)]
    deed: DeedBody,
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[schemars(rename = "Deed")]
enum DeedBody {
    Swap {
        user: String,
        token_in: Asset,
        token_out: Asset,
        amount_in: String,
        amount_out: String,
        /// What the vault kept, in the token that was bought.
        fee: String,
        /// US dollars.
        price_in: String,
        price_out: String,
        /// The share of the reserve that was taken, in basis points.
        price_impact_bps: u64,
    },
    Deposit(MovementBody),
    Withdraw(MovementBody),
    Borrow(MovementBody),
    Repay(MovementBody),
    Transfer {
        asset: Asset,
        from: String,
        to: String,
        amount: String,
    },
    Liquidation {
        borrower: String,
        liquidator: String,
        debt_asset: Asset,
        collateral_asset: Asset,
        repaid: String,
        seized: String,
        fee: String,
    },
    WriteOff(MovementBody),
}

/// An amount that somebody moved.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Movement")]
struct MovementBody {
    user: String,
    asset: Asset,
    amount: String,
}

/// A token in short.
#[derive(Serialize, JsonSchema)]
struct Asset {
    address: String,
    symbol: String,
}

impl PageBody {
    pub(super) fn new(page: &Page, network: &Network) -> Self {
        let names = Names(network);
        Self {
            success: true,
            data: page.records.iter().map(|record| names.entry(record)).collect(),
            count: page.records.len(),
            next: page.next.map(|position| position.to_string()),
        }
    }
}

/// What tokens are called.
struct Names<'a>(&'a Network);

impl Names<'_> {
    fn entry(&self, record: &Record) -> Entry {
        Entry {
            id: Position { block: record.block, log_index: record.log_index }.to_string(),
            transaction_hash: record.transaction.to_string(),
            block_number: record.block,
            timestamp: record.time.saturating_mul(1_000),
            deed: self.deed(&record.deed),
        }
    }

    fn deed(&self, deed: &Deed) -> DeedBody {
        match deed {
            Deed::Swap(swap) => {
                let (event, priced) = (&swap.event, &swap.priced);
                DeedBody::Swap {
                    user: text(event.user),
                    token_in: self.asset(event.tokenIn),
                    token_out: self.asset(event.tokenOut),
                    amount_in: self.amount(event.tokenIn, event.amountIn),
                    amount_out: self.amount(event.tokenOut, event.amountOut),
                    fee: self.amount(event.tokenOut, priced.fee),
                    price_in: with_point(priced.priceIn, USD_DECIMALS),
                    price_out: with_point(priced.priceOut, USD_DECIMALS),
                    price_impact_bps: priced.impactBps.saturating_to(),
                }
            }
            Deed::Deposit(movement) => DeedBody::Deposit(self.movement(movement)),
            Deed::Withdrawal(movement) => DeedBody::Withdraw(self.movement(movement)),
            Deed::Borrowing(movement) => DeedBody::Borrow(self.movement(movement)),
            Deed::Repayment(movement) => DeedBody::Repay(self.movement(movement)),
            Deed::Transfer { asset, from, to, amount } => DeedBody::Transfer {
                asset: self.asset(*asset),
                from: text(*from),
                to: text(*to),
                amount: self.amount(*asset, *amount),
            },
            Deed::Liquidation(event) => DeedBody::Liquidation {
                borrower: text(event.borrower),
                liquidator: text(event.liquidator),
                debt_asset: self.asset(event.debtAsset),
                collateral_asset: self.asset(event.collateralAsset),
                repaid: self.amount(event.debtAsset, event.repaid),
                seized: self.amount(event.collateralAsset, event.seized),
                fee: self.amount(event.collateralAsset, event.fee),
            },
            Deed::WriteOff { asset, user, amount } => {
                DeedBody::WriteOff(self.movement(&Movement { asset: *asset, user: *user, amount: *amount }))
            }
        }
    }

    fn movement(&self, movement: &Movement) -> MovementBody {
        MovementBody {
            user: text(movement.user),
            asset: self.asset(movement.asset),
            amount: self.amount(movement.asset, movement.amount),
        }
    }

    fn token(&self, address: Address) -> Option<&Token> {
        self.0.tokens.iter().find(|token| token.address == address)
    }

    /// A token that an owner added later has no name here.
    fn asset(&self, address: Address) -> Asset {
        let symbol = self.token(address).map_or_else(String::new, |token| token.symbol.clone());
        Asset { address: text(address), symbol }
    }

    /// Whole tokens; of a token that is not known, the smallest unit.
    fn amount(&self, address: Address, amount: U256) -> String {
        with_point(amount, self.token(address).map_or(0, |token| token.decimals))
    }
}

fn text(address: Address) -> String {
    address.to_checksum(None)
}
