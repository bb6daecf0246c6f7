//! Protobuf messages as their descriptors define them, in binary and in the gateway's JSON.
//!
//! The descriptors are those of the Cosmos SDK, IBC and cosmos/evm (`proto/build.py`). Generated
//! types are not used: the published crates of them need another prost and lack the EVM's modules,
//! and REST would need descriptors all the same.
//!
//! cosmos-sdk-proto 0.27 and ibc-proto 0.52 need prost 0.13, which would be a second prost.

use std::sync::LazyLock;

use alloy_primitives::hex;
use base64ct::{Base64, Encoding};
use bytes::Bytes;
use prost::Message;
use prost_reflect::{
    DescriptorPool, DynamicMessage, ExtensionDescriptor, FieldDescriptor, Kind, MessageDescriptor,
    ReflectMessage, Value,
    prost_types::{FileDescriptorProto, FileDescriptorSet},
};
use serde::de::DeserializeSeed;
use serde_json::{Map, Value as Json, json};
use tetrad_network::{account::Kind as AddressKind, network::Network};
use tetrad_primitives::block::cosmos::{MAX_MESSAGE_LEVELS, nests_within};
use tetrad_stdx::calendar::rfc3339;

/// The encoded descriptors.
const DESCRIPTORS: &[u8] = include_bytes!("../../../proto/descriptors.binpb");
/// Decimals of the SDK's decimal numbers.
const DECIMALS: usize = 18;
/// Values that the JSON of an `Any` may have in addition to one for every two bytes of its
/// encoding. A list of empty messages, two bytes each, would otherwise become all of their default
/// values, hundreds of bytes each.
const SPARE_VALUES: usize = 1_000;
/// The type of an account without an EVM.
pub(super) const BASE_ACCOUNT: &str = "/cosmos.auth.v1beta1.BaseAccount";
/// The messages that accounts and public keys of chains with an EVM have. Networks name them
/// differently.
const ETH_ACCOUNT: &str = "ethermint.types.v1.EthAccount";
const ETH_KEY: &str = "ethermint.crypto.v1.ethsecp256k1.PubKey";

static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(DESCRIPTORS).unwrap_or_default());

/// The messages of a network: those of the descriptors, and its own account and key.
#[derive(Clone, Debug)]
pub(super) struct Messages {
    pool: DescriptorPool,
    /// `gogoproto.customtype`, the Go type of a field.
    custom_type: Option<ExtensionDescriptor>,
    /// `cosmos_proto.scalar`, the meaning of a string.
    scalar: Option<ExtensionDescriptor>,
    /// `google.api.http`, the route of a method.
    http: Option<ExtensionDescriptor>,
}

impl Messages {
    /// The messages of `network`, which names its account and its public key.
    pub(super) fn new(network: &Network) -> Self {
        // A copy, to which each network adds its own names.
        let mut pool = POOL.clone();
        for (type_url, template) in [
            (&network.account_type, ETH_ACCOUNT),
            (&network.key_type, ETH_KEY),
        ] {
            let name = type_url.trim_start_matches('/');
            // A name that the descriptors contain already has a shape of its own.
            if pool.get_message_by_name(name).is_none() {
                let added =
                    renamed(&pool, template, name).map(|file| pool.add_file_descriptor_proto(file));
                if let Some(Err(error)) = added {
                    tracing::warn!(name, %error, "not the name of a protobuf message: clients cannot read accounts");
                }
            }
        }

        let extension = |name| pool.get_extension_by_name(name);
        let custom_type = extension("gogoproto.customtype");
        let scalar = extension("cosmos_proto.scalar");
        let http = extension("google.api.http");
        Self {
            pool,
            custom_type,
            scalar,
            http,
        }
    }

    /// All descriptors.
    pub(super) fn pool(&self) -> &DescriptorPool {
        &self.pool
    }

    /// The descriptors, encoded, in `google.protobuf.FileDescriptorSet`.
    pub(super) fn encoded(&self) -> Vec<u8> {
        FileDescriptorSet {
            file: self.pool.file_descriptor_protos().cloned().collect(),
        }
        .encode_to_vec()
    }

    /// The template of the gateway's path for a method: `/cosmos/bank/v1beta1/balances/{address}`.
    pub(super) fn get_path(&self, method: &prost_reflect::MethodDescriptor) -> Option<String> {
        let options = method.options();
        let rule = options.get_extension(self.http.as_ref()?);
        let path = rule.as_message()?.get_field_by_name("get")?;
        path.as_str()
            .filter(|path| !path.is_empty())
            .map(str::to_owned)
    }

