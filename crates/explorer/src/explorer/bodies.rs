//! Blockscout's JSON bodies. Amounts are decimal text in the smallest unit, as there. Members about
//! which a node knows nothing (tags, exchange rates, names of other services) are null or empty.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A page of a list. It ends early, even without items, where it would be longer than 2 MiB or take
/// too long to find.
#[derive(JsonSchema)]
#[schemars(rename = "{T}Page")]
#[expect(
    dead_code,
    reason = "for the schema only: `Page` writes it item by item"
)]
pub(super) struct ListBody<T> {
    items: Vec<T>,
    /// Query parameters of the next page; null on the last one.
    next_page_params: Option<NextPage>,
}

/// Query parameters of the next page, filters included.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "ExplorerNextPage")]
pub(super) struct NextPage {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) block_number: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) transaction_index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) index_in_batch: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) address_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token_contract_address_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unique_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<String>,
    /// The number of items of this page.
    pub(super) items_count: usize,
    /// The filters of the request.
    #[serde(flatten)]
    pub(super) filters: BTreeMap<String, String>,
}

/// An address in a list.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(rename = "ExplorerAddressParam")]
pub(super) struct AddressParam {
    /// The address with its checksum.
    pub(super) hash: String,
    /// The name of a contract of the network, or of a token.
    pub(super) name: Option<String>,
    pub(super) is_contract: bool,
    /// Whether the contract's source is known.
    pub(super) is_verified: bool,
    pub(super) is_scam: bool,
    pub(super) reputation: &'static str,
    pub(super) proxy_type: Option<String>,
    pub(super) implementations: Vec<Value>,
    pub(super) ens_domain_name: Option<String>,
    pub(super) metadata: Option<Value>,
    pub(super) private_tags: Vec<Value>,
    pub(super) public_tags: Vec<Value>,
    pub(super) watchlist_names: Vec<Value>,
}

/// An address in detail.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerAddress")]
pub(super) struct AddressBody {
    #[serde(flatten)]
    pub(super) address: AddressParam,
    /// Wei.
    pub(super) coin_balance: String,
    pub(super) block_number_balance_updated_at: u64,
    pub(super) exchange_rate: Option<String>,
    pub(super) creator_address_hash: Option<String>,
    pub(super) creation_transaction_hash: Option<String>,
    pub(super) creation_status: Option<&'static str>,
    /// The token whose contract is at the address.
    pub(super) token: Option<TokenBody>,
    pub(super) has_logs: bool,
    pub(super) has_tokens: bool,
    pub(super) has_token_transfers: bool,
    pub(super) has_validated_blocks: bool,
    pub(super) has_beacon_chain_withdrawals: bool,
    pub(super) watchlist_address_id: Option<u64>,
}

/// Numbers about an address.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerAddressCounters")]
pub(super) struct AddressCounters {
    pub(super) transactions_count: String,
    pub(super) token_transfers_count: String,
    pub(super) gas_usage_count: String,
    pub(super) validations_count: String,
}

/// Numbers for the tabs of an address's page.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerTabCounters")]
pub(super) struct TabCounters {
    pub(super) transactions_count: u64,
    pub(super) token_transfers_count: u64,
    pub(super) internal_transactions_count: u64,
    pub(super) token_balances_count: u64,
    pub(super) logs_count: u64,
    pub(super) validations_count: u64,
    pub(super) withdrawals_count: u64,
}

/// A token.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(rename = "ExplorerToken")]
pub(super) struct TokenBody {
    pub(super) address_hash: String,
    /// The same under the name that older versions of Blockscout use.
    pub(super) address: String,
    pub(super) name: Option<String>,
    pub(super) symbol: Option<String>,
    pub(super) decimals: Option<String>,
    /// `ERC-20`, `ERC-721` or `ERC-1155`.
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) holders_count: String,
    /// The same under the name that older versions of Blockscout use.
    pub(super) holders: String,
    pub(super) total_supply: Option<String>,
    pub(super) exchange_rate: Option<String>,
    pub(super) volume_24h: Option<String>,
    pub(super) circulating_market_cap: Option<String>,
    pub(super) icon_url: Option<String>,
    pub(super) reputation: &'static str,
}

/// Numbers about a token.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerTokenCounters")]
pub(super) struct TokenCounters {
    pub(super) token_holders_count: String,
    pub(super) transfers_count: String,
}

/// A token that an address holds.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerTokenBalance")]
pub(super) struct TokenBalance {
    pub(super) token: TokenBody,
    /// The id, for ERC-1155.
    pub(super) token_id: Option<String>,
    pub(super) token_instance: Option<Value>,
    pub(super) value: String,
}

