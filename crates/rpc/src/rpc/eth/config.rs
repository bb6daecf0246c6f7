//! The chain's rules (`eth_config`, EIP-7910) and the node's history (`eth_capabilities`).

use std::collections::BTreeMap;

use alloy_eips::{
    eip2124::ForkHash, eip2935::HISTORY_STORAGE_ADDRESS, eip4788::BEACON_ROOTS_ADDRESS,
    eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS,
    eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS, eip7840::BlobParams,
};
use alloy_primitives::{Address, B256, Bytes};
use tetrad_chain::Head;
use tetrad_evm::{Activation, Environment, Fork};

use crate::rpc::{
    Context, OnFork, RpcError, Table,
    hex::Quantity,
    json::{Json, JsonWriter, Object},
};

pub(super) fn methods(table: &mut Table) {
    table.read("eth_config", config, OnFork::Node).describe(
        [],
        "The chain's rules, now and as far as they are planned (EIP-7910).",
    );
    table
        .read("eth_capabilities", capabilities, OnFork::Node)
        .describe(
            [],
            "The oldest block for which each kind of data is available.",
        );
}

/// The rules since one fork.
struct ForkRules {
    activation: u64,
    blobs: Option<BlobParams>,
    chain_id: u64,
    fork_id: Bytes,
    precompiles: BTreeMap<String, Address>,
    system_contracts: BTreeMap<&'static str, Address>,
}

impl Json for ForkRules {
    fn write(&self, out: &mut JsonWriter) {
        let mut object = Object::begin(out);
        object.member("activationTime", &(self.activation as i64));
        if let Some(blobs) = &self.blobs {
            Object::begin(object.name("blobSchedule"))
                .member("target", &(blobs.target_blob_count as i64))
                .member("max", &(blobs.max_blob_count as i64))
                .member("baseFeeUpdateFraction", &(blobs.update_fraction as i64))
                .end();
        } else {
            object.member("blobSchedule", &None::<bool>);
        }
        object
            .member("chainId", &Quantity(self.chain_id))
            .member("forkId", &self.fork_id);

        let mut precompiles = Object::begin(object.name("precompiles"));
        for (name, address) in &self.precompiles {
            precompiles.member(name, address);
        }
        precompiles.end();

        let mut contracts = Object::begin(object.name("systemContracts"));
        for (name, address) in &self.system_contracts {
            contracts.member(name, address);
        }
        contracts.end();

        object.end();
    }
}

/// The current rules, the next ones and the last planned ones.
struct EthConfig {
    current: ForkRules,
    next: Option<ForkRules>,
    last: Option<ForkRules>,
}

impl Json for EthConfig {
    fn write(&self, out: &mut JsonWriter) {
        Object::begin(out)
            .member("current", &self.current)
            .member("next", &self.next)
            .member("last", &self.last)
            .end();
    }
}

/// The rules of the chain, now and as far as they are planned.
fn config(context: &Context, (): ()) -> Result<EthConfig, RpcError> {
    let head = context.chain.head();
    let now = head.block.header.timestamp;
    let mut times: Vec<u64> = head
        .params
        .forks
        .schedule()
        .iter()
        .filter_map(|fork| time_of(fork.activation))
        .collect();
    times.dedup();

    let begun = times
        .iter()
        .copied()
        .filter(|time| *time <= now)
        .max()
        .unwrap_or(0);
    let next = times.iter().copied().filter(|time| *time > now).min();
    // EIP-7910 asks for the last planned fork in addition to the next.
    let last = times.iter().copied().filter(|time| *time > now).max();

    Ok(EthConfig {
        current: fork_config(&head, begun),
        next: next.map(|time| fork_config(&head, time)),
        last: last.map(|time| fork_config(&head, time)),
    })
}

fn time_of(activation: Activation) -> Option<u64> {
    match activation {
        Activation::Time(time) => Some(time),
        Activation::Block(_) => None,
    }
}

