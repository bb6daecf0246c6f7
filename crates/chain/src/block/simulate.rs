//! Simulation of calls in hypothetical blocks on top of an existing one (`eth_simulateV1`).

use std::{cmp::Ordering, sync::Arc};

use alloy_consensus::{Header, Transaction as _};
use alloy_eips::eip4895::Withdrawal;
use alloy_primitives::{Address, B256, Bytes, Log, U256};
use revm::{
    context::CfgEnv,
    context_interface::result::{ExecutionResult, InvalidTransaction},
};
use tetrad_evm::{
    BlockError, BlockExecutor, BlockHashes, Call, ChainParams, Environment, Fork, LogCollector,
    OutOfTime, Overlay, OverrideError, PrecompileSet, StateOverrides, Stop, TransactionError,
    Watch, apply_overrides, lift_limits,
};
use tetrad_primitives::{
    block::{Block, GasPrice, Transaction, TransactionFields, without_signature},
    state::{ReadError, State},
};

use super::{
    fees,
    seal::{BlockContent, seal},
};
use crate::View;

/// Most blocks of one simulation.
pub const MAX_SIMULATED_BLOCKS: u64 = 256;
/// Seconds between two blocks by default.
const BLOCK_TIME: u64 = 12;

/// A block to simulate. Fields that are left out follow from the block before.
#[derive(Clone, Debug, Default)]
pub struct BlockPlan {
    /// Block number. Gaps are filled with blocks without calls.
    pub number: Option<u64>,
    /// Seconds since the Unix epoch.
    pub time: Option<u64>,
    /// Gas that the block's calls may use.
    pub gas_limit: Option<u64>,
    /// The account that receives the tips.
    pub fee_recipient: Option<Address>,
    /// The value of `PREVRANDAO`.
    pub prev_randao: Option<B256>,
    /// Base fee in wei per gas.
    pub base_fee: Option<u64>,
    /// Blob base fee in wei per blob gas.
    pub blob_base_fee: Option<u128>,
    /// Proof-of-work difficulty.
    pub difficulty: Option<U256>,
    /// Root of the parent beacon block.
    pub beacon_root: Option<B256>,
    /// Withdrawals.
    pub withdrawals: Vec<Withdrawal>,
    /// State overrides from this block on.
    pub overrides: StateOverrides,
    /// The calls, in order.
    pub calls: Vec<PlannedCall>,
}

/// A call of a simulated block.
#[derive(Clone, Debug)]
pub struct PlannedCall {
    /// The call.
    pub call: Call,
    /// The nonce; by default the account's next one.
    pub nonce: Option<u64>,
    /// Whether the call has a plain gas price, so that the block lists it as a transaction from
    /// before EIP-1559.
    pub fixed_price: bool,
}

/// Options of a simulation.
#[derive(Clone, Copy)]
pub struct SimulationOptions<'a> {
    /// Whether nonces and fees are checked as in a real block.
    pub validation: bool,
    /// Whether transfers of the native coin emit logs.
    pub trace_transfers: bool,
    /// The gas limit of all calls together.
    pub gas_cap: u64,
    /// Returns whether the time limit has passed.
    pub out_of_time: OutOfTime<'a>,
    /// The approximate limit of the outputs and logs of all calls, in bytes of hex.
    pub max_bytes: usize,
}

/// A simulated block.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The block with its receipts.
    pub block: Arc<Block>,
    /// The outcome of each call.
    pub calls: Vec<CallOutcome>,
}

/// The outcome of a simulated call.
#[derive(Clone, Debug)]
pub struct CallOutcome {
    /// Success, revert or halt, with gas and output.
    pub result: ExecutionResult,
    /// The logs, including transfers if they were requested.
    pub logs: Vec<Log>,
    /// Index in the block of the call's first log.
    pub first_log_index: u64,
}

