//! The type of a transaction that a client describes: its fields decide it, or contradict each
//! other.
//!
//! A contradiction is an error in every method with a transaction object. geth ignores some of
//! them: it sends a legacy transaction if there is a `gasPrice`, without the `authorizationList`.

use std::ops::RangeInclusive;

use alloy_consensus::TxType;

use super::request::TransactionRequest;
use crate::rpc::error::RpcError;

/// The types that a field belongs to. No field has gaps between its types, so that fields which
/// agree in pairs agree all.
type Types = RangeInclusive<u8>;

const FIXED_PRICE: Types = TxType::Legacy as u8..=TxType::Eip2930 as u8;
const ACCESS_LIST: Types = TxType::Eip2930 as u8..=TxType::Eip7702 as u8;
const DYNAMIC_FEES: Types = TxType::Eip1559 as u8..=TxType::Eip7702 as u8;
const BLOBS: Types = TxType::Eip4844 as u8..=TxType::Eip4844 as u8;
const AUTHORIZATIONS: Types = TxType::Eip7702 as u8..=TxType::Eip7702 as u8;

/// The text of geth for two kinds of prices, on which clients match.
const TWO_PRICES: &str = "both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified";

impl TransactionRequest {
    /// The given fields that not every type has.
    fn typed_fields(&self) -> impl Iterator<Item = (&'static str, Types)> + use<> {
        let fields = [
            ("gasPrice", self.gas_price.is_some(), FIXED_PRICE),
            ("accessList", self.access_list.is_some(), ACCESS_LIST),
            ("maxFeePerGas", self.max_fee_per_gas.is_some(), DYNAMIC_FEES),
            (
                "maxPriorityFeePerGas",
                self.max_priority_fee_per_gas.is_some(),
                DYNAMIC_FEES,
            ),
            (
                "blobVersionedHashes",
                self.blob_versioned_hashes.is_some(),
                BLOBS,
            ),
            (
                "maxFeePerBlobGas",
                self.max_fee_per_blob_gas.is_some(),
                BLOBS,
            ),
            (
                "authorizationList",
                self.authorization_list.is_some(),
                AUTHORIZATIONS,
            ),
        ];

        fields
            .into_iter()
            .filter(|(_, given, _)| *given)
            .map(|(name, _, types)| (name, types))
    }

    /// Whether a fee of EIP-1559 is given.
    fn gives_dynamic_fees(&self) -> bool {
        self.max_fee_per_gas.is_some() || self.max_priority_fee_per_gas.is_some()
    }

    /// The types that have every given field. Fields of one type with those of another are an
    /// error.
    fn types(&self) -> Result<Types, RpcError> {
        if self.gas_price.is_some() && self.gives_dynamic_fees() {
            return Err(RpcError::server(TWO_PRICES));
        }

        let mut types = TxType::Legacy as u8..=TxType::Eip7702 as u8;
        for (name, own) in self.typed_fields() {
            let both = *types.start().max(own.start())..=*types.end().min(own.end());
            if both.is_empty() {
                let other = self
                    .typed_fields()
                    .find(|(_, other)| other.start() > own.end() || own.start() > other.end())
                    .map_or("type", |(other, _)| other);
                return Err(RpcError::server(format!(
                    "both {other} and {name} specified"
                )));
            }
            types = both;
        }

        let Some(wanted) = self.transaction_type else {
            return Ok(types);
        };
        let wanted = u8::try_from(wanted)
            .ok()
            .filter(|wanted| TxType::try_from(*wanted).is_ok())
            .ok_or_else(|| {
                RpcError::server(format!("transaction type {wanted:#x} is not supported"))
            })?;
        for (name, types) in self.typed_fields() {
            if !types.contains(&wanted) {
                return Err(RpcError::server(format!(
                    "a transaction of type {wanted:#x} has no {name}"
                )));
            }
        }
        Ok(wanted..=wanted)
    }

    /// The type of the transaction that is sent. Where the fields leave it open, it has the fees of
    /// EIP-1559 if the chain does, or else the least type.
    pub(super) fn transaction_type(&self, has_dynamic_fees: bool) -> Result<TxType, RpcError> {
        let types = self.types()?;
        if !has_dynamic_fees && self.gives_dynamic_fees() {
            return Err(RpcError::server(
                "maxFeePerGas and maxPriorityFeePerGas are not valid before London is active",
            ));
        }

        let usual = TxType::Eip1559 as u8;
        let chosen = if has_dynamic_fees && types.contains(&usual) {
            usual
        } else {
            *types.start()
        };
        TxType::try_from(chosen).map_err(|error| RpcError::internal(error.to_string()))
    }

