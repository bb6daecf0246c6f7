//! Parameters of the routes.

use alloy_primitives::{Address, B256, U256};
use schemars::{Schema, json_schema};

use crate::{
    index::{Holder, Position, PositionRange, TokenKind, TransactionRole},
    network::Network,
    web::parameters::{Choice, Param, ParamError, UserAddress, parameters},
};

/// Items of a page, as many as Blockscout has.
pub(super) const PAGE: usize = 50;

/// Reads a number without sign; larger ones than there can be are the same as the largest.
fn saturating(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

/// A number without sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Natural(pub(super) u64);

impl Param for Natural {
    fn schema() -> Schema {
        json_schema!({ "type": "integer", "minimum": 0 })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ParamError> {
        saturating(text).map(Self).ok_or_else(|| ParamError::malformed("expected a whole number"))
    }
}

/// A number of 256 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wide(pub(super) U256);

impl Param for Wide {
    fn schema() -> Schema {
        json_schema!({ "type": "string", "format": "uint256", "pattern": "^[0-9]{1,78}$" })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ParamError> {
        let number = U256::from_str_radix(text, 10).ok().filter(|_| !text.is_empty());
        number.map(Self).ok_or_else(|| ParamError::malformed("expected a whole number below 2^256"))
    }
}

/// A hash of 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hash(pub(super) B256);

impl Param for Hash {
    const MAY_BE_UNKNOWN: bool = true;

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^0x[0-9a-fA-F]{64}$" })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ParamError> {
        let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 64);
        let hash = digits.and_then(|digits| digits.parse().ok());
        hash.map(Self).ok_or_else(|| ParamError::malformed("expected 32 bytes in hex"))
    }
}

/// A block by its number or hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockName {
    Number(u64),
    Hash(B256),
}

impl Param for BlockName {
    const MAY_BE_UNKNOWN: bool = true;

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^([0-9]+|0x[0-9a-fA-F]{64})$" })
    }

    fn parse(text: &str, network: &Network) -> Result<Self, ParamError> {
        match saturating(text) {
            Some(number) => Ok(Self::Number(number)),
            None => Hash::parse(text, network)
                .map(|Hash(hash)| Self::Hash(hash))
                .map_err(|_| ParamError::malformed("expected a block's number or hash")),
        }
    }
}

impl Choice for TransactionRole {
    const CHOICES: &'static [(&'static str, Self)] = &[("from", Self::Sender), ("to", Self::Recipient)];
    const DEFAULT: Option<&'static str> = None;
}

/// Standards of tokens, separated by commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TokenKinds(pub(super) Vec<TokenKind>);

impl Param for TokenKinds {
    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^(ERC-(20|721|1155)(,ERC-(20|721|1155))*)?$" })
    }

    fn absent() -> Option<Self> {
        Some(Self(Vec::new()))
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ParamError> {
        let kind = |word: &str| TokenKind::ALL.into_iter().find(|kind| kind.name() == word);
        let words = text.split(',').filter(|word| !word.is_empty());
        let kinds =
            words.map(|word| kind(word).ok_or_else(|| ParamError::malformed("expected ERC-20, ERC-721 or ERC-1155")));
        kinds.collect::<Result<_, _>>().map(Self)
    }
}

/// Any text, cut to a length that no name exceeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words(pub(super) String);

impl Param for Words {
    fn schema() -> Schema {
        json_schema!({ "type": "string" })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ParamError> {
        Ok(Self(text.chars().take(256).collect()))
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

impl Param for ContractAddress {
    const MAY_BE_UNKNOWN: bool = true;

    fn schema() -> Schema {
        UserAddress::schema()
    }

    fn parse(text: &str, network: &Network) -> Result<Self, ParamError> {
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
    /// The position after which a page of transactions, logs, transfers or blocks continues: the previous page's
    /// `next_page_params`.
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
    /// The direction of an address's transactions.
    pub(super) struct DirectionQuery {
        /// Only what the address sent (`from`) or received (`to`).
        #[param("filter", example = "from")]
        pub(super) side: Option<TransactionRole>,
    }
}

parameters! {
    /// The kind of an address's token transfers.
    pub(super) struct TransferQuery {
        /// Only what the address sent (`from`) or received (`to`).
        #[param("filter", example = "to")]
        pub(super) side: Option<TransactionRole>,
        /// Standards: `ERC-20`, `ERC-721`, `ERC-1155`, separated by commas.
        #[param("type", example = "ERC-20")]
        pub(super) kinds: TokenKinds,
        /// The token's contract.
        #[param("token", example = "0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7")]
        pub(super) token: Option<UserAddress>,
    }
}

parameters! {
    /// The standards of tokens.
    pub(super) struct KindQuery {
        /// Standards: `ERC-20`, `ERC-721`, `ERC-1155`, separated by commas.
        #[param("type", example = "ERC-20")]
        pub(super) kinds: TokenKinds,
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
        Some(Position { block, index: index(self.index), part: index(self.part) })
    }

    pub(super) fn range(&self) -> PositionRange {
        PositionRange::before(self.position(), PAGE)
    }
}

impl InternalPageQuery {
    pub(super) fn range(&self) -> PositionRange {
        let position = self.block.map(|Natural(block)| Position {
            block,
            index: index(self.transaction),
            part: index(self.index),
        });
        PositionRange::before(position, PAGE)
    }
}

impl HolderPageQuery {
    pub(super) fn after(&self) -> Option<Holder> {
        let UserAddress(address) = self.address?;
        let Wide(balance) = self.value?;
        Some(Holder { address, balance, id: self.id.map_or(U256::ZERO, |Wide(id)| id) })
    }
}

impl TokenPageQuery {
    pub(super) fn after(&self) -> Option<(Address, U256)> {
        self.token.map(|UserAddress(token)| (token, self.id.map_or(U256::ZERO, |Wide(id)| id)))
    }
}
