//! Admission of Cosmos transactions: the checks of the SDK, with its errors.

use std::borrow::Cow;

use alloy_primitives::U256;
use revm::context::{Cfg, CfgEnv};
use tetrad_evm::Environment;
use tetrad_primitives::{
    block::cosmos::{CosmosError, CosmosTransaction, SignerData},
    state::Account,
};

use super::{Chain, Head, SubmitError};

impl Chain {
    /// Checks everything about a transaction that a client sends but whether the pool has room for
    /// it. In contrast to Ethereum's, its sequence has to be the next one after the account's
    /// pending transactions, and it has to pay the next block's base fee. The signature, which
    /// costs most, is verified last.
    pub fn check_cosmos(&self, tx: &CosmosTransaction) -> Result<(), CosmosError> {
        let head = self.head();
        let next = self.next_environment(&head);

        self.check_static(tx, &head, &next)?;

        let price = U256::from(next.base_fee.unwrap_or(0)) + U256::from(self.min_tip());
        let required = price.saturating_mul(U256::from(tx.gas_limit));
        if tx.fee < required {
            let denom = &head.params.cosmos.denom;
            let what = format!(
                "insufficient fees; got: {}{denom} required: {required}{denom}",
                tx.fee
            );
            return Err(CosmosError::insufficient_fee(what));
        }

        let account = self.sender_of(tx, &head)?;
        if account.balance < tx.fee {
            return Err(too_poor(account.balance, tx.fee, &head.params.cosmos.denom));
        }

        self.check_sequence(tx, &account)?;
        verify(tx, &head, &account)
    }

    /// Checks a transaction that may lack a signature, a fee and a gas limit. Returns the gas that
    /// it needs.
    pub fn simulate_cosmos(&self, tx: &CosmosTransaction) -> Result<u64, CosmosError> {
        let head = self.head();

        tx.check_renderable()?;
        tx.check(&head.params.cosmos)?;
        check_timeout(tx, &self.next_environment(&head))?;

        let account = self.sender_of(tx, &head)?;
        self.check_sequence(tx, &account)?;

        let sent = tx.transfers.iter().fold(U256::ZERO, |sum, transfer| {
            sum.saturating_add(transfer.amount)
        });
        let left = account.balance.saturating_sub(tx.fee);
        if left < sent {
            return Err(too_poor(left, sent, &head.params.cosmos.denom));
        }

        Ok(tx.gas_needed())
    }

    /// Checks what the pool requires of a transaction, whichever way it comes.
    pub(super) fn admit_cosmos(
        &self,
        tx: &CosmosTransaction,
        head: &Head,
        next: &Environment,
        min_tip: u128,
    ) -> Result<(), SubmitError> {
        self.check_static(tx, head, next)?;

        let price = U256::from(min_tip).saturating_mul(U256::from(tx.gas_limit));
        if tx.fee < price {
            return Err(
                CosmosError::insufficient_fee("the fee is below the node's minimum").into(),
            );
        }

        let account = self.sender_of(tx, head)?;
        if tx.sequence < account.nonce {
            return Err(SubmitError::NonceTooLow {
                next: account.nonce,
                nonce: tx.sequence,
            });
        }
        if account.balance < tx.fee {
            return Err(SubmitError::InsufficientFunds {
                balance: account.balance,
                cost: tx.fee,
            });
        }

        Ok(verify(tx, head, &account)?)
    }

    /// Checks what depends on the chain's parameters and the next block alone.
    fn check_static(
        &self,
        tx: &CosmosTransaction,
        head: &Head,
        next: &Environment,
    ) -> Result<(), CosmosError> {
        check_timeout(tx, next)?;
        tx.check_renderable()?;
        tx.check(&head.params.cosmos)?;

        let precompiles = next.precompiles(&head.params);
        if let Some(transfer) = tx
            .transfers
            .iter()
            .find(|transfer| precompiles.get(&transfer.to).is_some())
        {
            return Err(CosmosError::unauthorized(format!(
                "{} is not allowed to receive funds",
                transfer.to
            )));
        }

        // The cap of EIP-7825, since Osaka.
        let cap = CfgEnv::new()
            .with_spec_and_mainnet_gas_params(next.rules.spec())
            .tx_gas_limit_cap();
        let limit = cap.min(next.gas_limit);
        if tx.gas_limit > limit {
            return Err(CosmosError::invalid_gas_limit(format!(
                "gas limit {} exceeds {limit}",
                tx.gas_limit
            )));
        }

        let needed = tx.gas_needed();
        if tx.gas_limit < needed {
            let what = format!(
                "out of gas in location: bank; gasWanted: {}, gasUsed: {needed}",
                tx.gas_limit
            );
            return Err(CosmosError::out_of_gas(what));
        }

        // No nonce can follow it (EIP-2681).
        if tx.sequence == u64::MAX {
            return Err(CosmosError::wrong_sequence(format!(
                "{} is the last sequence",
                tx.sequence
            )));
        }

        Ok(())
    }

    fn sender_of(&self, tx: &CosmosTransaction, head: &Head) -> Result<Account, CosmosError> {
        let account = head.state.get(tx.sender)?;
        account.map(Cow::into_owned).ok_or_else(|| {
            CosmosError::unknown_address(format!("account {} does not exist", tx.sender_text()))
        })
    }

    fn check_sequence(&self, tx: &CosmosTransaction, account: &Account) -> Result<(), CosmosError> {
        let pending = self.pool().pending_nonce(tx.sender);
        let expected = pending.unwrap_or(0).max(account.nonce);
        if tx.sequence == expected {
            return Ok(());
        }
        Err(CosmosError::wrong_sequence(format!(
            "account sequence mismatch, expected {expected}, got {}",
            tx.sequence
        )))
    }
}

fn check_timeout(tx: &CosmosTransaction, next: &Environment) -> Result<(), CosmosError> {
    let height = next.number;
    let timeout = tx.body.timeout_height;
    // A timeout of 0 means that there is none.
    if timeout != 0 && height > timeout {
        return Err(CosmosError::timeout_height(format!(
            "block height: {height}, timeout height: {timeout}"
        )));
    }
    Ok(())
}

fn verify(tx: &CosmosTransaction, head: &Head, account: &Account) -> Result<(), CosmosError> {
    let params = &head.params;
    tx.verify(&SignerData {
        chain_id: &params.cosmos.chain_id,
        evm_chain_id: params.chain_id,
        account_number: account.shown_number(),
    })
}

fn too_poor(balance: U256, amount: U256, denom: &str) -> CosmosError {
    CosmosError::insufficient_funds(format!(
        "spendable balance {balance}{denom} is smaller than {amount}{denom}"
    ))
}
