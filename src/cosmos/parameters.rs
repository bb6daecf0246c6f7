//! Parameters of the gateway's routes. Errors have the texts of the SDK.

use alloy_primitives::Address;
use schemars::{Schema, json_schema};
use serde_json::{Value, json};

use crate::{
    account::{Kind, address_from_bech32, parse_account_address},
    network::Network,
    web::parameters::{Choice, Param, ParamError, parameters},
};

/// Nothing, as a decimal of the SDK.
pub(super) const ZERO: &str = "0.000000000000000000";

/// An account: bech32 or hex.
pub(super) struct AccountParam {
    pub(super) address: Address,
    /// The address as the client wrote it.
    pub(super) text: String,
}

impl Param for AccountParam {
    fn schema() -> Schema {
        // No pattern can describe the checksum of bech32.
        json_schema!({ "type": "string", "format": "account-address" })
    }

    fn parse(text: &str, network: &Network) -> Result<Self, ParamError> {
        let address = parse_account_address(text, &network.hrp);
        let address = address.map_err(|error| ParamError::Malformed(format!("invalid address: {error}")))?;
        Ok(Self { address, text: text.to_owned() })
    }
}

/// The bech32 address of a validator's operator.
pub(super) struct Operator(pub(super) String);

impl Param for Operator {
    fn schema() -> Schema {
        json_schema!({ "type": "string", "format": "operator-address" })
    }

    fn parse(text: &str, network: &Network) -> Result<Self, ParamError> {
        address_from_bech32(text, &network.hrp, Kind::ValidatorOperator)
            .map_err(|error| ParamError::Malformed(format!("invalid address: {error}")))?;
        Ok(Self(text.to_owned()))
    }
}

/// A denomination of a coin: a letter, then 2 to 127 of the characters that the SDK allows (`types/coin.go`).
pub(super) struct Denomination(pub(super) String);

impl Param for Denomination {
    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$" })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ParamError> {
        let mut bytes = text.bytes();
        let is_valid = bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
            && (2..=127).contains(&bytes.len())
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"/:._-".contains(&byte));
        match text {
            "" => Err(ParamError::Missing),
            _ if is_valid => Ok(Self(text.to_owned())),
            _ => {
                let text: String = text.chars().take(130).collect();
                Err(ParamError::Malformed(format!("invalid denom: {text}")))
            }
        }
    }
}

/// The name of a coin. Whatever is not the native coin's has no metadata, so that any text will do.
pub(super) struct CoinName(pub(super) String);

impl Param for CoinName {
    fn schema() -> Schema {
        json_schema!({ "type": "string" })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ParamError> {
        Ok(Self(text.to_owned()))
    }
}

/// The height of a block. Those beyond the newest are refused.
pub(super) struct Height(pub(super) u64);

impl Param for Height {
    fn schema() -> Schema {
        json_schema!({ "type": "integer", "minimum": 0, "format": "height" })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ParamError> {
        text.parse().map(Self).map_err(|_| ParamError::Malformed(format!("height: {text} is no number")))
    }
}

/// The hash of a Cosmos transaction, in hex without a prefix.
pub(super) struct TransactionHash(pub(super) String);

impl Param for TransactionHash {
    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9a-fA-F]{64}$" })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ParamError> {
        let is_hash = text.len() == 64 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        let malformed = || ParamError::Malformed(format!("invalid transaction hash {text}: expected 64 hex digits"));
        is_hash.then(|| Self(text.to_owned())).ok_or_else(malformed)
    }
}

/// A group of governance parameters.
#[derive(Clone, Copy)]
pub(super) enum GovernanceParams {
    Voting,
    Tallying,
    Deposit,
}

impl Choice for GovernanceParams {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("voting", Self::Voting), ("tallying", Self::Tallying), ("deposit", Self::Deposit)];
    const DEFAULT: Option<&'static str> = None;
}

impl GovernanceParams {
    /// The group in the SDK's shape.
    pub(super) fn body(self) -> Value {
        match self {
            Self::Voting => json!({ "voting_params": { "voting_period": "0s" } }),
            Self::Tallying => {
                json!({ "tally_params": { "quorum": ZERO, "threshold": ZERO, "veto_threshold": ZERO } })
            }
            Self::Deposit => json!({ "deposit_params": { "min_deposit": [], "max_deposit_period": "0s" } }),
        }
    }
}

parameters! {
    /// The path of a route about an account.
    pub(super) struct AccountPath {
        /// An account: bech32 or hex.
        #[param("address", example = "pax17w0adeg64ky0daxwd2ugyuneellmjgnxljx2cg")]
        pub(super) account: AccountParam,
    }
}

parameters! {
    /// The path of a route about a validator.
    pub(super) struct ValidatorPath {
        /// An operator's address.
        #[param("address", example = "paxvaloper17w0adeg64ky0daxwd2ugyuneellmjgnx5lw7at")]
        pub(super) operator: Operator,
    }
}

parameters! {
    /// The query of a route about a coin.
    pub(super) struct CoinQuery {
        /// The denomination.
        #[param("denom", example = "ahpx")]
        pub(super) denomination: Denomination,
    }
}

parameters! {
    /// The path of a route about a coin.
    pub(super) struct CoinPath {
        /// The denomination.
        #[param("denom", example = "ahpx")]
        pub(super) name: CoinName,
    }
}

parameters! {
    /// The path of a route about a block.
    pub(super) struct BlockPath {
        /// Its height.
        #[param("height", example = "0")]
        pub(super) height: Height,
    }
}

parameters! {
    /// The path of a route about a transaction.
    pub(super) struct TransactionPath {
        /// Its hash.
        #[param("hash", example = "0000000000000000000000000000000000000000000000000000000000000000")]
        pub(super) hash: TransactionHash,
    }
}

parameters! {
    /// The path of a route about governance.
    pub(super) struct GovernancePath {
        /// Which parameters.
        #[param("kind", example = "voting")]
        pub(super) params: GovernanceParams,
    }
}
