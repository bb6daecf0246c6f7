//! The transaction loop of a block: system calls, transactions, rewards and withdrawals.
//!
//! A failing contract of EIP-4788 or EIP-2935 does not prevent blocks, as in the specifications. A
//! failing one of EIP-7002 or EIP-7251 does: no block can be built as long as it fails.

use alloy_consensus::{Header, Transaction as _};
use alloy_eips::{
    eip2935::{HISTORY_SERVE_WINDOW, HISTORY_STORAGE_ADDRESS, HISTORY_STORAGE_CODE},
    eip4788::{BEACON_ROOTS_ADDRESS, BEACON_ROOTS_CODE},
    eip4895::Withdrawal,
    eip7002::{WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS, WITHDRAWAL_REQUEST_TYPE},
    eip7251::{CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS, CONSOLIDATION_REQUEST_TYPE},
    eip7685::Requests,
};
use alloy_primitives::{Address, Bytes, U256};
use revm::{
    ExecuteEvm, InspectEvm, Inspector,
    context::{BlockEnv, CfgEnv, ContextSetters, TxEnv},
    context_interface::{
        ContextTr,
        result::{EVMError, ExecutionResult, HaltReason, OutOfGasError, ResultAndState},
    },
    handler::{EthFrame, Handler, MainnetHandler, SystemCallTx},
    inspector::NoOpInspector,
    interpreter::{InstructionResult, SuccessOrHalt, interpreter::EthInterpreter},
    state::AccountInfo,
};
use tetrad_primitives::{
    block::{Receipt, Status, Transaction, bloom},
    state::{Changes, ReadError, ReadState, Wanted},
};

#[cfg(feature = "js-tracer")]
use super::DetachedExecution;
use super::{
    AnyInspector, BlockError, BlockHashes, ChainParams, DaoFork, Environment, Evm, EvmContext,
    Fork, Inspected, Overlay, PrecompileSet, TransactionError, call::waive_blob_fee,
    cosmos::run_cosmos, dao, environment::assemble, prefetch, requests::collect_deposits,
    transaction::tx_env,
};

const ETHER: u64 = 1_000_000_000_000_000_000;
const GWEI: u64 = 1_000_000_000;

/// The number of timestamps that the contract of EIP-4788 keeps.
const BEACON_ROOTS_LENGTH: u64 = 8_191;
/// The first slots of the contracts of EIP-7002 and EIP-7251: excess, count, head and tail.
const QUEUE_SLOTS: u64 = 4;

/// Gas of a system call (EIP-4788). revm's own limit includes a reserve for a future fork.
const SYSTEM_CALL_GAS: u64 = 30_000_000;

/// Executes one block, transaction by transaction.
pub struct BlockExecutor<'a> {
    chain: &'a ChainParams,
    environment: &'a Environment,
    evm: Evm<'a>,
    receipts: Vec<Receipt>,
    gas_used: u64,
    blob_gas_used: u64,
    logs: u64,
}

/// The outcome of a block.
#[derive(Debug)]
pub struct BlockOutcome {
    /// The changes to the parent's state.
    pub changes: Changes,
    /// A receipt for each transaction.
    pub receipts: Vec<Receipt>,
    /// Gas used by all transactions.
    pub gas_used: u64,
    /// Blob gas used by all transactions.
    pub blob_gas_used: u64,
    /// Requests to the consensus layer; none before Prague.
    pub requests: Option<Requests>,
}

/// A call of a system contract at the beginning of a block.
struct SystemCall<'c> {
    contract: Address,
    /// The code of the contract, according to its EIP.
    code: &'c [u8],
    input: Bytes,
    /// The slots that the code writes. On a forked chain they are written directly: the code also
    /// reads the old values, which would cost a request each in every block.
    slots: &'c [(u64, U256)],
}

/// The inputs of an execution, apart from the state.
struct ExecutionInputs {
    tx: TxEnv,
    cfg: CfgEnv,
    block: BlockEnv,
    precompiles: PrecompileSet,
}

