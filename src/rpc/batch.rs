//! Batches: requests that are answered together.

use std::time::Duration;

use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::task::yield_now;

use super::{
    Began, Rpc, RpcError,
    envelope::{Batch, Item},
};
use crate::web::{Client, Held};

/// The number of a batch's requests that execute or wait to execute at a time.
const AT_ONCE: usize = 4;
/// The number of them on a fork, where requests wait for the other node.
const AT_ONCE_ON_FORK: usize = 16;
/// How long a batch may occupy the thread before it yields.
const TURN: Duration = Duration::from_millis(2);

/// The responses of a batch so far.
struct BatchResponses<'r, 'b> {
    rpc: &'r Rpc,
    /// The answers in the order of the requests, with the identifiers of those.
    parts: Vec<(&'b str, Vec<u8>)>,
    size: usize,
    /// The memory that the parts hold.
    held: Held,
    /// The memory for responses is exhausted, and nothing may be added.
    no_room: bool,
}

impl Rpc {
    pub(super) async fn answer_batch(&self, client: Client, batch: Batch<'_>, out: &mut Vec<u8>) -> Held {
        let limit = self.context.config.max_batch;
        let wrong = match batch {
            Batch::TooLong => format!("batch too large: at most {limit}"),
            Batch::Items(items) if items.is_empty() => "empty batch".to_owned(),
            // Boxed, so that it does not enlarge the future of every request.
            Batch::Items(items) => return Box::pin(self.answer_items(client, items, out)).await,
        };
        self.refuse("null", &RpcError::invalid_request(wrong), out);
        Held::default()
    }

    /// Answers quick requests while reading. The others begin in order and run a few at a time: a batch occupies no more
    /// places than a client with single requests could.
    async fn answer_items(&self, client: Client, items: Vec<Item<'_>>, out: &mut Vec<u8>) -> Held {
        let most = if self.context.fork().is_some() { AT_ONCE_ON_FORK } else { AT_ONCE };
        let mut parts = BatchResponses {
            rpc: self,
            parts: Vec::with_capacity(items.len()),
            size: 0,
            held: Held::default(),
            no_room: false,
        };
        let (mut under_way, mut executing) = (FuturesUnordered::new(), 0);
        let mut turn = Duration::ZERO;
        for item in items {
            let at = parts.parts.len();
            let request = match item.request() {
                Ok(request) => request,
                Err(error) => {
                    parts.parts.push(("null", Vec::new()));
                    parts.refuse(at, &error);
                    continue;
                }
            };
            parts.parts.push((request.id, Vec::new()));
            if parts.is_full() {
                parts.refuse_for_size(at);
                continue;
            }
            match self.start(client, &request, &mut parts.parts[at].1) {
                Began::Answered(took) => {
                    parts.size += parts.parts[at].1.len();
                    parts.hold(at).await;
                    turn += took;
                }
                Began::UnderWay(started) => {
                    let executes = started.executes;
                    executing += usize::from(executes);
                    under_way.push(async move { (at, executes, self.wait(started).await) });
                }
            }
            while executing >= most
                && let Some((at, executes, answer)) = under_way.next().await
            {
                executing -= usize::from(executes);
                turn = Duration::ZERO;
                parts.finish(at, answer);
                parts.hold(at).await;
            }
            if turn > TURN {
                yield_now().await;
                turn = Duration::ZERO;
            }
        }
        while let Some((at, _, answer)) = under_way.next().await {
            parts.finish(at, answer);
            parts.hold(at).await;
        }
        parts.write(out)
    }
}

impl BatchResponses<'_, '_> {
    /// Counts the part that was written last. If there is no memory for it, no further request is answered.
    async fn hold(&mut self, at: usize) {
        let budget = &self.rpc.context.config.budget;
        if !self.no_room && !budget.grow(&mut self.held, self.size).await {
            self.no_room = true;
            self.size -= std::mem::take(&mut self.parts[at].1).len();
            self.refuse_for_size(at);
        }
    }

    /// Whether no further request is answered.
    fn is_full(&self) -> bool {
        self.no_room || self.size > self.rpc.context.config.max_batch_response
    }

    fn finish(&mut self, at: usize, answer: super::table::Answer) {
        if self.is_full() {
            return self.refuse_for_size(at);
        }
        let answer = answer.and_then(|rendered| {
            let fits = self.rpc.context.config.budget.merge(&mut self.held, rendered.held);
            if fits { Ok(rendered.json) } else { Err(RpcError::no_room()) }
        });
        let (id, part) = &mut self.parts[at];
        self.rpc.finish(id, answer, part);
        self.size += part.len();
    }

    fn refuse(&mut self, at: usize, error: &RpcError) {
        let (id, part) = &mut self.parts[at];
        self.rpc.refuse(id, error, part);
        self.size += part.len();
    }

    fn refuse_for_size(&mut self, at: usize) {
        let error = if self.no_room { RpcError::no_room() } else { RpcError::too_large("response too large") };
        self.refuse(at, &error);
    }

    fn write(self, out: &mut Vec<u8>) -> Held {
        out.reserve_exact(self.size + self.parts.len() + 1);
        out.push(b'[');
        for (at, (_, part)) in self.parts.into_iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(&part);
        }
        out.push(b']');
        self.held
    }
}
