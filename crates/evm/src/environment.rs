//! The environment of an execution: block, chain and limits, in revm's types.

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bytes, U256};
use revm::{
    ExecuteEvm,
    context::{BlockEnv, CfgEnv, Evm as RevmEvm, FrameStack, TxEnv},
    context_interface::{block::BlobExcessGasAndPrice, result::ResultAndState},
    handler::{EthFrame, instructions::EthInstructions},
    interpreter::interpreter::EthInterpreter,
};
use tetrad_primitives::block::cosmos::CosmosNetwork;

use super::{
    EvmContext, Fork, Overlay, PrecompileSet, Rules, Signers, TransactionError,
    instructions::{adjust_prices, instructions},
    precompile::precompiles,
};

/// The EVM that runs every execution: revm over an [`Overlay`].
pub type Evm<'a, I = ()> = RevmEvm<
    EvmContext<'a>,
    I,
    EthInstructions<EthInterpreter, EvmContext<'a>>,
    PrecompileSet,
    EthFrame<EthInterpreter>,
>;

/// Parameters that are the same for every block of a chain.
#[derive(Clone, Debug)]
pub struct ChainParams {
    /// The chain id that transactions are signed for (EIP-155).
    pub chain_id: u64,
    /// The fork schedule.
    pub forks: super::Forks,
    /// The contract whose events are deposits (EIP-6110).
    pub deposit_contract: Address,
    /// Whether the network's own precompiles exist in addition to Ethereum's.
    pub network_precompiles: bool,
    /// Whether blocks built here follow every rule of Ethereum: the gas limit moves in small steps,
    /// and since Prague the request contracts exist. The network's own chain and forks relax these
    /// rules.
    pub standard: bool,
    /// Whether each block built here is later than its parent, as Ethereum demands, instead of at
    /// the same second or later.
    pub increasing_timestamps: bool,
    /// The limits of new transactions and their code.
    pub limits: Limits,
    /// Accounts that `ecrecover` returns for signatures (`r`, `s`, `v`) that they did not make, as
    /// set by a development method.
    pub signers: Signers,
    /// The parameters of the network that Cosmos transactions name.
    pub cosmos: CosmosNetwork,
}

/// Ethereum's limits that settings lift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Whether the gas limit of a transaction is capped since Osaka (EIP-7825).
    pub transaction_gas: bool,
    /// Whether the gas limit of a block bounds its transactions.
    pub block_gas: bool,
    /// Whether the size of code is limited: a contract's (EIP-170) and that which creates it
    /// (EIP-3860).
    pub code_size: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            transaction_gas: true,
            block_gas: true,
            code_size: true,
        }
    }
}

/// The part of a block that its transactions can see, known before any of them runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The active rules.
    pub rules: Rules,
    /// Height.
    pub number: u64,
    /// Seconds since the Unix epoch.
    pub timestamp: u64,
    /// The recipient of tips.
    pub beneficiary: Address,
    /// The gas limit of all transactions together.
    pub gas_limit: u64,
    /// Wei per gas that is burned; none before London.
    pub base_fee: Option<u64>,
    /// The proof-of-work difficulty; zero since the merge.
    pub difficulty: U256,
    /// `PREVRANDAO` since the merge (EIP-4399), before it the proof-of-work mix hash.
    pub mix_hash: B256,
    /// The excess blob gas; none before Cancun.
    pub excess_blob_gas: Option<u64>,
    /// An override of the blob base fee that follows from the excess blob gas.
    pub pretended_blob_base_fee: Option<u128>,
    /// The parent's hash.
    pub parent_hash: B256,
    /// The root of the parent beacon block; none before Cancun (EIP-4788).
    pub parent_beacon_block_root: Option<B256>,
    /// The header's extra data.
    pub extra_data: Bytes,
}

impl Environment {
    /// The environment in which the block with this header ran.
    pub fn of(header: &Header, rules: Rules) -> Self {
        Self {
            rules,
            number: header.number,
            timestamp: header.timestamp,
            beneficiary: header.beneficiary,
            gas_limit: header.gas_limit,
            base_fee: header.base_fee_per_gas,
            difficulty: header.difficulty,
            mix_hash: header.mix_hash,
            // A fork may begin at a block of a chain without blobs.
            excess_blob_gas: header
                .excess_blob_gas
                .or(rules.has(Fork::Cancun).then_some(0)),
            pretended_blob_base_fee: None,
            parent_hash: header.parent_hash,
            parent_beacon_block_root: header.parent_beacon_block_root,
            extra_data: header.extra_data.clone(),
        }
    }

