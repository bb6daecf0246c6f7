//! The genesis block: accounts with balances, and contracts deployed as on a live chain, by running
//! their constructors and set-up calls.

use std::sync::Arc;

use alloy_consensus::constants::KECCAK_EMPTY;
use alloy_eips::eip1559::INITIAL_BASE_FEE;
use alloy_primitives::{Address, B64, B256, Bytes, TxKind, U256};
use revm::{
    bytecode::Bytecode,
    context::TxEnv,
    context_interface::{ContextTr, result::ExecutionResult},
};
use tetrad_evm::{
    BlockHashes, ChainParams, Environment, Evm, Fork, Overlay, halt_message, transact,
};
use tetrad_primitives::{
    block::Block,
    state::{ReadError, State},
};

use super::seal::{BlockContent, seal};
use crate::Head;

/// The description of a genesis block.
#[derive(Clone, Debug)]
pub struct Genesis {
    /// Seconds since the Unix epoch.
    pub timestamp: u64,
    /// Gas limit.
    pub gas_limit: u64,
    /// The beneficiary in the header.
    pub beneficiary: Address,
    /// Base fee in wei per gas; EIP-1559's initial one by default.
    pub base_fee: Option<u64>,
    /// Proof-of-work difficulty; zero on a chain that was never mined.
    pub difficulty: U256,
    /// Mix hash; after the merge the value of `PREVRANDAO`.
    pub mix_hash: B256,
    /// Proof-of-work nonce.
    pub nonce: B64,
    /// Extra data.
    pub extra_data: Bytes,
    /// Excess blob gas.
    pub excess_blob_gas: u64,
    /// Number; zero but on a chain that begins in the middle.
    pub number: u64,
    /// Accounts, in the order of their account numbers.
    pub accounts: Vec<GenesisAccount>,
    /// Deployments and calls, in order.
    pub steps: Vec<Step>,
}

/// An account of the genesis block.
#[derive(Clone, Debug, Default)]
pub struct GenesisAccount {
    /// The address.
    pub address: Address,
    /// Balance in wei.
    pub balance: U256,
    /// Nonce.
    pub nonce: u64,
    /// Code.
    pub code: Bytes,
    /// Storage, from files that describe another chain. The network's own contracts are deployed by
    /// [`Step`]s.
    pub storage: Vec<(U256, U256)>,
}

/// One step of the contracts' set-up.
#[derive(Clone, Debug)]
pub enum Step {
    /// Runs creation code at a fixed address and deploys the code that it returns.
    Deploy {
        /// Name of the contract, for messages.
        name: String,
        /// Address of the contract.
        address: Address,
        /// `msg.sender` of the constructor.
        deployer: Address,
        /// Creation code and constructor arguments.
        code: Bytes,
    },
    /// Calls a contract.
    Call {
        /// Purpose of the call, for messages.
        name: String,
        /// `msg.sender`.
        from: Address,
        /// The contract.
        to: Address,
        /// Selector and arguments.
        input: Bytes,
    },
}

/// The reason why the genesis block cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum GenesisError {
    /// A constructor or set-up call failed.
    #[error("genesis: {step} failed: {reason}")]
    Step {
        /// The step's name.
        step: String,
        /// The revert data or the halt reason.
        reason: String,
    },
    /// The state could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// The block hashes before the genesis block, of which there are none.
struct NoBlocks;

impl BlockHashes for NoBlocks {
    fn block_hash(&self, _: u64) -> Result<Option<B256>, ReadError> {
        Ok(None)
    }
}

