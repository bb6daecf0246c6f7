//! The reasons why a source cannot be set up.

use super::ReplayError;

/// The reason why a source could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// A recording is unusable.
    #[error("exchange.price-sources: {0}")]
    Replay(#[from] ReplayError),
    /// A file of certificate authorities is unusable.
    #[error("exchange.upstream-ca-file: {file}: {what}")]
    Authorities {
        /// The file.
        file: String,
        /// The reason.
        what: String,
    },
    /// A client for an upstream could not be created.
    #[error("exchange.price-sources: {url}: {what}")]
    Client {
        /// The upstream.
        url: String,
        /// The reason.
        what: String,
    },
}
