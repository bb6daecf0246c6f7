//! Positional parameters: a method is a function over a tuple, and each element knows how to read
//! itself.

mod block;

use std::borrow::Cow;

use alloy_primitives::{Address, B256, Bytes, U256};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tetrad_chain::Chain;
use tetrad_stdx::digits;

pub(super) use self::block::{NonceBlock, StateBlock};
use super::{
    error::{Dialect, RpcError},
    hex,
};

/// The rules by which the parameters of a request are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ParamRules {
    /// The clients that send them.
    pub dialect: Dialect,
    /// Whether a JSON integer counts as a quantity or as the number of a block.
    pub integers: bool,
}

impl ParamRules {
    /// The rules of a method that takes JSON integers in every dialect, or only in Ethereum's.
    pub(super) fn new(dialect: Dialect, takes_integers: bool) -> Self {
        Self {
            dialect,
            integers: takes_integers || dialect == Dialect::Ethereum,
        }
    }

    /// The digits of a JSON integer, if it counts.
    pub(super) fn integer(self, json: &str) -> Option<&str> {
        Some(json).filter(|json| self.integers && json.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

/// The type of one parameter.
pub(super) trait Param: Sized {
    /// The default for a parameter that is left out or null; none if that is an error.
    const DEFAULT: Option<fn() -> Self> = None;

    /// The part of the chain's past that the parameter may refer to.
    const REFERS_TO: Option<Reference> = None;

    /// Whether the parameter may be left out in this dialect.
    fn optional(_: Dialect) -> bool {
        Self::DEFAULT.is_some()
    }

    /// Reads the parameter, or returns what was expected.
    fn read(json: &str, rules: ParamRules) -> Result<Self, String>;

    /// The JSON schema of the parameter.
    fn schema() -> Value {
        json!({})
    }

    /// Whether the parameter refers to something that first has to be read from disk or built.
    fn is_far(&self, _: &Chain, _: Reach) -> bool {
        false
    }
}

/// The part of a named block that a method reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The block itself.
    Block,
    /// The state after it.
    State,
}

/// A reference to the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// A block.
    Block,
    /// A range of blocks, as `fromBlock` and `toBlock`.
    Range,
    /// A hash of a block, of a transaction, or of anything else.
    Hash,
}

/// The parameters of a method.
pub(super) trait Params: Sized {
    /// The names of the parameters: an array with one for each.
    type Names: Into<Vec<&'static str>>;

    /// Reads the parameters; an error names the position.
    fn read(json: Option<&RawValue>, rules: ParamRules) -> Result<Self, RpcError>;

    /// Whether one of them is [far](Param::is_far).
    fn is_far(&self, _: &Chain, _: Reach) -> bool {
        false
    }

    /// The schemas of the parameters, and which of them may be left out.
    fn shapes(dialect: Dialect) -> Vec<ParamShape>;

    /// The reference that each parameter is.
    fn references() -> Vec<Option<Reference>>;

    /// The reader of each parameter.
    fn readers() -> Vec<ParamReader>;
}

/// A reader of parameters of one type.
#[derive(Clone, Copy)]
pub(super) struct ParamReader {
    /// The type's name.
    pub name: &'static str,
    /// Whether JSON is a valid parameter of the type.
    pub reads: fn(&str) -> bool,
}

impl ParamReader {
    fn of<P: Param>() -> Self {
        Self {
            name: std::any::type_name::<P>(),
            reads: |json| P::read(json, ParamRules::new(Dialect::Network, false)).is_ok(),
        }
    }

    /// A reader of parameters that are read together.
    pub(super) fn of_all<P: Params>() -> Self {
        fn reads<P: Params>(json: &str) -> bool {
            let rules = ParamRules::new(Dialect::Network, false);
            serde_json::from_str(json).is_ok_and(|json| P::read(Some(json), rules).is_ok())
        }

        Self {
            name: std::any::type_name::<P>(),
            reads: reads::<P>,
        }
    }
}

/// One parameter in a method's description.
#[derive(Clone, Debug)]
pub(super) struct ParamShape {
    /// Its JSON schema.
    pub schema: Value,
    /// Whether it is required.
    pub required: bool,
}

impl ParamShape {
    fn of<P: Param>(dialect: Dialect) -> Self {
        Self {
            schema: P::schema(),
            required: !P::optional(dialect),
        }
    }
}

/// The elements of a JSON array, unread.
struct Elements<'a>(Vec<&'a str>);

