//! Responses with transactions, of which each is decoded and written when its turn comes.

use alloy_primitives::hex;
use prost::{Message, encoding::bytes};
use prost_reflect::{DynamicMessage, FieldDescriptor, MessageDescriptor, ReflectMessage};
use serde_json::{Value, json};
use tetrad_primitives::block::cosmos::proto::Any;
use tetrad_stdx::calendar::rfc3339;
use tetrad_web::{Answer, AnswerError, AnswerWriter, hold_in_turn};

use super::{json_bytes, push_message};
use crate::{
    Gateway, MAX_LIST_BYTES,
    error::GatewayError,
    protobuf::from_json,
    tx::raw_tx,
    tx_lookup::{FoundTx, TxPlace},
    tx_result::TxEvent,
};

/// The type URL of a transaction in its response.
const TX: &str = "/cosmos.tx.v1beta1.Tx";

/// A response with one transaction or several.
pub(crate) struct TxList {
    pub(super) gateway: Gateway,
    /// The response without the transactions.
    pub(super) rest: DynamicMessage,
    /// The field that the transactions go to.
    pub(super) txs: &'static str,
    /// The field that their results go to, if the response has one.
    pub(super) results: Option<&'static str>,
    pub(super) places: Box<dyn Iterator<Item = Result<TxPlace, GatewayError>> + Send>,
}

impl TxList {
    /// The response in protobuf's encoding. No transaction is decoded for it: the encoding of `Tx`
    /// is that of `TxRaw`.
    pub(crate) fn encode(self) -> Result<Answer, GatewayError> {
        let (txs, results) = self.fields()?;
        let network = &self.gateway.node.network;
        let mut out = AnswerWriter::new(MAX_LIST_BYTES);
        push_message(&self.rest, &mut out)?;
        let mut item = Vec::new();
        for place in self.places {
            let (block, index) = place?;
            let Some(transaction) = block.transactions.get(index) else {
                continue;
            };
            let raw = raw_tx(transaction, network);
            item.clear();
            bytes::encode(txs.number(), &raw, &mut item);
            out.push(&item)?;

            let Some((field, of)) = &results else {
                continue;
            };
            let Some(found) = FoundTx::of(&block, index, network) else {
                continue;
            };
            let mut result = included(of, &found)?.encode_to_vec();
            let tx = Any {
                type_url: TX.to_owned(),
                value: raw,
            };
            bytes::encode(
                field_of(of, "tx")?.number(),
                &tx.encode_to_vec(),
                &mut result,
            );
            item.clear();
            bytes::encode(field.number(), &result, &mut item);
            out.push(&item)?;
        }
        Ok(out.finish())
    }

