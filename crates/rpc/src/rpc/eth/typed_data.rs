//! Typed data (EIP-712) of clients, within limits on its types.

use alloy_dyn_abi::{TypedData, eip712::Eip712Types};
use alloy_primitives::{B256, keccak256};
use serde_json::{Value, json};
use tetrad_stdx::nesting::{MAX_NESTING, brackets};
use tetrad_web::check_json;

use crate::rpc::params::{self, Param, ParamRules};

/// The most bytes of types, each counted wherever it is used.
const MAX_TYPE_BYTES: usize = 64 * 1_024;
/// The product of those bytes and the message's is limited as well: a type is hashed again for
/// every value.
const MAX_HASHED_BYTES: usize = 1 << 31;

/// The type of the domain.
const DOMAIN: &str = "EIP712Domain";

/// Typed data, as an object or as its text.
pub(super) struct TypedMessage {
    data: TypedData,
    /// The domain as data of the type that the types give it, if it is not one of the standard: the
    /// domains of Cosmos chains have texts in place of an address and a hash.
    domain: Option<TypedData>,
}

impl TypedMessage {
    /// Returns the hash that is signed.
    pub(super) fn signing_hash(&self) -> Result<B256, alloy_dyn_abi::Error> {
        let Some(domain) = &self.domain else {
            return self.data.eip712_signing_hash();
        };

        let domain = domain.hash_struct()?;
        let mut signed = [b"\x19\x01", domain.as_slice()].concat();
        // A message that is a domain itself is left out, as by MetaMask.
        if self.data.primary_type != DOMAIN {
            signed.extend(self.data.hash_struct()?);
        }
        Ok(keccak256(signed))
    }

    /// Reads data with a domain of its own. `None` if it has none, or if the rest cannot be read
    /// either.
    fn with_own_domain(text: &str) -> Option<Self> {
        let mut value: Value = serde_json::from_str(text).ok()?;
        let message = value.as_object_mut()?.remove("domain")?;

        let data: TypedData = serde_json::from_value(value).ok()?;
        let domain = TypedData {
            primary_type: DOMAIN.to_owned(),
            message,
            ..data.clone()
        };
        Some(Self {
            data,
            domain: Some(domain),
        })
    }
}

impl Param for TypedMessage {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let text = if json.starts_with('"') {
            &String::read(json, rules)?
        } else {
            json
        };

        // The values of parameters were counted without those in texts.
        check_json(text.as_bytes()).map_err(|error| error.to_string())?;
        let read = params::shape(text).map(|data| Self { data, domain: None });
        let message = read.or_else(|error| Self::with_own_domain(text).ok_or(error))?;

        let types = Eip712Types::from(&message.data.resolver);
        let limit = MAX_TYPE_BYTES.min(MAX_HASHED_BYTES / json.len().max(1));
        let mut budget = TypeBudget {
            types: &types,
            limit,
            bytes: limit,
        };
        budget.spend(&message.data.primary_type, 0)?;
        if message.domain.is_some() {
            budget.spend(DOMAIN, 0)?;
        }
        Ok(message)
    }

    fn schema() -> Value {
        json!({"oneOf": [{"type": "object"}, {"type": "string"}]})
    }
}

/// Reads a value as typed data, and compares its hash with the hashes of its other forms. Returns
/// whether it can be signed.
pub(in crate::rpc) fn check_typed_data(json: &str) -> bool {
    let rules = ParamRules::new(crate::rpc::Dialect::Network, false);
    let Ok(message) = TypedMessage::read(json, rules) else {
        return false;
    };
    let Ok(hash) = message.signing_hash() else {
        return false;
    };

    let text = Value::from(json).to_string();
    if json.starts_with('{')
        && let Ok(as_text) = TypedMessage::read(&text, rules)
    {
        assert_eq!(
            as_text.signing_hash().ok(),
            Some(hash),
            "the text of an object has another hash"
        );
    }

    // A domain of the standard is hashed alike by the types that it is given.
    let data = &message.data;
    let is_standard = message.domain.is_none()
        && data
            .resolver
            .encode_type(DOMAIN)
            .is_ok_and(|declared| declared == data.domain.encode_type());
    if is_standard
        && let Some(own) = TypedMessage::with_own_domain(json)
        && let Ok(own) = own.signing_hash()
    {
        assert_eq!(own, hash, "the domain's own type leads to another hash");
    }
    true
}

/// The rest of the limit on types.
struct TypeBudget<'a> {
    types: &'a Eip712Types,
    limit: usize,
    bytes: usize,
}

impl TypeBudget<'_> {
    /// Spends what a type takes with everything in it.
    fn spend(&mut self, kind: &str, depth: usize) -> Result<(), String> {
        let depth = depth + brackets(kind);
        if depth > MAX_NESTING {
            return Err(format!(
                "types contain themselves or are nested more than {MAX_NESTING} deep"
            ));
        }

        let left = self.bytes.checked_sub(kind.len() + 1);
        let limit = self.limit;
        self.bytes = left.ok_or_else(|| {
            format!(
                "types take more than {limit} bytes, the limit for this message, each counted \
                 wherever it is used"
            )
        })?;

        let types = self.types;
        for name in kind.split(['[', ']', '(', ')', ',']) {
            for property in types.get(name).into_iter().flatten() {
                self.bytes = self.bytes.saturating_sub(property.name().len());
                self.spend(property.type_name(), depth + 1)?;
            }
        }
        Ok(())
    }
}
