//! The cryptography of TLS.
//!
//! The provider is ring: aws-lc took two minutes of a cold build on two cores, ring six seconds.
//! Its speed matters little, since TLS is a proxy's work in most deployments.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};

/// Makes [ring] the process's provider of cryptography, unless it has one. HTTP clients take the
/// process's.
pub fn install_provider() {
    // A failure means that there is one.
    let _ = ring::default_provider().install_default();
}

/// The process's provider of cryptography.
pub fn provider() -> Arc<CryptoProvider> {
    install_provider();
    CryptoProvider::get_default()
        .cloned()
        .unwrap_or_else(|| Arc::new(ring::default_provider()))
}