/// Lets an impersonated contract send the transaction: EIP-3607 forbids those of contracts.
fn admit_impersonated(cfg: &mut CfgEnv, transaction: &Transaction) {
    cfg.disable_eip3607 = transaction.is_impersonated();
}

impl<'a> BlockExecutor<'a> {
    /// Begins a block on top of `state` with the fork's system calls.
    pub fn begin(
        chain: &'a ChainParams,
        environment: &'a Environment,
        state: &'a dyn ReadState,
        hashes: &'a dyn BlockHashes,
    ) -> Result<Self, BlockError> {
        Self::begin_on(chain, environment, Overlay::new(state, hashes))
    }

    /// Begins a block on top of an overlay with overrides.
    pub fn begin_on(
        chain: &'a ChainParams,
        environment: &'a Environment,
        overlay: Overlay<'a>,
    ) -> Result<Self, BlockError> {
        let evm = environment.evm(chain, overlay);
        let mut executor = Self {
            chain,
            environment,
            evm,
            receipts: Vec::new(),
            gas_used: 0,
            blob_gas_used: 0,
            logs: 0,
        };

        // The genesis block runs nothing and has no parent.
        if environment.number > 0 {
            executor.apply_dao_fork()?;
            executor.run_system_calls()?;
        }
        Ok(executor)
    }

    /// Moves the balances of the DAO in the block of its fork.
    fn apply_dao_fork(&mut self) -> Result<(), BlockError> {
        let supported_here = DaoFork {
            block: self.environment.number,
            support: true,
        };
        if self.chain.forks.dao() == Some(supported_here) {
            dao::drain(self.overlay())?;
        }
        Ok(())
    }

    /// Calls the system contracts that record the beacon root and the parent's hash.
    fn run_system_calls(&mut self) -> Result<(), BlockError> {
        let environment = self.environment;
        if self.evm.ctx.db().asks_others() {
            self.fetch_system_contracts();
        }

        if let Some(root) = environment.parent_beacon_block_root {
            let at = environment.timestamp % BEACON_ROOTS_LENGTH;
            self.unchecked_system_call(&SystemCall {
                contract: BEACON_ROOTS_ADDRESS,
                code: &BEACON_ROOTS_CODE,
                input: Bytes::from(root.0),
                slots: &[
                    (at, U256::from(environment.timestamp)),
                    (at + BEACON_ROOTS_LENGTH, root.into()),
                ],
            })?;
        }

        if environment.rules.has(Fork::Prague) {
            let at = (environment.number - 1) % HISTORY_SERVE_WINDOW as u64;
            self.unchecked_system_call(&SystemCall {
                contract: HISTORY_STORAGE_ADDRESS,
                code: &HISTORY_STORAGE_CODE,
                input: Bytes::from(environment.parent_hash.0),
                slots: &[(at, environment.parent_hash.into())],
            })?;
        }
        Ok(())
    }

    /// Lifts the gas limits: a replayed block was sealed under the limits of its time.
    pub fn without_gas_limits(mut self) -> Self {
        let cfg = &mut self.evm.ctx.cfg;
        cfg.tx_gas_limit_cap = Some(u64::MAX);
        cfg.disable_block_gas_limit = true;
        self
    }

    /// The receipts so far.
    pub fn receipts(&self) -> &[Receipt] {
        &self.receipts
    }

    /// The number of logs so far.
    pub fn log_count(&self) -> u64 {
        self.logs
    }

    /// Gas that further transactions may use.
    pub fn gas_left(&self) -> u64 {
        if self.evm.ctx.cfg.disable_block_gas_limit {
            u64::MAX
        } else {
            self.environment.gas_limit - self.gas_used
        }
    }

