//! Requests and responses (JSON-RPC 2.0; see the book, "JSON-RPC"), read and written without
//! building a JSON tree.
//!
//! Every `-32600` is answered with id null, since an invalid request has no reliable id.

use std::{borrow::Cow, fmt};

use alloy_primitives::hex;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    error::{Dialect, RpcError},
    json::JsonWriter,
};

/// A request with a valid envelope.
#[derive(Debug)]
pub(super) struct Request<'a> {
    /// The method's name.
    pub(super) method: Cow<'a, str>,
    /// The parameters, unread.
    pub(super) params: Option<&'a RawValue>,
    /// The identifier, as it was written; none of a notification, which is executed and not
    /// answered.
    pub(super) id: Option<&'a str>,
}

impl<'a> Request<'a> {
    /// The identifier in a response, which is null if an error of a notification is reported.
    pub(super) fn response_id(&self) -> &'a str {
        self.id.unwrap_or(NO_ID)
    }
}

/// The identifier of a response to a request without a valid one.
pub(super) const NO_ID: &str = "null";

/// The content of a body.
#[derive(Debug)]
pub(super) enum Body<'a> {
    /// One request, or the reason why it is invalid.
    Single(Result<Request<'a>, RpcError>),
    /// Requests that are answered together.
    Batch(Batch<'a>),
}

/// The elements of a batch.
#[derive(Debug)]
pub(super) enum Batch<'a> {
    Items(Vec<Item<'a>>),
    /// More elements than allowed; none of them is kept.
    TooLong,
}

/// One element of a batch: any JSON value, a request if it is valid.
#[derive(Debug)]
pub(super) enum Item<'a> {
    /// An object with the members of a request, unread.
    Object(Members<'a>),
    /// Another kind of value, by name.
    Other(&'static str),
}

/// The members of a request, unread. A member that is null counts as present.
#[derive(Debug, Default)]
pub(super) struct Members<'a> {
    jsonrpc: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    /// A member that occurs twice.
    repeated: Option<&'static str>,
}

/// Reads a body, once from front to back. A batch may have at most `max_batch` elements.
pub(super) fn read_body(
    body: &[u8],
    max_batch: usize,
    dialect: Dialect,
) -> Result<Body<'_>, RpcError> {
    let syntax = |error: &dyn fmt::Display| RpcError::parse(error.to_string());
    let text = std::str::from_utf8(body).map_err(|error| syntax(&error))?;

    if text.trim_ascii_start().starts_with('[') {
        let mut reader = serde_json::Deserializer::from_str(text);
        let batch = BatchReader { max: max_batch }.deserialize(&mut reader);
        return batch
            .and_then(|batch| reader.end().map(|()| Body::Batch(batch)))
            .map_err(|error| syntax(&error));
    }

    let item: Item<'_> = serde_json::from_str(text).map_err(|error| syntax(&error))?;
    Ok(Body::Single(item.request(dialect)))
}

impl<'a> Item<'a> {
    /// The request, if every member is present and of the right type.
    ///
    /// The network's specification requires an identifier that is an integer or a string. By
    /// JSON-RPC 2.0 it is any number, a string or null, and a request without one is a
    /// notification. Null parameters count as absent, as in geth.
    pub(super) fn request(self, dialect: Dialect) -> Result<Request<'a>, RpcError> {
        let members = match self {
            Self::Object(members) => members,
            Self::Other(kind) => {
                return Err(invalid(format!("expected a request object, got {kind}")));
            }
        };
        // Which of the two counts would depend on the parser.
        if let Some(name) = members.repeated {
            return Err(invalid(format!("{name}: given twice")));
        }
        if members.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
            return Err(invalid("jsonrpc: expected \"2.0\""));
        }

        let method = members.method.ok_or_else(|| invalid("method: missing"))?;
        let method = method_name(method.get())?;
        let id = members.id.map(RawValue::get);
        check_id(id, dialect)?;

        let params = match dialect {
            Dialect::Network => members.params,
            Dialect::Ethereum => members.params.filter(|params| params.get() != "null"),
        };
        // JSON-RPC allows named parameters; few methods here take them.
        if params.is_some_and(|params| !params.get().starts_with(['[', '{'])) {
            return Err(invalid("params: expected an array"));
        }
        Ok(Request { method, params, id })
    }
}

fn invalid(what: impl Into<String>) -> RpcError {
    RpcError::invalid_request(what)
}

/// The text of the member `method`. It is copied only if it has escapes.
fn method_name(json: &str) -> Result<Cow<'_, str>, RpcError> {
    let quoted = json
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match quoted {
        Some(plain) if !plain.contains('\\') => Ok(plain.into()),
        Some(_) => serde_json::from_str::<String>(json)
            .map(Cow::from)
            .map_err(|_| invalid("method: expected a string")),
        None => Err(invalid("method: expected a string")),
    }
}