    /// The kind of address that a text field holds, if it holds one.
    pub(super) fn address_kind(&self, field: &FieldDescriptor) -> Option<AddressKind> {
        match option_text(self.scalar.as_ref(), field).as_str() {
            "cosmos.AddressString" => Some(AddressKind::Account),
            "cosmos.ValidatorAddressString" => Some(AddressKind::ValidatorOperator),
            "cosmos.ConsensusAddressString" => Some(AddressKind::Consensus),
            _ => None,
        }
    }

    /// A message as a gateway writes it: fields by their names in the protobuf files, default
    /// values present, integers of 64 bits as text, absent messages and empty bytes as null, and
    /// decimals with a point.
    ///
    /// The value of an `Any` that nests too deeply, or whose JSON would be too large for its
    /// encoding, is written as bytes, like one of an unknown type.
    pub(super) fn to_json(&self, message: &DynamicMessage) -> Json {
        // Only values of `Any` can have too many values.
        JsonRendering {
            messages: self,
            left: None,
        }
        .message(message)
        .unwrap_or_default()
    }
}

/// The rendering of a message.
struct JsonRendering<'a> {
    messages: &'a Messages,
    /// How many values are left to the outermost `Any` around the present message, if there is one.
    left: Option<usize>,
}

impl JsonRendering<'_> {
    /// A message; `None` if too many values are in the same `Any`.
    fn message(&mut self, message: &DynamicMessage) -> Option<Json> {
        let descriptor = message.descriptor();
        match descriptor.full_name() {
            "google.protobuf.Any" => self.any(message),
            "google.protobuf.Timestamp" => {
                let text = rfc3339(u64::try_from(seconds_in(message)).unwrap_or_default());
                Some(json!(format!(
                    "{}{}Z",
                    text.trim_end_matches('Z'),
                    fraction(nanos_in(message))
                )))
            }
            "google.protobuf.Duration" => Some(json!(format!(
                "{}{}s",
                seconds_in(message),
                fraction(nanos_in(message))
            ))),
            _ => {
                let mut members = Map::new();
                for field in descriptor
                    .fields()
                    .filter(|field| !is_absent_choice(message, field))
                {
                    members.insert(field.name().to_owned(), self.field(message, &field)?);
                }
                Some(Json::Object(members))
            }
        }
    }

    fn any(&mut self, message: &DynamicMessage) -> Option<Json> {
        let text = message
            .get_field_by_name("type_url")
            .and_then(|url| url.as_str().map(str::to_owned));
        let bytes = message
            .get_field_by_name("value")
            .and_then(|value| value.as_bytes().cloned());
        let type_url = text.unwrap_or_default();
        let bytes = bytes.unwrap_or_default();

        let value = match self.left {
            // The nesting was checked for the outermost `Any`.
            Some(_) => self.value_of_any(&type_url, &bytes)?,
            None if !nests_within(&bytes, MAX_MESSAGE_LEVELS) => None,
            None => {
                self.left = Some(SPARE_VALUES + bytes.len() / 2);
                let value = self.value_of_any(&type_url, &bytes).flatten();
                self.left = None;
                value
            }
        };

        let as_bytes =
            || Map::from_iter([("value".to_owned(), json!(Base64::encode_string(&bytes)))]);
        let mut members = value.unwrap_or_else(as_bytes);
        members.insert("@type".to_owned(), type_url.into());
        Some(Json::Object(members))
    }

    /// The members of an `Any`'s value, or `Some(None)` if it cannot be decoded.
    fn value_of_any(&mut self, type_url: &str, bytes: &Bytes) -> Option<Option<Map<String, Json>>> {
        let name = type_url.rsplit('/').next().unwrap_or_default();
        let descriptor = self.messages.pool.get_message_by_name(name);
        let Some(value) = descriptor.and_then(|of| DynamicMessage::decode(of, bytes.clone()).ok())
        else {
            return Some(None);
        };
        match self.message(&value)? {
            Json::Object(members) => Some(Some(members)),
            _ => Some(None),
        }
    }

    fn field(&mut self, message: &DynamicMessage, field: &FieldDescriptor) -> Option<Json> {
        if field.supports_presence() && !message.has_field(field) {
            // Absent fields count as well: a message of a few bytes may have thousands of them.
            return self.counted(Json::Null);
        }
        match &*message.get_field(field) {
            Value::List(items) => {
                let items = items
                    .iter()
                    .map(|item| self.value(item, field))
                    .collect::<Option<Vec<_>>>()?;
                self.counted(Json::Array(items))
            }
            Value::Map(entries) => {
                let Kind::Message(entry) = field.kind() else {
                    return Some(Json::Null);
                };
                let of = entry.map_entry_value_field();
                let mut members = Map::new();
                for (key, value) in entries {
                    members.insert(key_text(key), self.value(value, &of)?);
                }
                self.counted(Json::Object(members))
            }
            value => self.value(value, field),
        }
    }

    fn value(&mut self, value: &Value, field: &FieldDescriptor) -> Option<Json> {
        let has_type =
            |name: &str| option_text(self.messages.custom_type.as_ref(), field).ends_with(name);
        let is_decimal = || has_type("Dec");
        let json = match value {
            Value::Bool(value) => json!(value),
            Value::I32(value) => json!(value),
            Value::U32(value) => json!(value),
            Value::I64(value) => json!(value.to_string()),
            Value::U64(value) => json!(value.to_string()),
            Value::F32(value) => json!(value),
            Value::F64(value) => json!(value),
            Value::String(text) if is_decimal() => json!(decimal(text)),
            Value::String(text) => json!(text),
            Value::Bytes(bytes) if is_decimal() => json!(decimal(&String::from_utf8_lossy(bytes))),
            Value::Bytes(bytes) if has_type("EthereumTx") => json!(hex::encode_prefixed(bytes)),
            Value::Bytes(bytes) if bytes.is_empty() => Json::Null,
            Value::Bytes(bytes) => json!(Base64::encode_string(bytes)),
            Value::EnumNumber(number) => match field.kind() {
                Kind::Enum(of) => of
                    .get_value(*number)
                    .map_or_else(|| json!(number), |value| json!(value.name())),
                _ => json!(number),
            },
            Value::Message(message) => self.message(message)?,
            // Neither is the item of a list or of a map.
            Value::List(_) | Value::Map(_) => Json::Null,
        };
        self.counted(json)
    }

    /// Counts a value; `None` if it is one too many.
    fn counted(&mut self, value: Json) -> Option<Json> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        Some(value)
    }
}

