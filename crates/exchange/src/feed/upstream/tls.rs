//! Certificate authorities of upstreams: the system's, and those of a file.

use std::{path::Path, sync::Arc};

use rustls::{
    ClientConfig,
    pki_types::{CertificateDer, pem::PemObject},
};
use rustls_platform_verifier::Verifier;
use tetrad_stdx::tls;

use crate::feed::FeedError;

/// The certificates in a PEM file.
pub(super) fn authorities(file: &Path) -> Result<Vec<CertificateDer<'static>>, FeedError> {
    let certificates =
        CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = certificates.map_err(|error| authorities_error(file, error.to_string()))?;
    if certificates.is_empty() {
        let what = "there is no certificate in it".to_owned();
        return Err(authorities_error(file, what));
    }
    Ok(certificates)
}

fn authorities_error(file: &Path, what: String) -> FeedError {
    FeedError::Authorities {
        file: file.display().to_string(),
        what,
    }
}

/// The TLS configuration of a WebSocket.
pub(super) fn config(
    authorities: Vec<CertificateDer<'static>>,
) -> Result<Arc<ClientConfig>, String> {
    let provider = tls::provider();
    let verifier = Verifier::new_with_extra_roots(authorities, provider.clone())
        .map_err(|error| error.to_string())?;

    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    // rustls calls every custom verifier dangerous; this one is the platform's.
    let builder = builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    Ok(Arc::new(builder.with_no_client_auth()))
}
