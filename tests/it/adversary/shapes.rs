//! Documents of unusual shapes in place of parameters and bodies.

use tokio_tungstenite::tungstenite::Message;

use super::{
    campaign::Campaign,
    describe::{Arguments, Call, Operation},
    documents::{Generator, deep, wide},
    envelopes::identified,
    probe::Probed,
    request::{Client, Protocol, Request},
    subject::attacker_address,
};

/// Levels of documents: enough to overflow a stack, and the maximum that JSON parsers accept.
const LEVELS: [usize; 2] = [20_000, 100];
/// Members of wide documents.
const MEMBERS: usize = 30_000;
/// The share of requests to send over HTTP/2.
const HTTP_2_PERCENT: u64 = 30;

/// Deep, wide and random documents. Returns the slowest refusals.
pub(super) async fn documents(campaign: &Campaign, probed: &mut [Probed], seed: u64) {
    for (n, one) in probed.iter_mut().enumerate() {
        let mut client = Client::new(attacker_address(n));
        let mut generator =
            Generator::new(&campaign.filled.chain_values, seed.wrapping_add(n as u64));

        // The short form has time for only some of them, different ones each time.
        let mut requests = shaped(&one.operation, &one.arguments);
        while requests.len() > campaign.form.documents.max(1) {
            requests.swap_remove(generator.random.below(requests.len() as u64) as usize);
        }
        for _ in 0..campaign.form.documents {
            let arguments = random(&one.operation, &one.arguments, &mut generator);
            requests.push(one.operation.request(&arguments));
        }

        if matches!(one.operation.call, Call::JsonRpc { .. }) {
            let bodies = (0..campaign.form.documents)
                .map(|_| identified(&one.largest.body, &mut generator.random));
            requests.extend(
                bodies
                    .flatten()
                    .map(|body| one.operation.with_body(body, &one.arguments)),
            );
        }

        for mut request in requests {
            if request.protocol == Protocol::Http && generator.random.chance(HTTP_2_PERCENT) {
                request.protocol = Protocol::Http2;
            }
            let Some(outcome) = campaign
                .ask(&mut client, &one.operation.name, &request)
                .await
            else {
                continue;
            };

            if !outcome.is_success()
                && one
                    .refusal
                    .as_ref()
                    .is_none_or(|(took, _)| outcome.took > *took)
            {
                one.refusal = Some((outcome.took, request));
            }
        }
    }
}

/// The deep, wide and random documents as WebSocket messages: alone, as parameters of a
/// subscription, and as requests of every method.
pub(super) fn messages(
    campaign: &Campaign,
    probed: &[Probed],
    generator: &mut Generator<'_>,
) -> Vec<Message> {
    let mut texts = Vec::new();
    for text in LEVELS.into_iter().flat_map(deep).chain(wide(MEMBERS)) {
        for method in ["eth_subscribe", "subscribe"] {
            texts.push(format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{text}}}"#
            ));
        }
        texts.push(text);
    }
    for one in probed
        .iter()
        .filter(|one| matches!(one.operation.call, Call::JsonRpc { .. }))
    {
        for _ in 0..campaign.form.documents {
            let request = one
                .operation
                .request(&random(&one.operation, &one.arguments, generator));
            texts.push(String::from_utf8_lossy(&request.body).into_owned());
            texts.push(generator.anything(0).to_string());
        }
    }
    let binary = [vec![0xff; 1_000], vec![0; 100_000], Vec::new()];
    texts
        .into_iter()
        .map(Message::text)
        .chain(binary.map(Message::binary))
        .collect()
}

/// Arguments, some of them random.
fn random(
    operation: &Operation,
    arguments: &Arguments,
    generator: &mut Generator<'_>,
) -> Arguments {
    let each = operation
        .parameters
        .iter()
        .zip(arguments)
        .map(|(parameter, best)| match generator.random.below(4) {
            0 => best.clone(),
            1 => Some(generator.anything(0)),
            2 => best.as_ref().map(|best| generator.mutated(best)),
            _ => Some(generator.value(&parameter.schema, 0)),
        });
    each.collect()
}

/// The deep and wide documents in place of each parameter, and of the whole body.
fn shaped(operation: &Operation, arguments: &Arguments) -> Vec<Request> {
    let mut requests = Vec::new();
    match operation.call {
        Call::Grpc { .. } => {
            for levels in LEVELS {
                requests.push(operation.with_body(nested_fields(levels), arguments));
            }
        }

        _ if operation.has_body() => {
            let texts = LEVELS.into_iter().flat_map(deep).chain(wide(MEMBERS));
            for text in texts {
                let whole = operation.request(arguments);
                let written = String::from_utf8_lossy(&whole.body).into_owned();
                // In place of the parameters, where a request has some.
                let inside = written
                    .find("\"params\":")
                    .map(|at| format!("{}\"params\":[{text}]}}", &written[..at]));
                requests
                    .push(operation.with_body(inside.unwrap_or_else(|| text.clone()), arguments));
                if operation.name.contains("GraphQL") {
                    requests.push(
                        operation
                            .with_body(serde_json::json!({ "query": text }).to_string(), arguments),
                    );
                }
            }
        }

        _ => {
            // No request line is as long as a body.
            for text in deep(4_000).into_iter().chain(deep(100)) {
                for at in 0..operation.parameters.len() {
                    let mut arguments = arguments.clone();
                    arguments[at] = Some(text.clone().into());
                    requests.push(operation.request(&arguments));
                }
            }
        }
    }
    requests
}

/// A protobuf message nested in the first field of another, this many levels deep.
fn nested_fields(levels: usize) -> Vec<u8> {
    let mut message = Vec::new();
    for _ in 0..levels {
        let mut outer = vec![0x0a];
        let mut length = message.len();
        while length >= 0x80 {
            outer.push(length as u8 | 0x80);
            length >>= 7;
        }
        outer.push(length as u8);
        // Written from the inside outwards, backwards.
        message.extend(outer.into_iter().rev());
    }
    message.reverse();
    message
}
