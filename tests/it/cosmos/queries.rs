//! Each query over REST, gRPC and `abci_query`.

use alloy::hex;
use base64ct::{Base64, Encoding};
use prost::Message;
use prost_reflect::{
    DescriptorPool, DynamicMessage, Kind, MethodDescriptor, ReflectMessage, SerializeOptions,
    Value as Field,
};
use serde_json::{Value, json};

use crate::support::{TestNode, grpc::GrpcClient, node, node_with, number};

fn pool() -> DescriptorPool {
    DescriptorPool::decode(&include_bytes!("../../../proto/descriptors.binpb")[..])
        .expect("descriptors")
}

/// The path of a method's `GET`.
fn path_of(pool: &DescriptorPool, method: &MethodDescriptor) -> Option<String> {
    let http = pool
        .get_extension_by_name("google.api.http")
        .expect("it is there");
    let options = method.options();
    let rule = options.get_extension(&http);
    let path = rule
        .as_message()?
        .get_field_by_name("get")?
        .as_str()?
        .replace("=**}", "}");
    Some(path).filter(|path| !path.is_empty())
}

fn set(message: &mut DynamicMessage, name: &str, text: &str) {
    if let Some((outer, inner)) = name.split_once('.') {
        let field = message
            .descriptor()
            .get_field_by_name(outer)
            .expect("a field");
        return set(
            message
                .get_field_mut(&field)
                .as_message_mut()
                .expect("a message"),
            inner,
            text,
        );
    }

    let field = message
        .descriptor()
        .get_field_by_name(name)
        .expect("a field");

    let value = match field.kind() {
        Kind::String => Field::String(text.to_owned()),
        Kind::Bool => Field::Bool(text == "true"),
        Kind::Int64 => Field::I64(text.parse().expect("a number")),
        Kind::Uint64 => Field::U64(text.parse().expect("a number")),
        Kind::Bytes => Field::Bytes(
            Base64::decode_vec(&text.replace('-', "+").replace('_', "/"))
                .expect("base64")
                .into(),
        ),
        Kind::Enum(values) => Field::EnumNumber(
            values
                .get_value_by_name(text)
                .map_or(0, |value| value.number()),
        ),
        kind => panic!("{name}: {kind:?}"),
    };

    message.set_field(&field, value);
}

async fn abci(node: &TestNode, name: &str, data: &[u8], height: u64) -> Value {
    let params = json!({ "path": format!("/{name}"), "data": hex::encode(data), "height": height.to_string() });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "abci_query", "params": params });
    let response = node
        .http
        .post(node.rest_url())
        .json(&body)
        .send()
        .await
        .expect("an answer");
    response.json::<Value>().await.expect("JSON")["result"]["response"].clone()
}

/// Whether the gateway's JSON is equivalent to protobuf's JSON of the same message.
fn same(gateway: &Value, message: &Value) -> bool {
    let integer = |text: &str| text.trim_start_matches('0').to_owned();
    match (gateway, message) {
        (Value::Object(gateway), Value::Object(message)) => message
            .iter()
            .all(|(name, value)| gateway.get(name).is_some_and(|other| same(other, value))),
        (Value::Array(gateway), Value::Array(message)) => {
            gateway.len() == message.len()
                && gateway
                    .iter()
                    .zip(message)
                    .all(|(one, other)| same(one, other))
        }
        // Empty bytes.
        (Value::Null, Value::String(text)) => text.is_empty(),
        // Decimals, as text or as bytes.
        (Value::String(decimal), Value::String(text)) if decimal != text => {
            let bytes = Base64::decode_vec(text)
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok());
            let digits = integer(&decimal.replace('.', ""));
            digits == integer(text) || bytes.is_some_and(|text| digits == integer(&text))
        }
        (gateway, message) => gateway == message,
    }
}

/// Over REST, the base fee is in whole wei.
const IN_WHOLE_WEI: &str = "/cosmos/evm/feemarket/v1/base_fee";