impl<'a> Elements<'a> {
    /// Splits the array at its commas. The text is known to be JSON, so only strings and brackets
    /// have to be skipped.
    fn of(json: Option<&'a RawValue>) -> Result<Self, RpcError> {
        let Some(text) = json.map(RawValue::get) else {
            return Ok(Self(Vec::new()));
        };
        let inner = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .ok_or_else(|| RpcError::invalid_params("params: expected an array"))?;

        // Elements remain text: only the method knows their types.
        let mut elements = Vec::new();
        let mut start = 0;
        let mut depth = 0;
        let mut in_string = false;
        let mut escaped = false;
        for (at, byte) in inner.bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth -= 1,
                b',' if depth == 0 => {
                    elements.push(inner[start..at].trim_ascii());
                    start = at + 1;
                }
                _ => {}
            }
        }

        let last = inner[start..].trim_ascii();
        if !last.is_empty() {
            elements.push(last);
        }
        Ok(Self(elements))
    }

    fn at_most(&self, count: usize) -> Result<(), RpcError> {
        let given = self.0.len();
        if given > count {
            return Err(RpcError::invalid_params(format!(
                "too many params: expected at most {count}, got {given}"
            )));
        }
        Ok(())
    }

    fn read<P: Param>(&self, at: usize, rules: ParamRules) -> Result<P, RpcError> {
        let named = |what: String| RpcError::invalid_params(format!("params[{at}]: {what}"));
        match (self.0.get(at), P::DEFAULT) {
            (None | Some(&"null"), Some(default)) if P::optional(rules.dialect) => Ok(default()),
            (None, _) => Err(named("missing".to_owned())),
            (Some(text), _) => P::read(text, rules).map_err(named),
        }
    }
}

impl Params for () {
    type Names = [&'static str; 0];

    fn read(json: Option<&RawValue>, _: ParamRules) -> Result<Self, RpcError> {
        Elements::of(json)?.at_most(0)
    }

    fn shapes(_: Dialect) -> Vec<ParamShape> {
        Vec::new()
    }

    fn references() -> Vec<Option<Reference>> {
        Vec::new()
    }

    fn readers() -> Vec<ParamReader> {
        Vec::new()
    }
}

macro_rules! tuple_params {
    ($($name:ident $at:tt),+ ; $count:literal) => {
        impl<$($name: Param),+> Params for ($($name,)+) {
            type Names = [&'static str; $count];

            fn read(json: Option<&RawValue>, rules: ParamRules) -> Result<Self, RpcError> {
                let elements = Elements::of(json)?;
                elements.at_most($count)?;
                Ok(($(elements.read::<$name>($at, rules)?,)+))
            }

            fn is_far(&self, chain: &Chain, reach: Reach) -> bool {
                $(self.$at.is_far(chain, reach))||+
            }

            fn shapes(dialect: Dialect) -> Vec<ParamShape> {
                vec![$(ParamShape::of::<$name>(dialect)),+]
            }

            fn references() -> Vec<Option<Reference>> {
                vec![$($name::REFERS_TO),+]
            }

            fn readers() -> Vec<ParamReader> {
                vec![$(ParamReader::of::<$name>()),+]
            }
        }
    };
}

tuple_params!(A 0; 1);
tuple_params!(A 0, B 1; 2);
tuple_params!(A 0, B 1, C 2; 3);
tuple_params!(A 0, B 1, C 2, D 3; 4);
tuple_params!(A 0, B 1, C 2, D 3, E 4; 5);
tuple_params!(A 0, B 1, C 2, D 3, E 4, F 5; 6);

/// The text of a JSON string. It is copied only if it has escapes.
pub(super) fn string(json: &str) -> Result<Cow<'_, str>, String> {
    let quoted = json
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match quoted {
        Some(plain) if !plain.contains('\\') => Ok(plain.into()),
        Some(_) => shape::<String>(json).map(Cow::from),
        None => Err(format!("expected a string, got {}", kind(json))),
    }
}

/// The kind of a JSON value, for messages.
pub(super) fn kind(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// Reads JSON of a known shape; the message is serde's, without the position in the line.
pub(super) fn shape<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| {
        let message = error.to_string();
        message
            .split(" at line ")
            .next()
            .unwrap_or_default()
            .to_owned()
    })
}

/// Reads an object whose members stay unread, as [`RawValue`]s; null counts as one without members.
pub(super) fn fields<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, String> {
    if json == "null" {
        return shape("{}");
    }
    if !json.starts_with('{') {
        return Err(format!("expected an object, got {}", kind(json)));
    }
    shape(json)
}

impl<P: Param> Param for Option<P> {
    const DEFAULT: Option<fn() -> Self> = Some(|| None);
    const REFERS_TO: Option<Reference> = P::REFERS_TO;

    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        if json == "null" {
            Ok(None)
        } else {
            P::read(json, rules).map(Some)
        }
    }

    fn schema() -> Value {
        P::schema()
    }

    fn is_far(&self, chain: &Chain, reach: Reach) -> bool {
        self.as_ref()
            .is_some_and(|param| param.is_far(chain, reach))
    }
}

