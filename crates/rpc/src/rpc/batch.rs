//! Batches: requests that are answered together.

use std::{collections::HashMap, ops::Range, time::Duration};

use axum::body::Bytes;
use futures_util::{StreamExt, stream::FuturesUnordered};
use tetrad_web::{Answer, Client};
use tokio::task::yield_now;

use super::{
    Began, Rpc, RpcError,
    envelope::{Batch, Item, NO_ID, Request},
    json::{JsonWriter, Raw},
    table::SocketResult,
};

/// The number of a batch's requests that execute or wait to execute at a time.
const AT_ONCE: usize = 4;
/// The number of them on a fork, where requests wait for the other node.
const AT_ONCE_ON_FORK: usize = 16;
/// The size in bytes that is reserved for each response.
const USUAL: usize = 64;
/// The time for which a batch may occupy the thread before it yields.
const TURN: Duration = Duration::from_millis(2);

/// The results of those elements of a batch that the WebSocket executes itself, by position.
pub(super) type SocketResults = HashMap<usize, SocketResult>;

/// The responses of a batch so far.
struct BatchResponses<'r, 'b> {
    rpc: &'r Rpc,
    /// The responses, each after a comma, in the order in which they were written.
    written: JsonWriter,
    /// The identifiers of the requests in their order, and where the response to each is written.
    /// Notifications have neither.
    parts: Vec<(Option<&'b str>, Range<usize>)>,
    /// The memory for responses is exhausted, and nothing may be added.
    no_room: bool,
}

impl Rpc {
    pub(super) async fn answer_batch(
        &self,
        client: Client,
        body: &Bytes,
        batch: Batch<'_>,
        of_socket: SocketResults,
        mut out: JsonWriter,
    ) -> Answer {
        let limit = self.context.config.max_batch;
        let wrong = match batch {
            Batch::TooLong => format!("batch too large: at most {limit}"),
            Batch::Items(items) if items.is_empty() => "empty batch".to_owned(),
            // Boxed, so that it does not enlarge the future of every request.
            Batch::Items(items) => {
                return Box::pin(self.answer_items(client, body, items, of_socket, out)).await;
            }
        };

        self.refuse(NO_ID, &RpcError::invalid_request(wrong), &mut out);
        out.into_answer()
    }

    /// Answers quick requests while reading. The others begin in order and run a few at a time: a
    /// batch occupies no more places than a client with single requests could.
    async fn answer_items(
        &self,
        client: Client,
        body: &Bytes,
        items: Vec<Item<'_>>,
        mut of_socket: SocketResults,
        mut written: JsonWriter,
    ) -> Answer {
        written.reserve(USUAL * items.len());
        let mut responses = BatchResponses {
            rpc: self,
            written,
            parts: Vec::with_capacity(items.len()),
            no_room: false,
        };
        let at_once = self.calls_at_once();
        let mut under_way = FuturesUnordered::new();
        let mut executing = 0;
        // How long quick requests have occupied the thread since the last pause.
        let mut turn = Duration::ZERO;

        for item in items {
            let Some((at, request)) = responses.next_to_start(item, &mut of_socket) else {
                continue;
            };

            match responses.write(at, |_, out| self.start(client, body, &request, out)) {
                Began::Answered(took) => turn += took,
                Began::UnderWay(started) => {
                    let executes = started.executes;
                    executing += usize::from(executes);
                    under_way.push(async move { (at, executes, self.wait(started).await) });
                }
            }

            while executing >= at_once
                && let Some((at, executes, answer)) = under_way.next().await
            {
                executing -= usize::from(executes);
                // Other tasks ran during the wait.
                turn = Duration::ZERO;
                responses.finish(at, answer);
            }

            if turn > TURN {
                yield_now().await;
                turn = Duration::ZERO;
            }
        }

        while let Some((at, _, answer)) = under_way.next().await {
            responses.finish(at, answer);
        }
        responses.end()
    }

    /// The number of a batch's requests that execute at a time.
    fn calls_at_once(&self) -> usize {
        if self.context.fork().is_some() {
            AT_ONCE_ON_FORK
        } else {
            AT_ONCE
        }
    }
}

impl<'b> BatchResponses<'_, 'b> {
    /// Adds an element; returns its position and its request if that is still to be started.
    ///
    /// Invalid elements, those that the WebSocket has executed, and those for which there is no
    /// more room are answered here.
    fn next_to_start(
        &mut self,
        item: Item<'b>,
        of_socket: &mut SocketResults,
    ) -> Option<(usize, Request<'b>)> {
        let at = self.parts.len();
        let request = match item.request(self.rpc.context.dialect) {
            Ok(request) => request,
            Err(error) => {
                self.parts.push((Some(NO_ID), 0..0));
                self.refuse(at, &error);
                return None;
            }
        };
        self.parts.push((request.id, 0..0));

        // Before the limit of size: a subscription that exists already needs its identifier.
        if let Some(result) = of_socket.remove(&at) {
            let rpc = self.rpc;
            self.write(at, |id, out| rpc.finish(id, result.map(Raw), out));
            return None;
        }
        if self.is_full() {
            self.refuse_for_size(at);
            return None;
        }

        Some((at, request))
    }

    /// Writes the response to a request, or nothing if the call is still in progress or no
    /// client waits for its response. If there is no memory for it, no further request is answered.
    fn write<R>(&mut self, at: usize, write: impl FnOnce(&str, &mut JsonWriter) -> R) -> R {
        let (id, part) = &mut self.parts[at];
        let start = self.written.len();
        // Every response begins with a comma, so that all can be sorted by their ranges.
        self.written.extend_anyway(",");
        let result = write(id.unwrap_or(NO_ID), &mut self.written);

        let is_missing = self.written.check().is_err();
        if id.is_none() || is_missing || self.written.len() == start + 1 {
            self.written.truncate(start);
        }
        *part = start..self.written.len();

        if is_missing && id.is_some() {
            self.no_room = true;
            self.refuse_for_size(at);
        }
        result
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
        self.write(at, |id, out| rpc.finish(id, answer, out));
    }

    fn refuse(&mut self, at: usize, error: &RpcError) {
        let rpc = self.rpc;
        self.write(at, |id, out| rpc.refuse(id, error, out));
    }

    fn refuse_for_size(&mut self, at: usize) {
        let rpc = self.rpc;
        let error = if self.no_room {
            RpcError::no_room()
        } else {
            RpcError::too_large("response too large")
        };
        self.write(at, |id, out| rpc.refuse_for_memory(id, &error, out));
    }

    /// The responses in the order of the requests, as a JSON array; empty if there are only
    /// notifications. Without memory for another copy they stay in the order in which they were
    /// written, which is as good for clients that follow JSON-RPC.
    fn end(self) -> Answer {
        let mut out = self.written;
        if !self.parts.is_sorted_by_key(|(_, part)| part.start) {
            let mut sorted = self.rpc.context.writer(usize::MAX);
            for (_, part) in self.parts {
                sorted.extend_from_slice(&out.bytes()[part]);
            }
            if sorted.check().is_ok() {
                out = sorted;
            }
        }

        // The first response follows the bracket instead of a comma.
        if let Some(first) = out.bytes_mut().first_mut() {
            *first = b'[';
            out.extend_anyway("]");
        }
        out.into_answer()
    }
}