#[tokio::test]
async fn each_query_has_the_same_answer_on_every_interface() {
    let node = node().await;
    let transaction = json!([{ "from": node.account(0), "to": node.account(1), "value": "0x5" }]);
    node.rpc("eth_sendTransaction", transaction).await;
    node.mine().await;

    let document = node.get_json("/openapi.json").await;
    let mut grpc = GrpcClient::connect(node.address()).await;
    let mut pool = pool();
    // The network's own account and key are described by reflection.
    let own = grpc_file(&mut grpc, "hyperpaxeer.types.v1.EthAccount").await;
    let key = grpc_file(&mut grpc, "hyperpaxeer.crypto.v1.ethsecp256k1.PubKey").await;
    pool.decode_file_descriptor_proto(key.as_slice())
        .expect("a file");
    pool.decode_file_descriptor_proto(own.as_slice())
        .expect("a file");

    let mut compared = 0;
    let mut refused = 0;
    for method in pool
        .services()
        .flat_map(|service| service.methods().collect::<Vec<_>>())
    {
        let Some(path) = path_of(&pool, &method) else {
            continue;
        };
        let operation = &document["paths"][&path]["get"];
        let parameters = operation["parameters"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        if operation.is_null() || !takes_all(&method, parameters) {
            continue;
        }

        let (url, request) = example(&path, &method, parameters);
        if compare(&node, &mut grpc, &method, &path, &url, &request).await {
            compared += 1;
        } else {
            refused += 1;
        }
    }
    assert!(compared > 80 && refused > 10, "{compared} {refused}");
    node.end().await;
}

/// Whether every parameter of a path or query is a field of the method's message.
fn takes_all(method: &MethodDescriptor, parameters: &[Value]) -> bool {
    let input = method.input();
    parameters.iter().all(|parameter| {
        let name = parameter["name"].as_str().expect("a name");
        let field = name.split('.').next().expect("a name");
        input.get_field_by_name(field).is_some()
    })
}

/// The address and the message with the parameters' examples.
fn example(
    path: &str,
    method: &MethodDescriptor,
    parameters: &[Value],
) -> (String, DynamicMessage) {
    let mut filled = path.to_owned();
    let mut query = Vec::new();
    let mut request = DynamicMessage::new(method.input());

    for parameter in parameters {
        let name = parameter["name"].as_str().expect("a name");
        // A parameter without an example is omitted.
        if parameter["example"].is_null() {
            continue;
        }

        // Numbers and booleans are written without quotes.
        let example = parameter["example"]
            .as_str()
            .map_or_else(|| parameter["example"].to_string(), str::to_owned);
        set(&mut request, name, &example);
        match parameter["in"].as_str() {
            Some("path") => {
                filled = filled.replace(&format!("{{{name}}}"), example.trim_start_matches('/'));
            }
            _ => query.push(format!("{name}={example}")),
        }
    }

    (format!("{filled}?{}", query.join("&")), request)
}

/// Compares the answers over REST, gRPC and ABCI. Returns whether the query was answered rather
/// than refused.
async fn compare(
    node: &TestNode,
    grpc: &mut GrpcClient,
    method: &MethodDescriptor,
    path: &str,
    url: &str,
    request: &DynamicMessage,
) -> bool {
    let name = format!("{}/{}", method.parent_service().full_name(), method.name());
    let response = node.get(url).await;
    let status = response.status();
    let rest: Value = response.json().await.expect("JSON");
    let encoded = request.encode_to_vec();
    let over_grpc = grpc.call(&format!("/{name}"), &encoded, None).await;
    let over_abci = abci(node, &name, &encoded, 0).await;

    if !status.is_success() {
        assert_eq!(
            rest["code"], over_grpc.code,
            "{name}: {rest} {}",
            over_grpc.message
        );
        assert!(
            over_abci["log"]
                .as_str()
                .expect("text")
                .contains(rest["message"].as_str().expect("text")),
            "{name}"
        );
        return false;
    }

    assert_eq!(
        (over_grpc.code, &over_abci["code"]),
        (0, &0.into()),
        "{name}: {} {over_abci}",
        over_grpc.message
    );
    assert_eq!(
        Base64::decode_vec(over_abci["value"].as_str().expect("text")).expect("base64"),
        over_grpc.body,
        "{name}"
    );
    let height = over_grpc.headers["x-cosmos-block-height"]
        .to_str()
        .expect("text");
    assert_eq!((&over_abci["height"], height), (&"2".into(), "2"), "{name}");

    let message = DynamicMessage::decode(method.output(), over_grpc.body.as_slice())
        .expect("the response's message");
    let options = SerializeOptions::new()
        .use_proto_field_name(true)
        .skip_default_fields(false);
    let message = message
        .serialize_with_options(serde_json::value::Serializer, &options)
        .expect("JSON");
    if path != IN_WHOLE_WEI {
        assert!(same(&rest, &message), "{name}: {rest} {message}");
    }
    true
}

/// The file descriptor with a symbol, from reflection.
async fn grpc_file(grpc: &mut GrpcClient, symbol: &str) -> Vec<u8> {
    use tonic_reflection::pb::v1::{
        ServerReflectionRequest, ServerReflectionResponse,
        server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
    };
    let request = Some(MessageRequest::FileContainingSymbol(symbol.to_owned()));
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: request,
    };
    let request = request.encode_to_vec();
    let answer = grpc
        .call(
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            &request,
            None,
        )
        .await;
    let answer = ServerReflectionResponse::decode(answer.body.as_slice()).expect("a response");
    match answer.message_response {
        Some(MessageResponse::FileDescriptorResponse(files)) => {
            files.file_descriptor_proto[0].clone()
        }
        other => panic!("{symbol}: {other:?}"),
    }
}

