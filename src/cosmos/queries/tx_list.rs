//! Responses with transactions, of which each is decoded and written when its turn comes.

use alloy_primitives::hex;
use prost::{Message, encoding::bytes};
use prost_reflect::{DynamicMessage, FieldDescriptor, MessageDescriptor, ReflectMessage};
use serde_json::{Value, json};

use crate::{
    block::cosmos::proto::Any,
    calendar::rfc3339,
    cosmos::{
        Gateway,
        error::GatewayError,
        protobuf::from_json,
        tx::raw_tx,
        tx_lookup::{FoundTx, TxPlace},
        tx_result::TxEvent,
    },
};

/// The type URL of a transaction in its response.
const TX: &str = "/cosmos.tx.v1beta1.Tx";

/// A response with one transaction or several.
pub(in crate::cosmos) struct TxList {
    pub(super) gateway: Gateway,
    /// The response without the transactions.
    pub(super) rest: DynamicMessage,
    /// The field that the transactions go to.
    pub(super) txs: &'static str,
    /// The field that their results go to, if the response has one.
    pub(super) results: Option<&'static str>,
    pub(super) places: Vec<TxPlace>,
}

impl TxList {
    /// The response in protobuf's encoding. No transaction is decoded for it: the encoding of `Tx` is that of `TxRaw`.
    pub(in crate::cosmos) fn encode(&self) -> Result<Vec<u8>, GatewayError> {
        let (txs, results) = self.fields()?;
        let mut out = self.rest.encode_to_vec();
        for place in &self.places {
            let Some(raw) = self.raw(place) else { continue };
            bytes::encode(txs.number(), &raw, &mut out);
            let Some((field, of)) = &results else { continue };
            let Some(found) = self.found(place) else { continue };
            let mut result = included(of, &found)?.encode_to_vec();
            let tx = Any { type_url: TX.to_owned(), value: raw };
            bytes::encode(field_of(of, "tx")?.number(), &tx.encode_to_vec(), &mut result);
            bytes::encode(field.number(), &result, &mut out);
        }
        Ok(out)
    }

    /// The response in the gateway's JSON. Each transaction is decoded and rendered once for both fields.
    pub(in crate::cosmos) fn json(&self) -> Result<String, GatewayError> {
        let messages = &self.gateway.messages;
        let (field, results) = self.fields()?;
        let tx_type = message_type(&field)?;
        let (mut tx_texts, mut result_texts) = (String::new(), String::new());
        for place in &self.places {
            let Some(raw) = self.raw(place) else { continue };
            let tx = DynamicMessage::decode(tx_type.clone(), raw.as_slice());
            let tx = messages.to_json(&tx.map_err(|error| GatewayError::Internal(error.to_string()))?).to_string();

            if let Some((_, of)) = &results {
                let Some(found) = self.found(place) else { continue };
                let result = messages.to_json(&included(of, &found)?);
                let typed = format!(r#"{{"@type":"{TX}",{}"#, tx.trim_start_matches('{'));
                append(&mut result_texts, &object_text(&result, &[("tx", &typed)]));
            }
            append(&mut tx_texts, &tx);
        }

        if field.is_list() {
            tx_texts = format!("[{tx_texts}]");
            result_texts = format!("[{result_texts}]");
        }
        let mut members = vec![(self.txs, tx_texts.as_str())];
        members.extend(self.results.map(|name| (name, result_texts.as_str())));
        Ok(object_text(&messages.to_json(&self.rest), &members))
    }

    /// The field of the transactions, and that of their results with its type.
    fn fields(&self) -> Result<(FieldDescriptor, Option<(FieldDescriptor, MessageDescriptor)>), GatewayError> {
        let of = self.rest.descriptor();
        let txs = field_of(&of, self.txs)?;
        let Some(name) = self.results else { return Ok((txs, None)) };
        let results = field_of(&of, name)?;
        let result_type = message_type(&results)?;
        Ok((txs, Some((results, result_type))))
    }

    fn raw(&self, (block, index): &TxPlace) -> Option<Vec<u8>> {
        Some(raw_tx(block.transactions.get(*index)?, &self.gateway.node.network))
    }

    fn found(&self, (block, index): &TxPlace) -> Option<FoundTx> {
        FoundTx::of(block, *index, &self.gateway.node.network)
    }
}

/// `TxResponse` of a transaction in a block, without the transaction.
fn included(of: &MessageDescriptor, found: &FoundTx) -> Result<DynamicMessage, GatewayError> {
    let (result, block) = (&found.result, &found.block);
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

/// Adds an item to the text of a list.
fn append(list: &mut String, item: &str) {
    if !list.is_empty() {
        list.push(',');
    }
    list.push_str(item);
}

/// The text of an object, some of whose members are replaced by texts of JSON.
fn object_text(object: &Value, replaced: &[(&str, &str)]) -> String {
    let mut members = String::new();
    for (name, value) in object.as_object().into_iter().flatten() {
        let member = match replaced.iter().find(|(own, text)| own == name && !text.is_empty()) {
            Some((_, text)) => format!("{}:{text}", json!(name)),
            None => format!("{}:{value}", json!(name)),
        };
        append(&mut members, &member);
    }
    format!("{{{members}}}")
}
