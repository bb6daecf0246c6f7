//! The gateway's routes: a `GET` for every query, at the path and with the parameters that the
//! descriptors give it.

use std::{collections::BTreeSet, sync::Arc};

use alloy_primitives::{Address, address};
use axum::{
    Router,
    extract::{
        Path, Query,
        rejection::{PathRejection, QueryRejection},
    },
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri},
    response::{IntoResponse, Response},
    routing::get,
};
use base64ct::{Base64, Encoding};
use prost_reflect::{
    Cardinality, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor,
    ReflectMessage, Value as FieldValue,
};
use schemars::json_schema;
use tetrad_network::{
    account::{AddressError, Kind as AddressKind, address_to_bech32},
    network::Network,
};
use tetrad_stdx::text::excerpt;
use tetrad_web::{
    Api, Failure, Operation,
    parameters::{Parameter, ParameterPlace},
};

use super::{
    Gateway,
    error::GatewayError,
    queries::Method,
    sdk_reply::{SdkBody, SdkReply},
    tx_rest,
};

/// The header of requests that names the height of the state.
pub(super) const HEIGHT_HEADER: &str = "x-cosmos-block-height";
/// The header of the gateway's responses with the height that they are for.
const ANSWERED_HEIGHT: HeaderName = HeaderName::from_static("grpc-metadata-x-cosmos-block-height");

/// The parameters of a path or of a query.
type Pairs = Vec<(String, String)>;

/// The routes of the gateway, with their description.
pub(super) fn router(gateway: &Gateway) -> (Router, Vec<Operation>) {
    let (mut router, mut operations) =
        tx_rest::routes(Api::new("Cosmos")).with_state(gateway.clone());
    let mut taken = BTreeSet::new();
    for method in gateway.methods.iter() {
        let path = gateway.messages.get_path(&method.descriptor);
        // Routes of IBC would make wallets offer transfers to other chains.
        let path = path.filter(|path| !path.starts_with("/ibc/"));
        // Two methods have the same path in the SDK as well.
        let Some(path) =
            path.filter(|path| taken.insert(path.replace("address_string", "address_bytes")))
        else {
            continue;
        };

        let path = PathTemplate::new(&path);
        operations.push(describe(gateway, method, &path));
        let gateway = gateway.clone();
        let method = Arc::new(method.clone());
        let handler = move |path: Result<Path<Pairs>, PathRejection>,
                            query: Result<Query<Pairs>, QueryRejection>,
                            headers: HeaderMap| {
            let gateway = gateway.clone();
            let method = method.clone();
            async move { answer(&gateway, &method, path?.0, query?.0, &headers).await }
        };
        router = router.route(&path.route, get(handler));
    }

    // A gateway takes the empty text behind the slash for the address.
    router = router.route("/cosmos/auth/v1beta1/accounts/", get(no_address));
    (
        router.method_not_allowed_fallback(not_implemented),
        operations,
    )
}

/// A path of the descriptors, such as `/cosmos/bank/v1beta1/denoms_metadata/{denom=**}`.
struct PathTemplate {
    /// The path as the router takes it.
    route: String,
    /// The path as the OpenAPI document has it.
    described: String,
    /// The names of the parameters in it.
    names: Vec<String>,
}

impl PathTemplate {
    fn new(path: &str) -> Self {
        let mut template = Self {
            route: String::new(),
            described: String::new(),
            names: Vec::new(),
        };
        for segment in path.split('/').skip(1) {
            let Some(name) = segment
                .strip_prefix('{')
                .and_then(|name| name.strip_suffix('}'))
            else {
                template.route.push_str(&format!("/{segment}"));
                template.described.push_str(&format!("/{segment}"));
                continue;
            };
            let (name, star) = name
                // The pattern of `google.api.http` for the rest of the path.
                .strip_suffix("=**")
                .map_or((name, ""), |name| (name, "*"));
            template.route.push_str(&format!("/{{{star}{name}}}"));
            template.described.push_str(&format!("/{{{name}}}"));
            template.names.push(name.to_owned());
        }
        template
    }
}