/// A message from its JSON, in which decimals are integers as in the binary encoding.
pub(super) fn from_json(
    descriptor: MessageDescriptor,
    json: Json,
) -> Result<DynamicMessage, serde_json::Error> {
    descriptor.deserialize(json)
}

/// The file of a message like `template` with another full name.
fn renamed(pool: &DescriptorPool, template: &str, name: &str) -> Option<FileDescriptorProto> {
    let template = pool.get_message_by_name(template)?;
    let (package, short) = name.rsplit_once('.').unwrap_or(("", name));
    let mut message = template.descriptor_proto().clone();
    message.name = Some(short.to_owned());

    let mut file = template.parent_file().file_descriptor_proto().clone();
    file.name = Some(format!("{}.proto", name.replace('.', "/")));
    file.package = Some(package.to_owned());
    file.message_type = vec![message];
    Some(file)
}

/// The text of a field's option; empty without it.
fn option_text(option: Option<&ExtensionDescriptor>, field: &FieldDescriptor) -> String {
    let Some(option) = option else {
        return String::new();
    };
    field
        .options()
        .get_extension(option)
        .as_str()
        .map(str::to_owned)
        .unwrap_or_default()
}

/// Whether a field is one of several of which another one, or none, is set.
fn is_absent_choice(message: &DynamicMessage, field: &FieldDescriptor) -> bool {
    field
        .containing_oneof()
        .is_some_and(|choice| !choice.is_synthetic())
        && !message.has_field(field)
}

/// The whole seconds of a time or a duration.
fn seconds_in(message: &DynamicMessage) -> i64 {
    message
        .get_field_by_name("seconds")
        .and_then(|value| value.as_i64())
        .unwrap_or_default()
}

fn nanos_in(message: &DynamicMessage) -> i32 {
    message
        .get_field_by_name("nanos")
        .and_then(|value| value.as_i32())
        .unwrap_or_default()
}

/// The digits after the seconds of a time.
fn fraction(nanos: i32) -> String {
    if nanos == 0 {
        String::new()
    } else {
        format!(".{nanos:09}").trim_end_matches('0').to_owned()
    }
}

/// A decimal of the SDK, which is encoded as an integer with 18 decimals. Other text, which a
/// message may have just as well, is left as it is.
fn decimal(atomics: &str) -> String {
    let (sign, digits) = atomics
        .strip_prefix('-')
        .map_or(("", atomics), |digits| ("-", digits));
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return atomics.to_owned();
    }
    let digits = format!("{digits:0>width$}", width = DECIMALS + 1);
    let (whole, part) = digits.split_at(digits.len() - DECIMALS);
    format!("{sign}{whole}.{part}")
}

