//! Tokens: all that a probe needs to know to be served by a target, as one word.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use thiserror::Error;

use crate::authorisation::{Secret, random};

/// Length of the certificate's fingerprint.
pub const FINGERPRINT_BYTES: usize = 32;
/// Length of a secret.
pub const SECRET_BYTES: usize = 32;

const PREFIX: &str = "mptcplab1-";
const HOLDER_DIGITS: usize = 16;

/// The certificate by which a target is known, and the secret by which it knows the holder.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// SHA-256 of the target's certificate.
    pub fingerprint: [u8; FINGERPRINT_BYTES],
    /// The secret.
    pub secret: [u8; SECRET_BYTES],
}

/// A text that is no token.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("no token: it is the whole line that `mptcplab-host target` prints, {PREFIX}…")]
pub struct NoToken;

/// Without the secret.
impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Token({})", self.holder())
    }
}

impl Token {
    /// A new one for a target with this certificate.
    pub fn new(certificate: &[u8]) -> Self {
        Self {
            fingerprint: fingerprint(certificate),
            secret: random(),
        }
    }

    /// The token of this text.
    ///
    /// # Errors
    /// A text that is none.
    pub fn parse(text: &str) -> Result<Self, NoToken> {
        let encoded = text.trim().strip_prefix(PREFIX).ok_or(NoToken)?;
        let bytes = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| NoToken)?;
        let (fingerprint, secret) = bytes.split_first_chunk().ok_or(NoToken)?;
        Ok(Self {
            fingerprint: *fingerprint,
            secret: secret.try_into().map_err(|_| NoToken)?,
        })
    }

    /// The text of this token: a word without blanks.
    pub fn text(&self) -> String {
        let bytes = [self.fingerprint, self.secret].concat();
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
    }

    /// The secret, for use.
    pub fn secret(&self) -> Secret {
        Secret::new(&self.secret)
    }

    /// The name of the secret, from which it cannot be found.
    pub fn holder(&self) -> String {
        hex(&digest(&SHA256, &self.secret).as_ref()[..HOLDER_DIGITS / 2])
    }
}

/// SHA-256 of a certificate.
pub fn fingerprint(certificate: &[u8]) -> [u8; FINGERPRINT_BYTES] {
    let digest = digest(&SHA256, certificate);
    digest.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of hexadecimal digits; `None` where they are not all that.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<_>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let pairs = digits?;
    let bytes = pairs.chunks(2).map(|pair| match *pair {
        [high, low] => u8::try_from(high << 4 | low).ok(),
        _ => None,
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_token_is_read_as_it_was_written(fingerprint: [u8; 32], secret: [u8; 32]) {
            let token = Token { fingerprint, secret };
            let line = token.text() + "\n";
            prop_assert!(Token::parse(&line) == Ok(token));
        }

        #[test]
        fn any_text_is_a_token_or_none(text: String) {
            let _ = Token::parse(&text);
            let _ = Token::parse(&format!("{PREFIX}{text}"));
        }

        #[test]
        fn hexadecimal_digits_are_read_as_they_were_written(bytes: Vec<u8>) {
            prop_assert_eq!(from_hex(&hex(&bytes)), Some(bytes));
        }
    }

    #[test]
    fn other_digits_are_none() {
        assert_eq!(from_hex("0"), None);
        assert_eq!(from_hex("0g"), None);
        assert_eq!(from_hex("é"), None);
    }
}
