//! The precompiles that an execution sees: those of the chain, some of which a call's overrides may
//! have moved.

#[cfg(feature = "js-tracer")]
use alloy_primitives::FixedBytes;
use alloy_primitives::{
    Address, Bytes,
    map::{AddressMap, AddressSet},
};
use revm::{
    context_interface::{ContextTr, JournalTr, LocalContextTr},
    handler::{EthPrecompiles, PrecompileProvider, precompile_output_to_interpreter_result},
    interpreter::{CallInputs, InterpreterResult},
    precompile::{Precompile, PrecompileOutput, secp256k1::ECRECOVER},
    primitives::hardfork::SpecId,
};

#[cfg(feature = "js-tracer")]
use super::precompile::{BECH32_ADDRESS, precompiles};
use super::{
    EvmContext,
    signers::{Signers, signer},
    time_limit::STOPPED,
};

/// Gas up to which a precompile takes a few milliseconds at most.
const SHORT_GAS: u64 = 300_000;

/// The precompiles of one execution.
#[derive(Clone, Debug)]
pub struct PrecompileSet {
    chain: EthPrecompiles,
    /// The precompiles after the call's overrides, if it has any.
    changed: Option<Box<AddressMap<Precompile>>>,
    /// The accounts that `ecrecover` returns for certain signatures.
    signers: Signers,
}

impl PrecompileSet {
    /// The chain's own precompiles.
    pub(super) fn new(chain: EthPrecompiles, signers: Signers) -> Self {
        Self {
            chain,
            changed: None,
            signers,
        }
    }

    /// The precompile at this address.
    pub fn get(&self, address: &Address) -> Option<&Precompile> {
        match &self.changed {
            Some(changed) => changed.get(address),
            None => self.chain.precompiles.get(address),
        }
    }

    /// Every address with its precompile.
    pub fn all(&self) -> impl Iterator<Item = (&Address, &Precompile)> {
        match &self.changed {
            Some(changed) => changed.iter(),
            None => self.chain.precompiles.inner().iter(),
        }
    }

    /// Takes the precompile away from this address and returns it.
    pub(super) fn remove(&mut self, address: &Address) -> Option<Precompile> {
        self.get(address)?;
        self.change().remove(address)
    }

    /// Puts a precompile at this address.
    pub(super) fn insert(&mut self, address: Address, precompile: Precompile) {
        self.change().insert(address, precompile);
    }

    fn change(&mut self) -> &mut AddressMap<Precompile> {
        self.changed
            .get_or_insert_with(|| Box::new(self.chain.precompiles.inner().clone()))
    }
}

/// A set of precompiles as plain data.
#[cfg(feature = "js-tracer")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct DetachedPrecompiles {
    /// Whether the network's own precompiles are among the chain's.
    network: bool,
    /// The precompiles after the call's overrides, if it has any: where each is, and where the
    /// chain has it.
    changed: Option<Vec<(Address, Address)>>,
    signers: Vec<(Bytes, Address)>,
}

#[cfg(feature = "js-tracer")]
impl PrecompileSet {
    /// The set as plain data.
    pub(super) fn detached(&self) -> DetachedPrecompiles {
        let moved = |(at, precompile): (&Address, &Precompile)| (*at, *precompile.address());
        DetachedPrecompiles {
            network: self.chain.precompiles.contains(&BECH32_ADDRESS),
            changed: self
                .changed
                .as_ref()
                .map(|changed| changed.iter().map(moved).collect()),
            signers: self
                .signers
                .iter()
                .map(|(key, signer)| (Bytes::copy_from_slice(&key[..]), *signer))
                .collect(),
        }
    }
}

#[cfg(feature = "js-tracer")]
impl DetachedPrecompiles {
    /// The set for the rules of `spec`.
    pub(super) fn attach(self, spec: SpecId) -> PrecompileSet {
        // `from_slice` panics at any other length.
        let signers = self.signers.iter().filter(|(key, _)| key.len() == 65);
        let signers = signers
            .map(|(key, signer)| (FixedBytes::from_slice(key), *signer))
            .collect();

        let mut set = PrecompileSet::new(precompiles(spec, self.network), Signers::new(signers));

        let chain = set.chain.precompiles.inner();
        let found = |(at, from): (Address, Address)| Some((at, chain.get(&from)?.clone()));
        set.changed = self
            .changed
            .map(|changed| Box::new(changed.into_iter().filter_map(found).collect()));
        set
    }
}

impl<'e> PrecompileProvider<EvmContext<'e>> for PrecompileSet {
    type Output = InterpreterResult;

    fn set_spec(&mut self, _: SpecId) -> bool {
        // The set is made for the fork that it runs under.
        false
    }

    fn run(
        &mut self,
        context: &mut EvmContext<'e>,
        inputs: &CallInputs,
    ) -> Result<Option<InterpreterResult>, String> {
        let mut result = self.run_as_it_is(context, inputs)?;
        if !self.signers.is_empty()
            && inputs.bytecode_address == *ECRECOVER.address()
            && let Some(result) = result.as_mut().filter(|result| result.is_ok())
            && let Some(signer) = signer(&self.signers, &inputs.input.as_bytes(context))
        {
            result.output = Bytes::from(signer.into_word().0);
        }
        Ok(result)
    }

    fn warm_addresses(&self) -> &AddressSet {
        // Moving a precompile does not change which addresses are warm from the start (EIP-2929),
        // as in geth.
        self.chain.warm_addresses()
    }

    fn contains(&self, address: &Address) -> bool {
        self.get(address).is_some()
    }
}

impl PrecompileSet {
    /// Runs a precompile as it is, without the accounts that `ecrecover` was given.
    fn run_as_it_is(
        &mut self,
        context: &mut EvmContext<'_>,
        inputs: &CallInputs,
    ) -> Result<Option<InterpreterResult>, String> {
        let Some(precompile) = self.get(&inputs.bytecode_address) else {
            return Ok(None);
        };

        let is_limited = context.db_mut().time_limit().is_some();
        let first = if is_limited {
            inputs.gas_limit.min(SHORT_GAS)
        } else {
            inputs.gas_limit
        };

        let mut output = execute(precompile, context, inputs, first)?;
        // Gas is charged before the work is done.
        if first < inputs.gas_limit && output.halt_reason().is_some_and(|reason| reason.is_oog()) {
            if context
                .db_mut()
                .time_limit()
                .is_some_and(|time_limit| time_limit.refuses_long())
            {
                return Err(STOPPED.to_owned());
            }
            output = execute(precompile, context, inputs, inputs.gas_limit)?;
        }

        // As the chain's own precompiles do: a direct caller learns why its call failed.
        if let Some(reason) = output.halt_reason().filter(|reason| !reason.is_oog())
            && context.journal().depth() == 1
        {
            context
                .local_mut()
                .set_precompile_error_context(reason.to_string());
        }

        Ok(Some(precompile_output_to_interpreter_result(
            output,
            inputs.gas_limit,
        )))
    }
}

fn execute(
    precompile: &Precompile,
    context: &mut EvmContext<'_>,
    inputs: &CallInputs,
    gas_limit: u64,
) -> Result<PrecompileOutput, String> {
    let input = inputs.input.as_bytes(context);
    precompile
        .execute(&input, gas_limit, inputs.reservoir)
        .map_err(|error| error.to_string())
}
