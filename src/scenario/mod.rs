//! Scenarios: bad days on demand (see the book, "Scenarios").
//!
//! ```text
//! document -> Scenario -> run -> price scripts, transactions, development methods, faults of the interfaces
//! ```
//!
//! A scenario is data: steps, each with a time or a block and one action. It changes the chain only
//! as any client with the keys and the development methods could, so the log replays without it.
//!
//! A document (`document.rs`) becomes steps, and a task per scenario (`run.rs`) performs them when
//! they are due. A step that lasts is a value that ends its effect when it is dropped: a script in
//! the set of price sources, or a fault of the interfaces. Everything else is a signed transaction
//! or a change by a development method. Only a scenario's effects are in the log; a restarted node
//! does not continue it.
//!
//! The clock decides when a step is due. A price's path begins at the price on the chain when the
//! step is performed, in the second in which it was due; from then on the time of blocks decides
//! where on its path the price is.

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
