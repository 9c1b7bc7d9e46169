//! Requests, from their bytes.

use httparse::{EMPTY_HEADER, Error, Header};

use super::response::Status;

/// Fields of a request; more are refused.
const FIELDS: usize = 64;

/// A request that reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Whether the answer is its head alone.
    pub(super) is_head: bool,
    /// The target: a path, as it was sent.
    pub(super) target: String,
    /// The name of the server as the peer knows it.
    pub(super) host: String,
    /// The credentials: a scheme, and what it asks for.
    pub(super) authorization: Option<String>,
}

/// The request that bytes begin with; `None`: it is not whole yet. What comes after it is not looked
/// at: a connection has one request.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<Request>, Status> {
    let mut fields = [EMPTY_HEADER; FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    match parsed.parse(bytes) {
        Ok(status) if status.is_partial() => return Ok(None),
        Ok(_) => {}
        Err(Error::TooManyHeaders) => return Err(Status::RequestTooLarge),
        Err(Error::Version) => return Err(Status::VersionNotSupported),
        Err(_) => return Err(Status::BadRequest),
    }
    let (Some(method), Some(target)) = (parsed.method, parsed.path) else {
        return Err(Status::BadRequest);
    };
    let is_head = match method {
        "GET" => false,
        "HEAD" => true,
        _ => return Err(Status::MethodNotAllowed),
    };
    if field(parsed.headers, "transfer-encoding")?.is_some()
        || field(parsed.headers, "content-length")?.is_some_and(|length| length != "0")
    {
        return Err(Status::ContentTooLarge);
    }
    // Section 3.2 of RFC 9112: a request without a host is a bad one.
    let host = field(parsed.headers, "host")?.ok_or(Status::BadRequest)?;
    Ok(Some(Request {
        is_head,
        target: target.to_owned(),
        host: host.to_owned(),
        authorization: field(parsed.headers, "authorization")?.map(str::to_owned),
    }))
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
        assert!(!request.is_head);
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
