//! Encodings of transactions by protobuf libraries, and signatures by wallets.

use alloy_primitives::{Address, U256, hex, uint};
use prost::Message;
use serde_json::json;
use sha2::{Digest, Sha256};
use tetrad_primitives::block::cosmos::proto::{MsgSend, TxRaw};

use super::signing::{MODES, Mode, Unsigned, send};
use crate::support::{TestNode, node};

const TO: Address = Address::repeat_byte(0xaa);

async fn transfer(node: &TestNode) -> Unsigned {
    node.unsigned(0, vec![send(node.account(0), TO, 1)]).await
}

#[tokio::test]
async fn explicit_default_values_are_accepted_in_every_sign_mode() {
    let node = node().await;
    let parts: [(&str, &[u8], &[u8]); 5] = [
        ("an empty memo", &[0x12, 0x00], &[]),
        ("a timeout of zero", &[0x18, 0x00], &[]),
        ("both, in another order", &[0x18, 0x00, 0x12, 0x00], &[]),
        // Fields of the fee, which are merged with preceding ones.
        (
            "an empty payer and granter",
            &[],
            &[0x12, 0x04, 0x1a, 0x00, 0x22, 0x00],
        ),
        ("an empty fee", &[], &[0x12, 0x00]),
    ];

    for mode in MODES {
        for (what, body, auth) in parts {
            let mut unsigned = transfer(&node).await;
            unsigned.more_body = body.to_vec();
            unsigned.more_auth = auth.to_vec();
            let raw = unsigned.sign(mode);
            let answer = node.broadcast(&raw).await;
            assert_eq!(answer["code"], 0, "{mode:?}, {what}: {answer}");

            let hash = hex::encode_upper(Sha256::digest(&raw));
            let found = node
                .get_json(&format!("/cosmos/tx/v1beta1/txs/{hash}"))
                .await;
            assert_eq!(found["tx"]["body"]["memo"], "", "{what}");
        }
    }

    // A message with reordered fields, and an empty recipient before the one that counts.
    for mode in MODES {
        let mut unsigned = transfer(&node).await;
        let message = MsgSend::decode(unsigned.messages[0].value.as_slice()).unwrap();
        let amount = MsgSend {
            amount: message.amount.clone(),
            ..MsgSend::default()
        }
        .encode_to_vec();
        let rest = MsgSend {
            amount: Vec::new(),
            ..message
        }
        .encode_to_vec();
        unsigned.messages[0].value = [amount, vec![0x12, 0x00], rest].concat();

        let answer = node.broadcast(&unsigned.sign(mode)).await;
        assert_eq!(answer["code"], 0, "{mode:?}: {answer}");
    }
    node.end().await;
}

#[tokio::test]
async fn ignorable_fields_are_accepted_if_they_are_signed() {
    let node = node().await;

    // Fields 1,024 and 15 of the body and of the message.
    let ignored = [0x82, 0x40, 0x01, 0x00];
    let critical = [0x7a, 0x01, 0x00];

    for mode in MODES {
        let mut unsigned = transfer(&node).await;
        unsigned.more_body = ignored.to_vec();
        // Typed data and Amino's document cannot represent them.
        if matches!(mode, Mode::Direct | Mode::Amino) {
            let answer = node.broadcast(&unsigned.sign(mode)).await;
            let code = if mode == Mode::Direct { 0 } else { 4 };
            assert_eq!(answer["code"], code, "{mode:?}: {answer}");
        }

        let mut unsigned = transfer(&node).await;
        unsigned.messages[0].value.extend_from_slice(&ignored);
        if mode == Mode::Direct {
            assert_eq!(node.broadcast(&unsigned.sign(mode)).await["code"], 0);
        }
    }

    for (body, auth) in [(&critical[..], &[][..]), (&[], &critical), (&[], &ignored)] {
        let mut unsigned = transfer(&node).await;
        unsigned.more_body = body.to_vec();
        unsigned.more_auth = auth.to_vec();
        let answer = node.broadcast(&unsigned.sign(Mode::Direct)).await;
        assert_eq!(answer["code"], 2, "{answer}");
        assert!(
            answer["raw_log"]
                .as_str()
                .unwrap()
                .contains("unknown field"),
            "{answer}"
        );
    }
    node.end().await;
}

/// A field of bytes, with its tag and its length.
fn length_delimited(tag: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    prost::encode_length_delimiter(bytes.len(), &mut out).unwrap();
    [out, bytes.to_vec()].concat()
}

