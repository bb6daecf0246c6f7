//! Decodes the logs of a block into records.

use alloy_primitives::{Address, B256, Log, U256};
use alloy_sol_types::SolEvent;
use tetrad_contracts::contracts::bindings::{LendingPool, Vault};
use tetrad_network::network::Network;
use tetrad_primitives::block::Block;

/// An action of a user and its position on the chain.
#[derive(Clone, Debug)]
pub(super) struct ActivityRecord {
    pub(super) block: u64,
    pub(super) log_index: u64,
    /// The block's time, in seconds since the Unix epoch.
    pub(super) time: u64,
    pub(super) transaction: B256,
    pub(super) action: Action,
}

/// The action of a user.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Swap(Box<Swap>),
    Deposit(Movement),
    Withdrawal(Movement),
    Borrowing(Movement),
    Repayment(Movement),
    Transfer {
        asset: Address,
        from: Address,
        to: Address,
        amount: U256,
    },
    Liquidation(Box<LendingPool::Liquidation>),
    WriteOff {
        asset: Address,
        user: Address,
        amount: U256,
    },
}

/// A swap and its pricing. Prices are US dollars × 10^8.
#[derive(Clone, Debug)]
pub(super) struct Swap {
    pub(super) event: Vault::Swap,
    pub(super) priced: Vault::SwapPriced,
}

/// An amount of an asset that moved into or out of the lending pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Movement {
    pub(super) asset: Address,
    pub(super) user: Address,
    pub(super) amount: U256,
}

impl ActivityRecord {
    /// All actions of users in a block, in order.
    pub(super) fn of_block(block: &Block, network: &Network) -> Vec<Self> {
        let contracts = &network.contracts;
        let mut records = Vec::new();

        // The vault emits two consecutive events for a swap: the amounts, then the pricing.
        let mut swap: Option<(u64, Vault::Swap)> = None;
        for at in block.logs() {
            let action = if at.log.address == contracts.vault {
                match (Vault::Swap::decode_log_data(&at.log.data), swap.take()) {
                    (Ok(event), _) => {
                        swap = Some((at.log_index, event));
                        None
                    }
                    (Err(_), Some((log_index, event))) => {
                        Vault::SwapPriced::decode_log_data(&at.log.data)
                            .ok()
                            .map(|priced| {
                                (log_index, Action::Swap(Box::new(Swap { event, priced })))
                            })
                    }
                    (Err(_), None) => None,
                }
            } else if at.log.address == contracts.lending_pool {
                lending(at.log).map(|action| (at.log_index, action))
            } else {
                None
            };

            records.extend(action.map(|(log_index, action)| Self {
                block: block.number(),
                log_index,
                time: block.header.timestamp,
                transaction: at.transaction.hash(),
                action,
            }));
        }

        records
    }
}

/// The action in a log of the lending pool; none if the log is of another kind.
fn lending(log: &Log) -> Option<Action> {
    use LendingPool::{
        Borrow, DebtWrittenOff, Deposit, Liquidation, Repay, SupplyTransferred, Withdraw,
    };

    let data = &log.data;
    Some(match *data.topics().first()? {
        Deposit::SIGNATURE_HASH => {
            let event = Deposit::decode_log_data(data).ok()?;
            Action::Deposit(Movement::new(event.asset, event.user, event.amount))
        }
        Withdraw::SIGNATURE_HASH => {
            let event = Withdraw::decode_log_data(data).ok()?;
            Action::Withdrawal(Movement::new(event.asset, event.user, event.amount))
        }
        Borrow::SIGNATURE_HASH => {
            let event = Borrow::decode_log_data(data).ok()?;
            Action::Borrowing(Movement::new(event.asset, event.user, event.amount))
        }
        Repay::SIGNATURE_HASH => {
            let event = Repay::decode_log_data(data).ok()?;
            Action::Repayment(Movement::new(event.asset, event.user, event.amount))
        }
        SupplyTransferred::SIGNATURE_HASH => {
            let event = SupplyTransferred::decode_log_data(data).ok()?;
            Action::Transfer {
                asset: event.asset,
                from: event.from,
                to: event.to,
                amount: event.amount,
            }
        }
        Liquidation::SIGNATURE_HASH => {
            Action::Liquidation(Box::new(Liquidation::decode_log_data(data).ok()?))
        }
        DebtWrittenOff::SIGNATURE_HASH => {
            let event = DebtWrittenOff::decode_log_data(data).ok()?;
            Action::WriteOff {
                asset: event.asset,
                user: event.user,
                amount: event.amount,
            }
        }
        _ => return None,
    })
}

impl Movement {
    fn new(asset: Address, user: Address, amount: U256) -> Self {
        Self {
            asset,
            user,
            amount,
        }
    }
}

impl Action {
    /// Whether the user took part in the action.
    pub(super) fn concerns(&self, who: Address) -> bool {
        match self {
            Self::Swap(swap) => swap.event.user == who,
            Self::Deposit(movement)
            | Self::Withdrawal(movement)
            | Self::Borrowing(movement)
            | Self::Repayment(movement) => movement.user == who,
            Self::Transfer { from, to, .. } => *from == who || *to == who,
            Self::Liquidation(event) => event.borrower == who || event.liquidator == who,
            Self::WriteOff { user, .. } => *user == who,
        }
    }
}