/// Answers a request for a query.
async fn answer(
    gateway: &Gateway,
    method: &Method,
    path: Pairs,
    query: Pairs,
    headers: &HeaderMap,
) -> Result<Response, GatewayError> {
    let mut request = DynamicMessage::new(method.descriptor.input());
    // The path decides: a query cannot ask about another account than its address.
    for (name, text) in query.iter().chain(&path) {
        set(&mut request, name, text).map_err(|error| {
            let text = excerpt(text, 100);
            GatewayError::InvalidArgument(format!(
                "type mismatch, parameter: {name}, error: {error}, got {text:?}"
            ))
        })?;
    }

    let height = headers
        .get(HEIGHT_HEADER)
        .map(|value| height(value.as_bytes()))
        .transpose()?;

    let (body, height) = gateway
        .ask(
            method,
            || Ok(request),
            height,
            |gateway, method, content| content.json(gateway, method),
        )
        .await?;
    Ok((
        [(ANSWERED_HEIGHT, HeaderValue::from(height))],
        SdkReply(body),
    )
        .into_response())
}

/// A height in the header of a request.
pub(super) fn height(text: &[u8]) -> Result<u64, GatewayError> {
    let height = std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.trim().parse().ok());
    height.ok_or_else(|| {
        GatewayError::InvalidArgument(format!("{HEIGHT_HEADER}: expected the height of a block"))
    })
}

/// Sets a field from the text of a parameter. `pagination.limit` is the field of a field; unknown
/// fields are ignored.
fn set(message: &mut DynamicMessage, name: &str, text: &str) -> Result<(), String> {
    let (name, rest) = name
        .split_once('.')
        .map_or((name, None), |(name, rest)| (name, Some(rest)));

    let descriptor = message.descriptor();
    // Gateways accept a field's name in JSON as well.
    let field = descriptor
        .get_field_by_name(name)
        .or_else(|| descriptor.get_field_by_json_name(name));

    let Some(field) = field else { return Ok(()) };

    match (rest, field.kind()) {
        (Some(rest), Kind::Message(_)) if !field.is_list() && !field.is_map() => {
            match message.get_field_mut(&field).as_message_mut() {
                Some(inner) => set(inner, rest, text),
                None => Ok(()),
            }
        }
        (Some(_), _) | (None, Kind::Message(_)) => Ok(()),
        (None, kind) => {
            let value = parse(&kind, text)?;
            match message.get_field_mut(&field).as_list_mut() {
                Some(items) => items.push(value),
                None => message.set_field(&field, value),
            }
            Ok(())
        }
    }
}

/// A scalar of a kind from its text.
fn parse(kind: &Kind, text: &str) -> Result<FieldValue, String> {
    fn read<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, String> {
        text.parse().map_err(|error: T::Err| error.to_string())
    }
    Ok(match kind {
        Kind::String => FieldValue::String(text.to_owned()),
        Kind::Bool => FieldValue::Bool(read(text)?),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => FieldValue::I32(read(text)?),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => FieldValue::I64(read(text)?),
        Kind::Uint32 | Kind::Fixed32 => FieldValue::U32(read(text)?),
        Kind::Uint64 | Kind::Fixed64 => FieldValue::U64(read(text)?),
        Kind::Float => FieldValue::F32(read(text)?),
        Kind::Double => FieldValue::F64(read(text)?),
        Kind::Bytes => {
            // Keys of pages contain characters that clients may write in the form for URLs.
            let standard = text.replace('-', "+").replace('_', "/");
            let bytes = Base64::decode_vec(&standard).map_err(|_| "expected base64".to_owned())?;
            FieldValue::Bytes(bytes.into())
        }
        Kind::Enum(of) => {
            let number = of
                .get_value_by_name(text)
                .map(|value| value.number())
                .or_else(|| text.parse().ok());
            // An empty text stands for no choice.
            let number = number.or_else(|| Some(0).filter(|_| text.is_empty()));
            FieldValue::EnumNumber(
                number.ok_or_else(|| format!("expected a value of {}", of.name()))?,
            )
        }
        Kind::Message(_) => return Err("expected a scalar".to_owned()),
    })
}

async fn no_address() -> GatewayError {
    AddressError::Empty.into()
}

/// The response to a route of other gateways.
pub(super) async fn not_implemented() -> GatewayError {
    GatewayError::Unimplemented("Not Implemented")
}

