//! Price messages, serialised once for all listeners.

use std::borrow::Cow;

use serde::Serialize;
use tetrad_network::network::Token;
use tetrad_web::Utf8Bytes;

use super::quote::{Number, is_false, key};

/// New prices of some tokens, as a message of the WebSocket. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PriceMessage {
    /// Position in the order of all messages. A market state with this number or a higher one
    /// includes the message's prices.
    pub sequence: u64,
    /// Time of the block, in milliseconds since the Unix epoch.
    timestamp: u64,
    /// Each token's position in the network's list and its member of the message's `data`.
    entries: Vec<(usize, String)>,
    /// The message for clients of all tokens.
    text: Utf8Bytes,
}

/// One token's part of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenUpdate {
    pub(super) token: usize,
    pub(super) price: u64,
    /// Hundredths of a per cent.
    pub(super) change_24h: i128,
    /// Seconds since the Unix epoch.
    pub(super) updated_at: u64,
    pub(super) halted: bool,
}

/// An entry of a price message (see the book, "Exchange").
#[derive(Serialize)]
struct PriceEntry<'a> {
    address: Cow<'a, str>,
    symbol: &'a str,
    price: Number,
    change24h: Number,
    /// Milliseconds since the Unix epoch.
    timestamp: u64,
    #[serde(skip_serializing_if = "is_false")]
    halted: bool,
}

impl<'a> PriceEntry<'a> {
    fn new(token: &'a Token, update: &TokenUpdate) -> Self {
        Self {
            address: key(token.address).into(),
            symbol: &token.symbol,
            price: Number::price(update.price),
            change24h: Number::percent(update.change_24h),
            timestamp: update.updated_at.saturating_mul(1_000),
            halted: update.halted,
        }
    }
}

impl PriceMessage {
    /// The message about `updates` of the network's `tokens`, as of a block of this time in seconds.
    pub(super) fn new(
        sequence: u64,
        time: u64,
        tokens: &[Token],
        updates: impl IntoIterator<Item = TokenUpdate>,
    ) -> Self {
        let entries: Vec<_> = updates
            .into_iter()
            .map(|update| (update.token, member(&tokens[update.token], &update)))
            .collect();
        let timestamp = time.saturating_mul(1_000);
        let text = write(timestamp, entries.iter());
        Self {
            sequence,
            timestamp,
            entries,
            text,
        }
    }

    /// The message for a client that subscribed to the tokens in `wanted`; none if the message has
    /// none of them.
    pub(super) fn for_tokens(&self, wanted: Option<&[usize]>) -> Option<Utf8Bytes> {
        let Some(wanted) = wanted else {
            return Some(self.text.clone());
        };
        let is_wanted = |entry: &&(usize, String)| wanted.contains(&entry.0);
        match self.entries.iter().filter(is_wanted).count() {
            0 => None,
            all if all == self.entries.len() => Some(self.text.clone()),
            _ => Some(write(self.timestamp, self.entries.iter().filter(is_wanted))),
        }
    }
}

/// A token's member of the message's `data`.
fn member(token: &Token, update: &TokenUpdate) -> String {
    let entry = PriceEntry::new(token, update);
    // Nothing in it can fail to become JSON.
    let json = serde_json::to_string(&entry).unwrap_or_default();
    format!("\"{}\":{json}", key(token.address))
}

fn write<'a>(timestamp: u64, entries: impl Iterator<Item = &'a (usize, String)>) -> Utf8Bytes {
    let mut text = String::with_capacity(2_048);
    text.push_str(r#"{"type":"price_update","data":{"#);
    for (position, (_, entry)) in entries.enumerate() {
        if position > 0 {
            text.push(',');
        }
        text.push_str(entry);
    }
    text.push_str(&format!("}},\"timestamp\":{timestamp}}}"));
    text.into()
}

#[cfg(test)]
mod tests {
    use tetrad_network::network::Network;

    use super::*;

    fn update(token: usize, price: u64) -> TokenUpdate {
        TokenUpdate {
            token,
            price,
            change_24h: -5,
            updated_at: 7,
            halted: token == 9,
        }
    }

    #[test]
    fn a_message_is_narrowed_to_what_is_wanted() {
        let tokens = Network::default().tokens;

        let message = PriceMessage::new(
            1,
            9,
            &tokens,
            [update(2, 351_235_000_000), update(9, 100_000_000)],
        );
        let weth = r#""0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7":{"address":"0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7","symbol":"WETH","price":3512.35,"change24h":-0.05,"timestamp":7000}"#;
        let only = message.for_tokens(Some(&[2])).expect("a message");
        assert_eq!(
            only.as_str(),
            format!(r#"{{"type":"price_update","data":{{{weth}}},"timestamp":9000}}"#)
        );
        let all = message.for_tokens(None).expect("a message");
        assert!(all.as_str().contains(
            r#""symbol":"USDT","price":1,"change24h":-0.05,"timestamp":7000,"halted":true}"#
        ));
        assert_eq!(message.for_tokens(Some(&[9, 2])), message.for_tokens(None));
        assert_eq!(message.for_tokens(Some(&[0])), None);
    }
}
