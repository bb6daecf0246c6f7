//! Protobuf messages of transactions, with the field names and tags of the Cosmos SDK.

use prost::Message;

use super::wire::{HasKnownFields, KnownFields};

/// `cosmos.tx.v1beta1.TxRaw`.
#[derive(Clone, PartialEq, Message)]
pub struct TxRaw {
    /// The encoded [`TxBody`].
    #[prost(bytes = "vec", tag = "1")]
    pub body_bytes: Vec<u8>,
    /// The encoded [`AuthInfo`].
    #[prost(bytes = "vec", tag = "2")]
    pub auth_info_bytes: Vec<u8>,
    /// One signature for each signer.
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub signatures: Vec<Vec<u8>>,
}

/// `cosmos.tx.v1beta1.TxBody`.
#[derive(Clone, PartialEq, Message)]
pub struct TxBody {
    /// The messages.
    #[prost(message, repeated, tag = "1")]
    pub messages: Vec<Any>,
    /// The memo.
    #[prost(string, tag = "2")]
    pub memo: String,
    /// The last block that may include the transaction; 0 for any.
    #[prost(uint64, tag = "3")]
    pub timeout_height: u64,
    /// Extensions that the chain must know.
    #[prost(message, repeated, tag = "1023")]
    pub extension_options: Vec<Any>,
    /// Extensions that the chain may ignore.
    #[prost(message, repeated, tag = "2047")]
    pub non_critical_extension_options: Vec<Any>,
}

/// `cosmos.tx.v1beta1.AuthInfo`.
#[derive(Clone, PartialEq, Message)]
pub struct AuthInfo {
    /// The signers.
    #[prost(message, repeated, tag = "1")]
    pub signer_infos: Vec<SignerInfo>,
    /// The fee.
    #[prost(message, optional, tag = "2")]
    pub fee: Option<Fee>,
}

/// `cosmos.tx.v1beta1.SignerInfo`.
#[derive(Clone, PartialEq, Message)]
pub struct SignerInfo {
    /// The public key.
    #[prost(message, optional, tag = "1")]
    pub public_key: Option<Any>,
    /// The sign mode.
    #[prost(message, optional, tag = "2")]
    pub mode_info: Option<ModeInfo>,
    /// The account's sequence.
    #[prost(uint64, tag = "3")]
    pub sequence: u64,
}

/// `cosmos.tx.v1beta1.ModeInfo` of a single signer.
#[derive(Clone, PartialEq, Message)]
pub struct ModeInfo {
    /// The mode; none for a multisignature, which is not supported.
    #[prost(message, optional, tag = "1")]
    pub single: Option<SingleMode>,
}

/// `cosmos.tx.v1beta1.ModeInfo.Single`.
#[derive(Clone, PartialEq, Message)]
pub struct SingleMode {
    /// `cosmos.tx.signing.v1beta1.SignMode`.
    #[prost(int32, tag = "1")]
    pub mode: i32,
}

/// `cosmos.tx.v1beta1.Fee`.
#[derive(Clone, PartialEq, Message)]
pub struct Fee {
    /// The coins.
    #[prost(message, repeated, tag = "1")]
    pub amount: Vec<Coin>,
    /// The gas limit.
    #[prost(uint64, tag = "2")]
    pub gas_limit: u64,
    /// The payer, if it is not the first signer.
    #[prost(string, tag = "3")]
    pub payer: String,
    /// The granter of an allowance.
    #[prost(string, tag = "4")]
    pub granter: String,
}

/// `cosmos.tx.v1beta1.SignDoc`.
#[derive(Clone, PartialEq, Message)]
pub struct SignDoc {
    /// The encoded [`TxBody`].
    #[prost(bytes = "vec", tag = "1")]
    pub body_bytes: Vec<u8>,
    /// The encoded [`AuthInfo`].
    #[prost(bytes = "vec", tag = "2")]
    pub auth_info_bytes: Vec<u8>,
    /// The Cosmos chain id.
    #[prost(string, tag = "3")]
    pub chain_id: String,
    /// The signer's account number.
    #[prost(uint64, tag = "4")]
    pub account_number: u64,
}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, Message)]
pub struct Any {
    /// The type of the message.
    #[prost(string, tag = "1")]
    pub type_url: String,
    /// The encoded message.
    #[prost(bytes = "vec", tag = "2")]
    pub value: Vec<u8>,
}

/// `cosmos.base.v1beta1.Coin`.
#[derive(Clone, PartialEq, Message)]
pub struct Coin {
    /// The denomination.
    #[prost(string, tag = "1")]
    pub denom: String,
    /// The amount, in decimal digits.
    #[prost(string, tag = "2")]
    pub amount: String,
}

/// `PubKey` of `ethsecp256k1`.
#[derive(Clone, PartialEq, Message)]
pub struct PubKey {
    /// The compressed key.
    #[prost(bytes = "vec", tag = "1")]
    pub key: Vec<u8>,
}

/// `cosmos.bank.v1beta1.MsgSend`.
#[derive(Clone, PartialEq, Message)]
pub struct MsgSend {
    /// The sender.
    #[prost(string, tag = "1")]
    pub from_address: String,
    /// The recipient.
    #[prost(string, tag = "2")]
    pub to_address: String,
    /// The coins.
    #[prost(message, repeated, tag = "3")]
    pub amount: Vec<Coin>,
}

