//! Calls: executions whose changes are discarded.

use alloy_eips::{eip2930::AccessList, eip7702::SignedAuthorization};
use alloy_primitives::{Address, B256, Bytes, TxKind, U256};
use revm::{
    InspectEvm,
    context::{BlockEnv, CfgEnv, TxEnv},
    context_interface::{either::Either, result::ExecutionResult},
};
use tetrad_primitives::{block::recover_authority, state::ReadState};

#[cfg(feature = "js-tracer")]
use super::DetachedExecution;
use super::{
    AnyInspector, BlockHashes, ChainParams, Environment, Evm, Inspected, Overlay, PrecompileSet,
    StateOverrides, TimeLimit, TransactionError, apply_overrides, jumps::watch_jumps, prefetch,
};

/// A message call or contract creation to simulate.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// The sender; its nonce, code and, without a price, funds for gas do not matter.
    pub from: Address,
    /// The recipient; none for a creation.
    pub to: Option<Address>,
    /// Gas to provide; by default as much as the node allows.
    pub gas: Option<u64>,
    /// Wei per gas: the price, or the EIP-1559 maximum. Zero disables the base fee check, as does
    /// none without a tip.
    pub gas_price: Option<u128>,
    /// The EIP-1559 tip in wei per gas. Without a price the maximum is [the usual
    /// one](usual_max_fee).
    pub priority_fee: Option<u128>,
    /// Wei to send.
    pub value: U256,
    /// Call data or creation code.
    pub input: Bytes,
    /// Accounts and slots to warm up (EIP-2930).
    pub access_list: Option<AccessList>,
    /// Versioned hashes (EIP-4844).
    pub blob_hashes: Option<Vec<B256>>,
    /// Wei per blob gas (EIP-4844).
    pub max_fee_per_blob_gas: Option<u128>,
    /// Delegations (EIP-7702).
    pub authorization_list: Option<Vec<SignedAuthorization>>,
}

/// The context that calls run in: a state, a block's environment, and overrides.
#[derive(Clone, Copy)]
pub struct CallContext<'a> {
    /// The chain's parameters.
    pub chain: &'a ChainParams,
    /// The environment of the block that the call runs in.
    pub environment: &'a Environment,
    /// The state to run on.
    pub state: &'a dyn ReadState,
    /// Hashes of past blocks.
    pub hashes: &'a dyn BlockHashes,
    /// Account overrides.
    pub overrides: &'a StateOverrides,
    /// The maximum gas of a call.
    pub gas_cap: u64,
    /// The time limit, if there is one.
    pub time_limit: Option<TimeLimit<'a>>,
}

impl<'a> CallContext<'a> {
    /// Returns this context with a time limit.
    pub fn within(self, time_limit: TimeLimit<'a>) -> Self {
        Self {
            time_limit: Some(time_limit),
            ..self
        }
    }

    /// Runs `call` with `gas`.
    pub fn run(&self, call: &Call, gas: u64) -> Result<ExecutionResult, TransactionError> {
        let mut evm = self.evm(call, ())?;
        if self.time_limit.is_some() {
            watch_jumps(&mut evm);
        }
        Ok(prefetch::transact(&mut evm, self.tx_env(call, gas))?.result)
    }