    /// Wei per blob gas; none before Cancun (EIP-4844).
    pub fn blob_base_fee(&self) -> Option<u128> {
        let follows = self.rules.blobs?.calc_blob_fee(self.excess_blob_gas?);
        Some(self.pretended_blob_base_fee.unwrap_or(follows))
    }

    /// The block in revm's type.
    pub(crate) fn block_env(&self) -> BlockEnv {
        let merged = self.rules.has(Fork::Paris);
        BlockEnv {
            number: U256::from(self.number),
            beneficiary: self.beneficiary,
            timestamp: U256::from(self.timestamp),
            gas_limit: self.gas_limit,
            basefee: self.base_fee.unwrap_or(0),
            // `DIFFICULTY` is the randomness since the merge (EIP-4399).
            difficulty: if merged { U256::ZERO } else { self.difficulty },
            prevrandao: merged.then_some(self.mix_hash),
            blob_excess_gas_and_price: self.excess_blob_gas.zip(self.blob_base_fee()).map(
                |(excess_blob_gas, price)| BlobExcessGasAndPrice {
                    excess_blob_gas,
                    blob_gasprice: price,
                },
            ),
            slot_num: 0,
        }
    }

    /// The chain's rules in revm's type: fork and gas table.
    pub fn cfg_env(&self, chain: &ChainParams) -> CfgEnv {
        let mut cfg = CfgEnv::new()
            .with_spec_and_mainnet_gas_params(self.rules.spec())
            .with_chain_id(chain.chain_id);
        cfg.tx_chain_id_check = true;

        if !chain.limits.transaction_gas {
            cfg.tx_gas_limit_cap = Some(u64::MAX);
        }
        if !chain.limits.code_size {
            cfg.limit_contract_code_size = Some(usize::MAX);
            cfg.limit_contract_initcode_size = Some(usize::MAX);
        }

        cfg.disable_block_gas_limit = !chain.limits.block_gas;
        adjust_prices(&mut cfg, self.rules);

        if let Some(blobs) = self.rules.blobs {
            cfg.set_max_blobs_per_tx(blobs.max_blobs_per_tx);
            cfg.blob_base_fee_update_fraction = Some(blobs.update_fraction as u64);
        }

        cfg
    }

    /// The precompiles that exist under these rules.
    pub fn precompiles(&self, chain: &ChainParams) -> PrecompileSet {
        let of_chain = precompiles(self.rules.spec(), chain.network_precompiles);
        PrecompileSet::new(of_chain, chain.signers.clone())
    }

    /// An EVM over `overlay` in this environment.
    pub fn evm<'a>(&self, chain: &ChainParams, overlay: Overlay<'a>) -> Evm<'a> {
        self.evm_with(self.cfg_env(chain), self.precompiles(chain), overlay, ())
    }

    /// An EVM with the given limits and precompiles, and an inspector that sees every step.
    pub fn evm_with<'a, I>(
        &self,
        cfg: CfgEnv,
        precompiles: PrecompileSet,
        overlay: Overlay<'a>,
        inspector: I,
    ) -> Evm<'a, I> {
        assemble(
            self.block_env(),
            cfg,
            self.rules,
            precompiles,
            overlay,
            inspector,
        )
    }
}

/// Runs a transaction, which changes nothing yet. Other crates call this instead of the method,
/// which would compile the EVM again in each of them.
pub fn transact(evm: &mut Evm<'_>, tx: TxEnv) -> Result<ResultAndState, TransactionError> {
    Ok(evm.transact(tx)?)
}

/// An EVM of its parts.
pub(super) fn assemble<'a, I>(
    block: BlockEnv,
    cfg: CfgEnv,
    rules: Rules,
    precompiles: PrecompileSet,
    overlay: Overlay<'a>,
    inspector: I,
) -> Evm<'a, I> {
    // Set in place: a context takes kilobytes, which its builder would copy at each step.
    let mut ctx = EvmContext::new(overlay, rules.spec());
    ctx.block = block;
    ctx.modify_cfg(|default| *default = cfg);
    RevmEvm {
        ctx,
        inspector,
        instruction: instructions(rules),
        precompiles,
        // Frames are made when they are needed: each takes 36 KiB, and most executions need few.
        frame_stack: FrameStack::new(),
    }
}