/// An id of a non-fungible token.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerTokenInstance")]
pub(super) struct InstanceBody {
    pub(super) id: String,
    pub(super) token: TokenBody,
    /// The owner, if there is a single one.
    pub(super) owner: Option<AddressParam>,
    pub(super) is_unique: bool,
    pub(super) token_type: &'static str,
    pub(super) value: Option<String>,
    /// The JSON of the token's URI, if the URI is `data:`.
    pub(super) metadata: Option<Value>,
    /// A picture, as `data:image/…` or a link, which the node did not follow.
    pub(super) image_url: Option<String>,
    pub(super) animation_url: Option<String>,
    pub(super) external_app_url: Option<String>,
    /// The token's URI, if it is a link, which the node did not follow.
    pub(super) token_uri: Option<String>,
}

/// A holder of a token.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerHolder")]
pub(super) struct HolderBody {
    pub(super) address: AddressParam,
    pub(super) token: TokenBody,
    pub(super) token_id: Option<String>,
    pub(super) value: String,
}

/// An amount of wei.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerFee")]
pub(super) struct FeeBody {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) value: String,
}

/// Decoded call data, or a decoded log.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerDecoded")]
pub(super) struct DecodedBody {
    pub(super) method_call: String,
    pub(super) method_id: String,
    pub(super) parameters: Vec<DecodedParameter>,
}

/// The data of a revert: decoded if the error is known.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerRevert")]
#[serde(untagged)]
pub(super) enum RevertBody {
    Decoded(DecodedBody),
    Raw {
        /// At most the first 4,096 bytes.
        raw: String,
    },
}

/// A decoded parameter.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerDecodedParameter")]
pub(super) struct DecodedParameter {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) value: Value,
    /// Whether an event's parameter is indexed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) indexed: Option<bool>,
}

/// A transaction.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerTransaction")]
pub(super) struct TransactionBody {
    pub(super) hash: String,
    /// `ok` or `error`; null if the transaction waits for a block.
    pub(super) status: Option<&'static str>,
    /// `success`, or the error, such as `execution reverted`; `pending` if the transaction waits
    /// for a block.
    pub(super) result: String,
    pub(super) block_number: Option<u64>,
    pub(super) timestamp: Option<String>,
    pub(super) confirmations: u64,
    pub(super) confirmation_duration: Vec<u64>,
    pub(super) from: AddressParam,
    pub(super) to: Option<AddressParam>,
    pub(super) created_contract: Option<AddressParam>,
    pub(super) value: String,
    pub(super) fee: FeeBody,
    pub(super) gas_price: String,
    pub(super) gas_limit: String,
    pub(super) gas_used: Option<String>,
    pub(super) max_fee_per_gas: Option<String>,
    pub(super) max_priority_fee_per_gas: Option<String>,
    pub(super) base_fee_per_gas: Option<String>,
    pub(super) priority_fee: Option<String>,
    pub(super) transaction_burnt_fee: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: u8,
    pub(super) nonce: u64,
    pub(super) position: Option<usize>,
    pub(super) raw_input: String,
    /// The call, if the function is known.
    pub(super) decoded_input: Option<DecodedBody>,
    /// The name of the function, or its selector.
    pub(super) method: Option<String>,
    pub(super) transaction_types: Vec<&'static str>,
    /// The data with which the transaction reverted; null if it reverted without any, or did not
    /// revert.
    pub(super) revert_reason: Option<RevertBody>,
    pub(super) has_error_in_internal_transactions: bool,
    /// The first token transfers; null in lists.
    pub(super) token_transfers: Option<Vec<TransferBody>>,
    pub(super) token_transfers_overflow: Option<bool>,
    pub(super) actions: Vec<Value>,
    pub(super) exchange_rate: Option<String>,
    pub(super) transaction_tag: Option<String>,
    pub(super) is_pending_update: bool,
}

/// A token transfer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerTokenTransfer")]
pub(super) struct TransferBody {
    pub(super) transaction_hash: String,
    pub(super) block_number: u64,
    pub(super) block_hash: String,
    pub(super) log_index: u64,
    pub(super) timestamp: String,
    pub(super) from: AddressParam,
    pub(super) to: AddressParam,
    pub(super) token: TokenBody,
    pub(super) token_type: &'static str,
    pub(super) total: TotalBody,
    /// `token_minting`, `token_burning` or `token_transfer`.
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) method: Option<String>,
}

/// What was transferred.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerTotal")]
pub(super) struct TotalBody {
    /// The amount; left out for ERC-721.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decimals: Option<String>,
    /// The id; left out for ERC-20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token_id: Option<String>,
}

/// An internal transaction.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerInternalTransaction")]
pub(super) struct InternalBody {
    pub(super) block_number: u64,
    pub(super) timestamp: String,
    pub(super) transaction_hash: String,
    pub(super) transaction_index: u32,
    /// The number of the call in the transaction, from 1 on.
    pub(super) index: u32,
    pub(super) block_index: u32,
    /// `call`, `callcode`, `delegatecall`, `staticcall`, `create`, `create2` or `selfdestruct`.
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) from: AddressParam,
    pub(super) to: Option<AddressParam>,
    pub(super) created_contract: Option<AddressParam>,
    pub(super) value: String,
    pub(super) gas_limit: String,
    pub(super) success: bool,
    pub(super) error: Option<String>,
}

