//! The exchange: prices, swaps, and what is told about them (specification, 4.2 to 4.4).

pub mod contract;
pub mod feed;
pub mod genesis;
mod history;
mod market;
mod news;
mod oracle;
mod quote;
mod ring;
mod snapshot;
mod tick;
mod updater;

pub use history::History;
pub use market::{Market, MarketError};
pub use news::News;
pub use oracle::{Feed, OracleState, price_update};
pub use quote::Quote;
pub use snapshot::Snapshot;
pub use tick::Tick;
pub use updater::{Pace, Updater};