impl Param for Address {
    fn read(json: &str, _: ParamRules) -> Result<Self, String> {
        hex::fixed_data(&string(json)?, "a 20-byte address").map(Self::new)
    }

    fn schema() -> Value {
        json!({"type": "string", "pattern": "^0x[0-9a-fA-F]{40}$"})
    }
}

impl Param for B256 {
    const REFERS_TO: Option<Reference> = Some(Reference::Hash);

    fn read(json: &str, _: ParamRules) -> Result<Self, String> {
        hex::fixed_data(&string(json)?, "a 32-byte hash").map(Self::new)
    }

    fn schema() -> Value {
        json!({"type": "string", "pattern": "^0x[0-9a-fA-F]{64}$"})
    }
}

impl Param for Bytes {
    fn read(json: &str, _: ParamRules) -> Result<Self, String> {
        hex::data(&string(json)?).map(Self::from)
    }

    fn schema() -> Value {
        json!({"type": "string", "pattern": "^0x([0-9a-fA-F]{2})*$"})
    }
}

impl Param for U256 {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        match rules.integer(json) {
            Some(digits) => digits
                .parse()
                .map_err(|_| "expected a number of at most 256 bits".to_owned()),
            None => hex::quantity(&string(json)?),
        }
    }

    fn schema() -> Value {
        json!({"type": "string", "pattern": "^0x(0|[1-9a-fA-F][0-9a-fA-F]{0,63})$"})
    }
}

impl Param for u64 {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        match rules.integer(json) {
            Some(digits) => digits
                .parse()
                .map_err(|_| "expected a number of at most 64 bits".to_owned()),
            None => hex::quantity_u64(&string(json)?),
        }
    }

    fn schema() -> Value {
        json!({"type": "string", "pattern": "^0x(0|[1-9a-fA-F][0-9a-fA-F]{0,15})$"})
    }
}

impl Param for bool {
    const DEFAULT: Option<fn() -> Self> = Some(|| false);

    fn read(json: &str, _: ParamRules) -> Result<Self, String> {
        match json {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(format!("expected a boolean, got {}", kind(other))),
        }
    }

    fn schema() -> Value {
        json!({"type": "boolean"})
    }
}

impl Param for String {
    fn read(json: &str, _: ParamRules) -> Result<Self, String> {
        string(json).map(Cow::into_owned)
    }

    fn schema() -> Value {
        json!({"type": "string"})
    }
}

impl<P: Param> Param for Vec<P> {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let items: Vec<&RawValue> = serde_json::from_str(json)
            .map_err(|_| format!("expected an array, got {}", kind(json)))?;
        items
            .iter()
            .enumerate()
            .map(|(at, item)| P::read(item.get(), rules).map_err(|what| format!("[{at}]: {what}")))
            .collect()
    }

    fn schema() -> Value {
        json!({"type": "array", "items": P::schema()})
    }
}

/// A number that clients write as a QUANTITY or as a plain JSON number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LooseNumber(pub u64);

impl Param for LooseNumber {
    fn read(json: &str, _: ParamRules) -> Result<Self, String> {
        let parsed = if json.starts_with('"') {
            let text = string(json)?;
            if text.starts_with("0x") {
                hex::quantity_u64(&text)
            } else {
                text.parse().map_err(|_| "expected a number".to_owned())
            }
        } else {
            json.parse()
                .map_err(|_| format!("expected a whole number, got {}", kind(json)))
        };
        parsed.map(Self)
    }

    fn schema() -> Value {
        json!({"oneOf": [
            u64::schema(),
            {"type": "integer", "minimum": 0},
            {"type": "string", "pattern": "^[0-9]+$"},
        ]})
    }
}

/// The index of a storage slot: DATA of up to 32 bytes or a QUANTITY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotIndex(pub U256);

impl Param for SlotIndex {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        if rules.integer(json).is_some() {
            return U256::read(json, rules).map(Self);
        }

        let text = string(json)?;
        let text = text
            .strip_prefix("0x")
            .ok_or("expected a storage slot with 0x prefix")?;
        if text.is_empty() || text.len() > 64 {
            return Err(format!(
                "expected a storage slot of at most 32 bytes, got {} hex digits",
                text.len()
            ));
        }

        digits::hex(text)
            .map(Self)
            .ok_or_else(|| "expected a storage slot in hex digits".to_owned())
    }

    fn schema() -> Value {
        json!({"type": "string", "pattern": "^0x[0-9a-fA-F]{1,64}$"})
    }
}
