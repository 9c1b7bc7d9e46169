//! Heads of HTTP/1.1 messages (RFC 9112) of a download: `GET /SIZE`, and a body of that size.

use std::net::SocketAddr;

/// Longest head of a request or response that is read.
pub const HEAD_BYTES: usize = 8 * 1024;
/// Header fields of a request or response at most.
const FIELDS: usize = 16;

/// A message that breaks the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("HTTP: {0}")]
pub struct Malformed(String);

impl Malformed {
    /// The head goes on beyond [`HEAD_BYTES`].
    pub fn too_long() -> Self {
        Self("the head of a message is too long".into())
    }

    /// The connection ended before the head did.
    pub fn cut_off() -> Self {
        Self("the connection ended within the head of a message".into())
    }
}

/// The finding of a parser in the head of a message: nothing yet, or the head's length and meaning.
pub type Head = Result<Option<(usize, u64)>, Malformed>;

/// The head of a request for `bytes`.
pub fn request(bytes: u64, host: SocketAddr) -> String {
    format!("GET /{bytes} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
}

/// The head of a response with `bytes`.
pub fn response(bytes: u64) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\nConnection: close\r\n\r\n")
}

/// The size that a request's path asks for: `GET /1000000`.
///
/// # Errors
/// When it is not the head of a request, or names no size.
pub fn requested_length(bytes: &[u8]) -> Head {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    let status = request
        .parse(bytes)
        .map_err(|error| Malformed(error.to_string()))?;
    let httparse::Status::Complete(length) = status else {
        return Ok(None);
    };
    let path = request.path.and_then(|path| path.strip_prefix('/'));
    let size = path.and_then(|size| size.parse().ok());
    size.map(|size| Some((length, size)))
        .ok_or_else(|| Malformed("the path is not a size".into()))
}

/// The `Content-Length` of a response.
///
/// # Errors
/// When it is not the head of a response, or announces no length.
pub fn announced_length(bytes: &[u8]) -> Head {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut response = httparse::Response::new(&mut fields);
    let status = response
        .parse(bytes)
        .map_err(|error| Malformed(error.to_string()))?;
    let httparse::Status::Complete(length) = status else {
        return Ok(None);
    };
    let mut fields = response.headers.iter();
    let field = fields.find(|field| field.name.eq_ignore_ascii_case("content-length"));
    let size = field.and_then(|field| std::str::from_utf8(field.value).ok()?.parse().ok());
    size.map(|size| Some((length, size)))
        .ok_or_else(|| Malformed("no Content-Length".into()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_request_names_its_size_once_it_is_complete() {
        let request = b"GET /1234 HTTP/1.1\r\nHost: x\r\n\r\n";
        assert_eq!(
            requested_length(request).unwrap(),
            Some((request.len(), 1234))
        );
        assert_eq!(
            requested_length(&request[..request.len() - 1]).unwrap(),
            None
        );
        let error = requested_length(b"GET /index.html HTTP/1.1\r\n\r\n").unwrap_err();
        assert_eq!(error.to_string(), "HTTP: the path is not a size");
    }

    #[test]
    fn a_response_announces_its_length() {
        let response = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
        assert_eq!(
            announced_length(response).unwrap(),
            Some((response.len() - 5, 5))
        );
        let error = announced_length(b"HTTP/1.1 200 OK\r\n\r\n").unwrap_err();
        assert_eq!(error.to_string(), "HTTP: no Content-Length");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let _ = requested_length(&bytes);
            let _ = announced_length(&bytes);
        }
    }
}
