//! Records as JSON. Amounts are whole tokens, prices US dollars, both exact.

use alloy_primitives::{Address, U256};
use schemars::JsonSchema;
use serde::Serialize;
use tetrad_network::network::{Network, Token, USD_DECIMALS};
use tetrad_stdx::decimal::with_point;

use super::{
    record::{Action, ActivityRecord, Movement},
    scan::{Page, RecordPosition},
};

/// A page of activity, newest first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActivityPage")]
pub(super) struct PageBody {
    success: bool,
    data: Vec<ActivityEntry>,
    count: usize,
    /// The value of `before` for the next page, which may exist even if this one is short; none if
    /// this is the last.
    next: Option<String>,
}

/// An action of a user.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ActivityEntry")]
struct ActivityEntry {
    /// The position of the event: block and log.
    id: String,
    transaction_hash: String,
    block_number: u64,
    /// The block's time in milliseconds since the Unix epoch.
    timestamp: u64,
    #[serde(flatten)]
    action: ActionBody,
}

#[derive(Serialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[schemars(rename = "Action")]
enum ActionBody {
    Swap {
        user: String,
        token_in: Asset,
        token_out: Asset,
        amount_in: String,
        amount_out: String,
        /// The fee of the vault, in the token that was bought.
        fee: String,
        /// US dollars.
        price_in: String,
        price_out: String,
        /// The share of the reserve that the swap took, in basis points.
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

/// An amount moved by a user.
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
        let names = TokenNames(network);
        Self {
            success: true,
            data: page
                .records
                .iter()
                .map(|record| names.entry(record))
                .collect(),
            count: page.records.len(),
            next: page.next.map(|position| position.to_string()),
        }
    }
}

/// The names of the tokens.
struct TokenNames<'a>(&'a Network);

impl TokenNames<'_> {
    fn entry(&self, record: &ActivityRecord) -> ActivityEntry {
        ActivityEntry {
            id: RecordPosition {
                block: record.block,
                log_index: record.log_index,
            }
            .to_string(),
            transaction_hash: record.transaction.to_string(),
            block_number: record.block,
            timestamp: record.time.saturating_mul(1_000),
            action: self.action(&record.action),
        }
    }

    fn action(&self, action: &Action) -> ActionBody {
        match action {
            Action::Swap(swap) => {
                let event = &swap.event;
                let priced = &swap.priced;
                ActionBody::Swap {
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
            Action::Deposit(movement) => ActionBody::Deposit(self.movement(movement)),
            Action::Withdrawal(movement) => ActionBody::Withdraw(self.movement(movement)),
            Action::Borrowing(movement) => ActionBody::Borrow(self.movement(movement)),
            Action::Repayment(movement) => ActionBody::Repay(self.movement(movement)),
            Action::Transfer {
                asset,
                from,
                to,
                amount,
            } => ActionBody::Transfer {
                asset: self.asset(*asset),
                from: text(*from),
                to: text(*to),
                amount: self.amount(*asset, *amount),
            },
            Action::Liquidation(event) => ActionBody::Liquidation {
                borrower: text(event.borrower),
                liquidator: text(event.liquidator),
                debt_asset: self.asset(event.debtAsset),
                collateral_asset: self.asset(event.collateralAsset),
                repaid: self.amount(event.debtAsset, event.repaid),
                seized: self.amount(event.collateralAsset, event.seized),
                fee: self.amount(event.collateralAsset, event.fee),
            },
            Action::WriteOff {
                asset,
                user,
                amount,
            } => ActionBody::WriteOff(self.movement(&Movement {
                asset: *asset,
                user: *user,
                amount: *amount,
            })),
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

    /// A token listed after genesis has no name here.
    fn asset(&self, address: Address) -> Asset {
        let symbol = self
            .token(address)
            .map_or_else(String::new, |token| token.symbol.clone());
        Asset {
            address: text(address),
            symbol,
        }
    }

    /// Returns an amount in whole tokens, or in the smallest unit of an unknown token.
    fn amount(&self, address: Address, amount: U256) -> String {
        with_point(
            amount,
            self.token(address).map_or(0, |token| token.decimals),
        )
    }
}

fn text(address: Address) -> String {
    address.to_checksum(None)
}