    /// The response in the gateway's JSON. Each transaction is decoded and rendered once for both
    /// fields.
    pub(crate) fn json(self) -> Result<Answer, GatewayError> {
        let messages = &self.gateway.messages;
        let network = &self.gateway.node.network;
        let (field, results) = self.fields()?;
        let tx_type = message_type(&field)?;

        let mut txs = JsonItems::new(field.is_list());
        let mut result_items = JsonItems::new(field.is_list());
        for place in self.places {
            let (block, index) = place?;
            let Some(transaction) = block.transactions.get(index) else {
                continue;
            };
            let raw = raw_tx(transaction, network);
            let tx = DynamicMessage::decode(tx_type.clone(), raw.as_slice());
            let tx = messages
                .to_json(&tx.map_err(|error| GatewayError::Internal(error.to_string()))?)
                .to_string();

            if let Some((_, of)) = &results {
                let Some(found) = FoundTx::of(&block, index, network) else {
                    continue;
                };
                let result = messages.to_json(&included(of, &found)?);
                // The type of an `Any` is a member of its value's JSON.
                let typed = format!(r#"{{"@type":"{TX}",{}"#, tx.trim_start_matches('{'));
                let mut item = AnswerWriter::new(MAX_LIST_BYTES);
                write_object(&result, &[("tx", typed.as_bytes())], &mut item)?;
                result_items.push(item.finish().bytes())?;
            }
            txs.push(tx.as_bytes())?;
        }

        let txs = txs.finish()?;
        let result_items = result_items.finish()?;
        let mut members = vec![(self.txs, txs.bytes())];
        members.extend(self.results.map(|name| (name, result_items.bytes())));

        // Both lists are within their limit. The rest may be a block.
        let mut out = AnswerWriter::new(3 * MAX_LIST_BYTES);
        hold_in_turn(json_bytes(&self.rest))?;
        write_object(&messages.to_json(&self.rest), &members, &mut out)?;
        Ok(out.finish())
    }

    /// The field of the transactions, and that of their results with its type.
    fn fields(
        &self,
    ) -> Result<
        (
            FieldDescriptor,
            Option<(FieldDescriptor, MessageDescriptor)>,
        ),
        GatewayError,
    > {
        let of = self.rest.descriptor();
        let txs = field_of(&of, self.txs)?;
        let Some(name) = self.results else {
            return Ok((txs, None));
        };

        let results = field_of(&of, name)?;
        let result_type = message_type(&results)?;
        Ok((txs, Some((results, result_type))))
    }
}

/// `TxResponse` of a transaction in a block, without the transaction.
fn included(of: &MessageDescriptor, found: &FoundTx) -> Result<DynamicMessage, GatewayError> {
    let result = &found.result;
    let block = &found.block;
    let body = json!({
        "height": block.number().to_string(),
        "txhash": found.hash(),
        "codespace": result.codespace,
        "code": result.code,
        "data": hex::encode_upper(&result.data),
        "raw_log": result.log,
        "gas_wanted": result.gas_wanted.to_string(),
        "gas_used": result.gas_used.to_string(),
        "timestamp": rfc3339(block.header.timestamp),
        "events": result.events.iter().map(TxEvent::json).collect::<Vec<_>>(),
    });
    from_json(of.clone(), body).map_err(|error| GatewayError::Internal(error.to_string()))
}

fn field_of(of: &MessageDescriptor, name: &str) -> Result<FieldDescriptor, GatewayError> {
    let missing = || GatewayError::Internal(format!("{} has no field {name}", of.full_name()));
    of.get_field_by_name(name).ok_or_else(missing)
}

fn message_type(field: &FieldDescriptor) -> Result<MessageDescriptor, GatewayError> {
    let kind = field.kind();
    let of = kind.as_message().cloned();
    of.ok_or_else(|| GatewayError::Internal(format!("{} is no message", field.full_name())))
}

/// The JSON of a list, or of its only item.
struct JsonItems {
    out: AnswerWriter,
    is_list: bool,
    count: usize,
}

impl JsonItems {
    fn new(is_list: bool) -> Self {
        Self {
            out: AnswerWriter::new(MAX_LIST_BYTES),
            is_list,
            count: 0,
        }
    }

    fn push(&mut self, item: &[u8]) -> Result<(), AnswerError> {
        if self.is_list {
            self.out.push(if self.count == 0 { b"[" } else { b"," })?;
        }
        self.count += 1;
        self.out.push(item)
    }

    fn finish(mut self) -> Result<Answer, AnswerError> {
        if self.is_list {
            self.out.push(if self.count == 0 { b"[]" } else { b"]" })?;
        }
        Ok(self.out.finish())
    }
}

/// Writes an object, some of whose members are replaced by JSON that is written already.
fn write_object(
    object: &Value,
    replaced: &[(&str, &[u8])],
    out: &mut AnswerWriter,
) -> Result<(), AnswerError> {
    let mut separator = b"{";
    for (name, value) in object.as_object().into_iter().flatten() {
        out.push(separator)?;
        separator = b",";
        out.json(name)?;
        out.push(b":")?;
        match replaced
            .iter()
            .find(|(own, json)| own == name && !json.is_empty())
        {
            Some((_, json)) => out.push(json)?,
            None => out.json(value)?,
        }
    }
    out.push(if separator == b"{" { b"{}" } else { b"}" })
}