#[tokio::test]
async fn past_states_are_queried_by_height() {
    let node = node().await;
    let address = tetrad::account::address_to_bech32(
        &node.account(1),
        &node.config().network.hrp,
        tetrad::account::Kind::Account,
    );

    let before = number(
        &node
            .rpc("eth_getBalance", json!([node.account(1), "latest"]))
            .await,
    );
    for _ in 0..3 {
        let transaction =
            json!([{ "from": node.account(0), "to": node.account(1), "value": "0x5" }]);
        node.rpc("eth_sendTransaction", transaction).await;
    }

    let mut grpc = GrpcClient::connect(node.address()).await;
    let method = "cosmos.bank.v1beta1.Query/Balance";
    let path = format!("/cosmos/bank/v1beta1/balances/{address}/by_denom?denom=ahpx");

    let descriptor = pool()
        .get_message_by_name("cosmos.bank.v1beta1.QueryBalanceRequest")
        .expect("it is there");
    let mut request = DynamicMessage::new(descriptor);
    set(&mut request, "address", &address);
    set(&mut request, "denom", "ahpx");
    let request = request.encode_to_vec();

    for height in 1..=3u64 {
        let url = format!("{}{path}", node.rest_url());
        let response = node
            .http
            .get(url)
            .header("x-cosmos-block-height", height.to_string())
            .send()
            .await
            .expect("an answer");
        assert_eq!(
            response.headers()["grpc-metadata-x-cosmos-block-height"],
            height.to_string().as_str()
        );

        let body: Value = response.json().await.expect("JSON");
        assert_eq!(
            body["balance"]["amount"],
            (before + 5 * u128::from(height)).to_string()
        );

        let over_abci = abci(&node, method, &request, height).await;
        assert_eq!(over_abci["height"], height.to_string());

        let over_grpc = grpc
            .call(&format!("/{method}"), &request, Some(&height.to_string()))
            .await;
        assert_eq!(
            over_grpc.headers["x-cosmos-block-height"],
            height.to_string().as_str()
        );

        assert_eq!(over_abci["value"], Base64::encode_string(&over_grpc.body));
        assert!(
            String::from_utf8_lossy(&over_grpc.body)
                .contains(body["balance"]["amount"].as_str().expect("text"))
        );
    }

    let future = abci(&node, method, &request, 9).await;
    assert_eq!(
        (&future["code"], &future["codespace"]),
        (&26.into(), &"sdk".into()),
        "{future}"
    );

    for wrong in ["9", "x", "-1"] {
        assert_eq!(
            grpc.call(&format!("/{method}"), &request, Some(wrong))
                .await
                .code,
            3,
            "{wrong}"
        );

        let request = node
            .http
            .get(format!("{}{path}", node.rest_url()))
            .header("x-cosmos-block-height", wrong);
        assert_eq!(
            request.send().await.expect("an answer").status(),
            400,
            "{wrong}"
        );
    }
    node.end().await;
}