    /// Executes the next transaction. An error leaves the block unchanged, and it can continue with
    /// others.
    pub fn execute(
        &mut self,
        transaction: &Transaction,
    ) -> Result<ExecutionResult, TransactionError> {
        let tx = &transaction.envelope;
        if tx.gas_limit() > self.gas_left() {
            return Err(TransactionError::BlockFull {
                gas_limit: tx.gas_limit(),
                left: self.gas_left(),
            });
        }

        let blob_gas = tx.blob_gas_used().unwrap_or_default();
        if let Some(blobs) = &self.environment.rules.blobs
            && self.blob_gas_used + blob_gas > blobs.max_blob_gas_per_block()
        {
            return Err(TransactionError::BlobsFull);
        }

        admit_impersonated(&mut self.evm.ctx.cfg, transaction);
        // New accounts get numbers in the order of first use, which a failure must not change.
        let used = self.evm.ctx.db().used();
        let executed = match transaction.cosmos() {
            None => prefetch::transact(&mut self.evm, tx_env(transaction)),
            Some(cosmos) => run_cosmos(
                &mut self.evm.ctx,
                &mut NoOpInspector,
                &self.chain.cosmos,
                transaction,
                &cosmos,
            ),
        };

        let executed = executed.inspect_err(|_| self.evm.ctx.db_mut().forget(used))?;
        self.commit(transaction, executed)
    }

    /// Executes the next transaction with `inspector` attached, and passes the outcome to `look`.
    pub fn inspect<I, R>(
        &mut self,
        transaction: &Transaction,
        inspector: &mut I,
        look: impl FnOnce(&mut Inspected<'a>, &mut I) -> R,
    ) -> Result<R, TransactionError>
    where
        I: for<'e> Inspector<EvmContext<'e>>,
    {
        let mut cfg = self.evm.ctx.cfg.clone();
        admit_impersonated(&mut cfg, transaction);
        let precompiles = self.environment.precompiles(self.chain);
        let inputs = ExecutionInputs {
            tx: tx_env(transaction),
            cfg,
            block: self.environment.block_env(),
            precompiles,
        };

        let mut inspected = self.run(transaction, inputs, inspector)?;
        let seen = look(&mut inspected, inspector);
        self.adopt(transaction, inspected)?;
        Ok(seen)
    }

    /// The execution of the next transaction as plain data, and the state that it runs on.
    #[cfg(feature = "js-tracer")]
    pub fn detached(&self, transaction: &Transaction) -> (DetachedExecution, &Overlay<'a>) {
        let mut cfg = self.evm.ctx.cfg.clone();
        admit_impersonated(&mut cfg, transaction);
        let precompiles = self.environment.precompiles(self.chain);
        let execution = DetachedExecution::new(
            self.environment.rules.fork,
            cfg,
            self.evm.ctx.block.clone(),
            tx_env(transaction),
            &precompiles,
        );

        let execution = match transaction.cosmos() {
            None => execution,
            Some(_) => execution.of_cosmos(transaction, &self.chain.cosmos),
        };
        (execution, self.evm.ctx.db())
    }

    /// Executes an unsigned call, with limits and precompiles of its own, and perhaps without a fee
    /// for its blobs.
    pub fn simulate(
        &mut self,
        transaction: &Transaction,
        cfg: CfgEnv,
        precompiles: PrecompileSet,
        waives_blob_fee: bool,
        inspector: &mut AnyInspector<'_>,
    ) -> Result<ExecutionResult, TransactionError> {
        let mut tx = tx_env(transaction);
        if cfg.disable_nonce_check {
            // The account's own nonce counts; revm refuses the largest nonce even with nonce checks
            // off.
            tx.nonce = 0;
        }

        let mut block = self.environment.block_env();
        if waives_blob_fee {
            waive_blob_fee(&mut block);
        }
        let inputs = ExecutionInputs {
            tx,
            cfg,
            block,
            precompiles,
        };
        let inspected = self.run(transaction, inputs, inspector)?;
        self.adopt(transaction, inspected)
    }

    /// Takes the overlay, and leaves one without changes in its place.
    fn take_overlay(&mut self) -> Overlay<'a> {
        let overlay = self.evm.ctx.db_mut();
        let unchanged = overlay.unchanged();
        std::mem::replace(overlay, unchanged)
    }

