//! Bundles of calls, each on the state that the previous one left.

use alloy_primitives::Bytes;
use revm::inspector::NoOpInspector;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tetrad_chain::{BlockId, View};
use tetrad_evm::{StateOverrides, Watch};

use super::{BlockOverrides, TransactionRequest, request::field};
use crate::rpc::{
    Context, OnFork, RpcError, Table,
    error::call_output,
    json::{Json, JsonWriter, Object, array},
    params::{self, LooseNumber, Param, ParamRules},
    schema,
    tracing::{BlockReplay, Budget, Subject},
};

pub(super) fn methods(table: &mut Table) {
    table.apart("eth_callMany", call_many, OnFork::OwnBlocks).describe(
        ["bundles", "context", "state overrides"],
        "Runs calls one after another, as erigon and reth do. A bundle has `transactions` and a \
         `blockOverride`; the context names a block (`blockNumber`), by default the newest, and \
         the number of its transactions to run before (`transactionIndex`), by default all.",
    );
}

/// The maximum number of calls in one request.
const MAX_CALLS: usize = 1_000;

/// Calls in the same block.
struct CallBundle {
    calls: Vec<TransactionRequest>,
    block: BlockOverrides,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawBundle<'a> {
    #[serde(borrow)]
    transactions: Option<&'a RawValue>,
    block_override: Option<&'a RawValue>,
}

impl Param for CallBundle {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let raw: RawBundle<'_> = params::fields(json)?;
        Ok(Self {
            calls: field("transactions", raw.transactions, rules)?.unwrap_or_default(),
            block: field("blockOverride", raw.block_override, rules)?.unwrap_or_default(),
        })
    }

    fn schema() -> Value {
        schema::options([
            ("transactions", <Vec<TransactionRequest> as Param>::schema()),
            ("blockOverride", BlockOverrides::schema()),
        ])
    }
}

/// The state that the first call runs on.
struct StateContext {
    block: BlockId,
    /// The number of the block's transactions to run before; none for all.
    count: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawContext<'a> {
    #[serde(borrow)]
    block_number: Option<&'a RawValue>,
    transaction_index: Option<&'a RawValue>,
}

impl Param for StateContext {
    const DEFAULT: Option<fn() -> Self> = Some(|| Self {
        block: BlockId::Latest,
        count: None,
    });

    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let raw: RawContext<'_> = params::fields(json)?;
        // -1 stands for all transactions.
        let index = raw.transaction_index.filter(|raw| raw.get() != "-1");
        let index: Option<LooseNumber> = field("transactionIndex", index, rules)?;
        Ok(Self {
            block: field("blockNumber", raw.block_number, rules)?.unwrap_or(BlockId::Latest),
            count: index.map(|LooseNumber(index)| usize::try_from(index).unwrap_or(usize::MAX)),
        })
    }

    fn schema() -> Value {
        let index = json!({"anyOf": [LooseNumber::schema(), {"const": -1}]});
        schema::options([
            ("blockNumber", BlockId::schema()),
            ("transactionIndex", index),
        ])
    }
}

impl StateContext {
    fn view(&self, context: &Context, budget: &Budget) -> Result<View, RpcError> {
        let mut view = context.chain.view(self.block)?;
        // After its last transaction, the state within the block is that of the view.
        if let Some(count) = self.count
            && count < view.block.transactions.len()
        {
            view.state = BlockReplay::within(&view, self.block)?.state_after(count, budget)?;
        }
        Ok(view)
    }
}

/// The output of a call, or the reason why it failed.
struct CallResult(Result<Bytes, String>);

impl Json for CallResult {
    fn write(&self, out: &mut JsonWriter) {
        let mut object = Object::begin(out);
        match &self.0 {
            Ok(value) => object.member("value", value),
            Err(error) => object.member("error", error),
        };
        object.end();
    }

    fn schema(_: Option<&Value>) -> Value {
        schema::options([
            ("value", schema::data(None)),
            ("error", json!({"type": "string"})),
        ])
    }
}

/// The results of each bundle.
struct BundleResults(Vec<Vec<CallResult>>);

impl Json for BundleResults {
    fn write(&self, out: &mut JsonWriter) {
        array(out, &self.0, |bundle, out| array(out, bundle, Json::write));
    }

    fn schema(_: Option<&Value>) -> Value {
        schema::array(schema::array(CallResult::schema(None)))
    }
}

/// Runs calls one after another.
fn call_many(
    context: &Context,
    (bundles, start, mut overrides): (Vec<CallBundle>, StateContext, StateOverrides),
) -> Result<BundleResults, RpcError> {
    let count: usize = bundles.iter().map(|bundle| bundle.calls.len()).sum();
    if count > MAX_CALLS {
        return Err(RpcError::invalid_params(format!(
            "params[0]: at most {MAX_CALLS} calls, got {count}"
        )));
    }

    let budget = Budget::new(context, "make fewer calls at a time");
    let mut view = start.view(context, &budget)?;
    let environment = view.environment.clone();
    let mut size = 0;
    let mut results = Vec::with_capacity(bundles.len());
    for bundle in bundles {
        // The overrides of a block hold for its own bundle only.
        view.environment = environment.clone();
        bundle.block.apply(&mut view.environment)?;

        let mut outputs = Vec::with_capacity(bundle.calls.len());
        for request in bundle.calls {
            budget.check_time()?;
            let call = request.into_call(context.chain.params().chain_id)?;

            // The first call's changes include the overrides.
            let given = std::mem::take(&mut overrides);
            let out_of_time = || budget.is_out_of_time();
            let mut inspector = NoOpInspector;
            let mut watch = Watch::new(&mut inspector, &out_of_time, budget.max_bytes());
            let subject = Subject::Call(view.call_context(&given, context.config.gas_cap), &call);
            let ran = subject.run(&mut watch, |seen, _| {
                (seen.outcome.result.clone(), seen.take_changes())
            });
            budget.check(watch.stopped())?;
            let (result, changes) = ran?;

            let output = call_output(result).map_err(|error| error.message);
            size += output.as_ref().map_or(0, |value| value.len());
            if size > budget.max_bytes() {
                return Err(budget.too_large());
            }

            outputs.push(CallResult(output));
            let changes = changes?;
            view.state.apply(&changes);
        }
        results.push(outputs);
    }
    Ok(BundleResults(results))
}
