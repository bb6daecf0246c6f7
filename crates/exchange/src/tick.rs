//! Price messages, serialised once for all listeners.

use std::borrow::Cow;

use serde::Serialize;
use tetrad_network::network::Token;
use tetrad_web::Utf8Bytes;

use super::quote::{Number, is_false, key};

/// New prices of some tokens, as messages of the WebSocket. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tick {
    /// Position in the order of all ticks. A snapshot with this number or a higher one includes the
    /// tick.
    pub sequence: u64,
    /// Time of the block, in milliseconds since the Unix epoch.
    timestamp: u64,
    /// Each token's position in the network's list and its member of the message's `data`.
    entries: Vec<(usize, String)>,
    message: Utf8Bytes,
}

/// One token's part of a tick.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
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
struct Update<'a> {
    address: Cow<'a, str>,
    symbol: &'a str,
    price: Number,
    change24h: Number,
    /// Milliseconds since the Unix epoch.
    timestamp: u64,
    #[serde(skip_serializing_if = "is_false")]
    halted: bool,
}

impl<'a> Update<'a> {
    fn new(token: &'a Token, item: &Move) -> Self {
        Self {
            address: key(token.address).into(),
            symbol: &token.symbol,
            price: Number::price(item.price),
            change24h: Number::percent(item.change_24h),
            timestamp: item.updated_at.saturating_mul(1_000),
            halted: item.halted,
        }
    }
}

impl Tick {
    /// The message about `moves` of the network's `tokens`, as of a block of this time in seconds.
    pub(super) fn new(
        sequence: u64,
        time: u64,
        tokens: &[Token],
        moves: impl IntoIterator<Item = Move>,
    ) -> Self {
        let entry = |item: Move| {
            let token = &tokens[item.token];
            let update = Update::new(token, &item);
            // Nothing in it can fail to become JSON.
            let json = serde_json::to_string(&update).unwrap_or_default();
            (item.token, format!("\"{}\":{json}", key(token.address)))
        };
        let entries: Vec<_> = moves.into_iter().map(entry).collect();
        let timestamp = time.saturating_mul(1_000);
        let message = message(timestamp, entries.iter());
        Self {
            sequence,
            timestamp,
            entries,
            message,
        }
    }

    /// The message for a client that subscribed to the tokens in `wanted`; none if the tick has
    /// none of them.
    pub fn message(&self, wanted: Option<&[usize]>) -> Option<Utf8Bytes> {
        let Some(wanted) = wanted else {
            return Some(self.message.clone());
        };
        let is_wanted = |entry: &&(usize, String)| wanted.contains(&entry.0);
        match self.entries.iter().filter(is_wanted).count() {
            0 => None,
            all if all == self.entries.len() => Some(self.message.clone()),
            _ => Some(message(
                self.timestamp,
                self.entries.iter().filter(is_wanted),
            )),
        }
    }
}

fn message<'a>(timestamp: u64, entries: impl Iterator<Item = &'a (usize, String)>) -> Utf8Bytes {
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

    #[test]
    fn a_message_is_narrowed_to_what_is_wanted() {
        let tokens = Network::default().tokens;
        let item = |token, price| Move {
            token,
            price,
            change_24h: -5,
            updated_at: 7,
            halted: token == 9,
        };
        let tick = Tick::new(
            1,
            9,
            &tokens,
            [item(2, 351_235_000_000), item(9, 100_000_000)],
        );
        let weth = r#""0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7":{"address":"0xd0c1a714c46c364dbdd4e0f7b0b6ba5354460da7","symbol":"WETH","price":3512.35,"change24h":-0.05,"timestamp":7000}"#;
        let only = tick.message(Some(&[2])).expect("a message");
        assert_eq!(
            only.as_str(),
            format!(r#"{{"type":"price_update","data":{{{weth}}},"timestamp":9000}}"#)
        );
        let all = tick.message(None).expect("a message");
        assert!(all.as_str().contains(
            r#""symbol":"USDT","price":1,"change24h":-0.05,"timestamp":7000,"halted":true}"#
        ));
        assert_eq!(tick.message(Some(&[9, 2])), tick.message(None));
        assert_eq!(tick.message(Some(&[0])), None);
    }
}