    /// Runs the next transaction with `inspector` attached. The caller has to
    /// [adopt](Self::adopt) the outcome, which has the overlay with it.
    fn run(
        &mut self,
        transaction: &Transaction,
        inputs: ExecutionInputs,
        inspector: &mut AnyInspector<'_>,
    ) -> Result<Inspected<'a>, TransactionError> {
        // The overlay moves into an EVM with the inspector and back.
        let overlay = self.take_overlay();
        let used = overlay.used();
        let mut evm = assemble(
            inputs.block,
            inputs.cfg,
            self.environment.rules,
            inputs.precompiles,
            overlay,
            inspector,
        );

        let tx = inputs.tx;
        let executed = match transaction.cosmos() {
            None => {
                prefetch::prepare(&mut evm, &tx);
                evm.inspect_tx(tx.clone()).map_err(TransactionError::from)
            }
            Some(cosmos) => run_cosmos(
                &mut evm.ctx,
                evm.inspector,
                &self.chain.cosmos,
                transaction,
                &cosmos,
            ),
        };

        let block = evm.ctx.block;
        let mut before = evm.ctx.journaled_state.database;
        match executed {
            Ok(outcome) => Ok(Inspected {
                tx,
                block,
                outcome,
                before,
            }),
            Err(error) => {
                before.forget(used);
                *self.evm.ctx.db_mut() = before;
                Err(error)
            }
        }
    }

    /// Adopts the outcome of [`run`](Self::run).
    fn adopt(
        &mut self,
        transaction: &Transaction,
        inspected: Inspected<'a>,
    ) -> Result<ExecutionResult, TransactionError> {
        *self.evm.ctx.db_mut() = inspected.before;
        self.commit(transaction, inspected.outcome)
    }

    /// Adopts a transaction's changes, gas and receipt.
    fn commit(
        &mut self,
        transaction: &Transaction,
        executed: ResultAndState,
    ) -> Result<ExecutionResult, TransactionError> {
        let overlay = self.evm.ctx.db_mut();
        overlay.commit(executed.state)?;
        if let Some(key) = transaction.public_key {
            overlay.signed_by(transaction.sender, key)?;
        }

        self.blob_gas_used += transaction.envelope.blob_gas_used().unwrap_or_default();
        self.push_receipt(transaction, &executed.result)?;
        Ok(executed.result)
    }

    /// The block's changes so far, before its end is processed.
    pub fn into_changes(self) -> Changes {
        self.evm.ctx.journaled_state.database.into_changes()
    }

    /// The overlay with the block's changes so far.
    pub fn overlay(&mut self) -> &mut Overlay<'a> {
        self.evm.ctx.db_mut()
    }

    /// Ends the block: requests (EIP-7685), rewards of the old forks and withdrawals.
    pub fn finish(
        mut self,
        ommers: &[Header],
        withdrawals: Option<&[Withdrawal]>,
    ) -> Result<BlockOutcome, BlockError> {
        let rules = self.environment.rules;
        let mut requests = None;
        if rules.has(Fork::Prague) && self.environment.number > 0 {
            let collected = requests.insert(Requests::default());
            // In the order of their types, as EIP-7685 hashes them.
            collect_deposits(self.chain.deposit_contract, &self.receipts, collected)?;
            for (contract, kind) in [
                (
                    WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS,
                    WITHDRAWAL_REQUEST_TYPE,
                ),
                (
                    CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS,
                    CONSOLIDATION_REQUEST_TYPE,
                ),
            ] {
                let output = self.requests_of(contract)?;
                // EIP-7685 leaves requests without data out of the hash.
                if !output.is_empty() {
                    collected.push_request_with_type(kind, output);
                }
            }
        }

        let mut overlay = self.evm.ctx.journaled_state.database;
        let clear_empty = rules.has(Fork::SpuriousDragon);
        for (address, amount) in rewards(self.environment, ommers) {
            overlay.credit(address, amount, clear_empty)?;
        }
        for withdrawal in withdrawals.unwrap_or_default() {
            let amount = U256::from(withdrawal.amount) * U256::from(GWEI);
            overlay.credit(withdrawal.address, amount, clear_empty)?;
        }

        Ok(BlockOutcome {
            changes: overlay.into_changes(),
            receipts: self.receipts,
            gas_used: self.gas_used,
            blob_gas_used: self.blob_gas_used,
            requests,
        })
    }

    fn push_receipt(
        &mut self,
        transaction: &Transaction,
        result: &ExecutionResult,
    ) -> Result<(), ReadError> {
        let gas_used = result.tx_gas_used();
        self.gas_used += gas_used;

        // Receipts have a status since Byzantium (EIP-658), earlier ones the root of the state.
        let status = if !self.environment.rules.has(Fork::Byzantium) {
            Status::Root(self.evm.ctx.db().root()?)
        } else if result.is_success() {
            Status::Success
        } else {
            Status::Failure
        };

        let logs = if result.is_success() {
            result.logs().to_vec()
        } else {
            Vec::new()
        };

        let first_log_index = self.logs;
        self.logs += logs.len() as u64;

        self.receipts.push(Receipt {
            tx_type: transaction.envelope.tx_type(),
            status,
            cumulative_gas_used: self.gas_used,
            gas_used,
            bloom: bloom(&logs),
            logs,
            first_log_index,
        });
        Ok(())
    }

    /// Calls a system contract and ignores failure: the block is valid either way, as in the
    /// execution specifications' `process_unchecked_system_transaction`.
    fn unchecked_system_call(&mut self, call: &SystemCall<'_>) -> Result<(), BlockError> {
        let overlay = self.evm.ctx.db_mut();
        if overlay.asks_others() {
            let code = overlay
                .account(call.contract)?
                .and_then(|info| info.code.clone());
            if code.is_some_and(|code| code.original_byte_slice() == call.code) {
                for (slot, value) in call.slots {
                    overlay.set_storage(call.contract, U256::from(*slot), *value)?;
                }
                return Ok(());
            }
        }

        match self.system_call(call.contract, call.input.clone()) {
            Ok(_) | Err(BlockError::SystemCall(..)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Fetches the accounts and slots that every block reads from the forked node, all at once.
    fn fetch_system_contracts(&mut self) {
        let called = [BEACON_ROOTS_ADDRESS, HISTORY_STORAGE_ADDRESS];
        let queues = [
            WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS,
            CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS,
        ];
        let slots = queues
            .into_iter()
            .flat_map(|queue| (0..QUEUE_SLOTS).map(move |at| Wanted::Slot(queue, U256::from(at))));
        let accounts = called
            .into_iter()
            .chain(queues)
            .chain([self.environment.beneficiary]);
        let all = accounts.map(Wanted::Account).chain(slots).collect();

        let overlay = self.evm.ctx.db();
        let missing = overlay.not_at_hand(all);
        if !missing.is_empty() {
            // A failure shows at the first read.
            let _ = overlay.fetch(&missing, None);
        }
    }

    /// Returns a system contract's requests to the consensus layer. A call that fails makes the
    /// block invalid.
    fn requests_of(&mut self, contract: Address) -> Result<Bytes, BlockError> {
        let failed = |reason: String| Err(BlockError::SystemCall(contract, reason));
        // By Ethereum's rules a block without these contracts is invalid (EIP-7002, EIP-7251).
        if self.chain.standard
            && self
                .evm
                .ctx
                .db_mut()
                .account(contract)?
                .is_none_or(AccountInfo::is_code_hash_empty_or_zero)
        {
            return Err(BlockError::NoSystemContract(contract));
        }

        match self.system_call(contract, Bytes::new())? {
            ExecutionResult::Success { output, .. } => Ok(output.into_data()),
            ExecutionResult::Revert { output, .. } => failed(format!("reverted with {output}")),
            ExecutionResult::Halt { reason, .. } => failed(halt_message(&reason)),
        }
    }

    /// Calls a system contract as the system address. Where the contract does not exist, nothing
    /// happens.
    fn system_call(
        &mut self,
        contract: Address,
        input: Bytes,
    ) -> Result<ExecutionResult, BlockError> {
        let tx = TxEnv {
            gas_limit: SYSTEM_CALL_GAS,
            ..TxEnv::new_system_tx(contract, input)
        };
        self.evm.ctx.set_tx(tx);

        let mut handler =
            MainnetHandler::<_, EVMError<ReadError>, EthFrame<EthInterpreter>>::default();
        let result = handler
            .run_system_call(&mut self.evm)
            .map_err(|error| match error {
                EVMError::Database(error) => BlockError::Read(error),
                error => BlockError::SystemCall(contract, error.to_string()),
            })?;

        let state = self.evm.finalize();
        self.evm.ctx.db_mut().commit(state)?;
        Ok(result)
    }
}

/// The proof-of-work rewards for a block and its uncles (Yellow Paper, 11.3; EIP-649, EIP-1234).
pub fn rewards(environment: &Environment, ommers: &[Header]) -> Vec<(Address, U256)> {
    let rules = environment.rules;
    let ether = if rules.has(Fork::Paris) {
        return Vec::new();
    } else if rules.has(Fork::Constantinople) {
        2
    } else if rules.has(Fork::Byzantium) {
        3
    } else {
        5
    };

    let reward = U256::from(ether) * U256::from(ETHER);
    let nephew = reward / U256::from(32) * U256::from(ommers.len());

    let uncles = ommers.iter().map(|ommer| {
        let distance = (ommer.number + 8).saturating_sub(environment.number);
        (
            ommer.beneficiary,
            reward * U256::from(distance) / U256::from(8),
        )
    });
    uncles
        .chain([(environment.beneficiary, reward + nephew)])
        .collect()
}

/// The message for a call that failed, as geth words it; none for one that succeeded.
pub fn failure_message(result: InstructionResult) -> Option<String> {
    match SuccessOrHalt::<HaltReason>::from(result) {
        SuccessOrHalt::Success(_) => None,
        SuccessOrHalt::Halt(reason) => Some(halt_message(&reason)),
        _ => Some("execution reverted".to_owned()),
    }
}

/// The gas that a call used of its limit: what it spent, or all of it if it failed in another way
/// than by a revert.
pub fn call_gas_used(result: InstructionResult, spent: u64, limit: u64) -> u64 {
    let keeps_rest = result.is_ok_or_revert() || result == InstructionResult::NonceOverflow;
    if keeps_rest { spent } else { limit }
}

/// The message for an execution that stopped without reverting, as geth words it.
pub fn halt_message(reason: &HaltReason) -> String {
    match reason {
        HaltReason::OutOfGas(OutOfGasError::ReentrancySentry) => {
            "out of gas: not enough gas for reentrancy sentry".to_owned()
        }
        HaltReason::OutOfGas(_) => "out of gas".to_owned(),
        HaltReason::OpcodeNotFound => "invalid opcode".to_owned(),
        HaltReason::InvalidFEOpcode => "invalid opcode: INVALID".to_owned(),
        HaltReason::InvalidJump => "invalid jump destination".to_owned(),
        HaltReason::StackUnderflow => "stack underflow".to_owned(),
        HaltReason::StackOverflow => "stack limit reached 1024 (1023)".to_owned(),
        HaltReason::OutOfOffset => "return data out of bounds".to_owned(),
        HaltReason::CreateCollision => "contract address collision".to_owned(),
        HaltReason::CreateContractSizeLimit => "max code size exceeded".to_owned(),
        HaltReason::CreateContractStartingWithEF => {
            "invalid code: must not begin with 0xef".to_owned()
        }
        HaltReason::CreateInitCodeSizeLimit => "max initcode size exceeded".to_owned(),
        HaltReason::NonceOverflow => "nonce uint64 overflow".to_owned(),
        HaltReason::CallTooDeep => "max call depth exceeded".to_owned(),
        HaltReason::OutOfFunds => "insufficient balance for transfer".to_owned(),
        HaltReason::StateChangeDuringStaticCall | HaltReason::CallNotAllowedInsideStatic => {
            "write protection".to_owned()
        }
        HaltReason::PrecompileErrorWithContext(context) => context.clone(),
        HaltReason::PrecompileError => "precompiled failed".to_owned(),
        other => format!("{other:?}"),
    }
}
