//! The `testing` namespace: blocks on demand, for fixtures. It exists in the development profile
//! only.

use std::sync::Arc;

use alloy_eips::{
    eip2718::Encodable2718, eip4895::Withdrawal, eip7594::BlobTransactionSidecarVariant,
    eip7685::Requests,
};
use alloy_primitives::{Address, B256, Bytes, FixedBytes};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tetrad_chain::{BlockId, BuildPlan, BuiltBlock, SubmitError, build};
use tetrad_primitives::block::Submission;

use super::{
    Context, OnFork, RpcError, Table,
    eth::{field, write_withdrawal},
    hex::Quantity,
    json::{Json, JsonWriter, Object, array},
    params::{self, Param, ParamRules},
    schema,
};

pub(super) fn methods(table: &mut Table) {
    table
        .apart("testing_buildBlockV1", build_block, OnFork::OwnBlocks)
        .describe(
            ["parent hash", "attributes", "transactions", "extra data"],
            "Builds a block without making it part of the chain: of the transactions given, or of \
             the pool's if there is null in their place.",
        );
}

/// The maximum number of transactions that a block takes from the pool.
const MAX_POOLED: usize = 10_000;

/// The attributes of the block.
struct PayloadAttributes {
    timestamp: u64,
    prev_randao: B256,
    fee_recipient: Address,
    withdrawals: Vec<Withdrawal>,
    beacon_root: Option<B256>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawAttributes<'a> {
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    prev_randao: Option<&'a RawValue>,
    suggested_fee_recipient: Option<&'a RawValue>,
    withdrawals: Option<&'a RawValue>,
    parent_beacon_block_root: Option<&'a RawValue>,
}

impl Param for PayloadAttributes {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let raw: RawAttributes<'_> = params::fields(json)?;
        let withdrawals = raw
            .withdrawals
            .map(|raw| params::shape::<Option<Vec<Withdrawal>>>(raw.get()))
            .transpose();

        Ok(Self {
            timestamp: field("timestamp", raw.timestamp, rules)?.ok_or("timestamp: missing")?,
            prev_randao: field("prevRandao", raw.prev_randao, rules)?.unwrap_or_default(),
            fee_recipient: field("suggestedFeeRecipient", raw.suggested_fee_recipient, rules)?
                .unwrap_or_default(),
            withdrawals: withdrawals
                .map_err(|what| format!("withdrawals: {what}"))?
                .flatten()
                .unwrap_or_default(),
            beacon_root: field("parentBeaconBlockRoot", raw.parent_beacon_block_root, rules)?,
        })
    }

    fn schema() -> Value {
        let others = [
            ("prevRandao", schema::or_null(<B256 as Param>::schema())),
            (
                "suggestedFeeRecipient",
                schema::or_null(<Address as Param>::schema()),
            ),
            ("withdrawals", schema::or_null(json!({"type": "array"}))),
            (
                "parentBeaconBlockRoot",
                schema::or_null(<B256 as Param>::schema()),
            ),
        ];
        schema::object([("timestamp", u64::schema())], others)
    }
}

/// A block as consensus clients receive it (`engine_getPayloadV4`).
struct ExecutionPayload {
    built: BuiltBlock,
    sidecars: Vec<Arc<BlobTransactionSidecarVariant>>,
}

type BuildParams = (B256, PayloadAttributes, Option<Vec<Bytes>>, Option<Bytes>);

