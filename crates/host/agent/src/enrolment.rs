//! Enrolment tokens: all that an agent needs to know to be taken in by a server, as one word.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mptcplab_measure::authorisation::random;
use mptcplab_measure::token::{FINGERPRINT_BYTES, from_hex};
use serde::{Deserialize, Serialize};
use thiserror::Error;

const PREFIX: &str = "mptcplab-enrol1-";
const SCHEME: &str = "https://";
const HTTPS_PORT: u16 = 443;
/// Letters of a token at most.
const LONGEST: usize = 4_096;
/// Letters of a host's name at most (RFC 1035).
const LONGEST_HOST: usize = 253;

/// A server, and what its certificate is known by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// As the token has it: `https://server.example.org:8443`.
    pub url: String,
    /// SHA-256 of its certificate, in hexadecimal digits; none: one for its host's name, for which the
    /// system's root certificates vouch.
    pub fingerprint: Option<String>,
}

/// A server, and the secret that it takes one agent in for.
#[derive(Clone, PartialEq, Eq)]
pub struct Enrolment {
    /// The server.
    pub server: Server,
    /// The secret, as the server has encoded it.
    pub secret: String,
}

/// A text that is no token, or of a server that cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NoEnrolment {
    /// It is something else.
    #[error("no token: it is the whole line that the server gives out, {PREFIX}…")]
    Text,
    /// The server's address is none.
    #[error("the token's server is none: https://HOST:PORT is wanted")]
    Url,
}

/// The content of a token.
#[derive(Serialize, Deserialize)]
struct Content {
    url: String,
    fingerprint: Option<String>,
    secret: String,
}

/// Without the secret.
impl fmt::Debug for Enrolment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Enrolment({})", self.server.url)
    }
}

impl Enrolment {
    /// The token of this text.
    ///
    /// # Errors
    /// A text that is none.
    pub fn parse(text: &str) -> Result<Self, NoEnrolment> {
        let encoded = text.trim().strip_prefix(PREFIX).ok_or(NoEnrolment::Text)?;
        if encoded.len() > LONGEST {
            return Err(NoEnrolment::Text);
        }
        let bytes = URL_SAFE_NO_PAD.decode(encoded);
        let bytes = bytes.map_err(|_| NoEnrolment::Text)?;
        let content: Content = serde_json::from_slice(&bytes).map_err(|_| NoEnrolment::Text)?;
        let server = Server {
            url: content.url,
            fingerprint: content.fingerprint,
        };
        server.place()?;
        server.fingerprint_bytes()?;
        match is_secret(&content.secret) {
            true => Ok(Self {
                server,
                secret: content.secret,
            }),
            false => Err(NoEnrolment::Text),
        }
    }
}

