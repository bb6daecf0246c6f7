//! Filters of lists, as Blockscout's clients write them: one word, or several, separated by commas,
//! in brackets or not.

use alloy_consensus::Transaction as _;
use alloy_primitives::{Address, B256, hex};
use schemars::{Schema, json_schema};
use tetrad_evm::InternalCallKind;
use tetrad_network::network::Network;
use tetrad_primitives::block::Transaction;
use tetrad_web::parameters::{Choice, ParameterValue, UserAddress, ValueError, parameters};

use super::{page::PAGE, parameters::Natural};
use crate::index::{CallFilter, IndexError, Order, TokenKind, TransactionRole};

/// The words of a list. Without any the filter is the same as none.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim();
    let inner = text
        .strip_prefix('[')
        .map(|text| text.strip_suffix(']').unwrap_or(text));
    inner
        .unwrap_or(text)
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
}

/// Reads a list of words that stand for something.
fn list<T>(text: &str, known: &[(&'static str, T)]) -> Result<Vec<T>, ValueError>
where
    T: Copy + PartialEq,
{
    let mut found = Vec::new();
    for word in words(text) {
        let Some((_, value)) = known
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(word))
        else {
            let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            return Err(ValueError::Malformed(format!(
                "expected some of {}",
                names.join(", ")
            )));
        };
        if !found.contains(value) {
            found.push(*value);
        }
    }
    Ok(found)
}

/// Describes a list of words.
fn list_schema(names: impl IntoIterator<Item = &'static str>) -> Schema {
    let any = names.into_iter().collect::<Vec<_>>().join("|");
    json_schema!({ "type": "string", "pattern": format!("^(({any})(,({any}))*)?$") })
}

/// The side of an address: `from`, `to`, or either, which clients also write as `to | from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Side(pub(super) Option<TransactionRole>);

impl ParameterValue for Side {
    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^((from|to)( ?[|,] ?(from|to))?)?$" })
    }

    fn absent() -> Option<Self> {
        Some(Self(None))
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        let mut from = false;
        let mut to = false;
        for word in text.split(['|', ',']).map(str::trim) {
            match word {
                "from" => from = true,
                "to" => to = true,
                "" => {}
                _ => {
                    return Err(ValueError::malformed(
                        "expected from, to, or both as to | from",
                    ));
                }
            }
        }

        Ok(Self(match (from, to) {
            (true, false) => Some(TransactionRole::Sender),
            (false, true) => Some(TransactionRole::Recipient),
            _ => None,
        }))
    }
}

/// Standards of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TokenKinds(pub(super) Vec<TokenKind>);

impl ParameterValue for TokenKinds {
    fn schema() -> Schema {
        list_schema(TokenKind::ALL.map(TokenKind::name))
    }

    fn absent() -> Option<Self> {
        Some(Self(Vec::new()))
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        list(text, &TokenKind::ALL.map(|kind| (kind.name(), kind))).map(Self)
    }
}

/// The kind of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransactionType {
    BlobTransaction,
    TokenTransfer,
    TokenCreation,
    ContractCreation,
    ContractCall,
    CoinTransfer,
}

impl TransactionType {
    /// All of them, in the order in which a transaction shows its own.
    const ALL: [Self; 6] = [
        Self::BlobTransaction,
        Self::TokenTransfer,
        Self::TokenCreation,
        Self::ContractCreation,
        Self::ContractCall,
        Self::CoinTransfer,
    ];

    /// The name, as in Blockscout.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::BlobTransaction => "blob_transaction",
            Self::TokenTransfer => "token_transfer",
            Self::TokenCreation => "token_creation",
            Self::ContractCreation => "contract_creation",
            Self::ContractCall => "contract_call",
            Self::CoinTransfer => "coin_transfer",
        }
    }

    /// Returns what a transaction does, given what its envelope does not say.
    pub(super) fn of(
        transaction: &Transaction,
        moves_tokens: bool,
        creates_token: bool,
    ) -> Vec<Self> {
        let envelope = &transaction.envelope;
        Self::ALL
            .into_iter()
            .filter(|kind| match kind {
                Self::BlobTransaction => envelope.is_eip4844(),
                Self::TokenTransfer => moves_tokens,
                Self::TokenCreation => creates_token,
                Self::ContractCreation => envelope.to().is_none(),
                Self::ContractCall => envelope.to().is_some() && !envelope.input().is_empty(),
                Self::CoinTransfer => !envelope.value().is_zero(),
            })
            .collect()
    }
}

/// Kinds of transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TransactionTypes(Vec<TransactionType>);

