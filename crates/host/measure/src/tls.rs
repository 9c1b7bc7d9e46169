//! TLS 1.3 with a certificate of the peer's own, which is known by its fingerprint: a target's to a
//! probe, a server's to an agent; or with one for which others vouch.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    ServerConfig, SignatureScheme, version,
};

use crate::token::{FINGERPRINT_BYTES, fingerprint};

/// The name in every certificate; a target is known by its fingerprint.
pub(crate) const NAME: &str = "mptcplab-target";

/// The target's end.
///
/// # Errors
/// A certificate and a key that do not fit.
pub(crate) fn server_config(certificate: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>, Error> {
    let key =
        PrivateKeyDer::try_from(key.to_vec()).map_err(|error| Error::General(error.into()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(certificate.to_vec())], key)?;
    // A probe has one channel.
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// The probe's end, to the target with this certificate.
///
/// # Errors
/// Those of rustls.
pub(crate) fn client(expected: [u8; FINGERPRINT_BYTES]) -> Result<ClientConnection, Error> {
    let name = ServerName::try_from(NAME).expect("a name of the domain name system");
    ClientConnection::new(Arc::new(client_config(expected)?), name)
}

/// A client that takes the certificate with this fingerprint only, whatever its name and dates.
///
/// # Errors
/// Those of rustls.
pub fn client_config(expected: [u8; FINGERPRINT_BYTES]) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(Pinned {
        expected,
        provider: Arc::clone(&provider),
    });
    Ok(ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth())
}

/// A client that takes certificates for the server's name for which these vouch.
///
/// # Errors
/// Those of rustls.
pub fn client_config_of_roots(roots: RootCertStore) -> Result<ClientConfig, Error> {
    Ok(
        ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&version::TLS13])?
            .with_root_certificates(roots)
            .with_no_client_auth(),
    )
}

/// Takes one certificate only; its dates do not count.
#[derive(Debug)]
struct Pinned {
    expected: [u8; FINGERPRINT_BYTES],
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match fingerprint(certificate) == self.expected {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.2 is not spoken".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
