//! Positional parameters: a method is a function over a tuple, and each element knows how to read itself.

use alloy_primitives::{Address, B256, Bytes, U256};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{
    error::{Dialect, RpcError},
    hex,
};
use crate::chain::BlockId;

/// Something that stands for one parameter.
pub trait Param: Sized {
    /// What is used where the parameter is left out or null; none if that is an error.
    const DEFAULT: Option<fn() -> Self> = None;

    /// Whether the parameter may be left out in this dialect.
    fn optional(_: Dialect) -> bool {
        Self::DEFAULT.is_some()
    }

    /// Reads the parameter, or says what was expected.
    fn read(json: &str) -> Result<Self, String>;
}

/// The parameters of a method.
pub trait Params: Sized {
    /// Reads them; an error names the position.
    fn read(json: Option<&RawValue>, dialect: Dialect) -> Result<Self, RpcError>;
}

/// The elements of a JSON array, unread.
fn elements(json: Option<&RawValue>) -> Result<Vec<&RawValue>, RpcError> {
    match json.map(RawValue::get) {
        None => Ok(Vec::new()),
        // Most calls without parameters write it like this.
        Some("[]") => Ok(Vec::new()),
        Some(text) => serde_json::from_str(text).map_err(|_| RpcError::invalid_params("params: expected an array")),
    }
}

fn element<P: Param>(elements: &[&RawValue], at: usize, dialect: Dialect) -> Result<P, RpcError> {
    let named = |what: String| RpcError::invalid_params(format!("params[{at}]: {what}"));
    match (elements.get(at).map(|raw| raw.get()), P::DEFAULT) {
        (None | Some("null"), Some(default)) if P::optional(dialect) => Ok(default()),
        (None, _) => Err(named("missing".to_owned())),
        (Some(text), _) => P::read(text).map_err(named),
    }
}

fn at_most(elements: &[&RawValue], count: usize) -> Result<(), RpcError> {
    match elements.len() {
        given if given > count => {
            Err(RpcError::invalid_params(format!("too many params: expected at most {count}, got {given}")))
        }
        _ => Ok(()),
    }
}

impl Params for () {
    fn read(json: Option<&RawValue>, _: Dialect) -> Result<Self, RpcError> {
        at_most(&elements(json)?, 0)
    }
}

macro_rules! tuple_params {
    ($($name:ident $at:literal),+ ; $count:literal) => {
        impl<$($name: Param),+> Params for ($($name,)+) {
            fn read(json: Option<&RawValue>, dialect: Dialect) -> Result<Self, RpcError> {
                let elements = elements(json)?;
                at_most(&elements, $count)?;
                Ok(($(element::<$name>(&elements, $at, dialect)?,)+))
            }
        }
    };
}

tuple_params!(A 0; 1);
tuple_params!(A 0, B 1; 2);
tuple_params!(A 0, B 1, C 2; 3);
tuple_params!(A 0, B 1, C 2, D 3; 4);

/// A JSON string, without the escapes that no parameter needs.
pub(super) fn string(json: &str) -> Result<&str, String> {
    let inner = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.filter(|text| !text.contains('\\')).ok_or_else(|| format!("expected a string, got {}", kind(json)))
}

/// What sort of JSON value this is, for messages.
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
pub(super) fn shape<T: DeserializeOwned>(json: &str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| {
        let message = error.to_string();
        message.split(" at line ").next().unwrap_or_default().to_owned()
    })
}

impl<P: Param> Param for Option<P> {
    const DEFAULT: Option<fn() -> Self> = Some(|| None);

    fn read(json: &str) -> Result<Self, String> {
        if json == "null" { Ok(None) } else { P::read(json).map(Some) }
    }
}

impl Param for Address {
    fn read(json: &str) -> Result<Self, String> {
        hex::fixed_data(string(json)?, "a 20-byte address").map(Self::new)
    }
}

impl Param for B256 {
    fn read(json: &str) -> Result<Self, String> {
        hex::fixed_data(string(json)?, "a 32-byte hash").map(Self::new)
    }
}

impl Param for Bytes {
    fn read(json: &str) -> Result<Self, String> {
        hex::data(string(json)?).map(Self::from)
    }
}

impl Param for U256 {
    fn read(json: &str) -> Result<Self, String> {
        hex::quantity(string(json)?)
    }
}