/// The reason why a simulation failed.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// The simulation has more than [`MAX_SIMULATED_BLOCKS`] blocks.
    #[error("too many blocks")]
    TooManyBlocks,
    /// A block's number is not above that of the block before.
    #[error("block numbers must be in order: {0} <= {1}")]
    NumberOrder(u64, u64),
    /// A block's timestamp is not after that of the block before.
    #[error("block timestamps must be in order: {0} <= {1}")]
    TimeOrder(u64, u64),
    /// A call requires more gas than its block has left.
    #[error("block gas limit reached: remaining: {0}, required: {1}")]
    BlockGasLimit(u64, u64),
    /// An override cannot be applied.
    #[error(transparent)]
    Override(#[from] OverrideError),
    /// A call breaks a rule.
    #[error("{0}")]
    Call(TransactionError),
    /// A block breaks a rule.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// The simulation exceeded its time limit.
    #[error("execution timeout")]
    Timeout,
    /// The outputs and logs of the calls exceed the size limit.
    #[error(
        "response too large: the outputs and logs exceed {0} bytes; simulate fewer calls at a time"
    )]
    TooLarge(usize),
}

/// Simulates blocks on top of the block of `view`.
pub fn simulate(
    view: &View,
    plans: Vec<BlockPlan>,
    options: SimulationOptions<'_>,
) -> Result<Vec<Simulated>, SimulationError> {
    let plans = complete(&view.block.header, plans)?;
    let mut simulation = Simulation {
        view,
        state: view.state.clone(),
        blocks: Vec::new(),
        budget: Budget {
            gas: options.gas_cap,
            bytes: options.max_bytes,
            options,
        },
    };

    for plan in plans {
        let simulated = simulation.block(plan)?;
        simulation.blocks.push(simulated);
    }
    Ok(simulation.blocks)
}

/// Checks the order of blocks, sets each block's number and timestamp, and fills gaps with blocks
/// without calls.
fn complete(base: &Header, plans: Vec<BlockPlan>) -> Result<Vec<BlockPlan>, SimulationError> {
    let mut number = base.number;
    let mut time = base.timestamp;
    let mut all = Vec::new();
    for mut plan in plans {
        let at = plan.number.unwrap_or(number.saturating_add(1));
        if at <= number {
            return Err(SimulationError::NumberOrder(at, number));
        }
        if at - base.number > MAX_SIMULATED_BLOCKS {
            return Err(SimulationError::TooManyBlocks);
        }

        // Geth fills gaps between the numbers with empty blocks, too.
        for between in number + 1..at {
            time = time.saturating_add(BLOCK_TIME);
            all.push(BlockPlan {
                number: Some(between),
                time: Some(time),
                ..BlockPlan::default()
            });
        }

        let when = plan.time.unwrap_or(time.saturating_add(BLOCK_TIME));
        if when <= time {
            return Err(SimulationError::TimeOrder(when, time));
        }

        number = at;
        time = when;
        plan.number = Some(at);
        plan.time = Some(when);
        all.push(plan);
    }
    Ok(all)
}

struct Simulation<'a> {
    view: &'a View,
    /// The state after the blocks so far.
    state: State,
    blocks: Vec<Simulated>,
    budget: Budget<'a>,
}

/// The limits of a simulation, and what its calls so far have left of them.
struct Budget<'a> {
    options: SimulationOptions<'a>,
    /// Gas left for the remaining calls.
    gas: u64,
    /// Bytes left for the outputs and logs of the remaining calls.
    bytes: usize,
}

