//! The execution of Cosmos transactions. They run no code: balances move, the nonce rises and the
//! whole fee is taken, of which the base fee is burned.
//!
//! An inspector sees the transfers as calls: one from the sender to the recipient or, if there are
//! several transfers, one to the bank with a call for each of them.

use alloy_consensus::Transaction as _;
use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::{Revert, SolError};
use revm::{
    bytecode::Bytecode,
    context::ContextSetters,
    context_interface::{
        Block as _, ContextTr, JournalTr,
        journaled_state::account::JournaledAccountTr,
        result::{
            ExecutionResult, InvalidTransaction, Output, ResultAndState, ResultGas, SuccessReason,
        },
    },
    interpreter::{
        CallInput, CallInputs, CallOutcome, CallScheme, CallValue, Gas, InstructionResult,
        InterpreterResult,
    },
};
use tetrad_primitives::{
    block::{
        Transaction,
        cosmos::{BANK_ADDRESS, CosmosError, CosmosNetwork, CosmosTransaction, SignerData},
    },
    state::ReadError,
};

use super::{AnyInspector, EvmContext, TransactionError, transaction::tx_env};

/// Executes a Cosmos transaction. The signature is verified here, since it depends on the account's
/// number.
pub(super) fn run_cosmos(
    context: &mut EvmContext<'_>,
    inspector: &mut AnyInspector<'_>,
    network: &CosmosNetwork,
    transaction: &Transaction,
    cosmos: &CosmosTransaction,
) -> Result<ResultAndState, TransactionError> {
    context.set_tx(tx_env(transaction));
    let executed = execute(context, inspector, network, transaction, cosmos);
    // The journal is emptied after a failure as well.
    let state = context.journal_mut().finalize();
    Ok(ResultAndState {
        result: executed?,
        state,
    })
}

/// Checks everything but the signature that decides whether the transaction may be in this block,
/// and takes its fee.
fn charge(
    context: &mut EvmContext<'_>,
    network: &CosmosNetwork,
    transaction: &Transaction,
    cosmos: &CosmosTransaction,
) -> Result<(), TransactionError> {
    cosmos.check(network)?;

    let height: u64 = context.block.number().saturating_to();
    let timeout = cosmos.body.timeout_height;
    if timeout != 0 && height > timeout {
        let what = format!("block height: {height}, timeout height: {timeout}");
        return Err(CosmosError::timeout_height(what).into());
    }

    let needed = cosmos.gas_needed();
    if cosmos.gas_limit < needed {
        let what = format!("gasWanted: {}, gasUsed: {needed}", cosmos.gas_limit);
        return Err(CosmosError::out_of_gas(what).into());
    }

    let invalid = |error| Err(TransactionError::Invalid(error));
    if transaction.envelope.max_fee_per_gas() < u128::from(context.block.basefee()) {
        return invalid(InvalidTransaction::GasPriceLessThanBasefee);
    }

    let fee = cosmos.fee;
    let mut sender = context.journal_mut().load_account_mut(cosmos.sender)?;
    let nonce = sender.nonce();
    let balance = *sender.balance();
    match cosmos.sequence {
        tx if tx > nonce => return invalid(InvalidTransaction::NonceTooHigh { tx, state: nonce }),
        tx if tx < nonce => return invalid(InvalidTransaction::NonceTooLow { tx, state: nonce }),
        _ => {}
    }

    if !sender.bump_nonce() {
        return invalid(InvalidTransaction::NonceOverflowInTransaction);
    }
    // The SDK takes the whole fee, however little gas is used.
    if !sender.decr_balance(fee) {
        return invalid(InvalidTransaction::LackOfFundForMaxFee {
            fee: Box::new(fee),
            balance: Box::new(balance),
        });
    }
    sender.touch();
    Ok(())
}

/// Verifies the signature.
fn verify(
    context: &mut EvmContext<'_>,
    network: &CosmosNetwork,
    cosmos: &CosmosTransaction,
) -> Result<(), TransactionError> {
    let number = context.db_mut().account_number(cosmos.sender)?;
    let number =
        number.ok_or_else(|| CosmosError::unknown_address(format!("account {}", cosmos.sender)))?;
    let signer = SignerData {
        chain_id: &network.chain_id,
        evm_chain_id: context.cfg.chain_id,
        account_number: number,
    };
    Ok(cosmos.verify_in_block(&signer)?)
}

