//! An authority, and certificates that it signs.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use mptcplab_controller_server::{HttpTls, TlsFiles};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use tempfile::TempDir;

const NAME: &str = "controller.test";

pub(crate) struct Authority {
    folder: TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, key()).expect("an authority");
        let folder = TempDir::new().expect("a folder");
        fs::write(folder.path().join("ca.pem"), issuer.pem()).expect("written");
        Self { folder, issuer }
    }

    /// The files of a server, certificate and key in one.
    pub(crate) fn server(&self) -> TlsFiles {
        let (certificate, key) = self.sign(NAME);
        let cert = self.file("server.pem");
        fs::write(&cert, certificate.pem() + &key.serialize_pem()).expect("written");
        TlsFiles {
            ca: self.file("ca.pem"),
            cert,
            key: None,
        }
    }

    /// The files of a server of HTTP.
    pub(crate) fn http(&self) -> HttpTls {
        let (certificate, key) = self.sign(NAME);
        let files = HttpTls {
            cert: self.file("http.pem"),
            key: self.file("http-key.pem"),
        };
        fs::write(&files.cert, certificate.pem()).expect("written");
        fs::write(&files.key, key.serialize_pem()).expect("written");
        files
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn sign(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        let key = key();
        let signed = params.signed_by(&key, &self.issuer);
        (signed.expect("a certificate"), key)
    }

    /// The end of a switch that trusts this authority, and shows a certificate of `of`, if any.
    pub(crate) fn client(&self, of: Option<&Self>) -> ClientConnection {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).expect("an authority");
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots);
        let config = match of {
            None => config.with_no_client_auth(),
            Some(of) => {
                let (certificate, key) = of.sign("switch.test");
                let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
                let chain = vec![certificate.der().clone()];
                config.with_client_auth_cert(chain, key).expect("a key")
            }
        };
        let name = ServerName::try_from(NAME).expect("a name");
        ClientConnection::new(Arc::new(config), name).expect("a client")
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect("a key")
}