    /// Checks what holds for every request, whether it is sent or simulated: the fields belong to
    /// one type, and that type's rules hold, with the words of geth.
    pub(super) fn check(&self, chain_id: u64) -> Result<(), RpcError> {
        let types = self.types()?;
        let only = |wanted: TxType| types == (wanted as u8..=wanted as u8);
        let is_creation = self.to.is_none();

        if self.blob_versioned_hashes.is_some() && is_creation {
            return Err(RpcError::server("blob transaction of type create"));
        }
        let is_of_blobs = self.blob_versioned_hashes.is_some()
            || self.transaction_type == Some(TxType::Eip4844 as u64);
        let has_no_hashes = self
            .blob_versioned_hashes
            .as_ref()
            .is_none_or(Vec::is_empty);
        if is_of_blobs && has_no_hashes {
            return Err(RpcError::server("blob transaction missing blob hashes"));
        }

        if only(TxType::Eip7702) && is_creation {
            return Err(RpcError::server(
                "set code transaction must not be a create transaction",
            ));
        }
        if only(TxType::Eip7702) && self.authorization_list.as_ref().is_none_or(Vec::is_empty) {
            return Err(RpcError::server(
                "EIP-7702 transaction with empty auth list",
            ));
        }

        if let Some(have) = self.chain_id
            && have != chain_id
        {
            return Err(RpcError::server(format!(
                "chainId does not match node's (have={have}, want={chain_id})"
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(fields: &str) -> TransactionRequest {
        use crate::rpc::params::{Param, ParamRules};
        let list = concat!(
            r#"{"chainId":"0x1","address":"0x0000000000000000000000000000000000000001","#,
            r#""nonce":"0x0","yParity":"0x0","r":"0x1","s":"0x1"}"#,
        );
        let hash = format!("\"0x01{}\"", "0".repeat(62));
        let members: Vec<String> = fields
            .split_whitespace()
            .map(|field| match field {
                "accessList" => r#""accessList":[]"#.to_owned(),
                "authorizationList" => format!(r#""authorizationList":[{list}]"#),
                "blobVersionedHashes" => format!(r#""blobVersionedHashes":[{hash}]"#),
                "to" => format!(r#""to":"0x{}""#, "11".repeat(20)),
                number => number.split_once('=').map_or_else(
                    || format!(r#""{number}":"0x1""#),
                    |(name, value)| format!(r#""{name}":"{value}""#),
                ),
            })
            .collect();

        let rules = ParamRules::new(crate::rpc::Dialect::Network, false);
        TransactionRequest::read(&format!("{{{}}}", members.join(",")), rules).unwrap()
    }

    #[test]
    fn fields_decide_the_type() {
        for (fields, dynamic, fixed) in [
            ("", TxType::Eip1559, TxType::Legacy),
            ("gasPrice", TxType::Legacy, TxType::Legacy),
            ("accessList", TxType::Eip1559, TxType::Eip2930),
            ("gasPrice accessList", TxType::Eip2930, TxType::Eip2930),
            ("type=0x0", TxType::Legacy, TxType::Legacy),
            ("type=0x1", TxType::Eip2930, TxType::Eip2930),
            ("type=0x1 gasPrice", TxType::Eip2930, TxType::Eip2930),
            ("authorizationList", TxType::Eip7702, TxType::Eip7702),
            (
                "blobVersionedHashes accessList",
                TxType::Eip4844,
                TxType::Eip4844,
            ),
        ] {
            let request = request(fields);
            assert_eq!(request.transaction_type(true), Ok(dynamic), "{fields}");
            assert_eq!(request.transaction_type(false), Ok(fixed), "{fields}");
        }

        for fields in [
            "maxFeePerGas",
            "maxPriorityFeePerGas",
            "maxFeePerGas accessList type=0x2",
        ] {
            assert_eq!(
                request(fields).transaction_type(true),
                Ok(TxType::Eip1559),
                "{fields}"
            );
            assert!(request(fields).transaction_type(false).is_err(), "{fields}");
        }

        assert_eq!(
            request("maxFeePerGas authorizationList").transaction_type(true),
            Ok(TxType::Eip7702)
        );
    }

    #[test]
    fn fields_of_different_types_are_an_error() {
        for (fields, expected) in [
            ("gasPrice maxFeePerGas", TWO_PRICES),
            (
                "gasPrice maxPriorityFeePerGas authorizationList",
                TWO_PRICES,
            ),
            (
                "gasPrice authorizationList",
                "both gasPrice and authorizationList specified",
            ),
            (
                "gasPrice blobVersionedHashes",
                "both gasPrice and blobVersionedHashes specified",
            ),
            (
                "gasPrice maxFeePerBlobGas",
                "both gasPrice and maxFeePerBlobGas specified",
            ),
            (
                "gasPrice accessList authorizationList",
                "both gasPrice and authorizationList specified",
            ),
            (
                "blobVersionedHashes authorizationList",
                "both blobVersionedHashes and authorizationList specified",
            ),
            (
                "type=0x0 accessList",
                "a transaction of type 0x0 has no accessList",
            ),
            (
                "type=0x0 maxFeePerGas",
                "a transaction of type 0x0 has no maxFeePerGas",
            ),
            (
                "type=0x2 gasPrice",
                "a transaction of type 0x2 has no gasPrice",
            ),
            (
                "type=0x2 authorizationList",
                "a transaction of type 0x2 has no authorizationList",
            ),
            (
                "type=0x4 blobVersionedHashes",
                "a transaction of type 0x4 has no blobVersionedHashes",
            ),
            ("type=0x5", "transaction type 0x5 is not supported"),
            ("type=0x100", "transaction type 0x100 is not supported"),
        ] {
            let request = request(&format!("to {fields}"));
            assert_eq!(request.check(1).unwrap_err().message, expected, "{fields}");
            assert_eq!(
                request.transaction_type(true).unwrap_err().message,
                expected,
                "{fields}"
            );
        }
    }

    #[test]
    fn the_rules_of_a_type_hold_in_calls_as_well() {
        for (fields, expected) in [
            ("blobVersionedHashes", "blob transaction of type create"),
            (
                "authorizationList",
                "set code transaction must not be a create transaction",
            ),
            ("to type=0x3", "blob transaction missing blob hashes"),
            ("to type=0x4", "EIP-7702 transaction with empty auth list"),
            (
                "to chainId=0x2",
                "chainId does not match node's (have=2, want=1)",
            ),
        ] {
            assert_eq!(
                request(fields).check(1).unwrap_err().message,
                expected,
                "{fields}"
            );
        }

        for fields in [
            "",
            "gasPrice",
            "to blobVersionedHashes",
            "to authorizationList",
            "to maxFeePerBlobGas chainId",
        ] {
            assert_eq!(request(fields).check(1), Ok(()), "{fields}");
        }
    }
}
