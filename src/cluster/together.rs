//! Transactions on their way to the leader. Those that are ready at the same time share a message, and its answer: for a short
//! one, the way costs more than what is made of it.

use async_nats::Request as NatsRequest;
use tokio::sync::{mpsc, oneshot};

use super::{
    message::{MOST_TOGETHER, Outcome, Request, Response, SignedRequest},
    requester::Requester,
};
use crate::chain::{Settled, SubmitError};

/// Bytes of transactions after which a message is full. A longer transaction has a message of its own.
pub(super) const FULL: usize = 128 << 10;

/// What the leader answered to a transaction: its acknowledgement, and a height of the log that includes it.
pub(super) type Answer = Result<(Settled, u64), SubmitError>;

/// A transaction that is to be sent. The reply is dropped if it cannot be, or has no answer: its submitter then asks the
/// leader on its own.
pub(super) struct Outgoing {
    pub(super) request: SignedRequest,
    pub(super) reply: oneshot::Sender<Answer>,
}

/// The queue of transactions that are to be sent. Its sender blocks nobody: each transaction is in the pool, which is limited.
pub(super) fn queue(requester: Requester) -> mpsc::UnboundedSender<Outgoing> {
    let (sender, outgoing) = mpsc::unbounded_channel();
    tokio::spawn(send_all(requester, outgoing));
    sender
}

/// Sends transactions until nobody can submit any.
async fn send_all(requester: Requester, mut outgoing: mpsc::UnboundedReceiver<Outgoing>) {
    while let Some(first) = outgoing.recv().await {
        // Those that can be ready now are ready then.
        tokio::task::yield_now().await;
        let batch = batch(first, &mut outgoing);
        let requester = requester.clone();
        tokio::spawn(async move { send(&requester, batch).await });
    }
}

/// Returns a transaction and those that wait behind it, as far as they fit into a message.
fn batch(first: Outgoing, outgoing: &mut mpsc::UnboundedReceiver<Outgoing>) -> Vec<Outgoing> {
    let mut bytes = first.request.raw.len();
    let mut batch = vec![first];
    while batch.len() < MOST_TOGETHER
        && bytes < FULL
        && let Ok(next) = outgoing.try_recv()
    {
        bytes += next.request.raw.len();
        batch.push(next);
    }
    batch
}

async fn send(requester: &Requester, batch: Vec<Outgoing>) {
    let Some(holder) = requester.leader.borrow().clone() else { return };
    let (mut requests, replies): (Vec<_>, Vec<_>) =
        batch.into_iter().map(|outgoing| (outgoing.request, outgoing.reply)).unzip();
    let count = requests.len();
    let request = match count {
        1 => Request::Submit(requests.remove(0)),
        _ => Request::SubmitTogether(requests),
    };
    let Ok(payload) = request.encode() else { return };
    let Ok(response) = requester.send(&holder, NatsRequest::new().payload(payload.into()), count).await else { return };
    let Response { height, outcome } = response;
    let settled = match outcome {
        Outcome::Submitted(settled) => vec![settled],
        Outcome::SubmittedTogether(all) => all,
        _ => return,
    };
    if settled.len() == replies.len() {
        for (reply, settled) in replies.into_iter().zip(settled) {
            // The submitter may be gone.
            let _ = reply.send(settled.map(|settled| (settled, height)));
        }
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::Bytes;

    use super::*;

    #[test]
    fn a_message_has_a_limited_number_of_transactions_and_bytes() {
        let (sender, mut outgoing) = mpsc::unbounded_channel();
        let push = |bytes: usize| {
            let request = SignedRequest { raw: Bytes::from(vec![0; bytes]), again: false };
            sender.send(Outgoing { request, reply: oneshot::channel().0 }).unwrap();
        };
        (0..MOST_TOGETHER + 3).for_each(&push);
        [FULL - 1, 1, 5].into_iter().for_each(push);
        let mut sizes = || {
            let first = outgoing.try_recv().ok()?;
            let batch = batch(first, &mut outgoing);
            Some(batch.iter().map(|outgoing| outgoing.request.raw.len()).collect::<Vec<_>>())
        };
        assert_eq!(sizes().unwrap(), (0..MOST_TOGETHER).collect::<Vec<_>>());
        assert_eq!(sizes().unwrap(), [MOST_TOGETHER, MOST_TOGETHER + 1, MOST_TOGETHER + 2, FULL - 1]);
        assert_eq!(sizes().unwrap(), [1, 5]);
        assert!(sizes().is_none());
    }
}
