//! The cryptography of TLS.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};

/// The provider of the cryptography of TLS: the process's, or [ring].
pub fn provider() -> Arc<CryptoProvider> {
    // HTTP clients take the process's.
    CryptoProvider::get_default().cloned().unwrap_or_else(|| {
        // A failure means that another thread has just installed one.
        let _ = ring::default_provider().install_default();
        CryptoProvider::get_default().cloned().unwrap_or_else(|| Arc::new(ring::default_provider()))
    })
}