/// Regression test: CosmJS takes a height of 0 for none, so every query failed before the first
/// block.
#[tokio::test]
async fn the_first_state_is_queried_at_a_nonzero_height() {
    let node = node().await;
    let response = abci(&node, "cosmos.auth.v1beta1.Query/Bech32Prefix", &[], 0).await;
    assert_eq!(
        (&response["code"], &response["height"]),
        (&0.into(), &"1".into())
    );
    assert_eq!(
        abci(&node, "cosmos.auth.v1beta1.Query/Bech32Prefix", &[], 1).await,
        response
    );
    node.end().await;
}

/// Regression test: the type's name changed, but its shape did not.
#[tokio::test]
async fn an_account_has_the_shape_of_its_named_type() {
    let base = "/cosmos.auth.v1beta1.BaseAccount";
    let node = node_with(|config| config.network.account_type = base.to_owned()).await;
    let hrp = &node.config().network.hrp;
    let address =
        tetrad::account::address_to_bech32(&node.account(0), hrp, tetrad::account::Kind::Account);
    let body = node
        .get_json(&format!("/cosmos/auth/v1beta1/accounts/{address}"))
        .await;
    let expected = json!({ "@type": base, "address": address, "pub_key": null, "account_number": "0", "sequence": "0" });
    assert_eq!(body, json!({ "account": expected }));

    let pool = pool();
    let mut request = DynamicMessage::new(
        pool.get_message_by_name("cosmos.auth.v1beta1.QueryAccountRequest")
            .expect("a message"),
    );
    set(&mut request, "address", &address);

    let response = abci(
        &node,
        "cosmos.auth.v1beta1.Query/Account",
        &request.encode_to_vec(),
        0,
    )
    .await;
    let bytes = Base64::decode_vec(response["value"].as_str().expect("text")).expect("base64");

    let mut grpc = GrpcClient::connect(node.address()).await;
    assert_eq!(
        grpc.call(
            "/cosmos.auth.v1beta1.Query/Account",
            &request.encode_to_vec(),
            None
        )
        .await
        .body,
        bytes
    );

    let descriptor = pool
        .get_message_by_name("cosmos.auth.v1beta1.QueryAccountResponse")
        .expect("a message");
    let message = DynamicMessage::decode(descriptor, bytes.as_slice()).expect("the response");
    assert_eq!(
        serde_json::to_value(&message).expect("JSON")["account"],
        json!({ "@type": base, "address": address })
    );
    node.end().await;
}

async fn supply(node: &TestNode) -> u128 {
    let body = node
        .get_json("/cosmos/bank/v1beta1/supply/by_denom?denom=ahpx")
        .await;
    body["amount"]["amount"]
        .as_str()
        .expect("text")
        .parse()
        .expect("a number")
}

#[tokio::test]
async fn the_supply_is_the_sum_of_balances() {
    let node = node().await;
    let before = supply(&node).await;
    assert!(before >= 10 * 10_000 * 10u128.pow(18));

    let more = before
        - number(
            &node
                .rpc("eth_getBalance", json!([node.account(2), "latest"]))
                .await,
        )
        + 7;

    node.rpc("anvil_setBalance", json!([node.account(2), "0x7"]))
        .await;
    assert_eq!(supply(&node).await, more);

    let all = node.get_json("/cosmos/bank/v1beta1/supply").await;
    assert_eq!(
        all["supply"],
        json!([{ "denom": "ahpx", "amount": more.to_string() }])
    );

    let none = node
        .get_json("/cosmos/bank/v1beta1/supply/by_denom?denom=uatom")
        .await;
    assert_eq!(none["amount"], json!({ "denom": "uatom", "amount": "0" }));
    node.end().await;
}

