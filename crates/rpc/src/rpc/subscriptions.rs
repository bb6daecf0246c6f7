//! `eth_subscribe`: the subscriptions of a WebSocket connection.

use std::{collections::HashMap, sync::Arc};

use alloy_primitives::{B128, hex};
use serde_json::value::RawValue;
use tetrad_chain::{Chain, Event, Head, HeldBlocks};
use tetrad_primitives::block::{Block, Transaction};
use tetrad_stdx::text::excerpt;
use tetrad_web::{Answer, AnswerError};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::{
    Context, RpcError,
    eth::{LogFilter, RpcHeader, RpcTransaction},
    json::{Json, Object},
    params::{self, Param, ParamRules},
};

/// The characters of an unknown topic that its refusal repeats.
const MAX_SHOWN_NAME: usize = 50;

/// The subject of a subscription.
#[derive(Clone, Debug)]
enum SubscriptionTopic {
    NewHeads,
    Logs(Box<LogFilter>),
    /// Hashes, or whole transactions.
    NewPendingTransactions {
        full: bool,
    },
    /// Never reports anything: a node that builds the chain itself never syncs.
    Syncing,
}

impl SubscriptionTopic {
    /// The topic with this name, with options that depend on it.
    fn read(context: &Context, name: &str, options: &TopicOptions) -> Result<Self, RpcError> {
        match name {
            "newHeads" => Ok(Self::NewHeads),
            "syncing" => Ok(Self::Syncing),
            "logs" => {
                let filter = options.read::<LogFilter>()?.unwrap_or_default();
                Ok(Self::Logs(Box::new(filter.of_future_logs(context)?)))
            }
            "newPendingTransactions" => Ok(Self::NewPendingTransactions {
                full: options.read()?.unwrap_or(false),
            }),
            other => {
                let shown = excerpt(other, MAX_SHOWN_NAME);
                let what = format!("params[0]: no \"{shown}\" subscription");
                Err(RpcError::invalid_params(what))
            }
        }
    }

    /// The number of subscriptions that it counts as.
    fn size(&self) -> usize {
        match self {
            Self::Logs(filter) => filter.size(),
            Self::NewHeads | Self::NewPendingTransactions { .. } | Self::Syncing => 1,
        }
    }
}

/// The first parameter of `eth_subscribe`.
pub(super) struct TopicName(String);

impl Param for TopicName {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        String::read(json, rules).map(Self)
    }
}

/// The second parameter, unread since its shape depends on the first, with the rules to read it by.
pub(super) struct TopicOptions(Option<(Box<RawValue>, ParamRules)>);

impl TopicOptions {
    /// Reads the options, if they are given.
    fn read<P: Param>(&self) -> Result<Option<P>, RpcError> {
        let Some((json, rules)) = &self.0 else {
            return Ok(None);
        };
        P::read(json.get(), *rules)
            .map(Some)
            .map_err(|what| RpcError::invalid_params(format!("params[1]: {what}")))
    }
}

impl Param for TopicOptions {
    const DEFAULT: Option<fn() -> Self> = Some(|| Self(None));

    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        params::shape(json).map(|raw| Self(Some((raw, rules))))
    }
}

/// The subscriptions of one connection.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    topics: HashMap<String, SubscriptionTopic>,
    last: u64,
}

impl Subscriptions {
    /// `eth_subscribe`: returns the subscription's identifier.
    pub(super) fn subscribe(
        &mut self,
        context: &Context,
        (name, options): (TopicName, TopicOptions),
    ) -> Result<String, RpcError> {
        let topic = SubscriptionTopic::read(context, &name.0, &options)?;

        let limit = context.config.max_subscriptions;
        let count: usize = self.topics.values().map(SubscriptionTopic::size).sum();
        if count + topic.size() > limit {
            return Err(RpcError::server(format!(
                "too many subscriptions: at most {limit} for a connection"
            )));
        }

        self.last += 1;
        let id = hex::encode_prefixed(B128::from(u128::from(self.last)).as_slice());
        self.topics.insert(id.clone(), topic);
        Ok(id)
    }

    /// `eth_unsubscribe`: returns whether there was such a subscription.
    pub(super) fn unsubscribe(&mut self, _: &Context, (id,): (String,)) -> Result<bool, RpcError> {
        if self.topics.remove(&id).is_none() {
            return Err(RpcError::server("subscription not found"));
        }
        Ok(true)
    }

