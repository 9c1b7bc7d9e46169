//! A target's certificate, its key, and the tokens of its holders.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::tls::NAME;
use crate::token::{Token, fingerprint};

/// The file of a folder that keeps an identity.
const FILE: &str = "identity.json";
/// The file beside it that has the tokens, a line each.
const TOKENS_FILE: &str = "tokens";

/// By what a target is known.
pub struct Identity {
    pub(crate) certificate: Vec<u8>,
    pub(crate) key: Vec<u8>,
    /// One for each holder.
    pub tokens: Vec<Token>,
}

/// The same as a file has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    certificate: String,
    key: String,
    tokens: Vec<String>,
}

impl Identity {
    /// A new one, for so many holders.
    ///
    /// # Errors
    /// Where no certificate can be made.
    pub fn new(holders: usize) -> Result<Self, Error> {
        let made = rcgen::generate_simple_self_signed([NAME.to_owned()])
            .map_err(|error| Error::Request(format!("no certificate can be made: {error}")))?;
        let certificate = made.cert.der().to_vec();
        Ok(Self {
            tokens: (0..holders).map(|_| Token::new(&certificate)).collect(),
            key: made.signing_key.serialize_der(),
            certificate,
        })
    }

    /// The one that a folder keeps, with new tokens where it has too few; a new one where it keeps
    /// none. The folder and the files are the owner's alone.
    ///
    /// # Errors
    /// A folder that cannot be read or written, and files that are none of this.
    pub fn kept(folder: &Path, holders: usize) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let mut identity = match fs::read(&path) {
            Ok(bytes) => parse(&bytes).ok_or_else(|| {
                let place = path.display();
                Error::Request(format!(
                    "{place}: keeps no identity of a target: remove it, and give out new tokens"
                ))
            })?,
            Err(error) if error.kind() == ErrorKind::NotFound => Self::new(0)?,
            Err(error) => return Err(Error::at(path.display())(error)),
        };
        while identity.tokens.len() < holders {
            identity.tokens.push(Token::new(&identity.certificate));
        }
        identity.tokens.truncate(holders);
        identity.keep(folder).map_err(Error::at(folder.display()))?;
        Ok(identity)
    }

    fn keep(&self, folder: &Path) -> io::Result<()> {
        let tokens: Vec<_> = self.tokens.iter().map(Token::text).collect();
        let lines = tokens.join("\n") + "\n";
        let kept = Kept {
            certificate: STANDARD.encode(&self.certificate),
            key: STANDARD.encode(&self.key),
            tokens,
        };
        fs::create_dir_all(folder)?;
        write_own(&folder.join(FILE), &serde_json::to_vec(&kept)?)?;
        write_own(&folder.join(TOKENS_FILE), lines.as_bytes())
    }
}

fn parse(bytes: &[u8]) -> Option<Identity> {
    let kept: Kept = serde_json::from_slice(bytes).ok()?;
    let certificate = STANDARD.decode(kept.certificate).ok()?;
    let tokens: Result<Vec<_>, _> = kept.tokens.iter().map(|text| Token::parse(text)).collect();
    let tokens = tokens.ok()?;
    let expected = fingerprint(&certificate);
    let fit = tokens.iter().all(|token| token.fingerprint == expected);
    fit.then_some(Identity {
        key: STANDARD.decode(kept.key).ok()?,
        certificate,
        tokens,
    })
}

/// Writes a file that only its owner reads, at once or not at all.
fn write_own(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("new");
    let _ = fs::remove_file(&temporary);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_kept_identity_has_the_same_tokens_again() {
        let folder = tempfile::tempdir().unwrap();
        let first = Identity::kept(folder.path(), 1).unwrap();
        let again = Identity::kept(folder.path(), 2).unwrap();
        assert!(again.tokens[0] == first.tokens[0] && again.tokens.len() == 2);
        let path = folder.path().join(FILE);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&path, "{}").unwrap();
        let refused = Identity::kept(folder.path(), 1).err().unwrap();
        assert!(refused.to_string().contains("keeps no identity"));
    }
}
