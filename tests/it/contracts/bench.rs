//! A bare EVM with a clock, and the operations of tests: deploy, send and look.

use alloy_primitives::{Address, B256, Bytes, Log, TxKind, U256};
use alloy_sol_types::{SolCall, SolError, SolEvent};
use revm::{
    bytecode::Bytecode,
    context::{BlockEnv, CfgEnv, TxEnv, result::ExecutionResult},
    database::InMemoryDB,
    primitives::hardfork::SpecId,
    state::AccountInfo,
};
use tetrad_test_evm::BareEvm;

use super::artifacts;

/// An arbitrary time, but not 0, which means "never" in the contracts' storage.
pub(crate) const START: u64 = 1_700_000_000;

pub(crate) const CHAIN_ID: u64 = 125;

pub(crate) struct Bench {
    evm: BareEvm,
}

/// The result of a successful transaction.
#[derive(Debug)]
pub(crate) struct Receipt {
    pub(crate) gas: u64,
    pub(crate) output: Bytes,
    pub(crate) logs: Vec<Log>,
}

impl Receipt {
    /// The only event of its kind.
    pub(crate) fn event<E: SolEvent>(&self) -> E {
        let mut events = self.events::<E>();
        assert_eq!(
            events.len(),
            1,
            "{} events of the kind {}",
            events.len(),
            E::SIGNATURE
        );
        events.remove(0)
    }

    pub(crate) fn events<E: SolEvent>(&self) -> Vec<E> {
        let of_kind = self
            .logs
            .iter()
            .filter(|log| log.topics().first() == Some(&E::SIGNATURE_HASH));
        of_kind
            .map(|log| E::decode_log_data(&log.data).unwrap())
            .collect()
    }
}

/// The bytes with which a contract reverts.
pub(crate) fn refusal(error: impl SolError) -> Bytes {
    error.abi_encode().into()
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::resume(InMemoryDB::default(), START)
    }

    /// An EVM on a copy of a state, so that tests can share a slow setup.
    pub(crate) fn resume(state: InMemoryDB, time: u64) -> Self {
        let mut rules = CfgEnv::default();
        rules.set_spec_and_mainnet_gas_params(SpecId::OSAKA);
        rules.chain_id = CHAIN_ID;
        rules.disable_nonce_check = true;
        rules.disable_balance_check = true;
        rules.disable_base_fee = true;
        // Tests also send as contracts.
        rules.disable_eip3607 = true;

        let block = BlockEnv {
            number: U256::from(1),
            timestamp: U256::from(time),
            beneficiary: Address::repeat_byte(0xcb),
            prevrandao: Some(B256::repeat_byte(0x7a)),
            ..BlockEnv::default()
        };
        Self {
            evm: BareEvm::new(state, rules, block),
        }
    }

    pub(crate) fn state(&self) -> InMemoryDB {
        self.evm.state().clone()
    }

    pub(crate) fn fork(&self) -> Self {
        Self::resume(self.state(), self.now())
    }

    pub(crate) fn now(&self) -> u64 {
        self.evm.block().timestamp.to()
    }

    pub(crate) fn warp(&mut self, seconds: u64) {
        let block = self.evm.block_mut();
        block.timestamp += U256::from(seconds);
        block.number += U256::from(1);
    }

    pub(crate) fn block(&self) -> &BlockEnv {
        self.evm.block()
    }

    pub(crate) fn set_base_fee(&mut self, base_fee: u64) {
        self.evm.block_mut().basefee = base_fee;
    }

    pub(crate) fn set_balance(&mut self, account: Address, balance: U256) {
        let info = AccountInfo {
            balance,
            ..AccountInfo::default()
        };
        self.evm.state_mut().insert_account_info(account, info);
    }

    pub(crate) fn balance(&mut self, account: Address) -> U256 {
        self.evm
            .state_mut()
            .load_account(account)
            .unwrap()
            .info
            .balance
    }

    /// Creates a contract at a chosen address like genesis: sets the creation code, calls it, and
    /// replaces it by the returned code.
    pub(crate) fn deploy(
        &mut self,
        address: Address,
        deployer: Address,
        artifact: &str,
        arguments: &[u8],
    ) {
        self.try_deploy(address, deployer, artifact, arguments)
            .unwrap();
    }

    pub(crate) fn try_deploy(
        &mut self,
        address: Address,
        deployer: Address,
        artifact: &str,
        arguments: &[u8],
    ) -> Result<Receipt, Bytes> {
        let code = [&artifacts::creation_code(artifact), arguments].concat();
        self.set_code(address, code.into());
        let receipt = self.transact(deployer, address, U256::ZERO, Bytes::new())?;
        self.set_code(address, receipt.output.clone());
        Ok(receipt)
    }

    fn set_code(&mut self, address: Address, code: Bytes) {
        let info = AccountInfo::from_bytecode(Bytecode::new_raw(code)).with_nonce(1);
        self.evm.state_mut().insert_account_info(address, info);
    }

    /// Runs a transaction and keeps its changes, or returns the bytes with which it reverted.
    pub(crate) fn send<C: SolCall>(
        &mut self,
        from: Address,
        to: Address,
        call: C,
    ) -> Result<Receipt, Bytes> {
        self.transact(from, to, U256::ZERO, call.abi_encode().into())
    }

    pub(crate) fn send_value<C: SolCall>(
        &mut self,
        from: Address,
        to: Address,
        value: U256,
        call: C,
    ) -> Result<Receipt, Bytes> {
        self.transact(from, to, value, call.abi_encode().into())
    }

    fn transact(
        &mut self,
        from: Address,
        to: Address,
        value: U256,
        data: Bytes,
    ) -> Result<Receipt, Bytes> {
        outcome(self.evm.send(transaction(from, to, value, data)).unwrap())
    }

    /// Runs a call and discards its changes.
    pub(crate) fn look<C: SolCall>(&mut self, to: Address, call: C) -> C::Return {
        self.try_look(Address::ZERO, to, call).unwrap()
    }

    pub(crate) fn try_look<C: SolCall>(
        &mut self,
        from: Address,
        to: Address,
        call: C,
    ) -> Result<C::Return, Bytes> {
        let transaction = transaction(from, to, U256::ZERO, call.abi_encode().into());
        let receipt = outcome(self.evm.look(transaction).unwrap())?;
        Ok(C::abi_decode_returns(&receipt.output).unwrap())
    }
}

fn transaction(from: Address, to: Address, value: U256, data: Bytes) -> TxEnv {
    TxEnv {
        caller: from,
        kind: TxKind::Call(to),
        value,
        data,
        gas_limit: 16_000_000,
        chain_id: Some(CHAIN_ID),
        ..TxEnv::default()
    }
}

fn outcome(result: ExecutionResult) -> Result<Receipt, Bytes> {
    let gas = result.tx_gas_used();
    match result {
        ExecutionResult::Success { output, logs, .. } => Ok(Receipt {
            gas,
            output: output.into_data(),
            logs,
        }),
        ExecutionResult::Revert { output, .. } => Err(output),
        ExecutionResult::Halt { reason, .. } => panic!("halted: {reason:?}"),
    }
}