    /// Whether there are no subscriptions.
    pub(super) fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }

    /// The messages about an event, each rendered when the iterator reaches it. After those of a
    /// block for a subscription, of which there may be none, is `None`.
    pub(super) fn notifications<'a>(
        &'a self,
        event: &'a Event,
        context: &'a Context,
    ) -> Box<dyn Iterator<Item = Result<Option<Answer>, AnswerError>> + Send + 'a> {
        match event {
            Event::Pending(transaction) => {
                Box::new(self.topics.iter().filter_map(move |(id, topic)| {
                    of_pending(context, id, topic, transaction).map(|message| message.map(Some))
                }))
            }
            // Removed blocks come before new ones.
            Event::Head { added, removed, .. } => {
                let gone = removed.iter().map(|block| (block, true));
                let blocks = gone.chain(added.iter().map(|block| (block, false)));
                Box::new(blocks.flat_map(move |(block, removed)| {
                    self.topics.iter().flat_map(move |(id, topic)| {
                        of_block(context, id, topic, block, removed)
                            .map(|message| message.map(Some))
                            .chain([Ok(None)])
                    })
                }))
            }
        }
    }
}

/// The message of one subscription about a transaction that the pool has accepted.
fn of_pending(
    context: &Context,
    id: &str,
    topic: &SubscriptionTopic,
    transaction: &Arc<Transaction>,
) -> Option<Result<Answer, AnswerError>> {
    match topic {
        SubscriptionTopic::NewPendingTransactions { full: false } => {
            Some(notification(context, id, &transaction.hash()))
        }
        SubscriptionTopic::NewPendingTransactions { full: true } => {
            let whole = RpcTransaction::Waiting(transaction.clone());
            Some(notification(context, id, &whole))
        }
        SubscriptionTopic::NewHeads | SubscriptionTopic::Logs(_) | SubscriptionTopic::Syncing => {
            None
        }
    }
}

/// The messages of one subscription about a block that is new or was removed.
fn of_block<'a>(
    context: &'a Context,
    id: &'a str,
    topic: &'a SubscriptionTopic,
    block: &'a Arc<Block>,
    removed: bool,
) -> Box<dyn Iterator<Item = Result<Answer, AnswerError>> + Send + 'a> {
    match topic {
        // As in geth, only logs are reported as removed.
        SubscriptionTopic::NewHeads if !removed => {
            let header = RpcHeader {
                block: block.clone(),
                pending: false,
            };
            Box::new(std::iter::once(notification(context, id, &header)))
        }
        SubscriptionTopic::Logs(filter) => Box::new(
            filter
                .select(block, removed)
                .map(move |log| notification(context, id, &log)),
        ),
        SubscriptionTopic::NewHeads
        | SubscriptionTopic::NewPendingTransactions { .. }
        | SubscriptionTopic::Syncing => Box::new(std::iter::empty()),
    }
}

/// Follows the chain without delaying it: a follower that falls behind the events gets the
/// difference instead.
pub(super) struct Follower {
    chain: Chain,
    events: Receiver<Event>,
    version: u64,
    seen: HeldBlocks,
}

impl Follower {
    /// Follows from now on.
    pub(super) fn new(chain: &Chain) -> Self {
        // Subscribed before the head is read, so that no event after it is missed.
        let events = chain.subscribe();
        let head = chain.head();
        Self {
            chain: chain.clone(),
            events,
            version: head.version(),
            seen: head.held_blocks().clone(),
        }
    }

    /// Returns the next event; `None` when the chain has ended.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            match self.events.recv().await {
                Ok(Event::Head {
                    head,
                    added,
                    removed,
                }) => {
                    // A difference may already have covered the head.
                    if head.version() > self.version {
                        self.see(&head);
                        return Some(Event::Head {
                            head,
                            added,
                            removed,
                        });
                    }
                }
                Ok(event) => return Some(event),
                // Events were missed, and the difference takes their place.
                Err(RecvError::Lagged(_)) => {
                    self.events = self.chain.subscribe();
                    let head = self.chain.head();
                    let (removed, added) = self.seen.difference(head.held_blocks());
                    self.see(&head);
                    return Some(Event::Head {
                        head,
                        added: added.into(),
                        removed: removed.into(),
                    });
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Remembers which blocks have been reported.
    fn see(&mut self, head: &Head) {
        self.version = head.version();
        self.seen = head.held_blocks().clone();
    }
}

/// A message of a subscription.
fn notification(
    context: &Context,
    subscription: &str,
    result: &impl Json,
) -> Result<Answer, AnswerError> {
    let mut out = context.writer(usize::MAX);
    let mut message = Object::begin(&mut out);
    message
        .member("jsonrpc", "2.0")
        .member("method", "eth_subscription");
    Object::begin(message.name("params"))
        .member("subscription", subscription)
        .member("result", result)
        .end();
    message.end();
    Ok(out.finish()?.0)
}