#[tokio::test]
async fn a_transaction_has_one_encoding() {
    let node = node().await;
    let raw = transfer(&node).await.sign(Mode::Direct);
    let parts = TxRaw::decode(raw.as_slice()).unwrap();

    let body = length_delimited(0x0a, &parts.body_bytes);
    let auth = length_delimited(0x12, &parts.auth_info_bytes);
    let signature = length_delimited(0x1a, &parts.signatures[0]);
    let long = [&[0x1a, 0xc0, 0x00], parts.signatures[0].as_slice()].concat();

    for (what, raw) in [
        (
            "another order",
            [auth.clone(), body.clone(), signature.clone()].concat(),
        ),
        (
            "a body twice",
            [body.clone(), body.clone(), auth.clone(), signature.clone()].concat(),
        ),
        (
            "a length that is not the shortest",
            [body.clone(), auth.clone(), long].concat(),
        ),
    ] {
        let answer = node.broadcast(&raw).await;
        assert_eq!(answer["code"], 2, "{what}: {answer}");
        assert!(
            answer["raw_log"].as_str().unwrap().contains("ADR-027"),
            "{what}: {answer}"
        );
    }

    assert_eq!(
        node.broadcast(&[body, auth, signature].concat()).await["code"],
        0
    );
    node.end().await;
}

/// At most one of the signatures that differ only in the byte after them is accepted, so that only
/// the signer can give a transaction another hash.
#[tokio::test]
async fn only_one_last_byte_of_a_signature_is_valid() {
    let node = node().await;
    for mode in MODES {
        // Refused transactions leave the sequence unchanged.
        let unsigned = transfer(&node).await;
        let mut valid = Vec::new();
        for byte in (0..=40).chain([127, 128, 255]) {
            let raw = unsigned.sign_with(mode, |signature| signature[64] = byte);
            let answer = node.check(&raw).await;
            if answer["code"] == 0 {
                valid.push(byte);
                continue;
            }

            let log = answer["log"].as_str().unwrap();
            assert!(
                answer["code"] == 4 && log.contains(&format!("last byte is {byte}")),
                "{mode:?}: {answer}"
            );
        }

        let expected = if matches!(mode, Mode::Direct | Mode::Amino) {
            [0, 1]
        } else {
            [27, 28]
        };
        assert!(
            valid.len() == 1 && expected.contains(&valid[0]),
            "{mode:?}: {valid:?}"
        );

        let raw = unsigned.sign_with(mode, |signature| signature[64] = valid[0]);
        assert_eq!(node.broadcast(&raw).await["code"], 0, "{mode:?}");
    }
    node.end().await;
}

#[tokio::test]
async fn signatures_derived_from_a_valid_one_are_refused() {
    const ORDER: U256 =
        uint!(0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141_U256);
    let node = node().await;
    for mode in MODES {
        let unsigned = transfer(&node).await;
        let high = unsigned.sign_with(mode, |signature| {
            let s = ORDER - U256::from_be_slice(&signature[32..64]);
            signature[32..64].copy_from_slice(&s.to_be_bytes::<32>());
            signature[64] = 27 + 28 - signature[64];
        });
        let answer = node.check(&high).await;
        assert!(
            answer["code"] == 4 && answer["log"].as_str().unwrap().contains("upper half"),
            "{mode:?}: {answer}"
        );

        let raw = unsigned.sign(mode);
        let mut two = TxRaw::decode(raw.as_slice()).unwrap();
        two.signatures.push(Vec::new());
        assert_eq!(
            node.check(&two.encode_to_vec()).await["code"],
            4,
            "{mode:?}"
        );
        if mode == Mode::Web3 {
            let mut other = TxRaw::decode(raw.as_slice()).unwrap();
            other.signatures = vec![vec![7; 64]];
            let answer = node.check(&other.encode_to_vec()).await;
            assert!(
                answer["log"].as_str().unwrap().contains("has to be empty"),
                "{answer}"
            );
        }
        assert_eq!(node.check(&raw).await["code"], 0, "{mode:?}");
    }
    node.end().await;
}

#[tokio::test]
async fn a_block_with_another_last_byte_of_a_signature_stays_valid() {
    let node = node().await;
    for (index, mode) in MODES.into_iter().enumerate() {
        let mut raw = transfer(&node)
            .await
            .sign_with(mode, |signature| signature[64] = 99);
        if mode == Mode::Web3 {
            let mut parts = TxRaw::decode(raw.as_slice()).unwrap();
            parts.signatures = vec![vec![7; 3]];
            raw = parts.encode_to_vec();
        }
        assert_eq!(node.check(&raw).await["code"], 4, "{mode:?}");
        node.include(&raw).await;
        // The block is executed once more.
        let traces = node
            .rpc(
                "debug_traceBlockByNumber",
                json!(["latest", { "tracer": "callTracer" }]),
            )
            .await;
        assert_eq!(traces[0]["result"]["value"], "0x1", "{mode:?}: {traces}");
        assert_eq!(node.block_number().await, index as u64 + 1);
    }
    node.end().await;
}