/// The response to a path of no route. Those that other gateways have are answered with 501.
pub(super) async fn unknown_route(uri: Uri) -> Response {
    if is_of_gateway(uri.path()) {
        return not_implemented().await.into_response();
    }
    StatusCode::NOT_FOUND.into_response()
}

/// Whether a path is one of a gateway: of a known module, or with a version such as `v1beta1` after
/// the module.
fn is_of_gateway(path: &str) -> bool {
    let mut segments = path.trim_start_matches('/').split('/');
    match segments.next() {
        Some("cosmos" | "cosmwasm" | "ethermint" | "feemarket" | "ibc") => true,
        Some("api" | "") | None => false,
        Some(_) => segments.any(is_version),
    }
}

/// Whether a segment of a path is a version: `v1`, `v1beta1` or `v1alpha1`.
fn is_version(segment: &str) -> bool {
    let Some(number) = segment.strip_prefix('v') else {
        return false;
    };
    let rest = number.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let level = rest
        .strip_prefix("alpha")
        .or_else(|| rest.strip_prefix("beta"))
        .unwrap_or(rest);
    number.starts_with(|letter: char| letter.is_ascii_digit())
        && level.bytes().all(|digit| digit.is_ascii_digit())
}

/// Describes the route of a query.
fn describe(gateway: &Gateway, method: &Method, path: &PathTemplate) -> Operation {
    let input = method.descriptor.input();
    let in_path = path
        .names
        .iter()
        .filter_map(|name| input.get_field_by_name(name));
    let mut parameters: Vec<_> = in_path
        .map(|field| {
            parameter(
                gateway,
                &field,
                field.name().to_owned(),
                ParameterPlace::Path,
            )
        })
        .collect();
    describe_query(gateway, &input, "", &path.names, &mut parameters);
    Operation::new("Cosmos", method.query.summary)
        .at("get", path.described.clone())
        .named(operation_id(&method.descriptor))
        .parameters(parameters)
        .returns::<SdkBody>()
        .fails::<GatewayError>(<GatewayError as Failure>::STATUSES)
}

/// The name of a query for programs: that of its module and its own. `AllBalances` of
/// `cosmos.bank.v1beta1` is `getBankAllBalances`, and `GetTx` of `cosmos.tx.v1beta1` is `getTx`;
/// other versions than the usual one are named.
fn operation_id(method: &MethodDescriptor) -> String {
    let words = method.parent_service().package_name().split('.');
    let words = words.filter(|word| !matches!(*word, "cosmos" | "v1beta1"));
    let capitalized = words.flat_map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        [first.to_ascii_uppercase(), rest.to_owned()]
    });
    let module: String = capitalized.collect();

    let name = method.name().strip_prefix("Get").unwrap_or(method.name());
    if name.starts_with(&module) {
        format!("get{name}")
    } else {
        format!("get{module}{name}")
    }
}

/// Describes the parameters in the query: all scalars, and those of the page.
fn describe_query(
    gateway: &Gateway,
    message: &MessageDescriptor,
    prefix: &str,
    in_path: &[String],
    parameters: &mut Vec<Parameter>,
) {
    for field in message.fields() {
        let name = format!("{prefix}{}", field.name());
        match field.kind() {
            Kind::Message(of) if of.name() == "PageRequest" => {
                describe_query(gateway, &of, "pagination.", &[], parameters);
            }
            Kind::Message(_) => {}
            _ if in_path.contains(&name) || field.cardinality() == Cardinality::Repeated => {}
            _ => parameters.push(parameter(gateway, &field, name, ParameterPlace::Query)),
        }
    }
}

