//! `MsgEthereumTx`: Ethereum transactions as Cosmos clients send and see them.

use alloy_consensus::{
    EthereumTypedTransaction, SignableTransaction, TxEip1559, TxEip2930, TxLegacy,
};
use alloy_eips::{
    eip2718::Encodable2718,
    eip2930::{AccessList, AccessListItem},
};
use alloy_primitives::{Address, B256, Bytes, Signature, TxKind, U256};
use prost::Message;
use tetrad_stdx::{digits, text::excerpt};

use super::{
    CosmosError, CosmosNetwork, MAX_SHOWN, decode,
    proto::{Any, AuthInfo, Coin, Fee, MsgEthereumTx, TxBody, TxRaw},
    wire::{HasKnownFields, KnownFields, UnknownFields},
};
use crate::block::encoding::{Envelope, UnsignedTransaction};

/// The type URLs of Cosmos EVM.
const MESSAGE: &str = "/cosmos.evm.vm.v1.MsgEthereumTx";
const OPTION: &str = "/cosmos.evm.vm.v1.ExtensionOptionsEthereumTx";

/// Returns the Cosmos transaction that stands for an Ethereum transaction (EIP-2718) in Cosmos
/// EVM's form: it is not signed, since the message is.
pub fn ethereum_tx_raw(
    sender: Address,
    raw: Vec<u8>,
    gas_limit: u64,
    max_fee: u128,
    network: &CosmosNetwork,
) -> Vec<u8> {
    let message = MsgEthereumTx {
        from: sender.to_vec(),
        raw,
        ..MsgEthereumTx::default()
    };

    let fee = U256::from(gas_limit).saturating_mul(U256::from(max_fee));
    let coin = Coin {
        denom: network.denom.clone(),
        amount: fee.to_string(),
    };
    let fee = Fee {
        amount: vec![coin],
        gas_limit,
        ..Fee::default()
    };

    let body = TxBody {
        messages: vec![Any {
            type_url: MESSAGE.to_owned(),
            value: message.encode_to_vec(),
        }],
        extension_options: vec![Any {
            type_url: OPTION.to_owned(),
            value: Vec::new(),
        }],
        ..TxBody::default()
    };

    // The signature is within the message, so the Cosmos transaction has neither signer nor key.
    let auth = AuthInfo {
        signer_infos: Vec::new(),
        fee: Some(fee),
    };
    TxRaw {
        body_bytes: body.encode_to_vec(),
        auth_info_bytes: auth.encode_to_vec(),
        signatures: Vec::new(),
    }
    .encode_to_vec()
}

/// `LegacyTx` of Ethermint.
#[derive(Clone, PartialEq, Message)]
struct LegacyTx {
    #[prost(uint64, tag = "1")]
    nonce: u64,
    #[prost(string, tag = "2")]
    gas_price: String,
    #[prost(uint64, tag = "3")]
    gas: u64,
    #[prost(string, tag = "4")]
    to: String,
    #[prost(string, tag = "5")]
    value: String,
    #[prost(bytes = "vec", tag = "6")]
    data: Vec<u8>,
    #[prost(bytes = "vec", tag = "7")]
    v: Vec<u8>,
    #[prost(bytes = "vec", tag = "8")]
    r: Vec<u8>,
    #[prost(bytes = "vec", tag = "9")]
    s: Vec<u8>,
}

/// `AccessListTx` of Ethermint.
#[derive(Clone, PartialEq, Message)]
struct AccessListTx {
    #[prost(string, tag = "1")]
    chain_id: String,
    #[prost(uint64, tag = "2")]
    nonce: u64,
    #[prost(string, tag = "3")]
    gas_price: String,
    #[prost(uint64, tag = "4")]
    gas: u64,
    #[prost(string, tag = "5")]
    to: String,
    #[prost(string, tag = "6")]
    value: String,
    #[prost(bytes = "vec", tag = "7")]
    data: Vec<u8>,
    #[prost(message, repeated, tag = "8")]
    accesses: Vec<AccessTuple>,
    #[prost(bytes = "vec", tag = "9")]
    v: Vec<u8>,
    #[prost(bytes = "vec", tag = "10")]
    r: Vec<u8>,
    #[prost(bytes = "vec", tag = "11")]
    s: Vec<u8>,
}

