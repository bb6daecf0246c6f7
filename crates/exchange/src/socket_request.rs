//! Messages that clients may send on the price WebSocket.

use serde::Deserialize;
use tetrad_network::network::Network;
use tetrad_stdx::text::excerpt;

use super::query::address;

/// A message of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SocketRequest {
    /// Send the prices of these tokens only, by their positions in the network's list; of all if
    /// there are none.
    Subscribe(Vec<usize>),
    /// Answer with a pong.
    Ping,
}

#[derive(Deserialize)]
struct RawSocketRequest {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    tokens: Vec<String>,
}

impl SocketRequest {
    /// Parses a text message. An error describes what is wrong with it.
    pub(super) fn read(text: &str, network: &Network) -> Result<Self, String> {
        let raw: RawSocketRequest = serde_json::from_str(text).map_err(|_| {
            r#"expected {"type":"subscribe","tokens":["0x…"]} or {"type":"ping"}; nothing needs to be sent"#.to_owned()
        })?;
        match raw.kind.as_str() {
            "ping" => Ok(Self::Ping),
            "subscribe" => {
                let mut wanted = raw
                    .tokens
                    .iter()
                    .map(|name| token(name, network))
                    .collect::<Result<Vec<_>, _>>()?;
                wanted.sort_unstable();
                wanted.dedup();
                Ok(Self::Subscribe(wanted))
            }
            _ => Err("unknown type: subscribe and ping are understood".to_owned()),
        }
    }
}

/// A token by its address, in any case, or by its symbol.
fn token(name: &str, network: &Network) -> Result<usize, String> {
    let wanted = address(name);
    let found = network
        .tokens
        .iter()
        .position(|token| wanted == Some(token.address) || token.symbol == name);
    found.ok_or_else(|| format!("tokens: no token {:?}", excerpt(name, 50)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_go_by_address_or_symbol() {
        let network = Network::default();
        let read = |text: &str| SocketRequest::read(text, &network);
        let weth = "0xD0C1A714C46C364DBDD4E0F7B0B6BA5354460DA7";
        let text = format!(r#"{{"type":"subscribe","tokens":["USDC","{weth}","WETH"],"more":1}}"#);
        assert_eq!(read(&text), Ok(SocketRequest::Subscribe(vec![2, 11])));
        assert_eq!(
            read(r#"{"type":"subscribe"}"#),
            Ok(SocketRequest::Subscribe(vec![]))
        );
        assert_eq!(read(r#"{"type":"ping"}"#), Ok(SocketRequest::Ping));
        assert_eq!(
            read(r#"{"type":"subscribe","tokens":["DOGE"]}"#),
            Err("tokens: no token \"DOGE\"".to_owned())
        );
        for garbage in [
            "",
            "{",
            "[]",
            "null",
            r#"{"type":1}"#,
            r#"{"type":"x"}"#,
            r#"{"type":"subscribe","tokens":1}"#,
        ] {
            assert!(read(garbage).is_err(), "{garbage}");
        }
    }
}
