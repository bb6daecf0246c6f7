//! The Cosmos side of the network: queries over gRPC, REST and CometBFT's interface (see the book,
//! "Accounts").
//!
//! These are views of the one state, which is the EVM's. Transactions of the bank module become
//! part of the same blocks as Ethereum's. The crate knows nothing of the other interfaces.
//!
//! ```
//! let mut names = tetrad_cosmos::comet_methods().map(|(name, _)| name);
//! assert!(names.any(|name| name == "broadcast_tx_sync"));
//! ```
//!
//! # Interfaces
//!
//! - Each query is implemented once (`queries`): it takes a message and returns the response in
//!   protobuf's JSON. gRPC, `abci_query` and the gateway's REST, with its routes and parameters,
//!   follow from the descriptors (`proto/descriptors.binpb`, with prost-reflect), so that they
//!   cannot differ.
//! - `/` accepts CometBFT's JSON-RPC in addition to Ethereum's, by `POST` and by WebSocket: Cosmos
//!   clients use the network's address as that of their node, and the two have no method name in
//!   common. `/rpc` accepts Ethereum's alone.
//! - gRPC on the main listener is recognised by its content type. `GET /health` there is the
//!   node's, not CometBFT's.
//! - IBC's queries are answered over gRPC and `abci_query` only: wallets take routes of IBC for
//!   support of transfers to other chains.
//! - A wrong HTTP method on a route of the gateway, and a path with a version such as `v1beta1`
//!   that is not a route, are answered with 501, as by gRPC gateways.
//! - The state before the first block is queried at height 1, the first height of a Cosmos chain:
//!   clients take 0 for none.
//! - The account type that the network names is described at run time, as a message with the shape
//!   of Ethermint's `EthAccount`; `/cosmos.auth.v1beta1.BaseAccount` has its own shape.
//! - The lists of Cosmos and CometBFT have numbered pages. A list with too many bytes is therefore
//!   an error: a shorter page would leave items out.
//!
//! # Transactions
//!
//! - The gas used of a Cosmos transaction is its limit, since Cosmos takes the whole fee: so
//!   `gasUsed` × `effectiveGasPrice` is the fee. If the gas limit does not divide the fee, the
//!   remainder belongs to the tip and the price is rounded down.
//! - A transaction to a blocked recipient is refused when it is checked. The SDK would include it
//!   as failed, but then the block alone would not determine the code of a failure. A failed
//!   transaction therefore always lacks funds.

mod abci_query;
mod blocks;
mod comet;
mod comet_call;
mod comet_methods;
mod comet_params;
mod comet_response;
mod comet_socket;
mod comet_tx;
mod error;
mod event_query;
#[doc(hidden)]
pub mod fuzzing;
mod grpc;
mod node;
mod protobuf;
mod queries;
mod rest;
mod sdk_reply;
mod tx;
mod tx_lookup;
mod tx_notifications;
mod tx_rest;
mod tx_result;

use std::sync::Arc;

use axum::Router;
use futures_util::future::BoxFuture;
use tetrad_chain::Chain;
use tetrad_network::network::Network;
use tetrad_web::{Answer, Operation, Shutdown, WebSockets};

pub use comet_call::CometType;

use self::{
    grpc::Grpc,
    node::NodeIdentity,
    protobuf::Messages,
    queries::{Methods, SupplyCache},
    tx_lookup::CosmosHashes,
    tx_notifications::TxNotifications,
};

/// Most bytes of a list in a response: more than clients of gRPC accept of a message unless they
/// are told otherwise. A list with more is an error, since pages are numbered: a shorter one would
/// leave items out.
const MAX_LIST_BYTES: usize = 4 << 20;

/// The methods of CometBFT's interface, with the names and types of their parameters. Its clients
/// know them; there is no description that a program could read.
pub fn comet_methods() -> impl Iterator<Item = (&'static str, &'static [(&'static str, CometType)])>
{
    comet_methods::METHODS
        .iter()
        .map(|method| (method.name, method.parameters))
}

/// The interface. Clones share it.
#[derive(Clone)]
pub struct Gateway {
    chain: Chain,
    network: Arc<Network>,
    node: Arc<NodeIdentity>,
    messages: Arc<Messages>,
    methods: Arc<Methods>,
    supply: Arc<SupplyCache>,
    hashes: Arc<CosmosHashes>,
    tx_notifications: Arc<TxNotifications>,
    sockets: WebSockets,
}

impl Gateway {
    /// The interface to `chain`, with at most `max_sockets_per_client` WebSockets for each client.
    pub fn new(
        chain: Chain,
        network: Arc<Network>,
        max_sockets_per_client: usize,
        shutdown: Shutdown,
    ) -> Self {
        let node = Arc::new(NodeIdentity::new(&chain, &network));
        let messages = Arc::new(Messages::new(&network));
        let methods = Arc::new(Methods::new(&messages));
        let sockets = comet_socket::web_sockets(max_sockets_per_client, shutdown);
        Self {
            chain,
            network,
            node,
            messages,
            methods,
            supply: Arc::default(),
            hashes: Arc::default(),
            tx_notifications: Arc::default(),
            sockets,
        }
    }

    /// The routes of a Cosmos node's gateway and of CometBFT, with their description.
    pub fn router(&self) -> (Router, Vec<Operation>) {
        let (gateway, mut operations) = rest::router(self);
        let (comet, described) = comet::router(self);
        operations.extend(described);
        (gateway.merge(comet), operations)
    }

    /// The gateway's routes, for a listener of their own.
    pub fn rest_router(&self) -> Router {
        rest::router(self).0.fallback(rest::not_implemented)
    }

    /// The routes of a node of CometBFT, for a listener of their own.
    pub fn comet_router(&self) -> Router {
        comet::own_router(self)
    }

    /// The routes of gRPC: all paths.
    pub fn grpc_router(&self) -> Router {
        Grpc::new(self.clone()).router()
    }

    /// `router`, with `grpc` for the requests that are gRPC's by their content type, and with the
    /// gateway's response to the routes of other gateways.
    pub fn beside(grpc: Router, router: Router) -> Router {
        grpc::beside(grpc, router.fallback(rest::unknown_route))
    }

    /// The WebSockets.
    pub fn sockets(&self) -> &WebSockets {
        &self.sockets
    }

    /// The response to a body of JSON-RPC, if it calls a method of CometBFT. Cosmos clients send
    /// these to the same address as Ethereum clients.
    pub fn answer(&self, body: &[u8]) -> Option<BoxFuture<'static, Answer>> {
        comet::answer_body(self, body)
    }
}