/// The rules that begin at this time. A time at or before that of the genesis block counts as zero.
fn fork_config(head: &Head, time: u64) -> ForkRules {
    let params = &*head.params;
    let rules = head.rules(head.number(), time);
    let environment = Environment {
        rules,
        ..head.environment()
    };
    let precompiles = environment.precompiles(params);

    // The names are those of EIP-7910.
    let mut system_contracts = BTreeMap::new();
    if rules.has(Fork::Cancun) {
        system_contracts.insert("BEACON_ROOTS_ADDRESS", BEACON_ROOTS_ADDRESS);
    }
    if rules.has(Fork::Prague) {
        system_contracts.insert(
            "CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS",
            CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS,
        );
        system_contracts.insert("DEPOSIT_CONTRACT_ADDRESS", params.deposit_contract);
        system_contracts.insert("HISTORY_STORAGE_ADDRESS", HISTORY_STORAGE_ADDRESS);
        system_contracts.insert(
            "WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS",
            WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS,
        );
    }

    let activation = if time <= head.genesis.header.timestamp {
        0
    } else {
        time
    };
    ForkRules {
        activation,
        blobs: rules.blobs,
        chain_id: params.chain_id,
        fork_id: Bytes::copy_from_slice(&fork_hash(head, time).0),
        precompiles: precompiles
            .all()
            .map(|(at, precompile)| (precompile.id().name().to_owned(), *at))
            .collect(),
        system_contracts,
    }
}

/// The checksum of the first block's hash and of every fork up to `time` (EIP-2124, EIP-6122).
fn fork_hash(head: &Head, time: u64) -> ForkHash {
    let genesis = &head.genesis;
    let schedule = head.params.forks.schedule();

    let mut blocks: Vec<u64> = schedule
        .iter()
        .filter_map(|fork| match fork.activation {
            Activation::Block(block) => Some(block),
            Activation::Time(_) => None,
        })
        // The DAO fork counts, though it changes no rule of the EVM (EIP-2124).
        .chain(head.params.forks.dao().map(|dao| dao.block))
        // Forks of the first block do not count (EIP-2124).
        .filter(|block| *block > 0)
        .collect();
    let mut times: Vec<u64> = schedule
        .iter()
        .filter_map(|fork| time_of(fork.activation))
        // Nor do forks by time up to the first block (EIP-6122).
        .filter(|at| *at > genesis.header.timestamp && *at <= time)
        .collect();
    // Several forks at once count as one (EIP-2124).
    for list in [&mut blocks, &mut times] {
        list.sort_unstable();
        list.dedup();
    }

    let mut hash = ForkHash::from(genesis.hash);
    for fork in blocks.into_iter().chain(times) {
        hash += fork;
    }
    hash
}

/// The oldest block for which each kind of data is available.
struct Capabilities {
    number: u64,
    hash: B256,
    oldest: u64,
    /// The number of the newest blocks that are available; none if all are, as on disk.
    window: Option<u64>,
}

impl Json for Capabilities {
    fn write(&self, out: &mut JsonWriter) {
        let mut object = Object::begin(out);
        Object::begin(object.name("head"))
            .member("number", &Quantity(self.number))
            .member("hash", &self.hash)
            .end();
        // All data of a block is held for as long as the block itself.
        for name in ["state", "tx", "logs", "receipts", "blocks", "stateproofs"] {
            let mut resource = Object::begin(object.name(name));
            resource
                .member("disabled", &false)
                .member("oldestBlock", &Quantity(self.oldest));
            let mut strategy = Object::begin(resource.name("deleteStrategy"));
            match self.window {
                Some(window) => strategy
                    .member("type", "window")
                    .member("retentionBlocks", &Quantity(window)),
                None => strategy.member("type", "none"),
            };
            strategy.end();
            resource.end();
        }
        object.end();
    }
}

/// The blocks for which each kind of data is available.
fn capabilities(context: &Context, (): ()) -> Result<Capabilities, RpcError> {
    let head = context.chain.head();
    let is_on_disk = context.chain.checkpoint().is_some();
    Ok(Capabilities {
        number: head.number(),
        hash: head.block.hash,
        oldest: context.chain.oldest(&head),
        window: (!is_on_disk).then(|| context.chain.history_limits().blocks),
    })
}