/// Builds a block on the block with this hash, from the given transactions or, if they are null,
/// from the pool's. The chain is unchanged.
fn build_block(
    context: &Context,
    (parent, attributes, transactions, extra_data): BuildParams,
) -> Result<ExecutionPayload, RpcError> {
    let view = context.chain.view(BlockId::Hash(parent))?;
    let extra_data = extra_data.unwrap_or_default();
    if extra_data.len() > 32 {
        return Err(RpcError::invalid_params(format!(
            "params[3]: at most 32 bytes, got {}",
            extra_data.len()
        )));
    }

    let next = context.chain.next_environment(&context.chain.head());
    let mut included = Vec::new();
    let mut sidecars = Vec::new();
    if let Some(encoded) = transactions {
        for raw in encoded {
            let submission = Submission::decode(&raw).map_err(SubmitError::from)?;
            included.push(Arc::new(submission.transaction));
            sidecars.extend(submission.sidecar.map(Arc::from));
        }
    } else {
        let base_fee = next.base_fee.unwrap_or(0);
        for pooled in context.chain.pool().ready(base_fee, MAX_POOLED) {
            included.push(pooled.transaction.clone());
            sidecars.extend(pooled.sidecar.as_deref().cloned().map(Arc::new));
        }
    }

    let plan = BuildPlan {
        timestamp: attributes.timestamp,
        prev_randao: attributes.prev_randao,
        fee_recipient: attributes.fee_recipient,
        beacon_root: attributes.beacon_root,
        withdrawals: attributes.withdrawals,
        extra_data,
        gas_limit: next.gas_limit,
    };
    Ok(ExecutionPayload {
        built: build(&view, plan, included)?,
        sidecars,
    })
}

impl Json for ExecutionPayload {
    fn write(&self, out: &mut JsonWriter) {
        let mut object = Object::begin(out);
        self.write_payload(object.name("executionPayload"));
        object.member("blockValue", &Quantity(self.built.value));
        self.write_blobs(object.name("blobsBundle"));

        let requests = self.built.requests.iter().flat_map(Requests::iter);
        array(
            object.name("executionRequests"),
            requests,
            |request, out| request.write(out),
        );

        object.member("shouldOverrideBuilder", &false).end();
    }
}

impl ExecutionPayload {
    fn write_payload(&self, out: &mut JsonWriter) {
        let block = &*self.built.block;
        let header = &block.header;
        let mut object = Object::begin(out);
        object
            .member("parentHash", &header.parent_hash)
            .member("feeRecipient", &header.beneficiary)
            .member("stateRoot", &header.state_root)
            .member("receiptsRoot", &header.receipts_root)
            .member("logsBloom", &header.logs_bloom)
            .member("prevRandao", &header.mix_hash)
            .member("blockNumber", &Quantity(header.number))
            .member("gasLimit", &Quantity(header.gas_limit))
            .member("gasUsed", &Quantity(header.gas_used))
            .member("timestamp", &Quantity(header.timestamp))
            .member("extraData", &header.extra_data)
            .member(
                "baseFeePerGas",
                &Quantity(header.base_fee_per_gas.unwrap_or(0)),
            )
            .member("blockHash", &block.hash);

        array(
            object.name("transactions"),
            &block.transactions,
            |transaction, out| {
                Bytes::from(transaction.envelope.encoded_2718()).write(out);
            },
        );
        array(
            object.name("withdrawals"),
            block.withdrawals.iter().flatten(),
            write_withdrawal,
        );

        object
            .member("blobGasUsed", &Quantity(header.blob_gas_used.unwrap_or(0)))
            .member(
                "excessBlobGas",
                &Quantity(header.excess_blob_gas.unwrap_or(0)),
            )
            .end();
    }

    fn write_blobs(&self, out: &mut JsonWriter) {
        let mut commitments: Vec<Bytes> = Vec::new();
        let mut proofs: Vec<Bytes> = Vec::new();
        let mut blobs: Vec<Bytes> = Vec::new();
        for sidecar in &self.sidecars {
            match &**sidecar {
                BlobTransactionSidecarVariant::Eip4844(sidecar) => {
                    commitments.extend(each_as_bytes(&sidecar.commitments));
                    proofs.extend(each_as_bytes(&sidecar.proofs));
                    blobs.extend(each_as_bytes(&sidecar.blobs));
                }
                BlobTransactionSidecarVariant::Eip7594(sidecar) => {
                    commitments.extend(each_as_bytes(&sidecar.commitments));
                    proofs.extend(each_as_bytes(&sidecar.cell_proofs));
                    blobs.extend(each_as_bytes(&sidecar.blobs));
                }
            }
        }

        Object::begin(out)
            .member("commitments", &commitments)
            .member("proofs", &proofs)
            .member("blobs", &blobs)
            .end();
    }
}

fn each_as_bytes<const N: usize>(items: &[FixedBytes<N>]) -> impl Iterator<Item = Bytes> {
    items
        .iter()
        .map(|item| Bytes::copy_from_slice(item.as_slice()))
}