/// `cosmos.bank.v1beta1.MsgMultiSend`.
#[derive(Clone, PartialEq, Message)]
pub struct MsgMultiSend {
    /// The senders; exactly one.
    #[prost(message, repeated, tag = "1")]
    pub inputs: Vec<AddressCoins>,
    /// The recipients.
    #[prost(message, repeated, tag = "2")]
    pub outputs: Vec<AddressCoins>,
}

/// `cosmos.bank.v1beta1.Input`; `Output` has the same fields.
#[derive(Clone, PartialEq, Message)]
pub struct AddressCoins {
    /// The account.
    #[prost(string, tag = "1")]
    pub address: String,
    /// The coins.
    #[prost(message, repeated, tag = "2")]
    pub coins: Vec<Coin>,
}

/// `ExtensionOptionsWeb3Tx`: a signature over EIP-712 typed data.
#[derive(Clone, PartialEq, Message)]
pub struct ExtensionOptionsWeb3Tx {
    /// The Ethereum chain id of the typed data's domain.
    #[prost(uint64, tag = "1")]
    pub typed_data_chain_id: u64,
    /// The payer of the fee, which is the signer.
    #[prost(string, tag = "2")]
    pub fee_payer: String,
    /// The signature.
    #[prost(bytes = "vec", tag = "3")]
    pub fee_payer_sig: Vec<u8>,
}

/// `MsgEthereumTx` in both forms: with the transaction's encoding (Cosmos EVM), or with its fields
/// (Ethermint).
#[derive(Clone, PartialEq, Message)]
pub struct MsgEthereumTx {
    /// The fields of the transaction, of one of three types.
    #[prost(message, optional, tag = "1")]
    pub data: Option<Any>,
    /// Unused.
    #[prost(double, tag = "2")]
    pub size: f64,
    /// The Ethereum hash, which follows from the transaction.
    #[prost(string, tag = "3")]
    pub hash: String,
    /// The sender in hex.
    #[prost(string, tag = "4")]
    pub from_text: String,
    /// The sender's address.
    #[prost(bytes = "vec", tag = "5")]
    pub from: Vec<u8>,
    /// The encoding of the transaction (EIP-2718).
    #[prost(bytes = "vec", tag = "6")]
    pub raw: Vec<u8>,
}

/// The fields of an `Any`, whose value is checked when it is decoded.
pub(super) const ANY: Option<&'static KnownFields> = Some(&Any::FIELDS);
const COINS: Option<&'static KnownFields> = Some(&Coin::FIELDS);

impl HasKnownFields for TxRaw {
    const FIELDS: KnownFields = KnownFields(&[(1, None), (2, None), (3, None)]);
}

impl HasKnownFields for TxBody {
    const FIELDS: KnownFields =
        KnownFields(&[(1, ANY), (2, None), (3, None), (1023, ANY), (2047, ANY)]);
}

impl HasKnownFields for AuthInfo {
    const FIELDS: KnownFields =
        KnownFields(&[(1, Some(&SignerInfo::FIELDS)), (2, Some(&Fee::FIELDS))]);
}

impl HasKnownFields for SignerInfo {
    const FIELDS: KnownFields = KnownFields(&[(1, ANY), (2, Some(&ModeInfo::FIELDS)), (3, None)]);
}

impl HasKnownFields for ModeInfo {
    const FIELDS: KnownFields = KnownFields(&[(1, Some(&SingleMode::FIELDS))]);
}

impl HasKnownFields for SingleMode {
    const FIELDS: KnownFields = KnownFields(&[(1, None)]);
}

impl HasKnownFields for Fee {
    const FIELDS: KnownFields = KnownFields(&[(1, COINS), (2, None), (3, None), (4, None)]);
}

impl HasKnownFields for Any {
    const FIELDS: KnownFields = KnownFields(&[(1, None), (2, None)]);
}

impl HasKnownFields for Coin {
    const FIELDS: KnownFields = KnownFields(&[(1, None), (2, None)]);
}

impl HasKnownFields for PubKey {
    const FIELDS: KnownFields = KnownFields(&[(1, None)]);
}

impl HasKnownFields for MsgSend {
    const FIELDS: KnownFields = KnownFields(&[(1, None), (2, None), (3, COINS)]);
}

impl HasKnownFields for MsgMultiSend {
    const FIELDS: KnownFields = KnownFields(&[
        (1, Some(&AddressCoins::FIELDS)),
        (2, Some(&AddressCoins::FIELDS)),
    ]);
}

impl HasKnownFields for AddressCoins {
    const FIELDS: KnownFields = KnownFields(&[(1, None), (2, COINS)]);
}

impl HasKnownFields for ExtensionOptionsWeb3Tx {
    const FIELDS: KnownFields = KnownFields(&[(1, None), (2, None), (3, None)]);
}

impl HasKnownFields for MsgEthereumTx {
    const FIELDS: KnownFields = KnownFields(&[
        (1, ANY),
        (2, None),
        (3, None),
        (4, None),
        (5, None),
        (6, None),
    ]);
}
