//! Precompiles with signatures that a development method gave to accounts which did not make them.

use std::{collections::BTreeMap, sync::Arc};

use alloy_primitives::{Address, Bytes, FixedBytes};
use revm::{
    context_interface::{Cfg, ContextTr},
    handler::{EthPrecompiles, PrecompileProvider},
    interpreter::{CallInputs, InterpreterResult},
    precompile::secp256k1::ECRECOVER,
    primitives::AddressSet,
};

/// Accounts by signature: `r`, `s` and `v` (27 or 28).
pub type Signers = Arc<BTreeMap<FixedBytes<65>, Address>>;

/// A chain's precompiles, with `ecrecover` answering for some signatures as it was told.
#[derive(Clone)]
pub struct Precompiled {
    pub(super) precompiles: EthPrecompiles,
    pub(super) signers: Signers,
}

impl Precompiled {
    /// The account that was given the signature in the input of `ecrecover`: hash, `v`, `r`, `s`, 32 bytes each.
    fn signer(&self, input: &[u8]) -> Option<Address> {
        let v = input.get(32..64)?;
        let (zeros, v) = v.split_at(31);
        let mut signature = FixedBytes::<65>::ZERO;
        signature[..64].copy_from_slice(input.get(64..128)?);
        signature[64] = v[0];
        self.signers.get(&signature).copied().filter(|_| zeros.iter().all(|byte| *byte == 0))
    }
}

impl<C: ContextTr> PrecompileProvider<C> for Precompiled {
    type Output = InterpreterResult;

    fn set_spec(&mut self, spec: <C::Cfg as Cfg>::Spec) -> bool {
        <EthPrecompiles as PrecompileProvider<C>>::set_spec(&mut self.precompiles, spec)
    }

    fn run(&mut self, context: &mut C, inputs: &CallInputs) -> Result<Option<InterpreterResult>, String> {
        let mut result = self.precompiles.run(context, inputs)?;
        if !self.signers.is_empty()
            && inputs.bytecode_address == *ECRECOVER.address()
            && let Some(result) = result.as_mut().filter(|result| result.is_ok())
            && let Some(signer) = self.signer(&inputs.input.as_bytes(context))
        {
            result.output = Bytes::from(signer.into_word().0);
        }
        Ok(result)
    }

    fn warm_addresses(&self) -> &AddressSet {
        self.precompiles.warm_addresses()
    }
}
