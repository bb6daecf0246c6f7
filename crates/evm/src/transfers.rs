//! The logs of an execution in order, optionally with a log for each transfer of the native coin,
//! as `eth_simulateV1` reports them (ERC-7528 address, ERC-20 event).

use alloy_primitives::{Address, B256, Log, LogData, U256, address, b256};
use revm::{
    Inspector,
    context_interface::{ContextTr, JournalTr},
    interpreter::{CallInputs, CallOutcome, CallScheme, CreateInputs, CreateOutcome},
};

use super::EvmContext;

/// The address that stands for the native coin.
const COIN: Address = address!("0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee");
/// `Transfer(address,address,uint256)`.
const TRANSFER: B256 = b256!("0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");

/// Collects the logs of one transaction.
#[derive(Clone, Debug)]
pub struct LogCollector {
    transfers: bool,
    /// The logs of each active call; those of a failed call are dropped with it.
    frames: Vec<Vec<Log>>,
    done: Vec<Log>,
}

impl LogCollector {
    /// A collector, with or without transfers of the native coin.
    pub fn new(transfers: bool) -> Self {
        Self {
            transfers,
            frames: Vec::new(),
            done: Vec::new(),
        }
    }

    /// The collected logs.
    pub fn into_logs(self) -> Vec<Log> {
        self.done
    }

    fn push(&mut self, log: Log) {
        self.frames.last_mut().unwrap_or(&mut self.done).push(log);
    }

    fn transfer(&mut self, from: Address, to: Address, value: U256) {
        if self.transfers && !value.is_zero() {
            let topics = vec![TRANSFER, from.into_word(), to.into_word()];
            let data = LogData::new_unchecked(topics, value.to_be_bytes::<32>().into());
            self.push(Log {
                address: COIN,
                data,
            });
        }
    }

    fn end(&mut self, succeeded: bool) {
        if let Some(logs) = self.frames.pop().filter(|_| succeeded) {
            self.frames
                .last_mut()
                .unwrap_or(&mut self.done)
                .extend(logs);
        }
    }
}

impl Inspector<EvmContext<'_>> for LogCollector {
    fn log(&mut self, _: &mut EvmContext<'_>, log: Log) {
        self.push(log);
    }

    fn call(&mut self, _: &mut EvmContext<'_>, inputs: &mut CallInputs) -> Option<CallOutcome> {
        self.frames.push(Vec::new());
        if inputs.scheme == CallScheme::Call
            && let Some(value) = inputs.transfer_value()
        {
            self.transfer(inputs.transfer_from(), inputs.transfer_to(), value);
        }
        None
    }

    fn call_end(&mut self, _: &mut EvmContext<'_>, _: &CallInputs, outcome: &mut CallOutcome) {
        self.end(outcome.result.is_ok());
    }

    fn create(
        &mut self,
        context: &mut EvmContext<'_>,
        inputs: &mut CreateInputs,
    ) -> Option<CreateOutcome> {
        self.frames.push(Vec::new());
        if let Ok(creator) = context.journal_mut().load_account(inputs.caller()) {
            let created = inputs.created_address(creator.data.info.nonce);
            self.transfer(inputs.caller(), created, inputs.value());
        }
        None
    }

    fn create_end(
        &mut self,
        _: &mut EvmContext<'_>,
        _: &CreateInputs,
        outcome: &mut CreateOutcome,
    ) {
        self.end(outcome.result.is_ok());
    }

    fn selfdestruct(&mut self, contract: Address, target: Address, value: U256) {
        self.transfer(contract, target, value);
    }
}
