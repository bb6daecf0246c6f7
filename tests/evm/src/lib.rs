//! A bare EVM on a state in memory, on which tests run contracts: without chain, pool and node.
//!
//! Generic code is compiled with the crate that names its types, and optimised as that crate is. In
//! the tests themselves, which are not optimised, the interpreter would take several times as long.

use revm::{
    Context, ExecuteCommitEvm, ExecuteEvm, MainBuilder, MainContext,
    context::{
        BlockEnv, CfgEnv, ContextTr, JournalTr, TxEnv,
        result::{EVMError, ExecutionResult},
    },
    database::InMemoryDB,
    handler::MainnetEvm,
};

/// The reason why a transaction was not executed.
pub type TransactionError = EVMError<std::convert::Infallible>;

/// An EVM with its state, in the block that comes next.
#[derive(Debug)]
pub struct BareEvm(MainnetEvm<Context<BlockEnv, TxEnv, CfgEnv, InMemoryDB>>);

impl BareEvm {
    /// Creates an EVM with these rules on a state.
    pub fn new(state: InMemoryDB, rules: CfgEnv, block: BlockEnv) -> Self {
        let context = Context::mainnet()
            .with_db(state)
            .with_cfg(rules)
            .with_block(block);
        Self(context.build_mainnet())
    }

    /// Returns the state.
    pub fn state(&self) -> &InMemoryDB {
        self.0.ctx.db()
    }

    /// Returns the state, to be changed.
    pub fn state_mut(&mut self) -> &mut InMemoryDB {
        self.0.ctx.journal_mut().db_mut()
    }

    /// Returns the block in which transactions are executed.
    pub fn block(&self) -> &BlockEnv {
        &self.0.ctx.block
    }

    /// Returns that block, to be changed.
    pub fn block_mut(&mut self) -> &mut BlockEnv {
        &mut self.0.ctx.block
    }

    /// Executes a transaction and keeps what it changed.
    ///
    /// # Errors
    /// If the transaction is not valid.
    pub fn send(&mut self, transaction: TxEnv) -> Result<ExecutionResult, TransactionError> {
        self.0.transact_commit(transaction)
    }

    /// Executes a transaction and forgets what it changed.
    ///
    /// # Errors
    /// If the transaction is not valid.
    pub fn look(&mut self, transaction: TxEnv) -> Result<ExecutionResult, TransactionError> {
        Ok(self.0.transact(transaction)?.result)
    }
}
