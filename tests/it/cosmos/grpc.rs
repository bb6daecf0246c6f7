//! gRPC: its listeners, the services that reflection lists, and refused calls.

use prost::Message;

use super::free;
use crate::support::{grpc::GrpcClient, node, node_with};

const REFLECTION: &str = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

async fn services(grpc: &mut GrpcClient) -> Vec<String> {
    use tonic_reflection::pb::v1::{
        ServerReflectionRequest, ServerReflectionResponse,
        server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
    };
    let request = Some(MessageRequest::ListServices(String::new()));
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: request,
    }
    .encode_to_vec();
    let v1 = grpc.call(REFLECTION, &request, None).await;
    // The messages of both versions are the same.
    let alpha = grpc
        .call(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            &request,
            None,
        )
        .await;
    assert_eq!(v1.body, alpha.body);
    match ServerReflectionResponse::decode(v1.body.as_slice())
        .expect("a response")
        .message_response
    {
        Some(MessageResponse::ListServicesResponse(list)) => {
            list.service.into_iter().map(|one| one.name).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn reflection_lists_the_services_on_every_port_with_grpc() {
    let node = node_with(|config| config.grpc_listen = free()).await;
    let own = node
        .grpc_url()
        .expect("its own port")
        .trim_start_matches("http://")
        .parse()
        .expect("an address");

    let mut lists = Vec::new();
    for address in [node.address(), own] {
        lists.push(services(&mut GrpcClient::connect(address).await).await);
    }
    assert_eq!(lists[0], lists[1]);

    for expected in [
        "cosmos.auth.v1beta1.Query",
        "cosmos.bank.v1beta1.Query",
        "cosmos.base.node.v1beta1.Service",
        "cosmos.base.tendermint.v1beta1.Service",
        "cosmos.distribution.v1beta1.Query",
        "cosmos.evm.feemarket.v1.Query",
        "cosmos.evm.vm.v1.Query",
        "cosmos.gov.v1.Query",
        "cosmos.gov.v1beta1.Query",
        "cosmos.mint.v1beta1.Query",
        "cosmos.slashing.v1beta1.Query",
        "cosmos.staking.v1beta1.Query",
        "cosmos.tx.v1beta1.Service",
        "ethermint.evm.v1.Query",
        "grpc.reflection.v1.ServerReflection",
    ] {
        assert!(
            lists[0].iter().any(|name| name == expected),
            "{expected}: {:?}",
            lists[0]
        );
    }

    assert!(
        !lists[0]
            .iter()
            .any(|name| name.contains("Msg") || name.contains("ABCI")),
        "{:?}",
        lists[0]
    );
    node.end().await;
}

#[tokio::test]
async fn reflection_refuses_requests_longer_than_a_name() {
    use tonic_reflection::pb::v1::{
        ServerReflectionRequest, server_reflection_request::MessageRequest,
    };
    let node = node().await;
    let mut grpc = GrpcClient::connect(node.address()).await;
    for (length, is_answered) in [(1_000, true), (5_000, false)] {
        let request = Some(MessageRequest::ListServices("x".repeat(length)));
        let request = ServerReflectionRequest {
            host: String::new(),
            message_request: request,
        }
        .encode_to_vec();
        let answer = grpc.call(REFLECTION, &request, None).await;
        assert_eq!(!answer.body.is_empty(), is_answered, "{length} bytes");
    }
    node.end().await;
}

/// A stream costs its client nothing, but occupies memory of the node while it is open.
#[tokio::test]
async fn a_client_has_a_limited_number_of_reflection_streams() {
    let node = node().await;
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(GrpcClient::connect(node.address()).await);
    }

    let mut open = Vec::new();
    let mut refused = 0;
    for n in 0..20 {
        match clients[n % 4].begin(REFLECTION).await {
            Ok(stream) => open.push(stream),
            Err(code) => {
                assert_eq!(code, 8, "RESOURCE_EXHAUSTED");
                refused += 1;
            }
        }
    }
    assert_eq!((open.len(), refused), (16, 4));

    drop(open);
    // The node notices the end of a connection a moment later.
    drop(clients);
    let mut client = GrpcClient::connect(node.address()).await;
    while client.begin(REFLECTION).await.is_err() {
        tokio::task::yield_now().await;
    }
    drop(client);
    node.end().await;
}

#[tokio::test]
async fn refused_calls_have_a_status() {
    let node = node().await;
    let mut grpc = GrpcClient::connect(node.address()).await;

    for (path, message, code) in [
        ("/cosmos.nft.v1beta1.Query/Classes", &b""[..], 12),
        ("/nonsense", b"", 12),
        ("/cosmos.tx.v1beta1.Service/BroadcastTx", b"", 3),
        ("/cosmos.auth.v1beta1.Query/Account", b"", 3),
        ("/cosmos.auth.v1beta1.Query/Account", b"\x0a\x05", 3),
        (
            "/cosmos.bank.v1beta1.Query/DenomMetadata",
            b"\x0a\x03abc",
            5,
        ),
        ("/cosmos.bank.v1beta1.Query/Params", b"", 0),
        // Longer than any request.
        (
            "/cosmos.bank.v1beta1.Query/DenomMetadata",
            &[0; 300_000],
            11,
        ),
    ] {
        let answer = grpc.call(path, message, None).await;
        assert_eq!(answer.code, code, "{path}: {}", answer.message);
    }

    // The message of a status is a header, so it quotes only a part of the request.
    let name = [&b"\x0a\xb0\xea\x01"[..], &[b'\''; 30_000]].concat();
    let answer = grpc
        .call("/cosmos.bank.v1beta1.Query/DenomMetadata", &name, None)
        .await;
    assert_eq!(answer.code, 5, "{}", answer.message);
    assert!(
        answer.message.len() < 10_000,
        "{} bytes",
        answer.message.len()
    );

    // A query within a query within a query.
    let nested = b"\x12\x38/cosmos.base.tendermint.v1beta1.Service/ABCIQuery";
    assert_eq!(
        grpc.call(
            "/cosmos.base.tendermint.v1beta1.Service/ABCIQuery",
            nested,
            None
        )
        .await
        .code,
        3
    );

    // Other requests to the same port do not use gRPC.
    assert_eq!(node.get("/health").await.status(), 200);
    node.end().await;
}