/// A log.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerLog")]
pub(super) struct LogBody {
    pub(super) address: AddressParam,
    pub(super) block_hash: String,
    pub(super) block_number: u64,
    pub(super) block_timestamp: String,
    pub(super) transaction_hash: String,
    pub(super) index: u64,
    /// Four, of which the last are null if there are fewer.
    pub(super) topics: Vec<Option<String>>,
    pub(super) data: String,
    /// The event, if it is known.
    pub(super) decoded: Option<DecodedBody>,
    pub(super) smart_contract: Option<AddressParam>,
}

/// A block.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerBlock")]
pub(super) struct BlockBody {
    pub(super) height: u64,
    pub(super) hash: String,
    pub(super) parent_hash: String,
    pub(super) timestamp: String,
    pub(super) transactions_count: usize,
    pub(super) miner: AddressParam,
    pub(super) size: usize,
    pub(super) nonce: String,
    pub(super) difficulty: String,
    pub(super) total_difficulty: Option<String>,
    pub(super) gas_used: String,
    pub(super) gas_limit: String,
    pub(super) gas_used_percentage: f64,
    pub(super) gas_target_percentage: f64,
    pub(super) base_fee_per_gas: Option<String>,
    pub(super) burnt_fees: String,
    pub(super) burnt_fees_percentage: Option<f64>,
    pub(super) priority_fee: String,
    pub(super) transaction_fees: String,
    pub(super) withdrawals_count: usize,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) rewards: Vec<Value>,
    pub(super) uncles_hashes: Vec<Value>,
}

/// A result of a search.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "ExplorerSearchResult")]
pub(super) struct SearchResult {
    /// `token`, `contract`, `address`, `transaction` or `block`.
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) address_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) symbol: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) transaction_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) block_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) block_number: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timestamp: Option<String>,
}

/// The page that a search leads to.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerRedirect")]
pub(super) struct RedirectBody {
    pub(super) redirect: bool,
    /// `address`, `transaction` or `block`.
    #[serde(rename = "type")]
    pub(super) kind: Option<&'static str>,
    pub(super) parameter: Option<String>,
}

/// Figures of the chain.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerStats")]
pub(super) struct StatsBody {
    pub(super) total_blocks: String,
    pub(super) total_addresses: String,
    pub(super) total_transactions: String,
    pub(super) total_gas_used: String,
    pub(super) transactions_today: String,
    pub(super) gas_used_today: String,
    /// Milliseconds.
    pub(super) average_block_time: f64,
    /// Gwei.
    pub(super) gas_prices: Option<Value>,
    /// Percent of the gas limit of the newest blocks.
    pub(super) network_utilization_percentage: f64,
    pub(super) coin_price: Option<String>,
    pub(super) coin_price_change_percentage: Option<f64>,
    pub(super) market_cap: String,
    pub(super) tvl: Option<String>,
    pub(super) static_gas_price: Option<String>,
}

/// How far the index is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExplorerIndexingStatus")]
pub(super) struct IndexingBody {
    pub(super) finished_indexing: bool,
    pub(super) finished_indexing_blocks: bool,
    pub(super) indexed_blocks_ratio: String,
    pub(super) indexed_internal_transactions_ratio: String,
}

/// A contract with its source.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "ExplorerSmartContract")]
pub(super) struct ContractBody {
    pub(super) name: Option<String>,
    pub(super) is_verified: bool,
    /// Whether the metadata matches as well, with the hashes of all sources.
    pub(super) is_fully_verified: bool,
    pub(super) is_partially_verified: bool,
    pub(super) abi: Option<Value>,
    pub(super) source_code: Option<String>,
    pub(super) file_path: Option<String>,
    pub(super) additional_sources: Vec<Value>,
    pub(super) language: Option<String>,
    pub(super) compiler_version: Option<String>,
    pub(super) compiler_settings: Option<Value>,
    pub(super) evm_version: Option<String>,
    pub(super) optimization_enabled: Option<bool>,
    pub(super) optimization_runs: Option<u64>,
    /// The constructor's arguments as they are encoded; null if the creating transaction is not
    /// known.
    pub(super) constructor_args: Option<String>,
    /// A pair of value and parameter for each.
    pub(super) decoded_constructor_args: Option<Value>,
    pub(super) license_type: Option<String>,
    pub(super) verified_at: Option<String>,
    pub(super) deployed_bytecode: String,
    pub(super) creation_bytecode: Option<String>,
    pub(super) implementations: Vec<Value>,
    pub(super) proxy_type: Option<String>,
}