impl ParameterValue for TransactionTypes {
    fn schema() -> Schema {
        list_schema(TransactionType::ALL.map(TransactionType::name))
    }

    fn absent() -> Option<Self> {
        Some(Self(Vec::new()))
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        list(text, &TransactionType::ALL.map(|kind| (kind.name(), kind))).map(Self)
    }
}

/// A function that a transaction calls.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Method {
    Selector([u8; 4]),
    Name(String),
}

impl Method {
    fn parse(word: &str) -> Result<Self, ValueError> {
        if let Ok(selector) = hex::decode_to_array(word) {
            return Ok(Self::Selector(selector));
        }
        if !is_name(word) {
            return Err(ValueError::malformed(
                "expected names of functions, or selectors of four bytes in hex",
            ));
        }
        Ok(Self::Name(word.to_owned()))
    }
}

/// Whether a word may be the name of a function in Solidity.
fn is_name(word: &str) -> bool {
    let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'$');
    !word.starts_with(|first: char| first.is_ascii_digit()) && word.bytes().all(is_letter)
}

/// The selectors of names that Blockscout knows without a contract's ABI.
const COMMON_METHODS: [(&str, [u8; 4]); 5] = [
    ("approve", [0x09, 0x5e, 0xa7, 0xb3]),
    ("transfer", [0xa9, 0x05, 0x9c, 0xbb]),
    ("multicall", [0x5a, 0xe4, 0x01, 0xdc]),
    ("mint", [0x40, 0xc1, 0x0f, 0x19]),
    ("commit", [0xf1, 0x4f, 0xcb, 0xc8]),
];

/// Names or selectors of functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Methods(Vec<Method>);

impl ParameterValue for Methods {
    fn schema() -> Schema {
        json_schema!({ "type": "string" })
    }

    fn absent() -> Option<Self> {
        Some(Self(Vec::new()))
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        words(text)
            .map(Method::parse)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl Methods {
    /// Returns whether call data selects one of the functions; `name` is that of the function, if
    /// it is known.
    fn include(&self, input: &[u8], name: impl FnOnce() -> Option<String>) -> bool {
        let Some(selector) = input.first_chunk::<4>() else {
            return false;
        };

        let is_selected = self.0.iter().any(|method| match method {
            Method::Selector(wanted) => wanted == selector,
            Method::Name(wanted) => COMMON_METHODS.contains(&(wanted.as_str(), *selector)),
        });
        is_selected || name().is_some_and(|name| self.0.contains(&Method::Name(name)))
    }
}

/// A filter of the list of all transactions.
#[derive(Clone, Debug)]
pub(super) struct TransactionFilter {
    types: TransactionTypes,
    methods: Methods,
}

impl TransactionFilter {
    /// Every transaction.
    pub(super) fn none() -> Self {
        Self {
            types: TransactionTypes(Vec::new()),
            methods: Methods(Vec::new()),
        }
    }

    /// Those of some types.
    pub(super) fn of_types(types: TransactionTypes) -> Self {
        Self {
            types,
            ..Self::none()
        }
    }

    /// Returns whether a transaction is listed, given its types and the name of the function that
    /// it calls.
    pub(super) fn includes(
        &self,
        transaction: &Transaction,
        types: impl FnOnce() -> Result<Vec<TransactionType>, IndexError>,
        method: impl FnOnce() -> Option<String>,
    ) -> Result<bool, IndexError> {
        let Self {
            types: wanted,
            methods,
        } = self;
        let is_called =
            methods.0.is_empty() || methods.include(transaction.envelope.input(), method);
        Ok(is_called
            && (wanted.0.is_empty() || types()?.iter().any(|kind| wanted.0.contains(kind))))
    }
}

/// Whether transactions are in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransactionState {
    Validated,
    Pending,
}

/// The state of transactions. Clients that write both get those in blocks, as from Blockscout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StateFilter(pub(super) TransactionState);

impl ParameterValue for StateFilter {
    fn schema() -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^((validated|pending)( ?[|,] ?(validated|pending))?)?$",
            "default": "validated"
        })
    }

    fn absent() -> Option<Self> {
        Some(Self(TransactionState::Validated))
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        let mut state = None;
        for word in text
            .split(['|', ','])
            .map(str::trim)
            .filter(|word| !word.is_empty())
        {
            match word {
                "validated" => state = Some(TransactionState::Validated),
                "pending" => state = state.or(Some(TransactionState::Pending)),
                _ => return Err(ValueError::malformed("expected validated or pending")),
            }
        }

        Ok(Self(state.unwrap_or(TransactionState::Validated)))
    }
}

