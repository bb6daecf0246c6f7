//! TLS: a certificate and a key from files, which may be replaced while the node runs.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use arc_swap::ArcSwap;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self, ServerConfig,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

/// The ALPN identifier of HTTP/2 (RFC 9113 section 3.2).
pub(super) const HTTP_2: &[u8] = b"h2";

/// The TLS configuration of listeners.
#[derive(Debug)]
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: ArcSwap<ServerConfig>,
}

/// The reason why a certificate or key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or has no PEM section of the right kind.
    #[error("{file}: {problem}")]
    File {
        /// The file.
        file: PathBuf,
        /// The reason.
        problem: String,
    },
    /// Certificate and key do not match, or are not supported.
    #[error("{certificate} with {key}: {error}")]
    Pair {
        /// The file of the certificates.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// The reason.
        error: rustls::Error,
    },
}

impl Tls {
    /// Reads a chain of certificates, the server's own first, and its private key, both as PEM.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub fn load(certificate: PathBuf, key: PathBuf) -> Result<Self, TlsError> {
        let current = ArcSwap::from_pointee(read(&certificate, &key)?);
        Ok(Self {
            certificate,
            key,
            current,
        })
    }

    /// Reads both files again, for new connections. If the files cannot be used, the previous ones
    /// stay in use.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub fn reload(&self) -> Result<(), TlsError> {
        self.current
            .store(Arc::new(read(&self.certificate, &self.key)?));
        Ok(())
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.current.load_full())
    }
}

fn read(certificate: &Path, key: &Path) -> Result<ServerConfig, TlsError> {
    let chain =
        CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|error| file_error(certificate, error.to_string()))?;
    if chain.is_empty() {
        let problem = "no certificate in it".to_owned();
        return Err(file_error(certificate, problem));
    }

    let secret =
        PrivateKeyDer::from_pem_file(key).map_err(|error| file_error(key, error.to_string()))?;

    let mut config = ServerConfig::builder_with_provider(tetrad_stdx::tls::provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| pair_error(certificate, key, error))?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| pair_error(certificate, key, error))?;

    // rustls picks the first one that the client offers.
    config.alpn_protocols = vec![HTTP_2.to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn file_error(file: &Path, problem: String) -> TlsError {
    TlsError::File {
        file: file.to_owned(),
        problem,
    }
}

fn pair_error(certificate: &Path, key: &Path, error: rustls::Error) -> TlsError {
    TlsError::Pair {
        certificate: certificate.to_owned(),
        key: key.to_owned(),
        error,
    }
}
