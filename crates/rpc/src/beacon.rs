//! The part of the [Beacon API](https://ethereum.github.io/beacon-APIs/) that rollups read: the
//! blobs of blocks, which the blocks themselves do not hold.
//!
//! There are no slots: the identifier of a block is its number, its hash, or a name. As elsewhere,
//! only the newest 512 blobs are kept, and those of a forked chain are not here.

use std::{str::FromStr, sync::Arc};

use alloy_consensus::Transaction as _;
use alloy_eips::eip4844::Blob;
use alloy_primitives::{B256, FixedBytes};
use axum::{
    Json, Router,
    extract::{
        State,
        rejection::{PathRejection, QueryRejection},
    },
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use tetrad_chain::{BlockId, Chain, Pooled};
use tetrad_network::network::Network;
use tetrad_primitives::block::Block;
use tetrad_web::{
    Answer, AnswerWriter, Api, ExecutionFailed, Failure, Interface, MAX_ANSWER, NoStore, Operation,
    Output, Path, Query, RestError, in_turn,
    parameters::{ParameterError, ParameterValue, ValueError, parameters},
};

/// The media type of blobs one after the other.
const BINARY: &str = "application/octet-stream";

/// The reason why there are no sidecars, in the words of anvil.
const SIDECARS_ARE_GONE: &str =
    "This endpoint is deprecated. Use `GET /eth/v1/beacon/blobs/{block_id}` instead.";

/// The interface.
#[derive(Clone)]
struct Beacon {
    chain: Chain,
    network: Arc<Network>,
}

impl Interface for Beacon {
    type Error = BeaconError;

    fn network(&self) -> &Network {
        &self.network
    }
}

/// The routes under `/eth/v1/beacon` and their description.
pub fn router(chain: Chain, network: Arc<Network>) -> (Router, Vec<Operation>) {
    Api::new("Beacon")
        .get(
            "/eth/v1/beacon/blobs/{block_id}",
            blobs,
            "The blobs of a block (EIP-4844), as JSON or, if the client accepts it, as bytes.",
        )
        .get(
            "/eth/v1/beacon/genesis",
            genesis,
            "When the first block of this node was sealed. There are no validators and no versions of the consensus layer.",
        )
        // It never succeeds, so it is not part of the description.
        .and(|router| router.route("/eth/v1/beacon/blob_sidecars/{block_id}", get(sidecars)))
        .with_state(Beacon { chain, network })
}

parameters! {
    /// The path of a route about one block.
    struct BlockPath {
        /// A number, a hash, or `head`, `finalized`, `genesis`; `latest`, `safe` and `earliest` as in JSON-RPC.
        #[param("block_id", example = "head")]
        block: NamedBlock,
    }
}

parameters! {
    /// Which of a block's blobs to return.
    struct BlobsQuery {
        /// The versioned hashes of these blobs, separated by commas or each by itself; by default all of them.
        #[param("versioned_hashes")]
        hashes: VersionedHashes,
    }
}

/// The identifier of a block.
struct NamedBlock(BlockId);

impl ParameterValue for NamedBlock {
    fn schema() -> Schema {
        json_schema!({ "type": "string" })
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        let id = match text {
            "head" | "latest" => BlockId::Latest,
            "safe" => BlockId::Safe,
            "finalized" => BlockId::Finalized,
            "genesis" | "earliest" => BlockId::Earliest,
            // It has no blobs before it is sealed.
            "pending" => {
                return Err(ValueError::Unknown(
                    "the pending block has no blobs".to_owned(),
                ));
            }
            _ if text.len() == 66 => BlockId::Hash(hash(text)?),
            _ => BlockId::Number(number(text)?),
        };
        Ok(Self(id))
    }
}

fn hash(text: &str) -> Result<B256, ValueError> {
    B256::from_str(text)
        .map_err(|_| ValueError::malformed("expected a hash of 32 bytes in hex, with 0x"))
}

/// A decimal number, or one in hex with `0x`.
fn number(text: &str) -> Result<u64, ValueError> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    // A sign is not a digit, although the standard library takes one.
    let number = Some(digits)
        .filter(|digits| !digits.starts_with('+'))
        .and_then(|digits| u64::from_str_radix(digits, radix).ok());
    number.ok_or_else(|| {
        ValueError::malformed("expected a number, a hash, head, finalized or genesis")
    })
}

