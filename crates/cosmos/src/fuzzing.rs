//! Entry points for fuzzers: the readers of transactions, of messages and of queries, and second
//! implementations of what is signed. Each returns how much of its input was accepted.

mod documents;

use std::sync::LazyLock;

use prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use serde_json::Value;
use tetrad_network::network::Network;
use tetrad_primitives::block::{
    Submission, Transaction,
    cosmos::{CosmosNetwork, DecodedTx, SignerData},
    decode_envelope,
};

use self::documents::SignedTx;
use super::{
    event_query::EventQuery,
    protobuf::{Messages, from_json},
};

/// The bytes of JSON that a byte of a message may become: an empty message of two bytes is shown
/// with all of its fields.
const MAX_GROWTH: usize = 1_024;

static MESSAGES: LazyLock<Messages> = LazyLock::new(|| Messages::new(&Network::default()));

/// The types of the descriptors, in their order.
static TYPES: LazyLock<Vec<MessageDescriptor>> =
    LazyLock::new(|| MESSAGES.pool().all_messages().collect());

fn network() -> CosmosNetwork {
    let network = Network::default();
    CosmosNetwork {
        chain_id: network.cosmos_chain_id,
        denom: network.denomination,
        prefix: network.hrp.as_str().to_owned(),
    }
}

/// Decodes a transaction (`TxRaw`), checks it, puts it into a block and takes it out again, and
/// renders it. Returns whether it is one.
pub fn transaction(raw: &[u8]) -> usize {
    let tx = match DecodedTx::decode(raw) {
        Err(_) => return 0,
        Ok(DecodedTx::Ethereum(raw)) => {
            let _ = Submission::decode(&raw);
            return 1;
        }
        Ok(DecodedTx::Bank(tx)) => tx,
    };
    assert_eq!(&*tx.raw, raw);
    assert!(tx.gas_needed() >= 10 * raw.len() as u64);
    let _ = tx.check(&network());
    let _ = tx.verify(&SignerData {
        chain_id: "hyperpax_125-1",
        evm_chain_id: 125,
        account_number: 7,
    });

    if let Ok(transaction) = Transaction::from_cosmos(&tx) {
        let envelope =
            decode_envelope(&transaction.encode()).expect("a block's transaction can be decoded");
        let again =
            Transaction::recover(envelope, true).expect("a block's transaction has a sender");
        assert_eq!(
            (again.hash(), again.sender),
            (transaction.hash(), tx.sender)
        );
        assert_eq!(again.cosmos().expect("it is one of Cosmos").raw, tx.raw);
    }

    let of = MESSAGES
        .pool()
        .get_message_by_name("cosmos.tx.v1beta1.Tx")
        .expect("the SDK has transactions");
    let shown = DynamicMessage::decode(of, raw).expect("an accepted transaction can be shown");
    render(&shown, raw.len());
    1
}

/// Signs a transaction that follows from bytes, in one of the ways in which wallets do, over a
/// document that is written here a second time. The signature is valid for it, and for nothing
/// else. Returns whether the bytes make a transaction.
pub fn signature(bytes: &[u8]) -> usize {
    let Some(signed) = SignedTx::from_bytes(bytes) else {
        return 0;
    };
    let Ok(DecodedTx::Bank(tx)) = DecodedTx::decode(&signed.raw) else {
        panic!("a signed transaction cannot be decoded: {signed:?}");
    };
    let signer = signed.signer();
    assert_eq!(tx.verify(&signer), Ok(()), "{signed:?}");

    let other = SignerData {
        account_number: signer.account_number ^ 1,
        ..signer
    };
    assert!(
        tx.verify(&other).is_err(),
        "another account's signature was accepted: {signed:?}"
    );

    let other = SignerData {
        chain_id: "hyperpax_126-1",
        ..signer
    };
    assert!(
        tx.verify(&other).is_err(),
        "another chain's signature was accepted: {signed:?}"
    );
    1
}

/// Decodes a message of the type that its first two bytes name, or reads it from JSON, and renders
/// it. Returns whether it is one.
pub fn message(bytes: &[u8]) -> usize {
    let Some((kind, bytes)) = bytes.split_first_chunk::<2>() else {
        return 0;
    };
    let of = &TYPES[usize::from(u16::from_le_bytes(*kind)) % TYPES.len()];

    let mut read = 0;
    if let Ok(message) = DynamicMessage::decode(of.clone(), bytes) {
        let shown = render(&message, bytes.len());
        let again = DynamicMessage::decode(of.clone(), &*message.encode_to_vec())
            .expect("a message has an encoding");
        assert_eq!(render(&again, bytes.len()), shown);
        read += 1;
    }

    if let Ok(json) = serde_json::from_slice::<Value>(bytes)
        && let Ok(message) = from_json(of.clone(), json)
    {
        let encoded = message.encode_to_vec();
        let again =
            DynamicMessage::decode(of.clone(), &*encoded).expect("a message has an encoding");
        assert_eq!(
            render(&again, encoded.len() + bytes.len()),
            render(&message, encoded.len() + bytes.len())
        );
        read += 1;
    }
    read
}

/// Returns the bytes that [`message`] reads as a message of this type.
pub fn message_of(name: &str, content: &[u8]) -> Vec<u8> {
    let kind = TYPES
        .iter()
        .position(|of| of.full_name() == name)
        .expect("a type of the descriptors");
    [&(kind as u16).to_le_bytes()[..], content].concat()
}

/// Renders a message as clients read it, with the usual limit on the depth of JSON.
fn render(message: &DynamicMessage, length: usize) -> Value {
    let text = serde_json::to_vec(&MESSAGES.to_json(message)).expect("every message has JSON");
    assert!(
        text.len() <= MAX_GROWTH * (length + 2),
        "{length} bytes became {}",
        text.len()
    );
    serde_json::from_slice(&text).expect("clients can read the JSON")
}

/// Reads a query for events, and compares its range of heights with what it matches. Returns
/// whether it is one.
pub fn event_query(text: &[u8]) -> usize {
    let Some(query) = str::from_utf8(text)
        .ok()
        .and_then(|text| EventQuery::parse(text).ok())
    else {
        return 0;
    };
    for key in query.keys() {
        let (least, greatest) = query.range(key);
        let near = [least, greatest]
            .into_iter()
            .flat_map(|bound| [bound.wrapping_sub(1), bound, bound.wrapping_add(1)]);
        for number in near {
            let value = number.to_string();
            let is_matched = query.matches(|asked| {
                if asked == key {
                    vec![value.as_str()]
                } else {
                    vec!["0"]
                }
            });
            assert!(
                !is_matched || (least..=greatest).contains(&number),
                "{number} is not within {least}..={greatest}"
            );
        }
    }
    1
}