/// A secret of chance.
pub(crate) fn new_secret() -> String {
    let bytes: [u8; 32] = random();
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A secret that can stand in a header.
pub(crate) fn is_secret(text: &str) -> bool {
    let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || b"-_=".contains(&letter);
    (16..=256).contains(&text.len()) && text.bytes().all(is_letter)
}

impl Server {
    /// Its host, without the brackets of an IPv6 address, and its port.
    ///
    /// # Errors
    /// [`NoEnrolment::Url`].
    pub fn place(&self) -> Result<(&str, u16), NoEnrolment> {
        let place = self.url.strip_prefix(SCHEME).ok_or(NoEnrolment::Url)?;
        let place = place.strip_suffix('/').unwrap_or(place);
        let (host, rest) = match place.strip_prefix('[') {
            Some(six) => six.split_once(']').ok_or(NoEnrolment::Url)?,
            None => place.split_at(place.find(':').unwrap_or(place.len())),
        };
        let port = match rest.strip_prefix(':') {
            Some(digits) => digits.parse().ok().filter(|port| *port != 0),
            None => rest.is_empty().then_some(HTTPS_PORT),
        };
        let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || b".-_:".contains(&letter);
        let is_host = (1..=LONGEST_HOST).contains(&host.len()) && host.bytes().all(is_letter);
        match (is_host, port) {
            (true, Some(port)) => Ok((host, port)),
            _ => Err(NoEnrolment::Url),
        }
    }

    /// The bytes of its fingerprint, where it has one.
    ///
    /// # Errors
    /// [`NoEnrolment::Text`].
    pub fn fingerprint_bytes(&self) -> Result<Option<[u8; FINGERPRINT_BYTES]>, NoEnrolment> {
        let Some(digits) = &self.fingerprint else {
            return Ok(None);
        };
        let bytes = from_hex(digits).ok_or(NoEnrolment::Text)?;
        let bytes = bytes.try_into().map_err(|_| NoEnrolment::Text)?;
        Ok(Some(bytes))
    }

    /// Whether both are the same server. It is its certificate, and may have moved, or else its
    /// host's name.
    ///
    /// # Errors
    /// [`NoEnrolment`].
    pub fn is_same(&self, other: &Self) -> Result<bool, NoEnrolment> {
        match (self.fingerprint_bytes()?, other.fingerprint_bytes()?) {
            (Some(ours), Some(theirs)) => Ok(ours == theirs),
            (None, None) => Ok(self.place()?.0 == other.place()?.0),
            _ => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn token(content: &Value) -> String {
        format!("{PREFIX}{}\n", URL_SAFE_NO_PAD.encode(content.to_string()))
    }

    fn content(url: &str) -> Value {
        json!({"url": url, "fingerprint": "ab".repeat(32), "secret": "s".repeat(43)})
    }

    #[test]
    fn a_token_names_a_server_and_its_certificate() {
        for (url, place) in [
            (
                "https://server.example.org:8443",
                Some(("server.example.org", 8443)),
            ),
            ("https://192.0.2.1", Some(("192.0.2.1", 443))),
            ("https://[2001:db8::1]:1/", Some(("2001:db8::1", 1))),
            ("http://server.example.org", None),
            ("https://", None),
            ("https://host:0", None),
            ("https://host:65536", None),
            ("https://host/path", None),
            ("https://user@host", None),
            ("https://[::1", None),
            ("https://a\r\nb", None),
        ] {
            let read = Enrolment::parse(&token(&content(url)));
            match place {
                Some(place) => assert_eq!(read.unwrap().server.place(), Ok(place), "{url}"),
                None => assert_eq!(read, Err(NoEnrolment::Url), "{url}"),
            }
        }
    }

    #[test]
    fn a_server_is_its_certificate_or_else_its_hosts_name() {
        let server = |url: &str, fingerprint: Value| {
            let mut content = content(url);
            content["fingerprint"] = fingerprint;
            Enrolment::parse(&token(&content)).unwrap().server
        };
        let (own, other) = (json!("ab".repeat(32)), json!("cd".repeat(32)));
        let known = server("https://host", own.clone());
        assert_eq!(known.is_same(&server("https://moved:1", own)), Ok(true));
        assert_eq!(known.is_same(&server("https://host", other)), Ok(false));
        let public = server("https://host", Value::Null);
        assert_eq!(public.fingerprint_bytes(), Ok(None));
        assert_eq!(public.is_same(&known), Ok(false));
        for (url, is_same) in [("https://host:1", true), ("https://moved", false)] {
            assert_eq!(
                public.is_same(&server(url, Value::Null)),
                Ok(is_same),
                "{url}"
            );
        }
    }

    #[test]
    fn a_fingerprint_or_a_secret_that_is_none_is_refused() {
        let mut without = content("https://host");
        without["fingerprint"] = json!("abcd");
        assert_eq!(Enrolment::parse(&token(&without)), Err(NoEnrolment::Text));
        let mut header = content("https://host");
        header["secret"] = json!("a secret\r\nthat is none");
        assert_eq!(Enrolment::parse(&token(&header)), Err(NoEnrolment::Text));
    }

    proptest! {
        #[test]
        fn any_text_is_a_token_or_none(text: String) {
            let _ = Enrolment::parse(&text);
            let _ = Enrolment::parse(&format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(&text)));
            let _ = Enrolment::parse(&token(&content(&text)));
        }
    }
}