impl Simulation<'_> {
    fn block(&mut self, plan: BlockPlan) -> Result<Simulated, SimulationError> {
        let params = &*self.view.head.params;
        let environment = self.environment(&plan);
        let hashes = Hashes {
            view: self.view,
            simulated: &self.blocks,
        };

        let state = self.state.clone();
        let mut overlay = Overlay::new(&state, &hashes);
        let mut precompiles = environment.precompiles(params);
        // Before the system calls, as in geth.
        apply_overrides(&mut overlay, &mut precompiles, &plan.overrides)?;

        let mut executor = BlockExecutor::begin_on(params, &environment, overlay)?;
        let context = BlockContext {
            params,
            environment: &environment,
            precompiles,
        };

        let mut transactions = Vec::new();
        let mut calls = Vec::new();
        let mut first_log_index = 0;
        for planned in plan.calls {
            let (transaction, result, logs) = self.budget.call(&mut executor, &context, planned)?;
            let count = logs.len() as u64;
            calls.push(CallOutcome {
                result,
                logs,
                first_log_index,
            });
            first_log_index += count;
            transactions.push(Arc::new(transaction));
        }

        let outcome = executor.finish(&[], Some(&plan.withdrawals))?;
        let (content, changes) = BlockContent::of(transactions, outcome);
        let withdrawals = environment
            .rules
            .has(Fork::Shanghai)
            .then_some(plan.withdrawals);
        let content = BlockContent {
            withdrawals,
            ..content
        };
        let root = self.state.apply(&changes);
        let block = seal(&environment, content, root);
        Ok(Simulated {
            block: Arc::new(block),
            calls,
        })
    }

    fn environment(&self, plan: &BlockPlan) -> Environment {
        let parent = self
            .blocks
            .last()
            .map_or(&self.view.block, |simulated| &simulated.block);
        let header = &parent.header;
        let number = plan.number.unwrap_or(header.number + 1);
        let timestamp = plan.time.unwrap_or(header.timestamp + BLOCK_TIME);
        let rules = self.view.head.rules(number, timestamp);
        // Without validation calls pay no fees, so the base fee is zero.
        let base_fee = if self.budget.options.validation {
            fees::next_base_fee(header, rules)
        } else {
            Some(0)
        };

        Environment {
            rules,
            number,
            timestamp,
            beneficiary: plan.fee_recipient.unwrap_or(header.beneficiary),
            gas_limit: plan.gas_limit.unwrap_or(header.gas_limit),
            base_fee: plan
                .base_fee
                .or(base_fee)
                .filter(|_| rules.has(Fork::London)),
            difficulty: if rules.has(Fork::Paris) {
                U256::ZERO
            } else {
                plan.difficulty.unwrap_or(header.difficulty)
            },
            mix_hash: plan.prev_randao.unwrap_or_default(),
            excess_blob_gas: fees::next_excess_blob_gas(header, rules),
            pretended_blob_base_fee: plan.blob_base_fee,
            parent_hash: parent.hash,
            parent_beacon_block_root: rules
                .has(Fork::Cancun)
                .then(|| plan.beacon_root.unwrap_or_default()),
            extra_data: Bytes::new(),
        }
    }
}

impl Budget<'_> {
    /// Makes a call within the limits. Returns its transaction, its result and its logs.
    fn call(
        &mut self,
        executor: &mut BlockExecutor<'_>,
        context: &BlockContext<'_>,
        planned: PlannedCall,
    ) -> Result<(Transaction, ExecutionResult, Vec<Log>), SimulationError> {
        if (self.options.out_of_time)() {
            return Err(SimulationError::Timeout);
        }

        let sender = planned.call.from;
        let own_nonce = next_nonce(executor, sender)?;
        let gas = self.gas_for(&planned.call, executor.gas_left())?;
        let transaction = as_transaction(planned, own_nonce, gas, context);
        if self.options.validation {
            check_nonce(transaction.envelope.nonce(), own_nonce)?;
        }

        let (result, logs) = self.execute(executor, context, &transaction)?;
        if own_nonce == u64::MAX && transaction.envelope.kind().is_call() {
            // Without validation the largest nonce wraps around to zero.
            executor
                .overlay()
                .edit(sender, |account| account.nonce = 0)
                .map_err(OverrideError::from)?;
        }
        Ok((transaction, result, logs))
    }

    /// Returns the gas of a call: the requested amount or else what its block has left, within the
    /// simulation's limit.
    fn gas_for(&self, call: &Call, left: u64) -> Result<u64, SimulationError> {
        let wanted = call.gas.unwrap_or(left);
        if wanted > left {
            return Err(SimulationError::BlockGasLimit(left, wanted));
        }
        Ok(wanted.min(self.gas))
    }

    /// Executes the transaction of a call. Returns its result and its logs.
    fn execute(
        &mut self,
        executor: &mut BlockExecutor<'_>,
        context: &BlockContext<'_>,
        transaction: &Transaction,
    ) -> Result<(ExecutionResult, Vec<Log>), SimulationError> {
        let options = self.options;
        let waives_blob_fee =
            !options.validation && transaction.envelope.max_fee_per_blob_gas() == Some(0);

        let mut logs = LogCollector::new(options.trace_transfers);
        let mut watch = Watch::new(&mut logs, options.out_of_time, self.bytes);
        let executed = executor.simulate(
            transaction,
            context.call_cfg(transaction, options.validation),
            context.precompiles.clone(),
            waives_blob_fee,
            &mut watch,
        );

        match watch.stopped() {
            None => {}
            Some(Stop::Time) => return Err(SimulationError::Timeout),
            Some(Stop::Size) => return Err(SimulationError::TooLarge(options.max_bytes)),
        }
        let logged = watch.recorded();

        let result = executed.map_err(SimulationError::Call)?;
        // Hex takes two digits for each byte.
        let returned = 2 * result.output().map_or(0, |output| output.len());
        self.bytes = self
            .bytes
            .checked_sub(logged + returned)
            .ok_or(SimulationError::TooLarge(options.max_bytes))?;
        self.gas = self.gas.saturating_sub(result.tx_gas_used());

        let logs = if result.is_success() {
            logs.into_logs()
        } else {
            Vec::new()
        };
        Ok((result, logs))
    }
}