fn key_text(key: &prost_reflect::MapKey) -> String {
    use prost_reflect::MapKey;
    match key {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::U64(key) => key.to_string(),
        MapKey::String(key) => key.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_descriptors_can_be_read_and_their_options_are_known() {
        let messages = Messages::new(&Network::default());
        assert!(messages.pool().services().len() > 20);
        let service = messages
            .pool()
            .get_service_by_name("cosmos.bank.v1beta1.Query")
            .expect("it is there");
        let method = service
            .methods()
            .find(|method| method.name() == "Balance")
            .expect("it is there");
        let path = messages.get_path(&method);
        assert_eq!(
            path.as_deref(),
            Some("/cosmos/bank/v1beta1/balances/{address}/by_denom")
        );
        let address = method
            .input()
            .get_field_by_name("address")
            .expect("it is there");
        assert_eq!(messages.address_kind(&address), Some(AddressKind::Account));
    }

    /// A message as it is written after it was read from this JSON and encoded.
    fn round_trip(messages: &Messages, name: &str, json: Json) -> Json {
        let descriptor = messages
            .pool()
            .get_message_by_name(name)
            .expect("it is there");
        let message = from_json(descriptor.clone(), json).expect("it is valid");
        let decoded = DynamicMessage::decode(descriptor, message.encode_to_vec().as_slice())
            .expect("it is valid");
        messages.to_json(&decoded)
    }

    #[test]
    fn messages_are_written_as_gateways_write_them() {
        let messages = Messages::new(&Network::default());
        let params =
            json!({ "unbonding_time": "1814400s", "min_commission_rate": "50000000000000000" });
        assert_eq!(
            round_trip(&messages, "cosmos.staking.v1beta1.Params", params),
            json!({
                "unbonding_time": "1814400s", "max_validators": 0, "max_entries": 0, "historical_entries": 0,
                "bond_denom": "", "min_commission_rate": "0.050000000000000000",
            })
        );
        assert_eq!(
            round_trip(
                &messages,
                "cosmos.base.query.v1beta1.PageResponse",
                json!({ "total": "7" })
            ),
            json!({ "next_key": null, "total": "7" })
        );
        let account = json!({ "@type": "/hyperpaxeer.types.v1.EthAccount", "code_hash": "0x" });
        assert_eq!(
            round_trip(
                &messages,
                "cosmos.auth.v1beta1.QueryAccountResponse",
                json!({ "account": account })
            ),
            json!({ "account": { "@type": "/hyperpaxeer.types.v1.EthAccount", "base_account": null, "code_hash": "0x" } })
        );
        assert_eq!(
            round_trip(
                &messages,
                "cosmos.gov.v1.Vote",
                json!({ "options": [{ "option": "VOTE_OPTION_YES", "weight": "1" }] })
            ),
            json!({
                "proposal_id": "0", "voter": "", "metadata": "",
                "options": [{ "option": "VOTE_OPTION_YES", "weight": "1" }],
            })
        );
    }

    #[test]
    fn times_have_the_fractions_that_they_need() {
        assert_eq!(
            (fraction(0), fraction(500_000_000), fraction(7)),
            (String::new(), ".5".into(), ".000000007".into())
        );
        assert_eq!(
            (decimal("0"), decimal("1500000000000000000")),
            ("0.000000000000000000".into(), "1.500000000000000000".into())
        );
    }

    /// An `Any` within others, with other fields around them.
    fn nested(count: usize) -> DynamicMessage {
        use tetrad_primitives::block::cosmos::proto::{Any, TxBody};
        let type_url = "/cosmos.tx.v1beta1.TxBody".to_owned();
        let value = (0..count).fold(Vec::new(), |value, _| {
            let messages = vec![Any {
                type_url: type_url.clone(),
                value,
            }];
            TxBody {
                messages,
                memo: "m".to_owned(),
                ..TxBody::default()
            }
            .encode_to_vec()
        });
        let descriptor = POOL
            .get_message_by_name("google.protobuf.Any")
            .expect("it is there");
        let encoded = Any { type_url, value }.encode_to_vec();
        DynamicMessage::decode(descriptor, encoded.as_slice()).expect("it is valid")
    }

    #[test]
    fn rendering_as_deep_as_it_goes_fits_into_a_quarter_of_a_stack() {
        // Threads have 2 MiB.
        let thread = std::thread::Builder::new()
            .stack_size(512 << 10)
            .spawn(check_deep_rendering)
            .expect("a thread");
        thread.join().expect("it does not fail");
    }

    fn check_deep_rendering() {
        let messages = Messages::new(&Network::default());
        let deepest = messages.to_json(&nested(MAX_MESSAGE_LEVELS / 2));
        assert_eq!(
            deepest.to_string().matches("TxBody").count(),
            MAX_MESSAGE_LEVELS / 2 + 1
        );
        for count in [MAX_MESSAGE_LEVELS / 2 + 1, 100, 2_000, 20_000] {
            let json = messages.to_json(&nested(count));
            assert!(
                json["value"].is_string() && json["messages"].is_null(),
                "{count}"
            );
        }
    }

    #[test]
    fn text_in_the_place_of_a_decimal_is_left_as_it_is() {
        for text in ["ééééééééééé", "1.5", "+1", "NaN"] {
            assert_eq!(decimal(text), text);
        }
        assert_eq!(decimal("-1500000000000000000"), "-1.500000000000000000");
    }
}
