//! The explorer API: Blockscout's REST API v2 under `/api/v2`, and its Etherscan-style endpoint
//! `/api`.
//!
//! Lists come from the index of addresses; what an item says comes from the blocks that the index
//! points to, and from the newest state. A request waits until the index has reached the head, so
//! that a transaction is listed as soon as its receipt is there. Sources are verified through both,
//! and through Sourcify's API v2 under `/sourcify`.
//!
//! A parameter that a route does not have is refused: a filter that is ignored looks like a
//! complete list.
//!
//! Other REST interfaces ignore unknown parameters: they have no filters, and clients of the
//! network send some.

mod addresses;
mod blocks;
mod bodies;
mod contracts;
mod decode;
mod etherscan;
mod filters;
#[doc(hidden)]
pub mod fuzzing;
mod index_pages;
mod logs;
mod metadata;
mod page;
mod parameters;
mod render;
mod rest;
mod search;
mod sourcify;
mod tokens;
mod transactions;
mod uploads;

use axum::Router;
use tetrad_web::{Api, Operation, RestError, method_not_allowed};

pub use self::rest::Explorer;

impl Explorer {
    /// The routes under `/api/v2`, `/api` and `/sourcify`, and their description.
    pub fn router(&self) -> (Router, Vec<Operation>) {
        let api = addresses::routes(
            Api::new("Explorer").only_described::<RestError>(&page::WITHOUT_EFFECT),
        );
        let api = search::routes(tokens::routes(blocks::routes(transactions::routes(api))));
        let api = sourcify::routes(etherscan::routes(contracts::routes(api)));
        api.and(|router| router.method_not_allowed_fallback(method_not_allowed))
            .with_state(self.clone())
    }
}