/// The context that all calls of a simulated block share.
struct BlockContext<'a> {
    params: &'a ChainParams,
    environment: &'a Environment,
    precompiles: PrecompileSet,
}

impl BlockContext<'_> {
    /// Returns the configuration with which a call is executed: without the limits of a
    /// transaction, and without `validation` free of charge if it names no fee.
    fn call_cfg(&self, transaction: &Transaction, validation: bool) -> CfgEnv {
        let envelope = &transaction.envelope;
        let mut cfg = self.environment.cfg_env(self.params);
        lift_limits(&mut cfg);
        cfg.disable_nonce_check = !validation;
        cfg.disable_base_fee = !validation
            && envelope.max_fee_per_gas() == 0
            && envelope.max_priority_fee_per_gas().unwrap_or(0) == 0;
        cfg
    }
}

/// Returns the nonce of an account's next transaction.
fn next_nonce(executor: &mut BlockExecutor<'_>, sender: Address) -> Result<u64, SimulationError> {
    let account = executor
        .overlay()
        .account(sender)
        .map_err(OverrideError::from)?;
    Ok(account.map_or(0, |account| account.nonce))
}

/// Checks the nonce as a real block does.
fn check_nonce(tx: u64, state: u64) -> Result<(), SimulationError> {
    use InvalidTransaction as Invalid;
    let invalid = match tx.cmp(&state) {
        Ordering::Greater => Invalid::NonceTooHigh { tx, state },
        Ordering::Less => Invalid::NonceTooLow { tx, state },
        Ordering::Equal if tx == u64::MAX => Invalid::NonceOverflowInTransaction,
        Ordering::Equal => return Ok(()),
    };
    Err(SimulationError::Call(TransactionError::Invalid(invalid)))
}

/// The hashes of the chain's blocks and of those simulated so far.
struct Hashes<'a> {
    view: &'a View,
    simulated: &'a [Simulated],
}

impl BlockHashes for Hashes<'_> {
    fn block_hash(&self, number: u64) -> Result<Option<B256>, ReadError> {
        match number.checked_sub(self.view.block.number() + 1) {
            None => self.view.head.block_hash(number),
            Some(at) => Ok(self
                .simulated
                .get(at as usize)
                .map(|simulated| simulated.block.hash)),
        }
    }

    fn block_hash_at_hand(&self, number: u64) -> Result<Option<Option<B256>>, ReadError> {
        if number <= self.view.block.number() {
            self.view.head.block_hash_at_hand(number)
        } else {
            self.block_hash(number).map(Some)
        }
    }
}

/// Returns the unsigned transaction that the block lists for a call.
fn as_transaction(
    planned: PlannedCall,
    own_nonce: u64,
    gas_limit: u64,
    context: &BlockContext<'_>,
) -> Transaction {
    let PlannedCall {
        call,
        nonce,
        fixed_price,
    } = planned;

    let max_fee = call.max_fee(context.environment.base_fee.unwrap_or(0));
    let gas_price = if fixed_price {
        GasPrice::Fixed(max_fee)
    } else {
        GasPrice::Dynamic {
            max_fee,
            max_tip: call.priority_fee.unwrap_or(0),
        }
    };

    let is_legacy = fixed_price && call.access_list.is_none();
    let fields = TransactionFields {
        chain_id: (!is_legacy).then_some(context.params.chain_id),
        nonce: nonce.unwrap_or(own_nonce),
        gas_limit,
        gas_price,
        to: call.to,
        value: call.value,
        input: call.input,
        access_list: call.access_list,
        blobs: call
            .blob_hashes
            .map(|hashes| (hashes, call.max_fee_per_blob_gas.unwrap_or(0))),
        authorization_list: call.authorization_list,
    };

    Transaction {
        envelope: without_signature(fields.into()),
        sender: call.from,
        public_key: None,
    }
}
