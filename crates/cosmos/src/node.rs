//! The identity that the node presents to Cosmos clients.

use alloy_primitives::{Address, hex};
use base64ct::{Base64, Encoding};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tetrad_chain::{Chain, Head};
use tetrad_network::{
    account::{ConsensusKey, ConsensusPublicKey},
    network::Network,
};
use tetrad_primitives::block::{Block, cosmos::CosmosNetwork};
use tetrad_stdx::calendar::rfc3339;

/// The version of CometBFT, and of the Cosmos SDK, that responses follow.
const COMET_VERSION: &str = "0.38.17";
const SDK_VERSION: &str = "v0.50.13";
/// CometBFT's channels, as every node lists them.
const CHANNELS: [u8; 10] = alloy_primitives::hex!("40202122233038606100");

/// The name and the consensus key that clients expect. There is no consensus: the key is derived
/// from the first block and signs nothing.
#[derive(Clone, Debug)]
pub(super) struct NodeIdentity {
    pub(super) chain_id: String,
    /// The parameters of the network that transactions name.
    pub(super) network: CosmosNetwork,
    pub(super) proposer: Address,
    key: ConsensusPublicKey,
    id: String,
}

impl NodeIdentity {
    pub(super) fn new(chain: &Chain, network: &Network) -> Self {
        // Derived from genesis, so that it stays the same after a restart and on every node.
        let genesis = chain.head().genesis.hash;
        let seed: [u8; 32] =
            Sha256::digest([b"consensus".as_slice(), genesis.as_slice()].concat()).into();
        let key = ConsensusKey::from_seed(&seed).public_key();
        Self {
            chain_id: network.cosmos_chain_id.clone(),
            network: chain.params().cosmos.clone(),
            proposer: key.address(),
            key,
            // Node ids of CometBFT have 20 bytes.
            id: hex::encode(&genesis[..20]),
        }
    }

    fn info(&self, id_name: &str, channels: String) -> Value {
        json!({
            "protocol_version": { "p2p": "8", "block": "11", "app": "0" },
            id_name: self.id,
            "listen_addr": "tcp://0.0.0.0:26656",
            "network": self.chain_id,
            "version": COMET_VERSION,
            "channels": channels,
            "moniker": "tetrad",
            "other": { "tx_index": "on", "rpc_address": "" },
        })
    }

    /// `GET /cosmos/base/tendermint/v1beta1/node_info`.
    pub(super) fn node_info(&self) -> Value {
        json!({
            "default_node_info": self.info("default_node_id", Base64::encode_string(&CHANNELS)),
            "application_version": {
                "name": "tetrad",
                "app_name": "tetrad",
                "version": env!("CARGO_PKG_VERSION"),
                "git_commit": "",
                "build_tags": "",
                "go_version": "",
                "build_deps": [],
                "cosmos_sdk_version": SDK_VERSION,
            },
        })
    }

    /// CometBFT's `status`.
    pub(super) fn status(&self, head: &Head) -> Value {
        let earliest = head.block(head.oldest()).unwrap_or(&head.genesis);
        let mut sync: serde_json::Map<String, Value> = sync_info("latest", &head.block)
            .into_iter()
            .chain(sync_info("earliest", earliest))
            .map(|(name, text)| (name, text.into()))
            .collect();
        sync.insert("catching_up".to_owned(), false.into());

        json!({
            "node_info": self.info("id", hex::encode(CHANNELS)),
            "sync_info": sync,
            "validator_info": {
                "address": hex::encode_upper(self.proposer),
                "pub_key": { "type": "tendermint/PubKeyEd25519", "value": self.key.to_base64() },
                "voting_power": "0",
            },
        })
    }
}

/// The members of `sync_info` about the latest or the earliest block.
fn sync_info(name: &str, block: &Block) -> [(String, String); 4] {
    [
        (format!("{name}_block_hash"), hex::encode_upper(block.hash)),
        (
            format!("{name}_app_hash"),
            hex::encode_upper(block.header.state_root),
        ),
        (format!("{name}_block_height"), block.number().to_string()),
        (
            format!("{name}_block_time"),
            rfc3339(block.header.timestamp),
        ),
    ]
}