    /// Runs `call` with the gas it asks for, up to the cap, with `inspector` attached.
    pub fn inspect(
        &self,
        call: &Call,
        inspector: &mut AnyInspector<'_>,
    ) -> Result<Inspected<'_>, TransactionError> {
        let tx = self.tx_env(call, self.gas_of(call));
        let mut evm = self.evm(call, inspector)?;
        prefetch::prepare(&mut evm, &tx);
        let outcome = evm.inspect_tx(tx.clone())?;
        Ok(Inspected {
            tx,
            block: evm.ctx.block,
            outcome,
            before: evm.ctx.journaled_state.database,
        })
    }

    /// The execution of `call` with the gas it asks for, up to the cap, as plain data, and the
    /// state that it runs on.
    #[cfg(feature = "js-tracer")]
    pub fn detached(
        &self,
        call: &Call,
    ) -> Result<(DetachedExecution, Overlay<'_>), TransactionError> {
        let tx = self.tx_env(call, self.gas_of(call));
        let evm = self.evm(call, ())?;
        let execution = DetachedExecution::new(
            self.environment.rules.fork,
            evm.ctx.cfg,
            evm.ctx.block,
            tx,
            &evm.precompiles,
        );
        Ok((execution, evm.ctx.journaled_state.database))
    }

    fn gas_of(&self, call: &Call) -> u64 {
        call.gas.unwrap_or(self.gas_cap).min(self.gas_cap)
    }

    /// The most that `call` pays for gas, in wei.
    pub(super) fn max_fee(&self, call: &Call) -> u128 {
        call.max_fee(self.environment.base_fee.unwrap_or(0))
    }

    fn tx_env(&self, call: &Call, gas: u64) -> TxEnv {
        call.tx_env(gas, self.chain.chain_id, self.max_fee(call))
    }

    fn evm<I>(&self, call: &Call, inspector: I) -> Result<Evm<'_, I>, TransactionError> {
        let (overlay, precompiles) = self.prepare()?;

        let mut cfg = self.environment.cfg_env(self.chain);
        lift_limits(&mut cfg);
        cfg.disable_nonce_check = true;

        let max_fee = self.max_fee(call);
        cfg.disable_base_fee = max_fee == 0 && call.priority_fee.unwrap_or(0) == 0;

        let mut evm = self
            .environment
            .evm_with(cfg, precompiles, overlay, inspector);

        if max_fee == 0 {
            // A call without a gas price sees a base fee of zero, as in geth.
            evm.ctx.block.basefee = 0;
        }
        if call.waives_blob_fee() {
            waive_blob_fee(&mut evm.ctx.block);
        }
        Ok(evm)
    }

    /// The overlay and the precompiles with the call's overrides applied.
    pub(super) fn prepare(&self) -> Result<(Overlay<'_>, PrecompileSet), TransactionError> {
        let mut overlay = Overlay::new(self.state, self.hashes).with_time_limit(self.time_limit);
        let mut precompiles = self.environment.precompiles(self.chain);
        apply_overrides(&mut overlay, &mut precompiles, self.overrides)?;
        Ok((overlay, precompiles))
    }

    /// Runs `call` with the gas it asks for, up to the cap.
    pub fn call(&self, call: &Call) -> Result<ExecutionResult, TransactionError> {
        self.run(call, self.gas_of(call))
    }
}

/// Lifts the limits that hold for transactions but not for calls.
pub fn lift_limits(cfg: &mut CfgEnv) {
    cfg.disable_eip3607 = true;
    cfg.disable_block_gas_limit = true;
    cfg.tx_gas_limit_cap = Some(u64::MAX);
}

/// The maximum fee of a transaction that names only its tip, in wei per gas, as in geth: it remains
/// valid while the base fee doubles.
pub fn usual_max_fee(base_fee: u128, tip: u128) -> u128 {
    base_fee.saturating_mul(2).saturating_add(tip)
}

/// Has blobs cost nothing.
pub(super) fn waive_blob_fee(block: &mut BlockEnv) {
    if let Some(blob) = &mut block.blob_excess_gas_and_price {
        blob.blob_gasprice = 0;
    }
}

impl Call {
    /// The most that the call pays for gas in a block with this base fee, in wei.
    pub fn max_fee(&self, base_fee: u64) -> u128 {
        match (self.gas_price, self.priority_fee) {
            (Some(price), _) => price,
            (None, Some(tip)) if tip > 0 => usual_max_fee(base_fee.into(), tip),
            (None, _) => 0,
        }
    }

    /// Whether blobs cost nothing, as in geth for a call that offers nothing for them.
    fn waives_blob_fee(&self) -> bool {
        self.max_fee_per_blob_gas
            .map_or(self.blob_hashes.is_some(), |fee| fee == 0)
    }

    fn tx_env(&self, gas: u64, chain_id: u64, max_fee: u128) -> TxEnv {
        let tx_type = if self.authorization_list.is_some() {
            4
        } else if self.blob_hashes.is_some() {
            3
        } else if self.priority_fee.is_some() {
            2
        } else if self.access_list.is_some() {
            1
        } else {
            0
        };

        let authorizations = self.authorization_list.iter().flatten();
        TxEnv {
            tx_type,
            caller: self.from,
            gas_limit: gas,
            gas_price: max_fee,
            kind: self.to.map_or(TxKind::Create, TxKind::Call),
            value: self.value,
            data: self.input.clone(),
            // The nonce is not checked; created contracts get their address from the account's
            // nonce.
            nonce: 0,
            chain_id: Some(chain_id),
            access_list: self.access_list.clone().unwrap_or_default(),
            gas_priority_fee: (tx_type >= 2).then(|| self.priority_fee.unwrap_or(0)),
            blob_hashes: self.blob_hashes.clone().unwrap_or_default(),
            max_fee_per_blob_gas: self.max_fee_per_blob_gas.unwrap_or_default(),
            authorization_list: authorizations
                .map(|signed| Either::Right(recover_authority(signed)))
                .collect(),
        }
    }
}