impl Genesis {
    /// Returns a genesis block without accounts.
    pub fn empty(timestamp: u64, gas_limit: u64) -> Self {
        Self {
            timestamp,
            gas_limit,
            beneficiary: Address::ZERO,
            base_fee: None,
            difficulty: U256::ZERO,
            mix_hash: B256::ZERO,
            nonce: B64::ZERO,
            extra_data: Bytes::new(),
            excess_blob_gas: 0,
            number: 0,
            accounts: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Builds the genesis block and the state after it.
    pub fn build(&self, params: Arc<ChainParams>) -> Result<Head, GenesisError> {
        let rules = params.forks.at(self.number, self.timestamp);
        let environment = Environment {
            rules,
            number: self.number,
            timestamp: self.timestamp,
            beneficiary: self.beneficiary,
            gas_limit: self.gas_limit,
            base_fee: rules
                .has(Fork::London)
                .then(|| self.base_fee.unwrap_or(INITIAL_BASE_FEE)),
            difficulty: self.difficulty,
            mix_hash: self.mix_hash,
            excess_blob_gas: rules.has(Fork::Cancun).then_some(self.excess_blob_gas),
            pretended_blob_base_fee: None,
            parent_hash: B256::ZERO,
            // Zero in the genesis block (EIP-4788).
            parent_beacon_block_root: rules.has(Fork::Cancun).then_some(B256::ZERO),
            extra_data: self.extra_data.clone(),
        };

        let mut state = State::default();
        let mut overlay = Overlay::new(&state, &NoBlocks);
        for account in &self.accounts {
            account.place(&mut overlay)?;
        }
        let changes = run(&self.steps, &params, &environment, overlay)?.into_changes();

        let root = state.apply(&changes);
        let content = BlockContent {
            nonce: self.nonce,
            ..BlockContent::default()
        };
        let block: Block = seal(&environment, content, root);
        Ok(Head::genesis(params, Arc::new(block), state))
    }
}

impl GenesisAccount {
    /// Writes the account to the state.
    pub(crate) fn place(&self, overlay: &mut Overlay<'_>) -> Result<(), ReadError> {
        overlay.edit(self.address, |info| {
            info.balance = self.balance;
            info.nonce = self.nonce;
            info.code_hash = KECCAK_EMPTY;
            info.code = Some(Bytecode::default());
        })?;

        if !self.code.is_empty() {
            overlay.set_code(self.address, self.code.clone())?;
        }
        self.storage
            .iter()
            .try_for_each(|&(slot, value)| overlay.set_storage(self.address, slot, value))
    }
}

/// Runs the steps on top of `overlay`, free of charge and without the limits of a transaction.
fn run<'a>(
    steps: &[Step],
    params: &ChainParams,
    environment: &Environment,
    overlay: Overlay<'a>,
) -> Result<Overlay<'a>, GenesisError> {
    let mut cfg = environment.cfg_env(params);
    cfg.disable_nonce_check = true;
    cfg.disable_base_fee = true;
    cfg.disable_block_gas_limit = true;
    cfg.tx_gas_limit_cap = Some(u64::MAX);

    let mut evm = environment.evm_with(cfg, environment.precompiles(params), overlay, ());
    for step in steps {
        match step {
            Step::Call {
                from, to, input, ..
            } => {
                call(&mut evm, params, *from, *to, input.clone())
                    .map_err(|reason| step.failed(reason))?;
            }
            Step::Deploy {
                address,
                deployer,
                code,
                ..
            } => {
                // A creation would choose the address itself, so the constructor runs as a call.
                set_code(&mut evm, *address, code.clone())?;
                let runtime = call(&mut evm, params, *deployer, *address, Bytes::new())
                    .map_err(|reason| step.failed(reason))?;
                set_code(&mut evm, *address, runtime)?;
            }
        }
    }
    Ok(evm.ctx.journaled_state.database)
}

fn call(
    evm: &mut Evm<'_>,
    params: &ChainParams,
    from: Address,
    to: Address,
    input: Bytes,
) -> Result<Bytes, String> {
    let tx = TxEnv {
        caller: from,
        kind: TxKind::Call(to),
        data: input,
        gas_limit: 1 << 40,
        gas_price: 0,
        chain_id: Some(params.chain_id),
        ..TxEnv::default()
    };
    let executed = transact(evm, tx).map_err(|error| error.to_string())?;
    let output = match executed.result {
        ExecutionResult::Success { output, .. } => output.into_data(),
        ExecutionResult::Revert { output, .. } => return Err(format!("reverted with {output}")),
        ExecutionResult::Halt { reason, .. } => return Err(halt_message(&reason)),
    };

    evm.ctx
        .db_mut()
        .commit(executed.state)
        .map_err(|error| error.to_string())?;
    Ok(output)
}

fn set_code(evm: &mut Evm<'_>, address: Address, code: Bytes) -> Result<(), ReadError> {
    let overlay = evm.ctx.db_mut();
    // Contracts start with nonce 1 (EIP-161).
    overlay.edit(address, |info| info.nonce = info.nonce.max(1))?;
    overlay.set_code(address, code)
}

impl Step {
    fn name(&self) -> &str {
        match self {
            Self::Deploy { name, .. } | Self::Call { name, .. } => name,
        }
    }

    fn failed(&self, reason: String) -> GenesisError {
        GenesisError::Step {
            step: self.name().to_owned(),
            reason,
        }
    }
}
