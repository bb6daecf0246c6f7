//! The state of the node, as the process of a tracer sees it.

use std::{
    io::{self, Write},
    process::exit,
    sync::mpsc::Receiver,
};

use alloy_primitives::{Address, B256, U256};
use parking_lot::Mutex;
use tetrad_evm::BlockHashes;
use tetrad_primitives::state::{Account, ReadError, ReadState};

use super::message::{self, FromNode, FromTracer};

/// The node at the other end of the pipes.
pub(super) struct Node {
    link: Mutex<Link>,
}

struct Link {
    messages: Receiver<Vec<u8>>,
    out: io::Stdout,
}

impl Node {
    /// The node that sends `messages`.
    pub(super) fn new(messages: Receiver<Vec<u8>>) -> Self {
        Self {
            link: Mutex::new(Link {
                messages,
                out: io::stdout(),
            }),
        }
    }

    /// Waits for the next message. Without a node there is nothing left to do.
    pub(super) fn receive(&self) -> FromNode {
        let received = self.link.lock().messages.recv();
        received
            .ok()
            .and_then(|bytes| message::parse(&bytes).ok())
            .unwrap_or_else(|| exit(1))
    }

    /// Sends a message, and a text after it.
    pub(super) fn send(&self, sent: &FromTracer, text: Option<&str>) {
        let out = &mut self.link.lock().out;
        let written = message::write(sent, out).and_then(|()| match text {
            Some(text) => message::write_bytes(text.as_bytes(), out),
            None => out.flush(),
        });
        written.unwrap_or_else(|_| exit(1));
    }

    fn request(&self, request: &FromTracer) -> Result<FromNode, ReadError> {
        self.send(request, None);
        match self.receive() {
            FromNode::Unavailable(why) => Err(ReadError(why)),
            answer => Ok(answer),
        }
    }
}

fn unexpected() -> ReadError {
    ReadError("the node answered something else".to_owned())
}

impl ReadState for Node {
    fn account(&self, address: &Address, _: &B256) -> Result<Option<Account>, ReadError> {
        let FromNode::Account(account) = self.request(&FromTracer::Account(*address))? else {
            return Err(unexpected());
        };
        Ok(account.map(|account| account.attach(*address)))
    }

    fn slot(&self, account: &Account, index: U256) -> Result<U256, ReadError> {
        let FromNode::Slot(value) = self.request(&FromTracer::Slot(account.address, index))? else {
            return Err(unexpected());
        };
        Ok(value)
    }
}

impl BlockHashes for Node {
    fn block_hash(&self, number: u64) -> Result<Option<B256>, ReadError> {
        let FromNode::BlockHash(hash) = self.request(&FromTracer::BlockHash(number))? else {
            return Err(unexpected());
        };
        Ok(Some(hash))
    }
}
