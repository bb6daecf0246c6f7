//! The Cosmos side of the network: account queries, and what wallets need to add the chain (see the book, "Accounts").
//!
//! These are views of the one state, which is the EVM's. Transactions cannot be sent here.

mod abci_query;
mod account;
mod bank;
mod blocks;
mod comet;
mod comet_methods;
mod comet_socket;
mod empty;
mod error;
mod node;
mod parameters;
mod proto;
mod rest;
mod time;

use std::sync::Arc;

use axum::Router;

use self::node::NodeIdentity;
use crate::{
    chain::Chain,
    network::Network,
    web::{ClientAddresses, Operation, Shutdown, WebSockets, socket_operation},
};

/// The interface. Clones share it.
#[derive(Clone)]
pub struct Gateway {
    chain: Chain,
    network: Arc<Network>,
    node: Arc<NodeIdentity>,
    sockets: WebSockets,
}

impl Gateway {
    /// The interface to `chain`, with at most `max_sockets_per_client` WebSockets for each client.
    pub fn new(
        chain: Chain,
        network: Arc<Network>,
        addresses: ClientAddresses,
        max_sockets_per_client: usize,
        shutdown: Shutdown,
    ) -> Self {
        let node = Arc::new(NodeIdentity::new(&chain, &network));
        let sockets = comet_socket::web_sockets(max_sockets_per_client, addresses, shutdown);
        Self { chain, network, node, sockets }
    }

    /// The routes of a Cosmos node's gateway and of CometBFT, with their description.
    pub fn router(&self) -> (Router, Vec<Operation>) {
        let (gateway, mut operations) = rest::router(self.clone());
        let (comet, described) = comet::router(self.clone());
        operations.extend(described);
        operations.push(socket_operation(
            "Accounts",
            "/websocket",
            "CometBFT's JSON-RPC and new blocks, over WebSocket.",
        ));
        (gateway.merge(comet), operations)
    }

    /// The WebSockets.
    pub fn sockets(&self) -> &WebSockets {
        &self.sockets
    }

    /// The response to a body of JSON-RPC, if it calls a method of CometBFT. Cosmos clients send these to the same address
    /// as Ethereum clients.
    pub fn answer(&self, body: &[u8]) -> Option<Vec<u8>> {
        comet::answer_body(self, body)
    }
}