/// `DynamicFeeTx` of Ethermint.
#[derive(Clone, PartialEq, Message)]
struct DynamicFeeTx {
    #[prost(string, tag = "1")]
    chain_id: String,
    #[prost(uint64, tag = "2")]
    nonce: u64,
    #[prost(string, tag = "3")]
    gas_tip_cap: String,
    #[prost(string, tag = "4")]
    gas_fee_cap: String,
    #[prost(uint64, tag = "5")]
    gas: u64,
    #[prost(string, tag = "6")]
    to: String,
    #[prost(string, tag = "7")]
    value: String,
    #[prost(bytes = "vec", tag = "8")]
    data: Vec<u8>,
    #[prost(message, repeated, tag = "9")]
    accesses: Vec<AccessTuple>,
    #[prost(bytes = "vec", tag = "10")]
    v: Vec<u8>,
    #[prost(bytes = "vec", tag = "11")]
    r: Vec<u8>,
    #[prost(bytes = "vec", tag = "12")]
    s: Vec<u8>,
}

/// `AccessTuple` of Ethermint.
#[derive(Clone, PartialEq, Message)]
struct AccessTuple {
    #[prost(string, tag = "1")]
    address: String,
    #[prost(string, repeated, tag = "2")]
    storage_keys: Vec<String>,
}

impl HasKnownFields for LegacyTx {
    const FIELDS: KnownFields = KnownFields(&[
        (1, None),
        (2, None),
        (3, None),
        (4, None),
        (5, None),
        (6, None),
        (7, None),
        (8, None),
        (9, None),
    ]);
}

impl HasKnownFields for AccessListTx {
    const FIELDS: KnownFields = KnownFields(&[
        (1, None),
        (2, None),
        (3, None),
        (4, None),
        (5, None),
        (6, None),
        (7, None),
        (8, Some(&AccessTuple::FIELDS)),
        (9, None),
        (10, None),
        (11, None),
    ]);
}

impl HasKnownFields for DynamicFeeTx {
    const FIELDS: KnownFields = KnownFields(&[
        (1, None),
        (2, None),
        (3, None),
        (4, None),
        (5, None),
        (6, None),
        (7, None),
        (8, None),
        (9, Some(&AccessTuple::FIELDS)),
        (10, None),
        (11, None),
        (12, None),
    ]);
}

impl HasKnownFields for AccessTuple {
    const FIELDS: KnownFields = KnownFields(&[(1, None), (2, None)]);
}

/// `v`, `r` and `s` as a transaction in Ethermint's form states them.
struct SignatureFields {
    v: Vec<u8>,
    r: Vec<u8>,
    s: Vec<u8>,
}

/// Returns the encoding (EIP-2718) of a transaction in Ethermint's form, which lists its fields.
pub(super) fn from_fields(data: &Any) -> Result<Bytes, CosmosError> {
    let kind = data.type_url.rsplit('.').next().unwrap_or_default();
    let (unsigned, signature) = match kind {
        "LegacyTx" => legacy(&data.value)?,
        "AccessListTx" => with_access_list(&data.value)?,
        "DynamicFeeTx" => with_dynamic_fee(&data.value)?,
        other => {
            let shown = excerpt(other, MAX_SHOWN);
            return Err(CosmosError::parse(format!(
                "MsgEthereumTx: unknown type {shown:?} of transaction"
            )));
        }
    };

    let envelope = signed(unsigned, &signature)?;
    Ok(envelope.encoded_2718().into())
}

fn legacy(value: &[u8]) -> Result<(UnsignedTransaction, SignatureFields), CosmosError> {
    let tx: LegacyTx = decode(value, UnknownFields::MayBeNonCritical, "LegacyTx")?;
    let unsigned = TxLegacy {
        // It follows from `v` (EIP-155).
        chain_id: None,
        nonce: tx.nonce,
        gas_price: price(&tx.gas_price)?,
        gas_limit: tx.gas,
        to: recipient(&tx.to)?,
        value: number(&tx.value)?,
        input: tx.data.into(),
    };
    let signature = SignatureFields {
        v: tx.v,
        r: tx.r,
        s: tx.s,
    };
    Ok((EthereumTypedTransaction::Legacy(unsigned), signature))
}

