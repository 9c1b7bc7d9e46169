//! A target's certificate, its key, and the tokens of its holders.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
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

    /// The one that a folder keeps, without the tokens that are revoked, and with new ones where it
    /// has fewer than `holders`; a new one where it keeps none. [`Self::keep`] writes it.
    ///
    /// # Errors
    /// A folder that cannot be read, a file that is none of this, and a revoked token that is none
    /// of it.
    pub fn kept(folder: &Path, holders: usize, revoked: &[Token]) -> Result<Self, Error> {
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
        for token in revoked {
            let Some(place) = identity.tokens.iter().position(|one| one == token) else {
                let place = path.display();
                let holder = token.holder();
                return Err(Error::Request(format!(
                    "{place}: keeps no such token as is to be revoked ({holder})"
                )));
            };
            identity.tokens.remove(place);
        }
        while identity.tokens.len() < holders {
            identity.tokens.push(Token::new(&identity.certificate));
        }
        Ok(identity)
    }

    /// Writes it to a folder: the files are the owner's alone, and so is a folder that is made.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn keep(&self, folder: &Path) -> Result<(), Error> {
        self.write(folder).map_err(Error::at(folder.display()))
    }

    fn write(&self, folder: &Path) -> io::Result<()> {
        let tokens: Vec<_> = self.tokens.iter().map(Token::text).collect();
        let lines = tokens.join("\n") + "\n";
        let kept = Kept {
            certificate: STANDARD.encode(&self.certificate),
            key: STANDARD.encode(&self.key),
            tokens,
        };
        let mut maker = DirBuilder::new();
        maker.recursive(true).mode(0o700).create(folder)?;
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
    use std::slice;

    use super::*;

    #[test]
    fn tokens_are_kept_until_they_are_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("state");
        let first = Identity::kept(&folder, 2, &[]).unwrap();
        assert!(!folder.exists());
        first.keep(&folder).unwrap();
        let [one, other] = &first.tokens[..] else {
            panic!("two tokens")
        };
        let again = Identity::kept(&folder, 1, &[]).unwrap();
        assert!(again.tokens == first.tokens);
        let fewer = Identity::kept(&folder, 1, slice::from_ref(one)).unwrap();
        assert!(fewer.tokens == [other.clone()]);
        fewer.keep(&folder).unwrap();
        let more = Identity::kept(&folder, 2, &[]).unwrap();
        assert!(more.tokens[0] == *other && more.tokens[1] != *one);
        let refused = Identity::kept(&folder, 1, slice::from_ref(one))
            .err()
            .unwrap();
        assert!(refused.to_string().contains("keeps no such token"));
    }

    #[test]
    fn the_folder_and_its_files_are_the_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("state");
        Identity::kept(&folder, 1, &[])
            .unwrap()
            .keep(&folder)
            .unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let path = folder.join(FILE);
        assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
        fs::write(&path, "{}").unwrap();
        let refused = Identity::kept(&folder, 1, &[]).err().unwrap();
        assert!(refused.to_string().contains("keeps no identity"));
    }
}
