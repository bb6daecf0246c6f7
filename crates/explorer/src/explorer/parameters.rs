//! Parameters of the routes.

use alloy_primitives::{Address, B256, U256};
use schemars::{Schema, json_schema};
use tetrad_network::network::Network;
use tetrad_stdx::{digits, text::excerpt};
use tetrad_web::parameters::{ParameterValue, UserAddress, ValueError, parameters};

use crate::index::{Holder, Position, PositionRange};

/// Reads a number without sign; larger ones than there can be are the same as the largest.
fn saturating(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

/// A number without sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Natural(pub(super) u64);

impl ParameterValue for Natural {
    fn schema() -> Schema {
        json_schema!({ "type": "integer", "minimum": 0 })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        saturating(text)
            .map(Self)
            .ok_or_else(|| ValueError::malformed("expected a whole number"))
    }
}

/// A number of 256 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wide(pub(super) U256);

impl ParameterValue for Wide {
    fn schema() -> Schema {
        json_schema!({ "type": "string", "format": "uint256", "pattern": "^[0-9]{1,78}$" })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        digits::decimal(text)
            .map(Self)
            .ok_or_else(|| ValueError::malformed("expected a whole number below 2^256"))
    }
}

/// A hash of 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hash(pub(super) B256);

impl ParameterValue for Hash {
    const MAY_BE_UNKNOWN: bool = true;

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^0x[0-9a-fA-F]{64}$" })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 64);
        let hash = digits.and_then(|digits| digits.parse().ok());
        hash.map(Self)
            .ok_or_else(|| ValueError::malformed("expected 32 bytes in hex"))
    }
}

/// A block by its number or hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockName {
    Number(u64),
    Hash(B256),
}

impl ParameterValue for BlockName {
    const MAY_BE_UNKNOWN: bool = true;

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^([0-9]+|0x[0-9a-fA-F]{64})$" })
    }

    fn parse(text: &str, network: &Network) -> Result<Self, ValueError> {
        match saturating(text) {
            Some(number) => Ok(Self::Number(number)),
            None => Hash::parse(text, network)
                .map(|Hash(hash)| Self::Hash(hash))
                .map_err(|_| ValueError::malformed("expected a block's number or hash")),
        }
    }
}

/// Any text, cut to a length that no name exceeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words(pub(super) String);

impl ParameterValue for Words {
    fn schema() -> Schema {
        json_schema!({ "type": "string" })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        Ok(Self(excerpt(text, 256).to_owned()))
    }
}

parameters! {
    /// The path of a route about an address.
    pub(super) struct AddressPath {
        /// The address: hex in any case, or bech32.
        #[param("address", example = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266")]
        pub(super) address: UserAddress,
    }
}

parameters! {
    /// The path of a route about a transaction.
    pub(super) struct TransactionPath {
        /// The transaction's hash.
        #[param("hash", example = "0x0000000000000000000000000000000000000000000000000000000000000001")]
        pub(super) hash: Hash,
    }
}

parameters! {
    /// The path of a route about a block.
    pub(super) struct BlockPath {
        /// The block's number or hash.
        #[param("block", example = "0")]
        pub(super) block: BlockName,
    }
}

/// The address of a contract, of which nothing may be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ContractAddress(pub(super) Address);

impl ParameterValue for ContractAddress {
    const MAY_BE_UNKNOWN: bool = true;

    fn schema() -> Schema {
        UserAddress::schema()
    }

    fn parse(text: &str, network: &Network) -> Result<Self, ValueError> {
        UserAddress::parse(text, network).map(|UserAddress(address)| Self(address))
    }
}

parameters! {
    /// The path of a route about a contract.
    pub(super) struct ContractPath {
        /// The contract's address.
        #[param("address", example = "0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7")]
        pub(super) address: ContractAddress,
    }
}

parameters! {
    /// The path of a route about an id of a non-fungible token.
    pub(super) struct InstancePath {
        /// The token's contract.
        #[param("address", example = "0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7")]
        pub(super) token: ContractAddress,
        /// The id.
        #[param("id", example = "1")]
        pub(super) id: Wide,
    }
}

