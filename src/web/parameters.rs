//! What parameters look like, for the OpenAPI document. They are read as text by whoever takes them; these are only said of
//! them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Says of a type what its schema is.
macro_rules! described {
    ($(#[$about:meta])* $name:ident $(<const $max:ident: $number:ty>)?, $schema:tt) => {
        $(#[$about])*
        pub struct $name $(<const $max: $number>)?;

        impl $(<const $max: $number>)? JsonSchema for $name $(<$max>)? {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

described!(
    /// An account: `0x…` in any case, or bech32 with a checksum, which no pattern can describe.
    AccountText, { "type": "string", "format": "account-address" }
);
described!(
    /// The address of a validator's operator in bech32.
    OperatorText, { "type": "string", "format": "operator-address" }
);
described!(
    /// A token's address.
    TokenAddress, { "type": "string", "pattern": "^0[xX][0-9a-fA-F]{40}$" }
);
described!(
    /// A token's address or symbol.
    TokenText, { "type": "string", "pattern": "^(0[xX][0-9a-fA-F]{40}|[A-Za-z]{2,12})$" }
);
described!(
    /// How far back a history reaches.
    Timeframe, { "type": "string", "enum": ["1h", "24h", "7d", "30d"] }
);
described!(
    /// How long a candle is.
    CandleLength, { "type": "string", "enum": ["1m", "5m", "1h", "1d"] }
);
described!(
    /// A number of things, at least one.
    Limit<const MAX: u64>, { "type": "integer", "minimum": 1, "maximum": MAX }
);
described!(
    /// Basis points.
    BasisPoints, { "type": "integer", "minimum": 0, "maximum": 10_000 }
);
described!(
    /// An amount in a token's smallest unit.
    Amount, { "type": "string", "pattern": "^[0-9]{1,38}$" }
);
described!(
    /// Where a page begins: a block's number and a log's index.
    PageStart, { "type": "string", "pattern": "^[0-9]{1,19}-[0-9]{1,19}$" }
);
described!(
    /// A hash in hex, without a prefix.
    HashText, { "type": "string", "pattern": "^[0-9a-fA-F]{64}$" }
);
described!(
    /// A denomination of a coin.
    Denomination, { "type": "string", "pattern": "^[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$" }
);
described!(
    /// A block's number, none of which is beyond the newest.
    Height, { "type": "integer", "minimum": 0, "format": "height" }
);
