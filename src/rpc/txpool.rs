//! The `txpool` namespace: transactions that wait for a block.

use std::{collections::BTreeMap, sync::Arc};

use alloy_consensus::Transaction as _;
use alloy_primitives::Address;

use super::{
    Context, RpcError, Table,
    eth::RpcTransaction,
    hex::Quantity,
    json::{Json, Object},
};
use crate::chain::Pooled;

pub(super) fn methods(table: &mut Table) {
    table.execute("txpool_content", content);
    table.execute("txpool_contentFrom", content_from);
    table.execute("txpool_inspect", inspect);
    table.read("txpool_status", status);
}

/// Transactions by account and nonce.
type ByAccount = BTreeMap<Address, BTreeMap<u64, Arc<Pooled>>>;

/// Those that can go into the next block, and those that wait for another one of their sender.
#[derive(Default)]
struct Content {
    pending: ByAccount,
    queued: ByAccount,
}

impl Content {
    fn of(context: &Context) -> Self {
        let mut content = Self::default();
        for (pooled, executable) in context.chain.pool().content() {
            let part = if executable { &mut content.pending } else { &mut content.queued };
            part.entry(pooled.transaction.sender).or_default().insert(pooled.nonce(), pooled);
        }
        content
    }
}

fn whole(pooled: &Pooled, out: &mut Vec<u8>) {
    RpcTransaction::Waiting(pooled.transaction.clone()).write(out);
}

/// `to: value wei + gas gas × price wei`, as geth has it.
fn summary(pooled: &Pooled, out: &mut Vec<u8>) {
    let tx = &pooled.transaction.envelope;
    let to = tx.to().map_or_else(|| "contract creation".to_owned(), |to| to.to_string());
    format!("{to}: {} wei + {} gas × {} wei", tx.value(), tx.gas_limit(), tx.max_fee_per_gas()).write(out);
}

fn by_nonce(transactions: &BTreeMap<u64, Arc<Pooled>>, write: fn(&Pooled, &mut Vec<u8>), out: &mut Vec<u8>) {
    let mut object = Object::begin(out);
    for (nonce, pooled) in transactions {
        write(pooled, object.name(&nonce.to_string()));
    }
    object.end();
}

/// Everything in the pool.
struct All(Content, fn(&Pooled, &mut Vec<u8>));

impl Json for All {
    fn write(&self, out: &mut Vec<u8>) {
        let mut object = Object::begin(out);
        for (name, part) in [("pending", &self.0.pending), ("queued", &self.0.queued)] {
            let mut accounts = Object::begin(object.name(name));
            for (address, transactions) in part {
                by_nonce(transactions, self.1, accounts.name(&address.to_string()));
            }
            accounts.end();
        }
        object.end();
    }
}

/// What one account has in the pool.
struct From(Content, Address);

impl Json for From {
    fn write(&self, out: &mut Vec<u8>) {
        let none = BTreeMap::new();
        let mut object = Object::begin(out);
        for (name, part) in [("pending", &self.0.pending), ("queued", &self.0.queued)] {
            by_nonce(part.get(&self.1).unwrap_or(&none), whole, object.name(name));
        }
        object.end();
    }
}

/// How many transactions there are.
struct Status {
    pending: usize,
    queued: usize,
}

impl Json for Status {
    fn write(&self, out: &mut Vec<u8>) {
        Object::begin(out).member("pending", &Quantity(self.pending)).member("queued", &Quantity(self.queued)).end();
    }
}

/// All transactions, by state, account and nonce.
fn content(context: &Context, (): ()) -> Result<All, RpcError> {
    Ok(All(Content::of(context), whole))
}

/// The transactions of one account.
fn content_from(context: &Context, (address,): (Address,)) -> Result<From, RpcError> {
    Ok(From(Content::of(context), address))
}

/// All transactions, each as one line.
fn inspect(context: &Context, (): ()) -> Result<All, RpcError> {
    Ok(All(Content::of(context), summary))
}

/// How many transactions can go into the next block and how many cannot.
fn status(context: &Context, (): ()) -> Result<Status, RpcError> {
    let content = context.chain.pool().content();
    let pending = content.iter().filter(|(_, executable)| *executable).count();
    Ok(Status { pending, queued: content.len() - pending })
}