/// Refuses identifiers of a wrong type, see [`Item::request`].
fn check_id(id: Option<&str>, dialect: Dialect) -> Result<(), RpcError> {
    match (id, dialect) {
        (None, Dialect::Network) => Err(invalid("id: missing")),
        (Some(id), Dialect::Network) if !is_integer(id) && !id.starts_with('"') => {
            Err(invalid("id: expected an integer or a string"))
        }
        (Some(id), Dialect::Ethereum) if id.starts_with(['{', '[', 't', 'f']) => {
            Err(invalid("id: expected a number, a string or null"))
        }
        _ => Ok(()),
    }
}

/// Whether a JSON number is written as an integer.
fn is_integer(json: &str) -> bool {
    let digits = json.strip_prefix('-').unwrap_or(json);
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads a list of any length, keeping a limited number of elements.
struct BatchReader {
    max: usize,
}

impl<'de> DeserializeSeed<'de> for BatchReader {
    type Value = Batch<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Batch<'de>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for BatchReader {
    type Value = Batch<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Batch<'de>, A::Error> {
        let mut items = Vec::new();
        while items.len() < self.max {
            match seq.next_element()? {
                Some(item) => items.push(item),
                None => return Ok(Batch::Items(items)),
            }
        }

        // The rest is read as well, since a batch that is not JSON is a parse error.
        let mut is_longer = false;
        while seq.next_element::<IgnoredAny>()?.is_some() {
            is_longer = true;
        }
        if is_longer {
            Ok(Batch::TooLong)
        } else {
            Ok(Batch::Items(items))
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Item<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ItemVisitor)
    }
}

/// The name of a member.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Name {
    Jsonrpc,
    Method,
    Params,
    Id,
    #[serde(other)]
    Other,
}

/// Accepts any value; of values other than objects it only records the kind.
struct ItemVisitor;