/// Kinds of internal transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InternalTypes(Option<Vec<InternalType>>);

/// A kind of internal transactions, as Blockscout's routes name them. A node knows neither rewards
/// nor stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InternalType {
    Call,
    Create,
    Create2,
    SelfDestruct,
    Reward,
    Stop,
}

impl InternalType {
    fn of(kind: InternalCallKind) -> Self {
        match kind {
            InternalCallKind::Create => Self::Create,
            InternalCallKind::Create2 => Self::Create2,
            InternalCallKind::SelfDestruct => Self::SelfDestruct,
            _ => Self::Call,
        }
    }
}

const INTERNAL_TYPES: [(&str, InternalType); 6] = [
    ("call", InternalType::Call),
    ("create", InternalType::Create),
    ("create2", InternalType::Create2),
    ("selfdestruct", InternalType::SelfDestruct),
    ("reward", InternalType::Reward),
    ("stop", InternalType::Stop),
];

impl ParameterValue for InternalTypes {
    fn schema() -> Schema {
        list_schema(INTERNAL_TYPES.map(|(name, _)| name))
    }

    fn absent() -> Option<Self> {
        Some(Self(None))
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        list(text, &INTERNAL_TYPES).map(|kinds| Self(Some(kinds).filter(|kinds| !kinds.is_empty())))
    }
}

/// Kinds of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallTypes(Option<Vec<InternalCallKind>>);

const CALL_TYPES: [(&str, InternalCallKind); 4] = [
    ("call", InternalCallKind::Call),
    ("callcode", InternalCallKind::CallCode),
    ("delegatecall", InternalCallKind::DelegateCall),
    ("staticcall", InternalCallKind::StaticCall),
];

impl ParameterValue for CallTypes {
    fn schema() -> Schema {
        list_schema(CALL_TYPES.map(|(name, _)| name))
    }

    fn absent() -> Option<Self> {
        Some(Self(None))
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        list(text, &CALL_TYPES).map(|kinds| Self(Some(kinds).filter(|kinds| !kinds.is_empty())))
    }
}

/// The kind of blocks. A node keeps neither uncles nor blocks that a reorganisation removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Block,
    Uncle,
    Reorg,
}

impl Choice for BlockKind {
    const CHOICES: &'static [(&'static str, Self)] = &[
        ("block", Self::Block),
        ("uncle", Self::Uncle),
        ("reorg", Self::Reorg),
    ];
    const DEFAULT: Option<&'static str> = Some("block");
}

/// The key by which a list is sorted. Blockscout also sorts by value and fee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SortedBy {
    BlockNumber,
}

impl Choice for SortedBy {
    const CHOICES: &'static [(&'static str, Self)] = &[("block_number", Self::BlockNumber)];
    const DEFAULT: Option<&'static str> = Some("block_number");
}

impl Choice for Order {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("asc", Self::OldestFirst), ("desc", Self::NewestFirst)];
    const DEFAULT: Option<&'static str> = Some("desc");
}

/// A number of items, of which a page has no more than it would have anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageLimit(pub(super) usize);

impl ParameterValue for PageLimit {
    fn schema() -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "default": PAGE })
    }

    fn absent() -> Option<Self> {
        Some(Self(PAGE))
    }

    fn parse(text: &str, network: &Network) -> Result<Self, ValueError> {
        match Natural::parse(text, network)? {
            Natural(0) => Err(ValueError::malformed("expected at least 1")),
            Natural(limit) => Ok(Self(usize::try_from(limit).unwrap_or(PAGE).min(PAGE))),
        }
    }
}

/// A topic of logs, at any place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Topic(pub(super) Option<B256>);

impl ParameterValue for Topic {
    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^(0x[0-9a-fA-F]{64})?$" })
    }

    fn absent() -> Option<Self> {
        Some(Self(None))
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        if text.is_empty() {
            return Ok(Self(None));
        }

        let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 64);
        let topic = digits.and_then(|digits| digits.parse().ok());
        topic
            .map(|topic| Self(Some(topic)))
            .ok_or_else(|| ValueError::malformed("expected 32 bytes in hex"))
    }
}

parameters! {
    /// Which of an address's transactions are listed, and in which order.
    pub(super) struct AddressTransactionQuery {
        /// Only what the address sent (`from`) or received (`to`).
        #[param("filter", example = "from")]
        pub(super) side: Side,
        /// What the list is sorted by.
        #[param("sort")]
        pub(super) sorted_by: SortedBy,
        /// Newest or oldest first.
        #[param("order")]
        pub(super) order: Order,
    }
}

