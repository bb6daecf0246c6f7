//! Executions as plain data, which another process can run over a state that it reads elsewhere.

use alloy_primitives::Bytes;
use revm::{
    InspectEvm,
    context::{BlockEnv, CfgEnv, TxEnv},
};
use serde::{Deserialize, Serialize};
use tetrad_primitives::{
    block::{Transaction, cosmos::CosmosNetwork},
    state::ReadState,
};
use tetrad_stdx::codec::{Reader, Writer};

use super::{
    AnyInspector, BlockHashes, Fork, Inspected, Overlay, Rules, TransactionError,
    cosmos::run_cosmos,
    environment::assemble,
    precompile_set::{DetachedPrecompiles, PrecompileSet},
};

/// Everything that an execution depends on except the state.
#[derive(Debug, Serialize, Deserialize)]
pub struct DetachedExecution {
    fork: Fork,
    cfg: CfgEnv,
    block: BlockEnv,
    tx: TxEnv,
    precompiles: DetachedPrecompiles,
    cosmos: Option<DetachedCosmos>,
}

/// A Cosmos transaction, and what it names of the network.
#[derive(Debug, Serialize, Deserialize)]
struct DetachedCosmos {
    transaction: Bytes,
    network: CosmosNetwork,
}

impl DetachedExecution {
    /// The execution of `tx` in an EVM with this block, these limits and these precompiles.
    pub(super) fn new(
        fork: Fork,
        cfg: CfgEnv,
        block: BlockEnv,
        tx: TxEnv,
        precompiles: &PrecompileSet,
    ) -> Self {
        Self {
            fork,
            cfg,
            block,
            tx,
            precompiles: precompiles.detached(),
            cosmos: None,
        }
    }

    /// The execution of a Cosmos transaction.
    pub(super) fn of_cosmos(mut self, transaction: &Transaction, network: &CosmosNetwork) -> Self {
        let mut bytes = Writer::default();
        transaction.write(&mut bytes);
        self.cosmos = Some(DetachedCosmos {
            transaction: bytes.into_bytes().into(),
            network: network.clone(),
        });
        self
    }

    /// Runs it on `state` with `inspector` attached.
    pub fn run<'a>(
        self,
        state: &'a dyn ReadState,
        hashes: &'a dyn BlockHashes,
        inspector: &mut AnyInspector<'_>,
    ) -> Result<Inspected<'a>, TransactionError> {
        let rules = Rules {
            fork: self.fork,
            blobs: None,
        };
        let precompiles = self.precompiles.attach(rules.spec());
        let mut evm = assemble(
            self.block,
            self.cfg,
            rules,
            precompiles,
            Overlay::new(state, hashes),
            inspector,
        );

        let outcome = match &self.cosmos {
            None => evm.inspect_tx(self.tx.clone())?,
            Some(DetachedCosmos {
                transaction,
                network,
            }) => {
                let malformed =
                    || TransactionError::Machine("malformed Cosmos transaction".to_owned());
                let transaction =
                    Transaction::read(&mut Reader::new(transaction)).map_err(|_| malformed())?;
                let cosmos = transaction.cosmos().ok_or_else(malformed)?;
                run_cosmos(&mut evm.ctx, evm.inspector, network, &transaction, &cosmos)?
            }
        };

        Ok(Inspected {
            tx: self.tx,
            block: evm.ctx.block,
            outcome,
            before: evm.ctx.journaled_state.database,
        })
    }
}
