//! TLS 1.3 with certificates at both ends.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, version};

use crate::config::TlsFiles;
use crate::error::StartError;
use crate::http::HttpTls;

/// The server's end of TLS: a switch must show a certificate that the authority has signed.
pub(crate) fn server_config(files: &TlsFiles) -> Result<Arc<ServerConfig>, StartError> {
    let ca = files.ca.as_path();
    let mut roots = RootCertStore::empty();
    for certificate in certificates(ca)? {
        roots
            .add(certificate)
            .map_err(|error| refused(ca, &error))?;
    }
    let provider = Arc::new(ring::default_provider());
    let clients = WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(&provider))
        .build()
        .map_err(|error| refused(ca, &error))?;
    let key = key(files.key.as_deref().unwrap_or(&files.cert))?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&version::TLS13])
        .map_err(|error| refused(&files.cert, &error))?
        .with_client_cert_verifier(clients)
        .with_single_cert(certificates(&files.cert)?, key)
        .map_err(|error| refused(&files.cert, &error))?;
    // Each connection of a switch shows its certificate anew.
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// The end of TLS of a server of HTTP: peers show no certificate, but a token.
pub(crate) fn http_config(files: &HttpTls) -> Result<Arc<ServerConfig>, StartError> {
    let refused = |error: rustls::Error| refused(&files.cert, &error);
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&version::TLS13])
        .map_err(refused)?
        .with_no_client_auth()
        .with_single_cert(certificates(&files.cert)?, key(&files.key)?)
        .map_err(refused)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn key(path: &Path) -> Result<PrivateKeyDer<'static>, StartError> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| unread(path, "key", &error))
}

/// The certificates of a file, one at least.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, StartError> {
    let unread = |error| unread(path, "certificate", &error);
    let all: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path)
        .map_err(unread)?
        .collect();
    let all = all.map_err(unread)?;
    match all.is_empty() {
        true => Err(unread(pem::Error::NoItemsFound)),
        false => Ok(all),
    }
}

fn unread(path: &Path, item: &str, error: &pem::Error) -> StartError {
    let reason = match error {
        pem::Error::NoItemsFound => format!("holds no {item} in PEM"),
        pem::Error::Io(error) => format!("cannot be read: {error}"),
        other => format!("holds no {item} in PEM: {other}"),
    };
    let path = path.to_owned();
    StartError::Tls { path, reason }
}

fn refused(path: &Path, error: &dyn std::error::Error) -> StartError {
    let path = path.to_owned();
    let mut reason = format!("cannot be used: {error}");
    if reason.contains("UnsupportedCertVersion") {
        reason +=
            ": it is of version 1 of X.509; sign it with an extension (openssl x509 -extfile)";
    }
    StartError::Tls { path, reason }
}
