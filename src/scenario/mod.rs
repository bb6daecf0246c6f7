//! Scenarios: bad days on demand (see the book, "Scenarios").
//!
//! ```text
//! document -> Scenario -> run -> price scripts, transactions, development methods, faults of the interfaces
//! ```
//!
//! A scenario is data: steps, each with a time or a block and one action. It changes the chain only
//! as anybody could who has the keys and the development methods, so the log replays without it.

mod actions;
mod call;
mod context;
mod document;
mod node;
mod ready_made;
mod rest;
mod run;
mod scenarios;
mod values;

pub use context::ScenarioContext;
pub use document::Scenario;
pub use node::ScenarioNode;
pub use ready_made::READY_MADE;
pub use rest::router;
pub use scenarios::Scenarios;