impl Param for u64 {
    fn read(json: &str) -> Result<Self, String> {
        hex::quantity_u64(string(json)?)
    }
}

impl Param for bool {
    const DEFAULT: Option<fn() -> Self> = Some(|| false);

    fn read(json: &str) -> Result<Self, String> {
        match json {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(format!("expected a boolean, got {}", kind(other))),
        }
    }
}

impl Param for String {
    fn read(json: &str) -> Result<Self, String> {
        if json.starts_with('"') { shape(json) } else { Err(format!("expected a string, got {}", kind(json))) }
    }
}

impl<P: Param> Param for Vec<P> {
    fn read(json: &str) -> Result<Self, String> {
        let items: Vec<&RawValue> =
            serde_json::from_str(json).map_err(|_| format!("expected an array, got {}", kind(json)))?;
        items
            .iter()
            .enumerate()
            .map(|(at, item)| P::read(item.get()).map_err(|what| format!("[{at}]: {what}")))
            .collect()
    }
}

/// A number that clients write as a QUANTITY or as a plain JSON number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LooseNumber(pub u64);

impl Param for LooseNumber {
    fn read(json: &str) -> Result<Self, String> {
        let parsed = if json.starts_with('"') {
            let text = string(json)?;
            if text.starts_with("0x") {
                hex::quantity_u64(text)
            } else {
                text.parse().map_err(|_| "expected a number".to_owned())
            }
        } else {
            json.parse().map_err(|_| format!("expected a whole number, got {}", kind(json)))
        };
        parsed.map(Self)
    }
}

/// The index of a storage slot: DATA of up to 32 bytes or a QUANTITY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotIndex(pub U256);

impl Param for SlotIndex {
    fn read(json: &str) -> Result<Self, String> {
        let text = string(json)?;
        let digits = text.strip_prefix("0x").ok_or("expected a storage slot with 0x prefix")?;
        if digits.is_empty() || digits.len() > 64 {
            return Err(format!("expected a storage slot of at most 32 bytes, got {} hex digits", digits.len()));
        }
        U256::from_str_radix(digits, 16).map(Self).map_err(|_| "expected a storage slot in hex digits".to_owned())
    }
}

/// A block parameter that the specification requires (section 4.1) and go-ethereum lets clients leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateBlock(pub BlockId);

impl Param for StateBlock {
    const DEFAULT: Option<fn() -> Self> = Some(|| Self(BlockId::Latest));

    fn optional(dialect: Dialect) -> bool {
        dialect == Dialect::Ethereum
    }

    fn read(json: &str) -> Result<Self, String> {
        BlockId::read(json).map(Self)
    }
}

impl Param for BlockId {
    fn read(json: &str) -> Result<Self, String> {
        if json.starts_with('{') {
            return read_block_object(json);
        }
        match string(json)? {
            "latest" => Ok(Self::Latest),
            "earliest" => Ok(Self::Earliest),
            "pending" => Ok(Self::Pending),
            "safe" => Ok(Self::Safe),
            "finalized" => Ok(Self::Finalized),
            // A hash where a number may stand, too, as go-ethereum accepts it.
            text if text.len() == 66 => hex::fixed_data(text, "a block hash").map(|hash| Self::Hash(hash.into())),
            text => hex::quantity_u64(text)
                .map(Self::Number)
                .map_err(|what| format!("{what}, or one of latest, earliest, pending, safe, finalized")),
        }
    }
}

/// `{"blockNumber": …}` or `{"blockHash": …, "requireCanonical": …}` (EIP-1898).
fn read_block_object(json: &str) -> Result<BlockId, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Object {
        block_number: Option<String>,
        block_hash: Option<String>,
        #[serde(rename = "requireCanonical")]
        _require_canonical: Option<bool>,
    }
    let object: Object = shape(json)?;
    match (object.block_number, object.block_hash) {
        (Some(number), None) => BlockId::read(&format!("\"{number}\"")),
        (None, Some(hash)) => hex::fixed_data(&hash, "a 32-byte block hash").map(|hash| BlockId::Hash(hash.into())),
        (Some(_), Some(_)) => Err("expected blockNumber or blockHash, got both".to_owned()),
        (None, None) => Err("expected an object with blockNumber or blockHash".to_owned()),
    }
}
