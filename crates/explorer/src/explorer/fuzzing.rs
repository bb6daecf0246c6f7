//! Entry points for fuzzers: the readers of uploads, and of data by ABIs that were uploaded. Each
//! returns how much of its input was accepted.

use std::iter;

use alloy_json_abi::JsonAbi;
use alloy_primitives::{B256, LogData, Selector};
use axum::http::{HeaderMap, HeaderValue, header};
use futures_util::FutureExt;
use serde::Serialize;
use tetrad_contracts::sources::{ContractName, MAX_INPUT, StandardInput};
use tetrad_web::Held;

use super::{
    decode,
    etherscan::standard_input,
    sourcify::VerifyRequest,
    uploads::{Form, multipart},
};

/// The bytes of JSON that a byte of data may become: a digit of a number, its quotes, and the
/// growth of shared data.
const MAX_GROWTH: usize = 16;

/// Reads a body with sources: a form in either encoding, or JSON, as its first byte says.
pub fn upload(bytes: &[u8]) -> usize {
    let Some((kind, body)) = bytes.split_first() else {
        return 0;
    };
    match kind % 3 {
        0 => form(
            form_urlencoded::parse(body).into_owned().collect(),
            body.len(),
        ),
        1 => {
            let media = HeaderValue::from_static("multipart/form-data; boundary=X");
            let read = multipart(
                HeaderMap::from_iter([(header::CONTENT_TYPE, media)]),
                body.to_vec().into(),
            )
            .now_or_never();
            let members = read.expect("a body that is there is read at once");
            members.map_or(0, |members| form(members, body.len()))
        }
        _ => sourcify(body),
    }
}

/// The first byte of an [upload](upload) as a form, as a form in parts, and as JSON.
pub const UPLOADS: [u8; 3] = [0, 1, 2];

fn form(members: Vec<(String, String)>, sent: usize) -> usize {
    let length: usize = members
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum();
    // Bytes that are not text become a character of three.
    assert!(length <= 3 * sent, "{sent} bytes became {length}");
    let count = members.len();
    let form = Form::new(members, Held::default());

    if let Some(name) = form
        .get("contract_name")
        .or_else(|| form.get("contractname"))
    {
        ContractName::parse(name);
    }
    if let Some(input) = form.get("files[0]") {
        self::input(input);
    }
    if let Some(source) = form.get("sourceCode")
        && let Ok(text) = standard_input(&form, source)
    {
        let is_made = text != source;
        let accepted = self::input(&text);
        assert!(
            !is_made || accepted || text.len() > MAX_INPUT,
            "a single file became an invalid input: {text}"
        );
    }

    count
}

fn sourcify(body: &[u8]) -> usize {
    let Ok(request) = serde_json::from_slice::<VerifyRequest>(body) else {
        return 0;
    };
    ContractName::parse(&request.contract_identifier);
    usize::from(input(request.std_json_input.get()))
}

/// Reads the compiler's input, and reads it again as the interfaces show it.
fn input(text: &str) -> bool {
    let Ok(input) = StandardInput::parse(text) else {
        return false;
    };

    let shown = input.to_json().to_string();
    match StandardInput::parse(&shown) {
        Ok(again) => assert_eq!(again, input),
        // Escapes take more space than what was sent.
        Err(error) => assert!(shown.len() > text.len(), "{error}: {shown}"),
    }
    true
}

/// Decodes data by an ABI, which ends at the first zero, with all of its functions, errors and
/// events.
pub fn abi(bytes: &[u8]) -> usize {
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    let data = bytes.get(end + 1..).unwrap_or_default();
    let Ok(abi) = serde_json::from_slice::<JsonAbi>(&bytes[..end]) else {
        return 0;
    };

    let selected = |selector: Selector| [selector.as_slice(), data].concat();
    let calls = abi
        .functions()
        .filter_map(|function| decode::call(function, &selected(function.selector())));
    let errors = abi
        .errors()
        .filter_map(|error| decode::error(Some(error), &selected(error.selector())));
    let logs = abi.events().filter_map(|event| {
        let indexed = event.inputs.iter().filter(|input| input.indexed).count();
        let topics = iter::once(event.selector())
            .chain(iter::repeat_n(B256::ZERO, indexed))
            .collect();
        decode::log(event, &LogData::new_unchecked(topics, data.to_vec().into()))
    });

    let mut lengths: Vec<usize> = calls
        .chain(errors)
        .chain(logs)
        .map(|body| json_length(&body))
        .collect();
    let arguments = abi
        .constructor
        .as_ref()
        .and_then(|constructor| decode::arguments(constructor, data));
    lengths.extend(arguments.as_ref().map(json_length));

    let limit = MAX_GROWTH * bytes.len() + (16 << 10);
    let longest = lengths.iter().max();
    assert!(
        longest.is_none_or(|longest| *longest <= limit),
        "{} bytes became {longest:?}",
        bytes.len()
    );
    lengths.len()
}

fn json_length(body: &impl Serialize) -> usize {
    serde_json::to_vec(body).expect("a body has JSON").len()
}
