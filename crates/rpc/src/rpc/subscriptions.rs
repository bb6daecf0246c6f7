//! `eth_subscribe`: the subscriptions of a WebSocket connection.

use std::{collections::HashMap, sync::Arc};

use alloy_primitives::{B128, hex};
use serde_json::value::RawValue;
use tetrad_chain::{Chain, Event, HeldBlocks};
use tetrad_primitives::block::Block;
use tetrad_web::{Answer, AnswerError};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::{
    Context, RpcError,
    eth::{LogFilter, RpcHeader, RpcTransaction},
    json::{Json, Object},
    params::{self, Param, ParamRules, Params},
};

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
    /// The number of subscriptions that it counts as.
    fn size(&self) -> usize {
        match self {
            Self::Logs(filter) => filter.size(),
            Self::NewHeads | Self::NewPendingTransactions { .. } | Self::Syncing => 1,
        }
    }
}

/// The first parameter of `eth_subscribe`.
struct TopicName(String);

impl Param for TopicName {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        String::read(json, rules).map(Self)
    }
}

/// The second parameter, whose shape depends on the first.
struct TopicOptions(Option<Box<RawValue>>);

impl Param for TopicOptions {
    const DEFAULT: Option<fn() -> Self> = Some(|| Self(None));

    fn read(json: &str, _: ParamRules) -> Result<Self, String> {
        params::shape(json).map(|raw| Self(Some(raw)))
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
        params: Option<&RawValue>,
    ) -> Result<String, RpcError> {
        let (name, options): (TopicName, TopicOptions) = Params::read(params, context.rules())?;
        let options = options.0.as_deref().map(RawValue::get);
        let wrong = |what: String| RpcError::invalid_params(format!("params[1]: {what}"));
        let topic = match name.0.as_str() {
            "newHeads" => SubscriptionTopic::NewHeads,
            "syncing" => SubscriptionTopic::Syncing,
            "logs" => SubscriptionTopic::Logs(Box::new(
                options
                    .map(|json| LogFilter::read(json, context.rules()))
                    .transpose()
                    .map_err(wrong)?
                    .unwrap_or_default()
                    .of_future_logs(context)?,
            )),
            "newPendingTransactions" => SubscriptionTopic::NewPendingTransactions {
                full: options
                    .map(|json| bool::read(json, context.rules()))
                    .transpose()
                    .map_err(wrong)?
                    .unwrap_or(false),
            },
            other => {
                let what = format!(
                    "params[0]: no \"{}\" subscription",
                    other.chars().take(50).collect::<String>()
                );
                return Err(RpcError::invalid_params(what));
            }
        };
        let limit = context.config.max_subscriptions;
        let count = self
            .topics
            .values()
            .map(SubscriptionTopic::size)
            .sum::<usize>();
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
    pub(super) fn unsubscribe(
        &mut self,
        context: &Context,
        params: Option<&RawValue>,
    ) -> Result<bool, RpcError> {
        let (id,): (String,) = Params::read(params, context.rules())?;
        match self.topics.remove(&id) {
            Some(_) => Ok(true),
            None => Err(RpcError::server("subscription not found")),
        }
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
                    match topic {
                        SubscriptionTopic::NewPendingTransactions { full: false } => {
                            Some(notification(context, id, &transaction.hash()).map(Some))
                        }
                        SubscriptionTopic::NewPendingTransactions { full: true } => Some(
                            notification(
                                context,
                                id,
                                &RpcTransaction::Waiting(transaction.clone()),
                            )
                            .map(Some),
                        ),
                        SubscriptionTopic::NewHeads
                        | SubscriptionTopic::Logs(_)
                        | SubscriptionTopic::Syncing => None,
                    }
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

/// The messages of one subscription about a block that is new or was removed.
fn of_block<'a>(
    context: &'a Context,
    id: &'a str,
    topic: &'a SubscriptionTopic,
    block: &'a Arc<Block>,
    removed: bool,
) -> Box<dyn Iterator<Item = Result<Answer, AnswerError>> + Send + 'a> {
    match topic {
        SubscriptionTopic::NewHeads if !removed => Box::new(std::iter::once(notification(
            context,
            id,
            &RpcHeader {
                block: block.clone(),
                pending: false,
            },
        ))),
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
                        (self.version, self.seen) = (head.version(), head.held_blocks().clone());
                        return Some(Event::Head {
                            head,
                            added,
                            removed,
                        });
                    }
                }
                Ok(event) => return Some(event),
                Err(RecvError::Lagged(_)) => {
                    self.events = self.chain.subscribe();
                    let head = self.chain.head();
                    let (removed, added) = self.seen.difference(head.held_blocks());
                    (self.version, self.seen) = (head.version(), head.held_blocks().clone());
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
}

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