parameters! {
    /// Which of an address's internal transactions are listed.
    pub(super) struct SideQuery {
        /// Only what the address sent (`from`) or received (`to`).
        #[param("filter", example = "from")]
        pub(super) side: Side,
    }
}

parameters! {
    /// Which of an address's token transfers are listed.
    pub(super) struct TransferQuery {
        /// Only what the address sent (`from`) or received (`to`).
        #[param("filter", example = "to")]
        pub(super) side: Side,
        /// Standards: `ERC-20`, `ERC-721`, `ERC-1155`, separated by commas.
        #[param("type", example = "ERC-20")]
        pub(super) kinds: TokenKinds,
        /// The token's contract.
        #[param("token", example = "0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7")]
        pub(super) token: Option<UserAddress>,
    }
}

impl TransferQuery {
    /// The token's contract.
    pub(super) fn token(&self) -> Option<Address> {
        self.token.map(|UserAddress(token)| token)
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
    /// The number of items of a page.
    pub(super) struct LimitQuery {
        /// Items at most, up to 50.
        #[param("limit")]
        pub(super) limit: PageLimit,
    }
}

parameters! {
    /// Which transactions are listed.
    pub(super) struct TransactionQuery {
        /// `validated` for those in blocks, `pending` for those that wait for one.
        #[param("filter")]
        pub(super) state: StateFilter,
        /// Kinds, separated by commas: `token_transfer`, `contract_creation`, `contract_call`,
        /// `coin_transfer`, `token_creation`, `blob_transaction`.
        #[param("type", example = "coin_transfer,contract_call")]
        types: TransactionTypes,
        /// Functions that are called, separated by commas: names, or selectors in hex.
        #[param("method", example = "transfer,0x095ea7b3")]
        methods: Methods,
    }
}

impl TransactionQuery {
    /// The filter by type and function.
    pub(super) fn filter(self) -> TransactionFilter {
        TransactionFilter {
            types: self.types,
            methods: self.methods,
        }
    }
}

parameters! {
    /// Which of a block's transactions are listed.
    pub(super) struct BlockTransactionQuery {
        /// Kinds, separated by commas: `token_transfer`, `contract_creation`, `contract_call`,
        /// `coin_transfer`, `token_creation`, `blob_transaction`.
        #[param("type", example = "coin_transfer")]
        pub(super) types: TransactionTypes,
    }
}

parameters! {
    /// Which of a block's internal transactions are listed.
    pub(super) struct BlockInternalQuery {
        /// Kinds, separated by commas: `call`, `create`, `create2`, `selfdestruct`, and `reward`
        /// and `stop`, of which there are none.
        #[param("internal_type", example = "create,create2")]
        internal: InternalTypes,
        /// Kinds of calls, separated by commas: `call`, `callcode`, `delegatecall`, `staticcall`.
        #[param("call_type", example = "delegatecall")]
        calls: CallTypes,
    }
}

impl BlockInternalQuery {
    /// The filter by kind: both parameters have to apply.
    pub(super) fn filter(&self) -> CallFilter {
        // The kinds that `call_type` has no word for.
        const OTHERS: [InternalCallKind; 3] = [
            InternalCallKind::Create,
            InternalCallKind::Create2,
            InternalCallKind::SelfDestruct,
        ];
        let is_filtered = self.internal.0.is_some() || self.calls.0.is_some();
        let all = CALL_TYPES.iter().map(|(_, kind)| *kind).chain(OTHERS);
        CallFilter {
            kinds: is_filtered.then(|| all.filter(|kind| self.includes(*kind)).collect()),
            ..CallFilter::default()
        }
    }

