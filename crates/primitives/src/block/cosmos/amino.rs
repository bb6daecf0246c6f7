//! The sign document of `SIGN_MODE_LEGACY_AMINO_JSON`: JSON with sorted keys.

use serde_json::{Map, Value, json};

use super::{
    BankMessage, CosmosTransaction, SignerData,
    proto::{AddressCoins, Coin},
};

/// The document that the signer of `tx` has signed.
pub(super) fn sign_doc(tx: &CosmosTransaction, signer: &SignerData<'_>) -> Value {
    let fee = tx.declared_fee();
    let mut fee_object = Map::new();
    // Keys are inserted in their order, whatever order the map keeps.
    fee_object.insert("amount".to_owned(), coins(&fee.amount));
    fee_object.insert("gas".to_owned(), fee.gas_limit.to_string().into());
    if !fee.payer.is_empty() {
        fee_object.insert("payer".to_owned(), fee.payer.clone().into());
    }

    let mut doc = Map::new();
    doc.insert(
        "account_number".to_owned(),
        signer.account_number.to_string().into(),
    );
    doc.insert("chain_id".to_owned(), signer.chain_id.into());
    doc.insert("fee".to_owned(), fee_object.into());
    doc.insert("memo".to_owned(), tx.body.memo.clone().into());
    doc.insert("msgs".to_owned(), tx.messages.iter().map(message).collect());
    doc.insert("sequence".to_owned(), tx.sequence.to_string().into());

    if tx.body.timeout_height != 0 {
        doc.insert(
            "timeout_height".to_owned(),
            tx.body.timeout_height.to_string().into(),
        );
    }
    doc.into()
}

/// The bytes of a sign document. Go escapes these characters, so that JSON can be embedded in HTML.
pub(super) fn sign_bytes(doc: &Value) -> Vec<u8> {
    let escapes = [
        ('&', "\\u0026"),
        ('<', "\\u003c"),
        ('>', "\\u003e"),
        ('\u{2028}', "\\u2028"),
        ('\u{2029}', "\\u2029"),
    ];

    let text = doc.to_string();
    escapes
        .iter()
        .fold(text, |text, (plain, escaped)| text.replace(*plain, escaped))
        .into_bytes()
}

/// A message in Amino's JSON.
fn message(message: &BankMessage) -> Value {
    match message {
        BankMessage::Send(send) => json!({
            "type": "cosmos-sdk/MsgSend",
            "value": {
                "amount": coins(&send.amount),
                "from_address": send.from_address,
                "to_address": send.to_address,
            },
        }),
        BankMessage::MultiSend(send) => json!({
            "type": "cosmos-sdk/MsgMultiSend",
            "value": { "inputs": parties(&send.inputs), "outputs": parties(&send.outputs) },
        }),
    }
}

/// The senders or the recipients of a message.
fn parties(parties: &[AddressCoins]) -> Value {
    parties
        .iter()
        .map(|one| json!({ "address": one.address, "coins": coins(&one.coins) }))
        .collect()
}

fn coins(coins: &[Coin]) -> Value {
    coins
        .iter()
        .map(|coin| json!({ "amount": coin.amount, "denom": coin.denom }))
        .collect()
}