fn parameter(
    gateway: &Gateway,
    field: &FieldDescriptor,
    name: String,
    place: ParameterPlace,
) -> Parameter {
    let address = gateway.messages.address_kind(field);
    let (schema, example) = match field.kind() {
        Kind::Bool => (json_schema!({ "type": "boolean" }), "false".to_owned()),
        Kind::Int32 | Kind::Int64 | Kind::Uint32 | Kind::Uint64 => (
            json_schema!({ "type": "integer", "minimum": 0, "format": "height" }),
            "0".to_owned(),
        ),
        Kind::Bytes if place == ParameterPlace::Path => (
            json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9_-]{26}[AEIMQUYcgkosw048]=$" }),
            BYTES.to_owned(),
        ),
        Kind::Bytes => (
            json_schema!({ "type": "string", "pattern": "^([A-Za-z0-9+/]{4})*$" }),
            String::new(),
        ),
        Kind::Enum(of) => {
            let names: Vec<_> = of.values().map(|value| value.name().to_owned()).collect();
            // A choice has a number as well.
            (
                json_schema!({ "anyOf": [{ "type": "string", "enum": names }, { "type": "integer" }] }),
                String::new(),
            )
        }
        _ => match address {
            Some(kind) => {
                let format = match kind {
                    AddressKind::Account => "account-address",
                    AddressKind::ValidatorOperator => "operator-address",
                    AddressKind::Consensus => "consensus-address",
                };
                (
                    json_schema!({ "type": "string", "format": format }),
                    address_to_bech32(&ACCOUNT, &gateway.network.hrp, kind),
                )
            }
            None => (
                json_schema!({ "type": "string" }),
                text_example(&gateway.network, field.name()),
            ),
        },
    };

    let description = match (address, field.name()) {
        (Some(AddressKind::Account), _) => "An account: bech32 or hex.".to_owned(),
        (Some(_), _) => "A bech32 address.".to_owned(),
        (None, name) => describe_field(name),
    };

    Parameter::described(name, place, description, schema, example)
}

/// The description of a field by its name, which means the same in all modules.
fn describe_field(name: &str) -> String {
    let known = match name {
        "key" => {
            "The `next_key` of the page before, instead of `pagination.offset`; of storage, the slot."
        }
        "offset" => "Entries to skip.",
        "limit" => "Entries of a page at most.",
        "count_total" => "Whether to count all entries.",
        "reverse" => "Whether the last entries come first.",
        "height" => "The height of a block.",
        "denom" => "A coin by its base denomination, such as `ahpx`.",
        "resolve_denom" => "Whether to show coins by the name in their metadata.",
        "hash" => "The hash of a transaction, in hexadecimal digits without prefix.",
        "proposal_id" => "The number of a proposal.",
        "query" => "A condition on events, such as `tx.height = 5`.",
        "order_by" => "The order of the transactions.",
        "page" => "The number of a page, from 1.",
        "prove" => "Whether to add a proof.",
        "path" => "The query that `data` encodes, such as `/cosmos.auth.v1beta1.Query/Params`.",
        "data" => "The request in protobuf's encoding, in base64.",
        "id" | "account_id" => "The number of an account.",
        _ => return format!("The field `{name}` of the request."),
    };
    known.to_owned()
}

/// The account that examples name, the first of development chains.
const ACCOUNT: Address = address!("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
/// Its bytes, as a path has them.
const BYTES: &str = "85_W5RqtiPb0zmq4gnJ5z_-5ImY=";

/// A text that a field may have.
fn text_example(network: &Network, name: &str) -> String {
    let example = match name {
        "address_string" => return address_to_bech32(&ACCOUNT, &network.hrp, AddressKind::Account),
        "denom" => &network.denomination,
        "hash" => "0000000000000000000000000000000000000000000000000000000000000000",
        "key" => "0x0",
        "name" => "bonded_tokens_pool",
        "params_type" => "voting",
        "path" => "/cosmos.auth.v1beta1.Query/Params",
        "subspace" => "staking",
        _ => "x",
    };
    example.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_gateways_have_versions() {
        for path in [
            "/cosmos",
            "/cosmos/",
            "/cosmos/nft/v1beta1/classes",
            "/ibc/apps/x",
            "/osmosis/gamm/v1beta1/pools",
            "/evmos/erc20/v1/params",
            "/a/v2alpha1/b",
        ] {
            assert!(is_of_gateway(path), "{path}");
        }
        for path in [
            "/",
            "/x",
            "/api/v1/x",
            "/v1/x",
            "/vault/very/vx",
            "/docs/v1x/",
            "/assets/v/x",
        ] {
            assert!(!is_of_gateway(path), "{path}");
        }
    }

    #[test]
    fn templates_have_parameters_to_the_end_of_the_path() {
        let template = PathTemplate::new("/a/v1/{id}/b/{rest=**}");
        assert_eq!(
            (template.route.as_str(), template.described.as_str()),
            ("/a/v1/{id}/b/{*rest}", "/a/v1/{id}/b/{rest}")
        );
        assert_eq!(template.names, ["id", "rest"]);
    }
}
