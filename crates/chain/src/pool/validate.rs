//! Stateless validation of a transaction, before the pool reads its sender's account: geth's checks
//! in geth's order.

use alloy_consensus::{Transaction as _, TxType, Typed2718};
use alloy_eips::eip2718::Encodable2718;
use revm::{
    context::{Cfg, CfgEnv},
    context_interface::cfg::GasParams,
    primitives::eip3860,
};
use tetrad_evm::{ChainParams, Fork, Rules};
use tetrad_primitives::block::{DecodeError, Submission};

use super::price::prices;
use crate::{SubmitError, block::apply::is_protected_too_early};

/// Maximum size of an encoded transaction without its blobs, in bytes.
const MAX_SIZE: usize = 128 * 1024;
/// Maximum gas limit of a transaction that its block's does not bound: execution has to end.
const MAX_GAS: u64 = 1_000_000_000_000;

/// The parameters that transactions are validated against.
#[derive(Clone, Copy, Debug)]
pub struct Admission<'a> {
    /// The parameters of the chain.
    pub params: &'a ChainParams,
    /// The rules of the next block.
    pub rules: Rules,
    /// The gas limit of the next block.
    pub gas_limit: u64,
    /// The minimum tip, in wei per gas.
    pub min_tip: u128,
}

impl Admission<'_> {
    /// Checks everything that depends on the transaction alone.
    pub fn check(&self, submission: &Submission) -> Result<(), SubmitError> {
        let tx = &submission.transaction.envelope;
        let limits = self.params.limits;

        let since = match tx.tx_type() {
            TxType::Legacy => Fork::Frontier,
            TxType::Eip2930 => Fork::Berlin,
            TxType::Eip1559 => Fork::London,
            TxType::Eip4844 => Fork::Cancun,
            TxType::Eip7702 => Fork::Prague,
        };
        if !self.rules.has(since) {
            return Err(SubmitError::TypeNotSupported(tx.ty()));
        }
        if is_protected_too_early(tx, self.rules) {
            return Err(DecodeError::Signature.into());
        }

        // Without a limit on code, the transactions that create it are not limited either.
        let size = tx.encode_2718_len();
        if size > MAX_SIZE && limits.code_size {
            return Err(SubmitError::Oversized {
                size,
                limit: MAX_SIZE,
            });
        }

        if let Some(have) = tx.chain_id().filter(|id| *id != self.params.chain_id) {
            return Err(SubmitError::WrongChain {
                have,
                want: self.params.chain_id,
            });
        }

        // EIP-3860 limits the size of init code.
        let code = tx.input().len();
        let limit = eip3860::MAX_INITCODE_SIZE;
        if self.rules.has(Fork::Shanghai)
            && tx.kind().is_create()
            && code > limit
            && limits.code_size
        {
            return Err(SubmitError::InitCodeSize { size: code, limit });
        }

        self.check_gas(submission)?;
        self.check_price(submission)?;
        self.check_blobs(submission)?;

        if tx.authorization_list().is_some_and(<[_]>::is_empty) {
            return Err(SubmitError::EmptyAuthorizationList);
        }

        // The nonce after it could not be represented (EIP-2681).
        if tx.nonce() == u64::MAX {
            return Err(SubmitError::NonceMax(submission.transaction.sender));
        }
        Ok(())
    }

    fn check_gas(&self, submission: &Submission) -> Result<(), SubmitError> {
        let tx = &submission.transaction.envelope;
        let limits = self.params.limits;
        let gas = tx.gas_limit();

        // EIP-7825 caps the gas of a transaction.
        let cap = CfgEnv::new()
            .with_spec_and_mainnet_gas_params(self.rules.spec())
            .tx_gas_limit_cap();
        if gas > cap && limits.transaction_gas {
            return Err(SubmitError::TransactionGasCap { cap, gas });
        }

        let limit = if limits.block_gas {
            self.gas_limit
        } else {
            self.gas_limit.max(MAX_GAS)
        };
        if gas > limit {
            return Err(SubmitError::BlockGasLimit);
        }

        let slots = tx.access_list().map_or(0, |list| {
            list.iter().map(|item| item.storage_keys.len()).sum()
        });
        let initial = GasParams::new_spec(self.rules.spec()).initial_tx_gas(
            tx.input(),
            tx.kind().is_create(),
            tx.access_list().map_or(0, |list| list.len()) as u64,
            slots as u64,
            tx.authorization_list().map_or(0, <[_]>::len) as u64,
            None,
        );

        let needed = initial.initial_total_gas();
        if gas < needed {
            return Err(SubmitError::IntrinsicGas { gas, needed });
        }

        // EIP-7623 sets a floor for the price of call data.
        let needed = initial.floor_gas();
        if self.rules.has(Fork::Prague) && gas < needed {
            return Err(SubmitError::FloorDataGas { gas, needed });
        }
        Ok(())
    }

    fn check_price(&self, submission: &Submission) -> Result<(), SubmitError> {
        let (tip, max) = prices(&submission.transaction);
        if tip > max {
            return Err(SubmitError::TipAboveFeeCap { tip, max });
        }
        if tip < self.min_tip {
            return Err(SubmitError::Underpriced {
                tip,
                minimum: self.min_tip,
            });
        }
        Ok(())
    }

    fn check_blobs(&self, submission: &Submission) -> Result<(), SubmitError> {
        let Some(hashes) = submission.transaction.envelope.blob_versioned_hashes() else {
            return Ok(());
        };
        let max = self.rules.blobs.map_or(0, |blobs| blobs.max_blobs_per_tx) as usize;

        // In geth's words.
        match hashes.len() {
            0 => Err(SubmitError::Blobs("blobless blob transaction".to_owned())),
            have if have > max => Err(SubmitError::Blobs(format!(
                "too many blobs in transaction: have {have}, permitted {max}"
            ))),
            // Blobs are not required of an account that the node impersonates.
            _ if submission.sidecar.is_none() && !submission.transaction.is_impersonated() => Err(
                SubmitError::Blobs("missing sidecar in blob transaction".to_owned()),
            ),
            _ => Ok(()),
        }
    }
}
