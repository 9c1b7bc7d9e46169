//! The root certificates of the system.

use std::env;
use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::Error;

/// The variable of OpenSSL that names another file.
const VARIABLE: &str = "SSL_CERT_FILE";
/// Where distributions have them: Debian, Fedora, openSUSE, Alpine.
const FILES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Those of the file that the variable names, or of the first that there is.
///
/// # Errors
/// [`Error::Unreached`]: there are none.
pub(super) fn system_roots() -> Result<RootCertStore, Error> {
    let named = env::var_os(VARIABLE).map(PathBuf::from);
    match named {
        Some(file) => roots(&file),
        None => {
            let mut files = FILES.iter().map(Path::new);
            let file = files.find(|file| file.exists());
            roots(file.unwrap_or(Path::new(FILES[0])))
        }
    }
}

fn roots(file: &Path) -> Result<RootCertStore, Error> {
    let place = file.display();
    let none = |reason: &str| {
        Error::Unreached(format!(
            "{place}: no root certificates of the system: {reason}: install ca-certificates, or \
             name a file of them by {VARIABLE}"
        ))
    };
    let every = CertificateDer::pem_file_iter(file).map_err(|error| none(&error.to_string()))?;
    let mut roots = RootCertStore::empty();
    // An entry that is none is no reason to leave out the others.
    roots.add_parsable_certificates(every.filter_map(Result::ok));
    match roots.is_empty() {
        true => Err(none("it holds none")),
        false => Ok(roots),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    const PEM: &str = "-----BEGIN CERTIFICATE-----\n";

    #[test]
    fn a_file_without_certificates_is_told_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("roots.pem");
        let told = |file: &Path| roots(file).err().unwrap().to_string();
        assert!(told(&file).contains("install ca-certificates"));
        for content in ["", "none", PEM] {
            fs::write(&file, content).unwrap();
            assert!(told(&file).contains("it holds none"), "{content}");
        }
        let made = rcgen::generate_simple_self_signed(["root".to_owned()]).unwrap();
        let encoded = STANDARD.encode(made.cert.der());
        let text = format!("{PEM}{encoded}\n-----END CERTIFICATE-----\n{PEM}");
        fs::write(&file, text).unwrap();
        assert_eq!(roots(&file).unwrap().len(), 1);
    }
}