    fn includes(&self, kind: InternalCallKind) -> bool {
        let internal = self.internal.0.as_ref();
        let calls = self.calls.0.as_ref();
        internal.is_none_or(|wanted| wanted.contains(&InternalType::of(kind)))
            && calls.is_none_or(|wanted| wanted.contains(&kind))
    }
}

parameters! {
    /// Which internal transactions are listed.
    pub(super) struct InternalQuery {
        /// Only those of a transaction.
        #[param("transaction_hash", example = "0x0000000000000000000000000000000000000000000000000000000000000001")]
        pub(super) transaction: Topic,
    }
}

parameters! {
    /// Which blocks are listed.
    pub(super) struct BlockQuery {
        /// The kind: a node keeps neither uncles nor blocks that a reorganisation removed, so these
        /// lists are empty.
        #[param("type")]
        pub(super) kind: BlockKind,
    }
}

parameters! {
    /// Which of a contract's logs are listed.
    pub(super) struct TopicQuery {
        /// A topic, at any place.
        #[param("topic", example = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef")]
        pub(super) topic: Topic,
    }
}

parameters! {
    /// Whose ids of a non-fungible token are listed.
    pub(super) struct OwnerQuery {
        /// Only those of an owner.
        #[param("holder_address_hash", example = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266")]
        pub(super) owner: Option<UserAddress>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse<P: ParameterValue>(text: &str) -> Result<P, ValueError> {
        P::parse(text, &Network::default())
    }

    #[test]
    fn a_side_is_written_as_published_clients_do() {
        let from = TransactionRole::Sender;
        let to = TransactionRole::Recipient;
        for (text, side) in [
            ("from", Some(from)),
            ("to", Some(to)),
            ("", None),
            (" to ", Some(to)),
        ] {
            assert_eq!(parse(text), Ok(Side(side)), "{text:?}");
        }
        for both in ["to | from", "from|to", "to,from", "from | to"] {
            assert_eq!(parse(both), Ok(Side(None)), "{both:?}");
        }
        for wrong in ["both", "from to", "to | x", "FROM"] {
            let error = ValueError::malformed("expected from, to, or both as to | from");
            assert_eq!(parse::<Side>(wrong), Err(error), "{wrong:?}");
        }
    }

    #[test]
    fn lists_have_brackets_or_not_and_any_case() {
        let two = TokenKinds(vec![TokenKind::Erc721, TokenKind::Erc20]);
        for text in [
            "ERC-721,ERC-20",
            "[ERC-721,ERC-20]",
            "erc-721, erc-20,ERC-721",
            ",ERC-721,,ERC-20,",
        ] {
            assert_eq!(parse(text), Ok(two.clone()), "{text:?}");
        }

        assert_eq!(parse(""), Ok(TokenKinds(Vec::new())));
        let error = parse::<TokenKinds>("ERC-404").expect_err("unknown");
        assert_eq!(
            error,
            ValueError::malformed("expected some of ERC-20, ERC-721, ERC-1155")
        );

        let all = "token_transfer,contract_creation,contract_call,coin_transfer,token_creation";
        assert_eq!(
            parse::<TransactionTypes>(all).map(|types| types.0.len()),
            Ok(5)
        );
    }

    #[test]
    fn methods_are_names_or_selectors() {
        let methods = parse::<Methods>("transfer,0x095ea7b3,deadbeef,quoteSwap").expect("methods");
        let include =
            |input: &[u8], name: Option<&str>| methods.include(input, || name.map(str::to_owned));

        assert!(
            include(&[0xa9, 0x05, 0x9c, 0xbb, 1], None),
            "a common name needs no ABI"
        );
        assert!(
            include(&[0x09, 0x5e, 0xa7, 0xb3], None) && include(&[0xde, 0xad, 0xbe, 0xef], None)
        );
        assert!(include(&[1, 2, 3, 4], Some("quoteSwap")));

        assert!(
            !include(&[1, 2, 3, 4], Some("swap"))
                && !include(&[1, 2], Some("transfer"))
                && !include(&[], None)
        );
        for wrong in ["0x12", "0x095ea7b300", "transfer(address)", "a b"] {
            assert!(parse::<Methods>(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn both_states_are_those_in_blocks() {
        let state = |text| parse::<StateFilter>(text).map(|StateFilter(state)| state);
        assert_eq!(state("pending"), Ok(TransactionState::Pending));
        for text in ["validated", "pending | validated", "validated|pending", ""] {
            assert_eq!(state(text), Ok(TransactionState::Validated), "{text:?}");
        }
        assert!(state("all").is_err());
    }

    fn internal_kinds(internal: &str, calls: &str) -> Option<Vec<InternalCallKind>> {
        let internal = parse(internal).expect("types");
        let calls = parse(calls).expect("calls");
        BlockInternalQuery { internal, calls }.filter().kinds
    }

    #[test]
    fn kinds_of_internal_transactions_apply_together() {
        assert_eq!(internal_kinds("", ""), None);
        assert_eq!(
            internal_kinds("create,selfdestruct", ""),
            Some(vec![
                InternalCallKind::Create,
                InternalCallKind::SelfDestruct
            ])
        );
        assert_eq!(
            internal_kinds("", "staticcall"),
            Some(vec![InternalCallKind::StaticCall])
        );
        assert_eq!(
            internal_kinds("call", "staticcall,call"),
            Some(vec![InternalCallKind::Call, InternalCallKind::StaticCall])
        );
        assert_eq!(internal_kinds("create", "call"), Some(Vec::new()));
        assert_eq!(internal_kinds("reward", ""), Some(Vec::new()));
    }
}