#[tokio::test]
async fn accounts_are_listed_page_by_page() {
    let node = node().await;
    let whole = node
        .get_json("/cosmos/auth/v1beta1/accounts?pagination.limit=1000")
        .await;
    let all = whole["accounts"].as_array().expect("a list").clone();
    assert_eq!(
        whole["pagination"],
        json!({ "next_key": null, "total": all.len().to_string() })
    );

    let mut listed = Vec::new();
    let mut key = String::new();
    loop {
        let page = node
            .get_json(&format!(
                "/cosmos/auth/v1beta1/accounts?pagination.limit=7&pagination.key={key}"
            ))
            .await;
        listed.extend(page["accounts"].as_array().expect("a list").clone());
        let Some(next) = page["pagination"]["next_key"].as_str() else {
            break;
        };
        key = next.replace('+', "%2B");
    }
    assert_eq!(listed, all);

    let from = node
        .get_json("/cosmos/auth/v1beta1/accounts?pagination.offset=3&pagination.limit=1")
        .await;
    assert_eq!(from["accounts"][0], all[3]);

    let first = node.get_json("/cosmos/auth/v1beta1/address_by_id/1").await;
    let expected = tetrad::account::address_to_bech32(
        &node.account(1),
        &node.config().network.hrp,
        tetrad::account::Kind::Account,
    );
    assert_eq!(first["account_address"], expected);
    node.end().await;
}

#[tokio::test]
async fn the_evm_is_queried_under_both_names() {
    let node = node().await;

    let vault = crate::support::chain::VAULT;
    let nonce = node
        .rpc("eth_getTransactionCount", json!([vault, "latest"]))
        .await;
    let code = node.rpc("eth_getCode", json!([vault, "latest"])).await;
    let code = Base64::encode_string(&hex::decode(code.as_str().expect("text")).expect("hex"));

    for prefix in ["/cosmos/evm/vm/v1", "/ethermint/evm/v1"] {
        let account = node.get_json(&format!("{prefix}/account/{vault}")).await;
        assert_eq!(
            (&account["balance"], &account["nonce"]),
            (&"0".into(), &number(&nonce).to_string().into())
        );

        assert_eq!(
            node.get_json(&format!("{prefix}/codes/{vault}")).await,
            json!({ "code": code })
        );

        let slot = node
            .rpc("eth_getStorageAt", json!([vault, "0x0", "latest"]))
            .await;
        assert_eq!(
            node.get_json(&format!("{prefix}/storage/{vault}/0x0"))
                .await,
            json!({ "value": slot })
        );
        assert_eq!(
            node.get(&format!("{prefix}/storage/{vault}/xyz"))
                .await
                .status(),
            400
        );

        assert_eq!(
            node.get_json(&format!("{prefix}/params")).await["params"]["evm_denom"],
            "ahpx"
        );

        let empty = node
            .get_json(&format!(
                "{prefix}/balances/0x00000000000000000000000000000000000000aa"
            ))
            .await;
        assert_eq!(empty, json!({ "balance": "0" }));
    }

    let params = node.get_json("/cosmos/evm/feemarket/v1/params").await;
    let whole = node.get_json("/ethermint/feemarket/v1/params").await;
    let fee = whole["params"]["base_fee"].as_str().expect("text");
    assert_eq!(
        params["params"]["base_fee"],
        format!("{fee}.000000000000000000")
    );
    node.end().await;
}

#[tokio::test]
async fn a_query_cannot_select_another_account_than_its_path() {
    let node = node().await;
    let balances = "/cosmos/bank/v1beta1/balances";
    let account = node.account(0);
    let other = node.treasury().address();
    let own = node.get_json(&format!("{balances}/{account}")).await;
    let others = node.get_json(&format!("{balances}/{other}")).await;
    assert_ne!(own, others);

    let path = format!("{balances}/{account}?address={other}");
    assert_eq!(node.get_json(&path).await, own);
    node.end().await;
}