fn execute(
    context: &mut EvmContext<'_>,
    inspector: &mut AnyInspector<'_>,
    network: &CosmosNetwork,
    transaction: &Transaction,
    cosmos: &CosmosTransaction,
) -> Result<ExecutionResult, TransactionError> {
    charge(context, network, transaction, cosmos)?;
    verify(context, network, cosmos)?;

    let mut frame = Frame {
        context,
        inspector,
        sender: cosmos.sender,
    };
    let failure = frame.perform(transaction, cosmos)?;

    let fee = cosmos.fee;
    let gas_limit = cosmos.gas_limit;
    // As in EIP-1559, the base fee is burned, and the rest is a tip.
    let burned = U256::from(context.block.basefee()) * U256::from(gas_limit);
    let beneficiary = context.block.beneficiary();
    context
        .journal_mut()
        .balance_incr(beneficiary, fee.saturating_sub(burned))?;
    context.journal_mut().commit_tx();

    // The whole fee is taken, so that the receipt shows the whole limit as used.
    let gas = ResultGas::default().with_total_gas_spent(gas_limit);
    Ok(match failure {
        None => ExecutionResult::Success {
            reason: SuccessReason::Stop,
            gas,
            logs: Vec::new(),
            output: Output::Call(Bytes::new()),
        },
        Some(output) => ExecutionResult::Revert {
            gas,
            logs: Vec::new(),
            output,
        },
    })
}

/// The execution of transfers from one account, with an inspector.
struct Frame<'f, 'a> {
    context: &'f mut EvmContext<'a>,
    inspector: &'f mut AnyInspector<'f>,
    sender: Address,
}

impl Frame<'_, '_> {
    /// Performs the transfers of a transaction, with an outer call that an inspector sees. Returns
    /// the revert data if one of them fails.
    fn perform(
        &mut self,
        transaction: &Transaction,
        cosmos: &CosmosTransaction,
    ) -> Result<Option<Bytes>, ReadError> {
        let tx = &transaction.envelope;
        let to = tx.to().unwrap_or(BANK_ADDRESS);
        let value = tx.value();
        if to != BANK_ADDRESS {
            return self.call(to, value, tx.input(), cosmos.gas_limit, |frame| {
                frame.transfer(to, value, 0)
            });
        }

        self.call(to, value, tx.input(), cosmos.gas_limit, |frame| {
            for (index, transfer) in cosmos.transfers.iter().enumerate() {
                let sent = frame.call(transfer.to, transfer.amount, &Bytes::new(), 0, |frame| {
                    frame.transfer(transfer.to, transfer.amount, index)
                })?;
                // As in the SDK, one failed message undoes all.
                if sent.is_some() {
                    return Ok(sent);
                }
            }
            Ok(None)
        })
    }

    /// Shows a call to the inspector and performs it. A failed one has no effect, and returns the
    /// reason as revert data.
    fn call(
        &mut self,
        to: Address,
        value: U256,
        input: &Bytes,
        gas_limit: u64,
        perform: impl FnOnce(&mut Self) -> Result<Option<Bytes>, ReadError>,
    ) -> Result<Option<Bytes>, ReadError> {
        let mut inputs = CallInputs {
            input: CallInput::Bytes(input.clone()),
            return_memory_offset: 0..0,
            gas_limit,
            reservoir: 0,
            bytecode_address: to,
            known_bytecode: (alloy_primitives::KECCAK256_EMPTY, Bytecode::default()),
            target_address: to,
            caller: self.sender,
            value: CallValue::Transfer(value),
            scheme: CallScheme::Call,
            is_static: false,
            charged_new_account_state_gas: false,
        };
        // Nothing that an inspector returns changes what the block contains.
        let _ = self.inspector.call(self.context, &mut inputs);

        let checkpoint = self.context.journal_mut().checkpoint();
        let failure = perform(self)?;
        match failure {
            None => self.context.journal_mut().checkpoint_commit(),
            Some(_) => self.context.journal_mut().checkpoint_revert(checkpoint),
        }

        let mut gas = Gas::new(gas_limit);
        gas.spend_all();
        let (result, output) = match &failure {
            None => (InstructionResult::Stop, Bytes::new()),
            Some(output) => (InstructionResult::Revert, output.clone()),
        };
        let mut outcome = CallOutcome::new(
            InterpreterResult {
                result,
                output,
                gas,
            },
            0..0,
        );

        self.inspector.call_end(self.context, &inputs, &mut outcome);
        Ok(failure)
    }

    /// Moves an amount to an account.
    fn transfer(
        &mut self,
        to: Address,
        amount: U256,
        index: usize,
    ) -> Result<Option<Bytes>, ReadError> {
        let failure = self
            .context
            .journal_mut()
            .transfer(self.sender, to, amount)?;
        if failure.is_none() {
            return Ok(None);
        }

        let balance = self
            .context
            .journal_mut()
            .load_account(self.sender)?
            .data
            .info
            .balance;
        let reason = format!(
            "failed to execute transfer {index}: spendable balance {balance} is smaller than {amount}: insufficient funds"
        );
        Ok(Some(Revert::from(reason).abi_encode().into()))
    }
}