/// The versioned hashes of blobs; none for all blobs.
struct VersionedHashes(Option<Vec<B256>>);

impl ParameterValue for VersionedHashes {
    const IS_LIST: bool = true;

    fn schema() -> Schema {
        let hash = json_schema!({ "type": "string", "pattern": "^0x[0-9a-fA-F]{64}$" });
        json_schema!({ "type": "array", "items": hash })
    }

    fn absent() -> Option<Self> {
        Some(Self(None))
    }

    fn parse(text: &str, _: &Network) -> Result<Self, ValueError> {
        let hashes: Result<_, _> = text.split(',').map(hash).collect();
        Ok(Self(Some(hashes?)))
    }
}

impl VersionedHashes {
    fn has(&self, hash: &B256) -> bool {
        self.0.as_ref().is_none_or(|hashes| hashes.contains(hash))
    }
}

/// The blobs of a block.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BeaconBlobs")]
struct BlobsBody<'a> {
    /// Always false.
    execution_optimistic: bool,
    /// Whether the block is final.
    finalized: bool,
    /// The blobs in the order of the block, of 131,072 bytes each, in hex.
    #[schemars(with = "Vec<String>")]
    data: Vec<&'a Blob>,
}

/// A member `data`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Beacon{T}")]
struct DataBody<T> {
    data: T,
}

/// The beginning of the chain.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Genesis")]
struct GenesisBody {
    /// The time of the first block in seconds since the Unix epoch, as a decimal.
    genesis_time: String,
    /// Zero.
    #[schemars(with = "String")]
    genesis_validators_root: B256,
    /// Zero.
    #[schemars(with = "String")]
    genesis_fork_version: FixedBytes<4>,
}

/// The response with blobs, whose memory counts while it waits to be sent.
struct BlobsAnswer(Response);

impl IntoResponse for BlobsAnswer {
    fn into_response(self) -> Response {
        self.0
    }
}

impl Output for BlobsAnswer {
    fn describe(operation: Operation) -> Operation {
        operation
            .returns::<BlobsBody<'static>>()
            .answers_in::<Vec<u8>>(BINARY, StatusCode::OK, "The blobs, one after the other.")
    }
}

async fn blobs(
    State(Beacon { chain, .. }): State<Beacon>,
    Path(path): Path<BlockPath>,
    Query(query): Query<BlobsQuery>,
    headers: HeaderMap,
) -> Result<BlobsAnswer, BeaconError> {
    let is_binary = accepts_binary(&headers);
    in_turn(move || {
        let head = chain.head();
        let block = chain.block(&head, path.block.0);
        let block = block.map_err(|error| BeaconError::failed(error.to_string()))?;
        let block = block.ok_or_else(|| {
            BeaconError::not_found("this node has no such block of its own".to_owned())
        })?;

        let kept = transactions_with(&chain, &block, &query.hashes)?;
        let found: Vec<_> = kept
            .iter()
            .flat_map(|one| one.blobs(&query.hashes))
            .collect();
        if is_binary {
            return binary(&found);
        }

        let last_final = chain.number(&head, BlockId::Finalized);
        let body = BlobsBody {
            execution_optimistic: false,
            finalized: last_final.is_some_and(|number| block.number() <= number),
            data: found,
        };
        let answer = Answer::json(&body).map_err(RestError::from)?;
        Ok(BlobsAnswer(answer.into_no_store_json()))
    })
    .await
}

/// Whether the client accepts bytes.
fn accepts_binary(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT).iter();
    let mut ranges = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    ranges.any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_binary = parts
            .next()
            .is_some_and(|media_type| media_type.eq_ignore_ascii_case(BINARY));
        is_binary && !parts.any(is_refusal)
    })
}

/// Whether a parameter of a media range says that it is not acceptable: a quality of zero (RFC 9110,
/// section 12.4.2).
fn is_refusal(parameter: &str) -> bool {
    let quality = parameter
        .strip_prefix("q=")
        .or(parameter.strip_prefix("Q="));
    quality.is_some_and(|quality| quality.parse() == Ok(0.0))
}

/// A transaction of a block with its blobs.
struct WithBlobs(Arc<Pooled>);

