//! `eth_subscribe`: what a WebSocket connection is told without asking.

use std::collections::HashMap;

use alloy_primitives::{B128, hex};
use serde_json::value::RawValue;

use super::{
    Context, RpcError,
    eth::{LogFilter, RpcHeader, RpcTransaction},
    json::{Json, Object},
    params::{self, Param, Params},
};
use crate::chain::Event;

/// What a subscription tells of.
#[derive(Clone, Debug)]
enum Topic {
    NewHeads,
    Logs(Box<LogFilter>),
    /// Hashes, or whole transactions.
    NewPendingTransactions {
        full: bool,
    },
    /// A node that makes the chain never syncs: there is nothing to tell.
    Syncing,
}

/// The first parameter of `eth_subscribe`.
struct TopicName(String);

impl Param for TopicName {
    fn read(json: &str) -> Result<Self, String> {
        String::read(json).map(Self)
    }
}

/// The second parameter, whose shape depends on the first.
struct TopicOptions(Option<Box<RawValue>>);

impl Param for TopicOptions {
    const DEFAULT: Option<fn() -> Self> = Some(|| Self(None));

    fn read(json: &str) -> Result<Self, String> {
        params::shape(json).map(|raw| Self(Some(raw)))
    }
}

/// The subscriptions of one connection.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    topics: HashMap<String, Topic>,
    last: u64,
}

impl Subscriptions {
    /// `eth_subscribe`: returns the subscription's identifier.
    pub(super) fn subscribe(&mut self, context: &Context, params: Option<&RawValue>) -> Result<String, RpcError> {
        let (name, options): (TopicName, TopicOptions) = Params::read(params, context.dialect)?;
        let limit = context.config.max_subscriptions;
        if self.topics.len() >= limit {
            return Err(RpcError::server(format!("too many subscriptions: at most {limit} for a connection")));
        }
        let options = options.0.as_deref().map(RawValue::get);
        let wrong = |what: String| RpcError::invalid_params(format!("params[1]: {what}"));
        let topic = match name.0.as_str() {
            "newHeads" => Topic::NewHeads,
            "syncing" => Topic::Syncing,
            "logs" => {
                Topic::Logs(Box::new(options.map(LogFilter::read).transpose().map_err(wrong)?.unwrap_or_default()))
            }
            "newPendingTransactions" => Topic::NewPendingTransactions {
                full: options.map(bool::read).transpose().map_err(wrong)?.unwrap_or(false),
            },
            other => {
                let what = format!("params[0]: no \"{}\" subscription", other.chars().take(50).collect::<String>());
                return Err(RpcError::invalid_params(what));
            }
        };
        self.last += 1;
        let id = hex::encode_prefixed(B128::from(u128::from(self.last)).as_slice());
        self.topics.insert(id.clone(), topic);
        Ok(id)
    }

    /// `eth_unsubscribe`: returns whether there was such a subscription.
    pub(super) fn unsubscribe(&mut self, context: &Context, params: Option<&RawValue>) -> Result<bool, RpcError> {
        let (id,): (String,) = Params::read(params, context.dialect)?;
        match self.topics.remove(&id) {
            Some(_) => Ok(true),
            None => Err(RpcError::server("subscription not found")),
        }
    }

    /// Whether there is anybody to tell.
    pub(super) fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }

    /// The messages that an event gives rise to.
    pub(super) fn notifications(&self, event: &Event) -> Vec<String> {
        let mut out = Vec::new();
        for (id, topic) in &self.topics {
            match (topic, event) {
                (Topic::NewHeads, Event::Head { added, .. }) => {
                    out.extend(added.iter().map(|block| notification(id, &RpcHeader(block.clone()))));
                }
                (Topic::Logs(filter), Event::Head { added, removed, .. }) => {
                    out.extend(filter.select_each(removed, added).iter().map(|log| notification(id, log)));
                }
                (Topic::NewPendingTransactions { full: false }, Event::Pending(pooled)) => {
                    out.push(notification(id, &pooled.transaction.hash()));
                }
                (Topic::NewPendingTransactions { full: true }, Event::Pending(pooled)) => {
                    out.push(notification(id, &RpcTransaction::Waiting(pooled.transaction.clone())));
                }
                (Topic::NewHeads | Topic::Logs(_), Event::Pending(_))
                | (Topic::NewPendingTransactions { .. }, Event::Head { .. })
                | (Topic::Syncing, _) => {}
            }
        }
        out
    }
}

fn notification(subscription: &str, result: &impl Json) -> String {
    let mut out = Vec::with_capacity(256);
    let mut message = Object::begin(&mut out);
    message.member("jsonrpc", "2.0").member("method", "eth_subscription");
    Object::begin(message.name("params")).member("subscription", subscription).member("result", result).end();
    message.end();
    // JSON is UTF-8.
    String::from_utf8(out).unwrap_or_default()
}
