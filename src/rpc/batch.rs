//! Batches: requests that are answered together.

use std::{collections::HashMap, ops::Range, time::Duration};

use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::task::yield_now;

use super::{
    Began, Rpc, RpcError,
    envelope::{Batch, Item, NO_ID},
};
use crate::web::{Client, Held};

/// The number of a batch's requests that execute or wait to execute at a time.
const AT_ONCE: usize = 4;
/// The number of them on a fork, where requests wait for the other node.
const AT_ONCE_ON_FORK: usize = 16;
/// The size in bytes that is reserved for each response.
const USUAL: usize = 64;
/// The size of a refusal in bytes, unless the request has a long identifier.
const REFUSAL: usize = 192;
/// How long a batch may occupy the thread before it yields.
const TURN: Duration = Duration::from_millis(2);

/// The results of those elements of a batch that the WebSocket executes itself, as JSON, by their position.
pub(super) type SocketResults = HashMap<usize, Result<String, RpcError>>;

/// The responses of a batch so far.
struct BatchResponses<'r, 'b> {
    rpc: &'r Rpc,
    /// The responses, each after a comma, in the order in which they were written.
    written: Vec<u8>,
    /// The identifiers of the requests in their order, and where the response to each is written. Notifications have neither.
    parts: Vec<(Option<&'b str>, Range<usize>)>,
    /// The memory that the responses hold.
    held: Held,
    /// The memory for responses is exhausted, and nothing may be added.
    no_room: bool,
}

impl Rpc {
    pub(super) async fn answer_batch(
        &self,
        client: Client,
        batch: Batch<'_>,
        of_socket: SocketResults,
        out: &mut Vec<u8>,
    ) -> Held {
        let limit = self.context.config.max_batch;
        let wrong = match batch {
            Batch::TooLong => format!("batch too large: at most {limit}"),
            Batch::Items(items) if items.is_empty() => "empty batch".to_owned(),
            // Boxed, so that it does not enlarge the future of every request.
            Batch::Items(items) => return Box::pin(self.answer_items(client, items, of_socket, out)).await,
        };
        self.refuse(NO_ID, &RpcError::invalid_request(wrong), out);
        Held::default()
    }

    /// Answers quick requests while reading. The others begin in order and run a few at a time: a batch occupies no more
    /// places than a client with single requests could.
    async fn answer_items(
        &self,
        client: Client,
        items: Vec<Item<'_>>,
        mut of_socket: SocketResults,
        out: &mut Vec<u8>,
    ) -> Held {
        let most = if self.context.fork().is_some() { AT_ONCE_ON_FORK } else { AT_ONCE };
        let mut parts = BatchResponses {
            rpc: self,
            written: Vec::with_capacity(USUAL * items.len()),
            parts: Vec::with_capacity(items.len()),
            held: Held::default(),
            no_room: false,
        };
        let (mut under_way, mut executing) = (FuturesUnordered::new(), 0);
        let mut turn = Duration::ZERO;
        for item in items {
            let at = parts.parts.len();
            let request = match item.request(self.context.dialect) {
                Ok(request) => request,
                Err(error) => {
                    parts.parts.push((Some(NO_ID), 0..0));
                    parts.refuse(at, &error);
                    continue;
                }
            };
            parts.parts.push((request.id, 0..0));
            if let Some(result) = of_socket.remove(&at) {
                parts.write(at, |id, out| self.finish(id, result.map(String::into_bytes), out));
                parts.hold(at).await;
                continue;
            }
            if parts.is_full() {
                parts.refuse_for_size(at);
                continue;
            }
            match parts.write(at, |_, out| self.start(client, &request, out)) {
                Began::Answered(took) => {
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
        let (answer, held) = parts.end();
        *out = answer;
        held
    }
}

impl BatchResponses<'_, '_> {
    /// Writes the response to a request, or nothing if the call is still in progress or nobody waits for its response.
    fn write<R>(&mut self, at: usize, write: impl FnOnce(&str, &mut Vec<u8>) -> R) -> R {
        let (id, part) = &mut self.parts[at];
        let start = self.written.len();
        self.written.push(b',');
        let result = write(id.unwrap_or(NO_ID), &mut self.written);
        if self.written.len() == start + 1 || id.is_none() {
            self.written.truncate(start);
        }
        *part = start..self.written.len();
        result
    }

    /// Counts the response that was written last. If there is no memory for it, no further request is answered. What lies
    /// beyond the length of the buffer was never written, and is not counted.
    async fn hold(&mut self, at: usize) {
        let budget = &self.rpc.context.config.budget;
        // A bracket follows the last response.
        if !self.no_room && !budget.grow(&mut self.held, self.written.len() + 1).await {
            self.no_room = true;
            let start = self.parts[at].1.start;
            self.written.truncate(start);
            // Releases the memory that was not granted, except for refusals of the usual size, which follow.
            self.written.shrink_to(start + REFUSAL * self.parts.capacity());
            self.refuse_for_size(at);
        }
    }

    /// Whether no further request is answered.
    fn is_full(&self) -> bool {
        self.no_room || self.written.len() > self.rpc.context.config.max_batch_response
    }

    fn finish(&mut self, at: usize, answer: super::table::Answer) {
        if self.is_full() {
            return self.refuse_for_size(at);
        }
        let rpc = self.rpc;
        let answer = answer.and_then(|rendered| {
            let fits = rpc.context.config.budget.merge(&mut self.held, rendered.held);
            if fits { Ok(rendered.json) } else { Err(RpcError::no_room()) }
        });
        self.write(at, |id, out| rpc.finish(id, answer, out));
    }

    fn refuse(&mut self, at: usize, error: &RpcError) {
        let rpc = self.rpc;
        self.write(at, |id, out| rpc.refuse(id, error, out));
    }

    fn refuse_for_size(&mut self, at: usize) {
        let error = if self.no_room { RpcError::no_room() } else { RpcError::too_large("response too large") };
        self.refuse(at, &error);
    }

    /// The responses in the order of the requests, as a JSON array; empty if there are only notifications.
    fn end(self) -> (Vec<u8>, Held) {
        let in_order = self.parts.is_sorted_by_key(|(_, part)| part.start);
        let mut out = if in_order {
            self.written
        } else {
            let mut sorted = Vec::with_capacity(self.written.len() + 1);
            self.parts.into_iter().for_each(|(_, part)| sorted.extend_from_slice(&self.written[part]));
            sorted
        };
        // The first response follows the bracket instead of a comma.
        if let Some(first) = out.first_mut() {
            *first = b'[';
            out.push(b']');
        }
        (out, self.held)
    }
}