impl WithBlobs {
    /// The wanted ones, in their order.
    fn blobs(&self, wanted: &VersionedHashes) -> impl Iterator<Item = &Blob> {
        let hashes = self.0.transaction.envelope.blob_versioned_hashes();
        let all = hashes.unwrap_or_default().iter().zip(self.0.blobs());
        all.filter(|(hash, _)| wanted.has(hash))
            .map(|(_, blob)| blob)
    }
}

/// The transactions of a block that have wanted blobs, in its order.
fn transactions_with(
    chain: &Chain,
    block: &Block,
    wanted: &VersionedHashes,
) -> Result<Vec<WithBlobs>, BeaconError> {
    let mut transactions = Vec::new();
    for transaction in &block.transactions {
        let hashes = transaction.envelope.blob_versioned_hashes();
        if !hashes.is_some_and(|hashes| hashes.iter().any(|hash| wanted.has(hash))) {
            continue;
        }

        let hash = transaction.hash();
        let kept = chain.blobs().transaction(hash).ok_or_else(|| {
            BeaconError::not_found(format!("the blobs of the transaction {hash} are not kept"))
        })?;
        transactions.push(WithBlobs(kept));
    }
    Ok(transactions)
}

fn binary(blobs: &[&Blob]) -> Result<BlobsAnswer, BeaconError> {
    let mut answer = AnswerWriter::new(MAX_ANSWER);
    for blob in blobs {
        answer.push(&blob[..]).map_err(RestError::from)?;
    }

    let mut response = answer.finish().into_response();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(BINARY));
    Ok(BlobsAnswer(uncached(response)))
}

fn uncached(mut response: Response) -> Response {
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn sidecars() -> BeaconError {
    BeaconError {
        status: StatusCode::GONE,
        message: SIDECARS_ARE_GONE.to_owned(),
    }
}

async fn genesis(State(beacon): State<Beacon>) -> NoStore<DataBody<GenesisBody>> {
    let head = beacon.chain.head();
    NoStore(DataBody {
        data: GenesisBody {
            genesis_time: head.genesis.header.timestamp.to_string(),
            genesis_validators_root: B256::ZERO,
            genesis_fork_version: FixedBytes::ZERO,
        },
    })
}

/// An error in the form of the Beacon API.
#[derive(Debug)]
struct BeaconError {
    status: StatusCode,
    message: String,
}

/// The body of an error.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BeaconErrorBody")]
struct ErrorBody {
    /// The status.
    code: u16,
    message: String,
}

impl BeaconError {
    fn not_found(message: String) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            message,
        }
    }

    fn failed(message: String) -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            message,
        }
    }
}

impl IntoResponse for BeaconError {
    fn into_response(self) -> Response {
        let body = ErrorBody {
            code: self.status.as_u16(),
            message: self.message,
        };
        uncached((self.status, Json(body)).into_response())
    }
}

impl Failure for BeaconError {
    type Body = ErrorBody;
    const STATUSES: &'static [StatusCode] = &[
        StatusCode::NOT_FOUND,
        StatusCode::INTERNAL_SERVER_ERROR,
        StatusCode::SERVICE_UNAVAILABLE,
    ];

    fn reason(status: StatusCode) -> &'static str {
        match status {
            StatusCode::BAD_REQUEST => "A parameter is malformed; the message names it.",
            StatusCode::NOT_FOUND => "There is no such block, or its blobs are no longer kept.",
            StatusCode::SERVICE_UNAVAILABLE => "Temporarily unavailable.",
            _ => "The node failed.",
        }
    }
}

impl From<RestError> for BeaconError {
    fn from(error: RestError) -> Self {
        Self {
            status: error.status(),
            message: error.to_string(),
        }
    }
}

impl From<ExecutionFailed> for BeaconError {
    fn from(error: ExecutionFailed) -> Self {
        RestError::from(error).into()
    }
}

impl From<ParameterError> for BeaconError {
    fn from(error: ParameterError) -> Self {
        RestError::from(error).into()
    }
}

impl From<PathRejection> for BeaconError {
    fn from(rejection: PathRejection) -> Self {
        RestError::from(rejection).into()
    }
}

impl From<QueryRejection> for BeaconError {
    fn from(rejection: QueryRejection) -> Self {
        RestError::from(rejection).into()
    }
}