impl<'de> Visitor<'de> for ItemVisitor {
    type Value = Item<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Item<'de>, A::Error> {
        let mut members = Members::default();
        while let Some(name) = map.next_key()? {
            let (slot, name) = match name {
                Name::Jsonrpc => (&mut members.jsonrpc, "jsonrpc"),
                Name::Method => (&mut members.method, "method"),
                Name::Params => (&mut members.params, "params"),
                Name::Id => (&mut members.id, "id"),
                Name::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if slot.replace(map.next_value()?).is_some() {
                members.repeated = Some(name);
            }
        }
        Ok(Item::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Item<'de>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Item::Other("an array"))
    }

    fn visit_unit<E>(self) -> Result<Item<'de>, E> {
        Ok(Item::Other("null"))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Item<'de>, E> {
        Ok(Item::Other("a boolean"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Item<'de>, E> {
        Ok(Item::Other("a number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Item<'de>, E> {
        Ok(Item::Other("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Item<'de>, E> {
        Ok(Item::Other("a number"))
    }

    fn visit_str<E>(self, _: &str) -> Result<Item<'de>, E> {
        Ok(Item::Other("a string"))
    }
}

/// Begins a response; the result follows, then [`end`].
pub(super) fn begin(id: &str, out: &mut JsonWriter) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(br#","result":"#);
}

/// Ends a response.
pub(super) fn end(out: &mut JsonWriter) {
    out.push(b'}');
}

/// A whole error response.
pub(super) fn error(id: &str, error: &RpcError, dialect: Dialect) -> String {
    let mut out = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{},"message":"#,
        error.code
    );

    let message = json_string(&error.message);
    // The network's specification fixes these messages, so the details go into `data`.
    match (error.standard_text(), dialect) {
        (Some(standard), Dialect::Network) => {
            out.push_str(&format!("{},\"data\":{message}", json_string(standard)));
        }
        _ => out.push_str(&message),
    }

    let data = error
        .data
        .as_ref()
        .map(|data| format!("\"{}\"", hex::encode_prefixed(data)));
    match (error.transaction, data) {
        // The shape of hardhat's.
        (Some(hash), data) => {
            let data = data.unwrap_or_else(|| "\"0x\"".to_owned());
            out.push_str(&format!(
                ",\"data\":{{\"message\":{message},\"txHash\":\"{hash}\",\"data\":{data}}}"
            ));
        }
        (None, Some(data)) => out.push_str(&format!(",\"data\":{data}")),
        (None, None) => {}
    }

    out + "}}"
}

fn json_string(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::error::{INVALID_REQUEST, PARSE_ERROR};

    fn single(text: &str) -> Result<Request<'_>, RpcError> {
        match read_body(text.as_bytes(), 10, Dialect::Network)? {
            Body::Single(request) => request,
            Body::Batch(_) => panic!("{text} is a batch"),
        }
    }

    fn code(text: &str) -> i32 {
        match read_body(text.as_bytes(), 10, Dialect::Network) {
            Ok(Body::Single(Err(error))) | Err(error) => error.code,
            Ok(_) => 0,
        }
    }

    #[test]
    fn tells_what_is_no_json_from_what_is_no_request() {
        for text in [
            "",
            "{",
            "nope",
            "{\"id\":1,}",
            "[1,",
            "{\"id\":1,\"id\":2,,}",
            "{}x",
            "\"\u{1}\"",
        ] {
            assert_eq!(code(text), PARSE_ERROR, "{text}");
        }

        for text in [
            "1",
            "null",
            "\"x\"",
            "{}",
            r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"a"}"#,
        ] {
            assert_eq!(code(text), INVALID_REQUEST, "{text}");
        }

        let not_utf8 = read_body(b"{\"a\":\"\xff\"}", 10, Dialect::Network);
        assert_eq!(not_utf8.unwrap_err().code, PARSE_ERROR);
    }

    #[test]
    fn takes_integers_and_strings_as_identifiers_and_nothing_else() {
        let request = |id: &str| format!(r#"{{"jsonrpc":"2.0","method":"m","id":{id}}}"#);
        for id in [
            "1",
            "-7",
            "0",
            "123456789012345678901234567890",
            "\"a\"",
            "\"\"",
        ] {
            let text = request(id);
            assert_eq!(single(&text).unwrap().id, Some(id));
        }
        for id in ["null", "1.5", "1e3", "{}", "[]", "true"] {
            assert_eq!(code(&request(id)), INVALID_REQUEST, "{id}");
        }
    }

    /// The identifier of a request with these members, and whether it has parameters.
    fn id_and_params(members: &str) -> Result<(Option<String>, bool), RpcError> {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"m"{members}}}"#);
        let Ok(Body::Single(request)) = read_body(text.as_bytes(), 10, Dialect::Ethereum) else {
            panic!("{members}");
        };
        request.map(|request| (request.id.map(str::to_owned), request.params.is_some()))
    }

    #[test]
    fn identifiers_and_parameters_follow_json_rpc_in_ethereums_dialect() {
        assert_eq!(id_and_params("").unwrap(), (None, false));
        assert_eq!(id_and_params(r#","params":null"#).unwrap(), (None, false));
        assert_eq!(id_and_params(r#","params":[]"#).unwrap(), (None, true));
        for id in ["null", "1", "-7", "1.5", "1e3", "\"a\""] {
            assert_eq!(
                id_and_params(&format!(r#","id":{id}"#)).unwrap(),
                (Some(id.to_owned()), false)
            );
        }
        for wrong in [
            r#","id":{}"#,
            r#","id":[]"#,
            r#","id":true"#,
            r#","id":false"#,
            r#","params":1"#,
        ] {
            assert_eq!(
                id_and_params(wrong).unwrap_err().code,
                INVALID_REQUEST,
                "{wrong}"
            );
        }
    }

    #[test]
    fn wants_version_method_and_params_of_the_right_type() {
        let members = [r#""jsonrpc":"2.0""#, r#""id":1"#, r#""method":"m""#];
        for (at, replacement) in [
            (0, r#""jsonrpc":"1.0""#),
            (0, r#""x":1"#),
            (0, r#""jsonrpc":2.0"#),
            (2, r#""method":7"#),
            (2, r#""x":1"#),
        ] {
            let mut wrong = members;
            wrong[at] = replacement;
            let text = format!("{{{}}}", wrong.join(","));
            assert_eq!(code(&text), INVALID_REQUEST, "{wrong:?}");
        }

        let members = members.join(",");
        for (params, expected) in [
            ("[]", 0),
            ("{}", 0),
            ("1", INVALID_REQUEST),
            ("\"x\"", INVALID_REQUEST),
            ("null", INVALID_REQUEST),
        ] {
            let text = format!("{{{members},\"params\":{params}}}");
            assert_eq!(code(&text), expected, "{params}");
        }

        let extra = format!("{{{members},\"extra\":[1,{{}}]}}");
        assert_eq!(single(&extra).unwrap().method, "m");

        let escaped = r#"{"jsonrpc":"2.0","id":1,"method":"a\u0062"}"#;
        assert_eq!(single(escaped).unwrap().method, "ab");
    }

    #[test]
    fn nesting_exhausts_nothing() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":[{}{}]}}"#,
            "[".repeat(200_000),
            "]".repeat(200_000)
        );
        assert!(single(&deep).is_ok());
    }

    #[test]
    fn errors_follow_the_dialect() {
        let rendered = |error: &RpcError, dialect| super::error("1", error, dialect);
        let invalid = RpcError::invalid_params("params[0]: missing");
        assert_eq!(
            rendered(&invalid, Dialect::Network),
            concat!(
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"#,
                r#""message":"Invalid params","data":"params[0]: missing"}}"#,
            )
        );
        assert_eq!(
            rendered(&invalid, Dialect::Ethereum),
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params[0]: missing"}}"#
        );

        let reverted = RpcError::reverted(Default::default());
        assert_eq!(
            rendered(&reverted, Dialect::Network),
            concat!(
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":3,"#,
                r#""message":"execution reverted","data":"0x"}}"#,
            )
        );
    }
}
