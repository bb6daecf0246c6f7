//! The scalars of the schema: text with hexadecimal digits.

use alloy_primitives::{Address, B256, Bytes, U256};
use async_graphql::{InputValueError, InputValueResult, Number, Scalar, ScalarType, Value};
use tetrad_stdx::digits;

use crate::rpc::hex;

/// Defines a scalar whose input and output is text.
macro_rules! text_scalar {
    ($name:ident, $graphql:literal, $inner:ty, $doc:literal, $read:expr, $write:expr) => {
        #[doc = $doc]
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(super) struct $name(pub(super) $inner);

        #[Scalar(name = $graphql)]
        impl ScalarType for $name {
            fn parse(value: Value) -> InputValueResult<Self> {
                let Value::String(text) = &value else {
                    return Err(InputValueError::expected_type(value));
                };
                let read: fn(&str) -> Result<$inner, String> = $read;
                read(text).map(Self).map_err(InputValueError::custom)
            }

            fn to_value(&self) -> Value {
                let write: fn(&$inner) -> String = $write;
                Value::String(write(&self.0))
            }
        }
    };
}

text_scalar!(
    Bytes32Scalar,
    "Bytes32",
    B256,
    "32 bytes, as hexadecimal digits after 0x.",
    |text| hex::fixed_data(text, "32 bytes").map(Into::into),
    |hash| format!("{hash:#x}")
);
text_scalar!(
    AddressScalar,
    "Address",
    Address,
    "An address, as hexadecimal digits after 0x.",
    |text| hex::fixed_data(text, "a 20-byte address").map(Into::into),
    |address| format!("{address:#x}")
);
text_scalar!(
    BytesScalar,
    "Bytes",
    Bytes,
    "Bytes, as hexadecimal digits after 0x.",
    |text| hex::data(text).map(Into::into),
    |bytes| format!("{bytes:#x}")
);

/// A large integer. Input is a JSON number, or text with decimal digits or hexadecimal ones after
/// 0x.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BigIntScalar(pub(super) U256);

/// A 64-bit integer, with input as for `BigInt`. Negative numbers are read, and fit no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LongScalar(pub(super) i128);

/// Reads the digits of a number.
fn whole_number(text: &str) -> Result<U256, String> {
    let read = match text.strip_prefix("0x") {
        Some(text) => digits::hex(text),
        None => digits::decimal(text),
    };
    read.ok_or_else(|| format!("expected a number, got \"{text}\""))
}

/// Reads a JSON number of 64 bits, with or without a sign.
fn json_long(number: &Number) -> Result<i128, String> {
    if let Some(signed) = number.as_i64() {
        Ok(i128::from(signed))
    } else if let Some(unsigned) = number.as_u64() {
        Ok(i128::from(unsigned))
    } else {
        Err(format!("expected a whole number of 64 bits, got {number}"))
    }
}

/// Reads a number of 64 bits from text: decimal digits, with or without a sign, or hexadecimal ones
/// after 0x.
fn text_long(text: &str) -> Result<i128, String> {
    if let Ok(signed) = text.parse::<i64>() {
        return Ok(i128::from(signed));
    }

    u64::try_from(whole_number(text)?)
        .map(i128::from)
        .map_err(|_| format!("expected a number of at most 64 bits, got \"{text}\""))
}

#[Scalar(name = "BigInt")]
impl ScalarType for BigIntScalar {
    fn parse(value: Value) -> InputValueResult<Self> {
        match &value {
            Value::String(text) => whole_number(text)
                .map(Self)
                .map_err(InputValueError::custom),
            Value::Number(number) => match number.as_u64() {
                Some(number) => Ok(Self(U256::from(number))),
                None => Err(InputValueError::custom(format!(
                    "expected a whole number, got {number}"
                ))),
            },
            _ => Err(InputValueError::expected_type(value)),
        }
    }

    fn to_value(&self) -> Value {
        Value::String(format!("{:#x}", self.0))
    }
}

#[Scalar(name = "Long")]
impl ScalarType for LongScalar {
    fn parse(value: Value) -> InputValueResult<Self> {
        let read = match &value {
            Value::Number(number) => json_long(number),
            Value::String(text) => text_long(text),
            _ => return Err(InputValueError::expected_type(value)),
        };
        read.map(Self).map_err(InputValueError::custom)
    }

    fn to_value(&self) -> Value {
        Value::String(format!("{:#x}", self.0))
    }
}

impl LongScalar {
    /// The number, unless it is negative.
    pub(super) fn unsigned(self) -> Option<u64> {
        self.0.try_into().ok()
    }
}

impl From<u64> for LongScalar {
    fn from(number: u64) -> Self {
        Self(number.into())
    }
}

impl From<u128> for BigIntScalar {
    fn from(number: u128) -> Self {
        Self(U256::from(number))
    }
}