parameters! {
    /// The position after which a page of transactions, logs, transfers or blocks continues: the
    /// previous page's `next_page_params`.
    pub(super) struct PageQuery {
        /// The block, from `next_page_params`.
        #[param("block_number", example = "1")]
        pub(super) block: Option<Natural>,
        /// The transaction's or log's index, from `next_page_params`.
        #[param("index", example = "0")]
        pub(super) index: Option<Natural>,
        /// The position in a batch of transfers, from `next_page_params`.
        #[param("index_in_batch", example = "0")]
        pub(super) part: Option<Natural>,
    }
}

parameters! {
    /// The position after which a page of internal transactions continues.
    pub(super) struct InternalPageQuery {
        /// The block, from `next_page_params`.
        #[param("block_number", example = "1")]
        pub(super) block: Option<Natural>,
        /// The transaction's index, from `next_page_params`.
        #[param("transaction_index", example = "0")]
        pub(super) transaction: Option<Natural>,
        /// The number of the internal transaction, from `next_page_params`.
        #[param("index", example = "0")]
        pub(super) index: Option<Natural>,
    }
}

parameters! {
    /// The token after which a page of tokens continues.
    pub(super) struct TokenPageQuery {
        /// The token's contract, from `next_page_params`.
        #[param("token_contract_address_hash", example = "0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7")]
        pub(super) token: Option<UserAddress>,
        /// The id, from `next_page_params`.
        #[param("token_id", example = "0")]
        pub(super) id: Option<Wide>,
    }
}

parameters! {
    /// The id after which a page of ids continues.
    pub(super) struct InstancePageQuery {
        /// The id, from `next_page_params`.
        #[param("unique_token", example = "1")]
        pub(super) id: Option<Wide>,
    }
}

parameters! {
    /// The holder after which a page of holders continues.
    pub(super) struct HolderPageQuery {
        /// The holder, from `next_page_params`.
        #[param("address_hash", example = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266")]
        pub(super) address: Option<UserAddress>,
        /// The balance, from `next_page_params`.
        #[param("value", example = "1")]
        pub(super) value: Option<Wide>,
        /// The id, from `next_page_params`.
        #[param("token_id", example = "0")]
        pub(super) id: Option<Wide>,
    }
}

parameters! {
    /// The words of a search.
    pub(super) struct SearchQuery {
        /// A block's number, a hash, an address, or a part of a token's name or symbol.
        #[param("q", example = "WETH")]
        pub(super) words: Words,
    }
}

/// Returns an index of a position: larger ones than there can be are the same as the largest.
fn index(given: Option<Natural>) -> u32 {
    given.map_or(0, |Natural(index)| u32::try_from(index).unwrap_or(u32::MAX))
}

impl PageQuery {
    /// The position before which the page begins.
    pub(super) fn position(&self) -> Option<Position> {
        let Natural(block) = self.block?;
        // Without an index all of the block belongs to the page before.
        Some(Position {
            block,
            index: index(self.index),
            part: index(self.part),
        })
    }

    /// The arrival before which a page of transactions that wait for a block begins.
    pub(super) fn arrival(&self) -> Option<u64> {
        self.index.map(|Natural(arrival)| arrival)
    }

    /// The number of items before a page of a list that is at hand as a whole.
    pub(super) fn offset(&self) -> usize {
        self.index.map_or(0, |Natural(offset)| {
            usize::try_from(offset).unwrap_or(usize::MAX)
        })
    }

    /// The rows of a page of this size.
    pub(super) fn range(&self, limit: usize) -> PositionRange {
        PositionRange::before(self.position(), limit)
    }
}

impl InternalPageQuery {
    /// The position before or after which the page begins.
    pub(super) fn position(&self) -> Option<Position> {
        let Natural(block) = self.block?;
        Some(Position {
            block,
            index: index(self.transaction),
            part: index(self.index),
        })
    }
}

impl HolderPageQuery {
    pub(super) fn after(&self) -> Option<Holder> {
        let UserAddress(address) = self.address?;
        let Wide(balance) = self.value?;
        Some(Holder {
            address,
            balance,
            id: self.id.map_or(U256::ZERO, |Wide(id)| id),
        })
    }
}

impl TokenPageQuery {
    pub(super) fn after(&self) -> Option<(Address, U256)> {
        self.token
            .map(|UserAddress(token)| (token, self.id.map_or(U256::ZERO, |Wide(id)| id)))
    }
}
