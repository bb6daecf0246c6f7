//! The `txpool` namespace: transactions that wait for a block.

use std::{collections::BTreeMap, sync::Arc};

use alloy_consensus::Transaction as _;
use alloy_primitives::Address;
use tetrad_chain::Pooled;

use super::{
    Context, OnFork, RpcError, Table,
    eth::RpcTransaction,
    hex::Quantity,
    json::{Json, JsonWriter, Object, Written},
};

pub(super) fn methods(table: &mut Table) {
    table
        .apart("txpool_content", content, OnFork::Node)
        .describe(
            [],
            "All transactions in the pool, by state, account and nonce.",
        );

    table
        .apart("txpool_contentFrom", content_from, OnFork::Node)
        .describe(["address"], "The transactions of one account in the pool.");

    table
        .apart("txpool_inspect", inspect, OnFork::Node)
        .describe([], "All transactions in the pool, each as one line.");

    table.read("txpool_status", status, OnFork::Node).describe(
        [],
        "The number of transactions that can go into the next block, and of those that wait for a \
         lower nonce.",
    );
}

/// Transactions by account and nonce.
type ByAccount = BTreeMap<Address, BTreeMap<u64, Arc<Pooled>>>;

/// The transactions that can go into the next block, and those that wait for a lower nonce.
#[derive(Default)]
struct PoolContent {
    pending: ByAccount,
    queued: ByAccount,
}

impl PoolContent {
    fn of(transactions: Vec<(Arc<Pooled>, bool)>) -> Self {
        let mut content = Self::default();
        for (pooled, executable) in transactions {
            let part = if executable {
                &mut content.pending
            } else {
                &mut content.queued
            };
            part.entry(pooled.transaction.sender)
                .or_default()
                .insert(pooled.nonce(), pooled);
        }
        content
    }
}

/// A transaction object.
fn whole(pooled: &Pooled, out: &mut JsonWriter) {
    RpcTransaction::Waiting(pooled.transaction.clone()).write(out);
}

/// `to: value wei + gas gas × price wei`, as in geth.
fn summary(pooled: &Pooled, out: &mut JsonWriter) {
    let tx = &pooled.transaction.envelope;
    let to = tx
        .to()
        .map_or_else(|| "contract creation".to_owned(), |to| to.to_string());
    let line = format!(
        "{to}: {} wei + {} gas × {} wei",
        tx.value(),
        tx.gas_limit(),
        tx.max_fee_per_gas()
    );
    line.write(out);
}

/// Writes one account's transactions, as long as there is memory for them.
fn by_nonce(
    transactions: &BTreeMap<u64, Arc<Pooled>>,
    write: fn(&Pooled, &mut JsonWriter),
    out: &mut JsonWriter,
) {
    let mut object = Object::begin(out);
    for (nonce, pooled) in transactions {
        let out = object.name(&nonce.to_string());
        write(pooled, out);
        if out.check().is_err() {
            return;
        }
    }
    object.end();
}

impl PoolContent {
    /// All transactions, by account.
    fn all(
        &self,
        context: &Context,
        write: fn(&Pooled, &mut JsonWriter),
    ) -> Result<Written, RpcError> {
        self.parts(
            context,
            "ask for one account with txpool_contentFrom",
            |part, out| {
                let mut accounts = Object::begin(out);
                for (address, transactions) in part {
                    by_nonce(transactions, write, accounts.name(&address.to_string()));
                }
                accounts.end();
            },
        )
    }

    /// The transactions of one account, by nonce.
    fn of_account(&self, context: &Context, account: Address) -> Result<Written, RpcError> {
        let none = BTreeMap::new();
        self.parts(
            context,
            "ask for single transactions with eth_getTransactionByHash",
            |part, out| {
                by_nonce(part.get(&account).unwrap_or(&none), whole, out);
            },
        )
    }

    /// An object with both parts of the pool, which `write` writes; `advice` says how to request
    /// less.
    fn parts(
        &self,
        context: &Context,
        advice: &str,
        write: impl Fn(&ByAccount, &mut JsonWriter),
    ) -> Result<Written, RpcError> {
        let mut out = context.writer(context.config.max_batch_response);
        let mut object = Object::begin(&mut out);
        for (name, part) in [("pending", &self.pending), ("queued", &self.queued)] {
            write(part, object.name(name));
        }
        object.end();

        out.finish()
            .map_err(|error| RpcError::does_not_fit(error, advice))
    }
}

/// The numbers of transactions.
struct PoolStatus {
    pending: usize,
    queued: usize,
}

impl Json for PoolStatus {
    fn write(&self, out: &mut JsonWriter) {
        Object::begin(out)
            .member("pending", &Quantity(self.pending))
            .member("queued", &Quantity(self.queued))
            .end();
    }
}

/// All transactions, by state, account and nonce.
fn content(context: &Context, (): ()) -> Result<Written, RpcError> {
    PoolContent::of(context.chain.pool().content()).all(context, whole)
}

/// The transactions of one account.
fn content_from(context: &Context, (address,): (Address,)) -> Result<Written, RpcError> {
    PoolContent::of(context.chain.pool().content_of(address)).of_account(context, address)
}

/// All transactions, each as one line.
fn inspect(context: &Context, (): ()) -> Result<Written, RpcError> {
    PoolContent::of(context.chain.pool().content()).all(context, summary)
}

/// The number of transactions that can go into the next block, and of those that cannot.
fn status(context: &Context, (): ()) -> Result<PoolStatus, RpcError> {
    let (pending, queued) = context.chain.pool().counts();
    Ok(PoolStatus { pending, queued })
}
