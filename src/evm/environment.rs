//! The circumstances of an execution: block, chain and limits, as the EVM wants them.

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bytes, U256};
use revm::{
    Context, MainContext,
    context::{BlockEnv, CfgEnv, Evm as RevmEvm, FrameStack},
    context_interface::block::BlobExcessGasAndPrice,
    database::EmptyDB,
    handler::{EthFrame, MainnetContext, instructions::EthInstructions},
    interpreter::interpreter::EthInterpreter,
};

use super::{
    Fork, Overlay, PrecompileSet, Rules, Signers,
    instructions::{adjust_prices, instructions},
    precompile::precompiles,
};

/// What an execution works with: block, transaction, limits, and an [`Overlay`] with what it has changed.
pub type EvmContext<'a> = MainnetContext<Overlay<'a>>;

/// The machine that runs everything: revm over an [`Overlay`].
pub type Evm<'a, I = ()> = RevmEvm<
    EvmContext<'a>,
    I,
    EthInstructions<EthInterpreter, EvmContext<'a>>,
    PrecompileSet,
    EthFrame<EthInterpreter>,
>;

/// What holds for every block of a chain.
#[derive(Clone, Debug)]
pub struct ChainParams {
    /// The chain id that transactions are signed for (EIP-155).
    pub chain_id: u64,
    /// The forks and when they begin.
    pub forks: super::Forks,
    /// The contract whose events are deposits (EIP-6110).
    pub deposit_contract: Address,
    /// Whether the network's own precompiles exist beside Ethereum's.
    pub network_precompiles: bool,
    /// Whether blocks that are made here keep every rule of Ethereum's: each later than its parent, a gas limit that moves
    /// in small steps, and since Prague the contracts that take requests. The network's own chain takes liberties, and
    /// a fork takes another chain as it is.
    pub standard: bool,
    /// Accounts that `ecrecover` gives for signatures (`r`, `s`, `v`) that they did not make, as a development method
    /// decided.
    pub signers: Signers,
}

/// What a block's transactions can see of it, known before any of them runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The rules that hold.
    pub rules: Rules,
    /// Height.
    pub number: u64,
    /// Seconds since the Unix epoch.
    pub timestamp: u64,
    /// Who gets the tips.
    pub beneficiary: Address,
    /// The gas that all transactions together may use.
    pub gas_limit: u64,
    /// Wei per gas that is burned; none before London.
    pub base_fee: Option<u64>,
    /// Proof-of-work difficulty; zero since the merge.
    pub difficulty: U256,
    /// `PREVRANDAO` since the merge (EIP-4399), before it the proof-of-work mix hash.
    pub mix_hash: B256,
    /// Running excess of blob gas; none before Cancun.
    pub excess_blob_gas: Option<u64>,
    /// A price of blob gas to pretend, instead of what follows from the excess.
    pub pretended_blob_base_fee: Option<u128>,
    /// The block before.
    pub parent_hash: B256,
    /// Root of the parent beacon block; none before Cancun (EIP-4788).
    pub parent_beacon_block_root: Option<B256>,
    /// Free bytes of the header.
    pub extra_data: Bytes,
}

impl Environment {
    /// The circumstances under which the block with this header ran.
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
            // A fork may begin at a block of a chain that knows no blobs.
            excess_blob_gas: header.excess_blob_gas.or(rules.has(Fork::Cancun).then_some(0)),
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

    /// The block as the EVM wants it.
    pub fn block_env(&self) -> BlockEnv {
        let merged = self.rules.has(Fork::Paris);
        BlockEnv {
            number: U256::from(self.number),
            beneficiary: self.beneficiary,
            timestamp: U256::from(self.timestamp),
            gas_limit: self.gas_limit,
            basefee: self.base_fee.unwrap_or(0),
            difficulty: if merged { U256::ZERO } else { self.difficulty },
            prevrandao: merged.then_some(self.mix_hash),
            blob_excess_gas_and_price: self
                .excess_blob_gas
                .zip(self.blob_base_fee())
                .map(|(excess_blob_gas, price)| BlobExcessGasAndPrice { excess_blob_gas, blob_gasprice: price }),
            slot_num: 0,
        }
    }

    /// The chain's rules as the EVM wants them: fork and gas table together.
    pub fn cfg_env(&self, chain: &ChainParams) -> CfgEnv {
        let mut cfg = CfgEnv::new().with_spec_and_mainnet_gas_params(self.rules.spec()).with_chain_id(chain.chain_id);
        cfg.tx_chain_id_check = true;
        adjust_prices(&mut cfg, self.rules);
        if let Some(blobs) = self.rules.blobs {
            cfg.set_max_blobs_per_tx(blobs.max_blobs_per_tx);
            cfg.blob_base_fee_update_fraction = Some(blobs.update_fraction as u64);
        }
        cfg
    }

    /// The precompiles that exist under these rules.
    pub fn precompiles(&self, chain: &ChainParams) -> PrecompileSet {
        precompiles(self.rules.spec(), chain.network_precompiles, chain.signers.clone())
    }

    /// A machine over `overlay` under these circumstances.
    pub fn evm<'a>(&self, chain: &ChainParams, overlay: Overlay<'a>) -> Evm<'a> {
        self.evm_with(self.cfg_env(chain), chain, overlay, ())
    }

    /// The same with other limits and an inspector that watches every step.
    pub fn evm_with<'a, I>(&self, cfg: CfgEnv, chain: &ChainParams, overlay: Overlay<'a>, inspector: I) -> Evm<'a, I> {
        let context: MainnetContext<EmptyDB> = Context::mainnet();
        let context = context.with_db(overlay).with_block(self.block_env()).with_cfg(cfg);
        RevmEvm {
            ctx: context,
            inspector,
            instruction: instructions(self.rules),
            precompiles: self.precompiles(chain),
            frame_stack: FrameStack::new_prealloc(8),
        }
    }
}
