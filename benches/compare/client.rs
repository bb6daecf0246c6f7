//! A minimal JSON-RPC client with one connection.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// One keep-alive connection.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    body: Vec<u8>,
}

/// A serialised HTTP request, built once and sent many times.
pub(crate) struct Request(Vec<u8>);

impl Request {
    /// A JSON-RPC call of one method.
    pub(crate) fn rpc(method: &str, params: &Value) -> Self {
        Self::post(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    }

    /// A POST request with the given body.
    pub(crate) fn post(body: &Value) -> Self {
        let body = body.to_string();
        Self(
            format!(
                "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
            .into_bytes(),
        )
    }

    /// A GET request for a path.
    pub(crate) fn get(path: &str) -> Self {
        Self(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes())
    }
}

impl Client {
    /// Connects to a port on localhost. Fails if nothing listens on it.
    pub(crate) fn connect(port: u16) -> std::io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(120)))?;
        Ok(Self {
            stream: BufReader::with_capacity(1 << 16, stream),
            body: Vec::new(),
        })
    }

    /// Sends a request and returns the body of the response.
    pub(crate) fn exchange(&mut self, request: &Request) -> std::io::Result<&[u8]> {
        self.stream.get_mut().write_all(&request.0)?;
        let mut length = 0;
        let mut line = Vec::new();
        loop {
            line.clear();
            if self.stream.read_until(b'\n', &mut line)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let text = line.trim_ascii();
            if text.is_empty() {
                break;
            }
            let name = text.get(..15).unwrap_or_default();
            if name.eq_ignore_ascii_case(b"content-length:") {
                length = String::from_utf8_lossy(text[15..].trim_ascii())
                    .parse()
                    .unwrap_or(0);
            }
        }
        self.body.resize(length, 0);
        self.stream.read_exact(&mut self.body)?;
        Ok(&self.body)
    }

    /// The result of a call, or the node's error.
    pub(crate) fn try_call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let body = self
            .exchange(&Request::rpc(method, &params))
            .map_err(|error| error.to_string())?;
        let mut answer: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        if answer["error"].is_null() {
            Ok(answer["result"].take())
        } else {
            Err(answer["error"].take())
        }
    }

    /// The result of a call. Panics if the node returns an error.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.try_call(method, params)
            .unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The result of a call, as a number.
    pub(crate) fn number(&mut self, method: &str, params: Value) -> u64 {
        let result = self.call(method, params);
        u64::from_str_radix(result.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
    }

    /// Sends a signed transaction and waits for its receipt. Panics if the transaction failed.
    pub(crate) fn send(&mut self, raw: &str) -> Value {
        let hash = self.call("eth_sendRawTransaction", json!([raw]));
        self.receipt(&hash)
    }

    /// Waits for the receipt of a transaction.
    pub(crate) fn receipt(&mut self, hash: &Value) -> Value {
        let began = Instant::now();
        loop {
            let receipt = self.call("eth_getTransactionReceipt", json!([hash]));
            if !receipt.is_null() {
                assert_eq!(receipt["status"], "0x1", "{receipt}");
                return receipt;
            }
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "{hash} is not included"
            );
        }
    }
}
