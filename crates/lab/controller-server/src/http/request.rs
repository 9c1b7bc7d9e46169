//! Requests, from their bytes.

use httparse::{EMPTY_HEADER, Error, Header};

use super::response::Status;

/// Fields of a request; more are refused.
const FIELDS: usize = 64;

/// Bytes of the content of a request.
const CONTENT_BYTES: usize = 1024;

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    /// As `Get`, but the answer is its head alone.
    Head,
    Post,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: Method,
    /// The target: a path, as it was sent.
    pub(super) target: String,
    /// The name of the server as the peer knows it.
    pub(super) host: String,
    /// The credentials: a scheme, and what it asks for.
    pub(super) authorization: Option<String>,
    /// Its content, of `Post` alone.
    pub(super) content: Vec<u8>,
}

/// The request that bytes begin with; `None`: it is not whole yet. What comes after it is not looked
/// at: a connection has one request.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<Request>, Status> {
    let mut fields = [EMPTY_HEADER; FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let head_bytes = match parsed.parse(bytes) {
        Ok(httparse::Status::Partial) => return Ok(None),
        Ok(httparse::Status::Complete(length)) => length,
        Err(Error::TooManyHeaders) => return Err(Status::RequestTooLarge),
        Err(Error::Version) => return Err(Status::VersionNotSupported),
        Err(_) => return Err(Status::BadRequest),
    };
    let (Some(method), Some(target)) = (parsed.method, parsed.path) else {
        return Err(Status::BadRequest);
    };
    let (method, most_bytes) = match method {
        "GET" => (Method::Get, 0),
        "HEAD" => (Method::Head, 0),
        "POST" => (Method::Post, CONTENT_BYTES),
        _ => return Err(Status::MethodNotAllowed),
    };
    let length = content_length(parsed.headers)?;
    if length > most_bytes || field(parsed.headers, "transfer-encoding")?.is_some() {
        return Err(Status::ContentTooLarge);
    }
    let Some(content) = bytes[head_bytes..].get(..length) else {
        return Ok(None);
    };
    // Section 3.2 of RFC 9112: a request without a host is a bad one.
    let host = field(parsed.headers, "host")?.ok_or(Status::BadRequest)?;
    Ok(Some(Request {
        method,
        target: target.to_owned(),
        host: host.to_owned(),
        authorization: field(parsed.headers, "authorization")?.map(str::to_owned),
        content: content.to_vec(),
    }))
}

/// The bytes of a request's content; none where it does not say so.
fn content_length(fields: &[Header<'_>]) -> Result<usize, Status> {
    let Some(length) = field(fields, "content-length")? else {
        return Ok(0);
    };
    if length.is_empty() || !length.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Status::BadRequest);
    }
    length.parse().map_err(|_| Status::ContentTooLarge)
}

/// The value of a field that may be there once.
fn field<'a>(fields: &[Header<'a>], name: &str) -> Result<Option<&'a str>, Status> {
    let mut found = fields
        .iter()
        .filter(|field| field.name.eq_ignore_ascii_case(name));
    let first = found.next();
    if found.next().is_some() {
        return Err(Status::BadRequest);
    }
    let value = first.map(|field| std::str::from_utf8(field.value));
    value.transpose().map_err(|_| Status::BadRequest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WHOLE: &[u8] = b"GET /api/v1/topology HTTP/1.1\r\nHost: localhost:8080\r\n\r\n";

    #[test]
    fn a_request_is_read_once_it_is_whole() {
        for length in 0..WHOLE.len() {
            assert_eq!(parse(&WHOLE[..length]), Ok(None), "{length}");
        }
        let request = parse(WHOLE).expect("a request").expect("whole");
        assert_eq!(request.target, "/api/v1/topology");
        assert_eq!(request.host, "localhost:8080");
        assert_eq!(request.method, Method::Get);
        assert_eq!(parse(&[WHOLE, b"GET"].concat()), Ok(Some(request)));
    }

    #[test]
    fn requests_that_could_be_read_in_two_ways_are_refused() {
        let with = |fields: &str| parse(format!("GET / HTTP/1.1\r\n{fields}\r\n").as_bytes());
        assert_eq!(with(""), Err(Status::BadRequest));
        assert_eq!(with("Host: a\r\nHost: b\r\n"), Err(Status::BadRequest));
        assert_eq!(with("Host : a\r\n"), Err(Status::BadRequest));
        assert_eq!(with("Host: a\r\n b\r\n"), Err(Status::BadRequest));
        let body = "Host: a\r\nContent-Length: 5\r\n";
        assert_eq!(with(body), Err(Status::ContentTooLarge));
        let chunks = "Host: a\r\nTransfer-Encoding: chunked\r\n";
        assert_eq!(with(chunks), Err(Status::ContentTooLarge));
        let many = "Host: a\r\n".to_owned() + &"a: b\r\n".repeat(FIELDS);
        assert_eq!(with(&many), Err(Status::RequestTooLarge));
    }

    #[test]
    fn the_content_of_a_post_is_waited_for() {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ";
        let content = |request: &str| {
            let parsed = parse(format!("{head}{request}").as_bytes());
            parsed.map(|request| request.map(|request| request.content))
        };
        assert_eq!(content("3\r\n\r\nab"), Ok(None));
        assert_eq!(content("3\r\n\r\nabcd"), Ok(Some(b"abc".to_vec())));
        for wrong in ["", "-1", "+1", "1,1", "0x1"] {
            assert_eq!(
                content(&format!("{wrong}\r\n\r\n")),
                Err(Status::BadRequest)
            );
        }
        for long in ["1025", "99999999999999999999999"] {
            assert_eq!(
                content(&format!("{long}\r\n\r\n")),
                Err(Status::ContentTooLarge)
            );
        }
    }

    proptest! {
        /// Whatever comes, whole or cut: an answer and no panic.
        #[test]
        fn bytes_of_any_kind_are_read(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            place in 0..WHOLE.len(),
        ) {
            let _ = parse(&bytes);
            let mut changed = WHOLE.to_vec();
            changed.splice(place..place, bytes);
            let _ = parse(&changed);
        }
    }
}
