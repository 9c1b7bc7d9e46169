//! The conditions on readers: they name the server as it is named, and have its token.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use subtle::ConstantTimeEq;

use super::config::HttpConfig;
use super::request::Request;
use super::response::Status;
use crate::error::StartError;

/// Bytes of a token: fewer can be guessed, more are no token.
const TOKEN_BYTES: std::ops::RangeInclusive<usize> = 16..=1024;

/// The conditions on requests.
pub(super) struct Access {
    /// Whether only names of the loopback are the server's.
    is_loopback: bool,
    token: Option<String>,
}

impl Access {
    /// The conditions of a configuration.
    ///
    /// # Errors
    ///
    /// An address beyond the loopback without TLS or without a token, and a file that holds none.
    pub(super) fn new(config: &HttpConfig) -> Result<Self, StartError> {
        let is_loopback = config.listen.ip().to_canonical().is_loopback();
        if !is_loopback && (config.tls.is_none() || config.token.is_none()) {
            return Err(StartError::HttpBeyondLoopback(config.listen));
        }
        let token = config.token.as_deref().map(read_token).transpose()?;
        Ok(Self { is_loopback, token })
    }

    /// Whether a request is to be answered.
    pub(super) fn admit(&self, request: &Request) -> Result<(), Status> {
        // A page of another site may have its name lead to the loopback, and would then read the
        // answers as its own (DNS rebinding); the name in the request still is that of its site.
        if self.is_loopback && !is_loopback_name(&request.host) {
            return Err(Status::Forbidden);
        }
        match &self.token {
            Some(token) if !has_token(request, token) => Err(Status::Unauthorized),
            _ => Ok(()),
        }
    }

    /// Whether a request may change something: it needs a token, and not one that a browser sends by
    /// itself wherever a page of another site makes it send a request.
    pub(super) fn admit_change(&self, request: &Request) -> Result<(), Status> {
        let is_known = |token: &String| has_bearer_token(request, token);
        match self.token.as_ref().is_some_and(is_known) {
            true => Ok(()),
            false => Err(Status::NeedsBearer),
        }
    }
}

fn read_token(path: &Path) -> Result<String, StartError> {
    let refused = |reason: String| {
        let path = path.to_owned();
        StartError::Token { path, reason }
    };
    let text =
        fs::read_to_string(path).map_err(|error| refused(format!("cannot be read: {error}")))?;
    let token = text.trim();
    if TOKEN_BYTES.contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(token.to_owned());
    }
    Err(refused(
        "holds no token: write 16 to 1024 letters, digits and signs of ASCII in one line, as \
         `openssl rand -hex 32` makes them"
            .to_owned(),
    ))
}

/// Whether a request has the token: as a bearer's, or as a password (RFC 7617).
fn has_token(request: &Request, token: &str) -> bool {
    if has_bearer_token(request, token) {
        return true;
    }
    let decoded = credentials(request, "basic").map(|given| BASE64_STANDARD.decode(given));
    let decoded = decoded.and_then(Result::ok).unwrap_or_default();
    let colon = decoded.iter().position(|byte| *byte == b':');
    colon.is_some_and(|colon| is_same(&decoded[colon + 1..], token))
}

/// Whether a request has the token as a bearer's (RFC 6750).
fn has_bearer_token(request: &Request, token: &str) -> bool {
    let given = credentials(request, "bearer");
    given.is_some_and(|given| is_same(given.as_bytes(), token))
}

/// The credentials of a request, if they are of a scheme.
fn credentials<'a>(request: &'a Request, of: &str) -> Option<&'a str> {
    let (scheme, given) = request.authorization.as_deref()?.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case(of)
        .then(|| given.trim_matches(' '))
}

/// Whether two texts are the same, in a time that does not show where they differ.
fn is_same(given: &[u8], token: &str) -> bool {
    given.ct_eq(token.as_bytes()).into()
}

/// Whether a name, with its port or without, is one of the loopback.
fn is_loopback_name(host: &str) -> bool {
    let (name, rest) = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').unwrap_or((rest, "]")),
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let has_good_rest = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
    let is_address = |name: &str| name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    has_good_rest && (name.eq_ignore_ascii_case("localhost") || is_address(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::request::Method;

    const TOKEN: &str = "0123456789abcdef";

    fn request(authorization: Option<&str>) -> Request {
        Request {
            method: Method::Get,
            target: "/".to_owned(),
            host: "localhost".to_owned(),
            authorization: authorization.map(str::to_owned),
            content: Vec::new(),
        }
    }

    #[test]
    fn names_of_the_loopback_are_known_with_and_without_a_port() {
        let good = [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1",
            "127.8.9.1:8080",
            "[::1]",
            "[::1]:80",
        ];
        assert!(good.into_iter().all(is_loopback_name));
        let other = [
            "",
            "localhost.",
            "localhost.example.com",
            "127.0.0.1.example.com",
            "127.0.0.1:80@example.com",
            "example.com:80",
            "192.0.2.1",
            "[::1",
            "[::1]80",
            "[::1]:80:80",
            "::1",
            "0.0.0.0",
            "[::]",
            "127.1",
            "2130706433",
        ];
        assert_eq!(other.into_iter().find(|host| is_loopback_name(host)), None);
    }

    #[test]
    fn a_token_is_a_bearers_or_a_password() {
        let basic = |text: &str| format!("Basic {}", BASE64_STANDARD.encode(text));
        let admits = |given: &str| has_token(&request(Some(given)), TOKEN);
        assert!(admits(&format!("Bearer {TOKEN}")));
        assert!(admits(&format!("bearer  {TOKEN}")));
        assert!(admits(&basic(&format!("any name:{TOKEN}"))));
        assert!(admits(&basic(&format!(":{TOKEN}"))));
        assert!(!has_token(&request(None), TOKEN));
        let wrong = [
            TOKEN.to_owned(),
            "Bearer".to_owned(),
            "Bearer ".to_owned(),
            format!("Bearer {TOKEN}0"),
            format!("Bearer {}", &TOKEN[1..]),
            format!("Digest {TOKEN}"),
            format!("Basic {TOKEN}"),
            basic(TOKEN),
            basic("name:0123456789abcdee"),
            "Basic ====".to_owned(),
        ];
        assert_eq!(wrong.iter().find(|given| admits(given)), None);
    }
}
