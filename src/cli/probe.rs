//! `tetrad probe`: checks whether a node is ready, for containers without an HTTP client.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream},
    path::Path,
    sync::Arc,
    time::Duration,
};

use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme, StreamOwned,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::CryptoProvider,
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use tetrad_stdx::tls;

use crate::Config;

/// Time limit of each step.
const STEP_TIMEOUT: Duration = Duration::from_secs(3);
/// Bytes of the response to read: its status line.
const STATUS_LINE: u64 = 64;

/// Asks the node with this configuration whether it is ready; over its Unix socket, if it has one.
pub(super) fn run(config: &Config, out: &mut dyn Write) -> io::Result<()> {
    let (place, asked) = match &config.listen_unix {
        Some(path) => (path.display().to_string(), ask_unix(path)),
        None => {
            let address = reachable(config.listen);
            let scheme = if config.tls.is_some() {
                "https"
            } else {
                "http"
            };
            (
                format!("{scheme}://{address}/ready"),
                ask_tcp(address, config.tls.is_some()),
            )
        }
    };

    let failed = |what: String| io::Error::other(format!("{place}: {what}"));
    let head = asked.map_err(|error| failed(error.to_string()))?;
    let line = String::from_utf8_lossy(&head);
    let status = line.split_whitespace().nth(1).unwrap_or("no HTTP");
    if status != "200" {
        return Err(failed(format!("not ready ({status})")));
    }
    writeln!(out, "ready")
}

/// Returns the address at which a client on the same machine reaches a listener.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        let home: IpAddr = if address.is_ipv4() {
            Ipv4Addr::LOCALHOST.into()
        } else {
            Ipv6Addr::LOCALHOST.into()
        };
        address.set_ip(home);
    }
    address
}

fn ask_tcp(address: SocketAddr, encrypted: bool) -> io::Result<Vec<u8>> {
    let stream = TcpStream::connect_timeout(&address, STEP_TIMEOUT)?;
    stream.set_read_timeout(Some(STEP_TIMEOUT))?;
    stream.set_write_timeout(Some(STEP_TIMEOUT))?;
    if !encrypted {
        return ask(stream);
    }

    let provider = tls::provider();
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth();
    let connection =
        ClientConnection::new(Arc::new(config), address.ip().into()).map_err(io::Error::other)?;
    ask(StreamOwned::new(connection, stream))
}

#[cfg(unix)]
fn ask_unix(path: &Path) -> io::Result<Vec<u8>> {
    let stream = std::os::unix::net::UnixStream::connect(path)?;
    stream.set_read_timeout(Some(STEP_TIMEOUT))?;
    stream.set_write_timeout(Some(STEP_TIMEOUT))?;
    ask(stream)
}

#[cfg(not(unix))]
fn ask_unix(_: &Path) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Sends the request and returns the beginning of the response.
fn ask(mut stream: impl Read + Write) -> io::Result<Vec<u8>> {
    stream.write_all(b"GET /ready HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    stream.flush()?;

    let mut head = Vec::new();
    stream.take(STATUS_LINE).read_to_end(&mut head)?;
    Ok(head)
}

/// Accepts every certificate. The node's is issued for the name that its clients use, not for the
/// address of the probe, and the probe sends nothing secret.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
