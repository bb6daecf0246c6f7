//! Input from Cosmos clients.

use base64ct::{Base64, Encoding};
use prost::Message;
use serde_json::{Value, json};
use tetrad_cosmos::fuzzing;
use tetrad_primitives::block::cosmos::proto::{Any, TxBody, TxRaw};

use super::fuzz;

/// Transactions of published libraries.
fn transactions() -> Vec<Vec<u8>> {
    let file: Value = serde_json::from_str(include_str!("../../data/cosmos-txs.json")).unwrap();
    let all = file["txs"].as_array().unwrap();
    all.iter()
        .map(|each| Base64::decode_vec(each["tx"].as_str().unwrap()).unwrap())
        .collect()
}

/// Extensions that may be ignored, nested in each other.
fn nested(levels: usize) -> Any {
    (0..levels).fold(Any::default(), |inner, _| {
        let body = TxBody {
            messages: vec![inner],
            ..TxBody::default()
        };
        Any {
            type_url: "/cosmos.tx.v1beta1.TxBody".to_owned(),
            value: body.encode_to_vec(),
        }
    })
}

#[test]
fn any_bytes_either_decode_to_a_cosmos_transaction_or_fail() {
    let mut seeds = transactions();
    let mut parts = TxRaw::decode(seeds[0].as_slice()).unwrap();
    let mut body = TxBody::decode(parts.body_bytes.as_slice()).unwrap();
    body.non_critical_extension_options = vec![nested(10)];
    parts.body_bytes = body.encode_to_vec();
    seeds.push(parts.encode_to_vec());
    assert!(seeds.iter().all(|seed| fuzzing::transaction(seed) == 1));
    assert!(fuzz("cosmos_transaction", 2_000, &seeds, fuzzing::transaction) > 0);
}

#[test]
fn a_signature_is_valid_only_for_the_signed_document() {
    let text = b"\x0btext <&> \"\\n".to_vec();
    let seeds: Vec<Vec<u8>> = (0..5_u8)
        .flat_map(|mode| {
            let plain = [
                &[mode, 1, 7, 1, 3, 0, 3, 3, 0x0d, 0x40][..],
                &text,
                &[1, 4],
                b"ahpx",
                &[4, 1, 2, 3, 4],
            ]
            .concat();
            let multi = [
                &plain[..],
                &[3, 1, 4],
                b"ahpx",
                &[2, 3, 9],
                &[0xaa, 0xbb, 0xcc],
            ]
            .concat();
            [plain, multi]
        })
        .collect();
    assert!(seeds.iter().all(|seed| fuzzing::signature(seed) == 1));
    assert!(fuzz("cosmos_signature", 500, &seeds, fuzzing::signature) > 0);
}

#[test]
fn any_bytes_either_decode_to_a_message_or_fail() {
    let of_transactions = transactions()
        .into_iter()
        .map(|raw| fuzzing::message_of("cosmos.tx.v1beta1.Tx", &raw));
    let mut seeds: Vec<Vec<u8>> = of_transactions.collect();
    seeds.push(fuzzing::message_of(
        "google.protobuf.Any",
        &nested(20).encode_to_vec(),
    ));
    let page =
        json!({"address": "pax1", "pagination": {"key": "AA==", "limit": "5", "reverse": true}});
    let balances = "cosmos.bank.v1beta1.QueryAllBalancesRequest";
    seeds.push(fuzzing::message_of(balances, page.to_string().as_bytes()));
    let coin = json!({"@type": "/cosmos.base.v1beta1.Coin", "denom": "ahpx", "amount": "5"});
    seeds.push(fuzzing::message_of(
        "google.protobuf.Any",
        coin.to_string().as_bytes(),
    ));
    let time = json!({"seconds": "5", "nanos": 3}).to_string();
    seeds.push(fuzzing::message_of(
        "google.protobuf.Duration",
        time.as_bytes(),
    ));
    assert!(fuzz("cosmos_message", 2_000, &seeds, fuzzing::message) > 0);
}

#[test]
fn any_text_either_parses_as_a_query_for_events_or_fails() {
    let seeds = [
        "tm.event='Tx' AND transfer.recipient='pax1'",
        "tx.height>5 AND tx.height<=9",
        "tx.height='7' AND message.sender EXISTS",
        "transfer.amount CONTAINS 'ahpx' AND tx.height < 18446744073709551615",
    ];
    let seeds = seeds.map(|query| query.as_bytes().to_vec());
    assert!(seeds.iter().all(|seed| fuzzing::event_query(seed) == 1));
    assert!(fuzz("event_query", 2_000, &seeds, fuzzing::event_query) > 0);
}