fn with_access_list(value: &[u8]) -> Result<(UnsignedTransaction, SignatureFields), CosmosError> {
    let tx: AccessListTx = decode(value, UnknownFields::MayBeNonCritical, "AccessListTx")?;
    let unsigned = TxEip2930 {
        chain_id: chain_id(&tx.chain_id)?,
        nonce: tx.nonce,
        gas_price: price(&tx.gas_price)?,
        gas_limit: tx.gas,
        to: recipient(&tx.to)?,
        value: number(&tx.value)?,
        access_list: access_list(&tx.accesses)?,
        input: tx.data.into(),
    };
    let signature = SignatureFields {
        v: tx.v,
        r: tx.r,
        s: tx.s,
    };
    Ok((EthereumTypedTransaction::Eip2930(unsigned), signature))
}

fn with_dynamic_fee(value: &[u8]) -> Result<(UnsignedTransaction, SignatureFields), CosmosError> {
    let tx: DynamicFeeTx = decode(value, UnknownFields::MayBeNonCritical, "DynamicFeeTx")?;
    let unsigned = TxEip1559 {
        chain_id: chain_id(&tx.chain_id)?,
        nonce: tx.nonce,
        gas_limit: tx.gas,
        max_fee_per_gas: price(&tx.gas_fee_cap)?,
        max_priority_fee_per_gas: price(&tx.gas_tip_cap)?,
        to: recipient(&tx.to)?,
        value: number(&tx.value)?,
        access_list: access_list(&tx.accesses)?,
        input: tx.data.into(),
    };
    let signature = SignatureFields {
        v: tx.v,
        r: tx.r,
        s: tx.s,
    };
    Ok((EthereumTypedTransaction::Eip1559(unsigned), signature))
}

/// Adds the signature to a transaction. The `v` of a legacy one has its chain id (EIP-155).
fn signed(
    unsigned: UnsignedTransaction,
    signature: &SignatureFields,
) -> Result<Envelope, CosmosError> {
    let v = u64::try_from(wide(&signature.v)?).map_err(|_| malformed("signature"))?;
    let r = wide(&signature.r)?;
    let s = wide(&signature.s)?;

    Ok(match unsigned {
        EthereumTypedTransaction::Legacy(mut tx) => {
            let odd = match v {
                27 | 28 => v == 28,
                // 35 + 2 × chain id + parity (EIP-155).
                35.. => {
                    tx.chain_id = Some((v - 35) / 2);
                    (v - 35) % 2 == 1
                }
                _ => return Err(malformed("signature")),
            };
            Envelope::Legacy(tx.into_signed(Signature::new(r, s, odd)))
        }
        typed => typed.into_signed(Signature::new(r, s, v == 1)).into(),
    })
}

fn wide(bytes: &[u8]) -> Result<U256, CosmosError> {
    U256::try_from_be_slice(bytes).ok_or_else(|| malformed("signature"))
}

fn malformed(what: &str) -> CosmosError {
    CosmosError::parse(format!("MsgEthereumTx: malformed {what}"))
}

/// A number in decimal digits; none counts as zero.
fn number(text: &str) -> Result<U256, CosmosError> {
    match text {
        "" => Ok(U256::ZERO),
        text => digits::decimal(text).ok_or_else(|| malformed("number")),
    }
}

fn price(text: &str) -> Result<u128, CosmosError> {
    u128::try_from(number(text)?).map_err(|_| malformed("gas price"))
}

fn chain_id(text: &str) -> Result<u64, CosmosError> {
    u64::try_from(number(text)?).map_err(|_| malformed("chain id"))
}

fn recipient(text: &str) -> Result<TxKind, CosmosError> {
    match text {
        "" => Ok(TxKind::Create),
        text => text
            .parse::<Address>()
            .map(TxKind::Call)
            .map_err(|_| malformed("recipient")),
    }
}

fn access_list(accesses: &[AccessTuple]) -> Result<AccessList, CosmosError> {
    accesses
        .iter()
        .map(access_list_item)
        .collect::<Result<_, CosmosError>>()
        .map(AccessList)
}

fn access_list_item(access: &AccessTuple) -> Result<AccessListItem, CosmosError> {
    let keys = access
        .storage_keys
        .iter()
        .map(|key| key.parse::<B256>().map_err(|_| malformed("storage key")));
    Ok(AccessListItem {
        address: access.address.parse().map_err(|_| malformed("address"))?,
        storage_keys: keys.collect::<Result<_, _>>()?,
    })
}
