//! Downloads over HTTP/1.1 (RFC 9112).

use bytes::Bytes;

use super::end::{End, Input, Pending, Progress, Role};
use super::failure::{Failure, complete};
use super::payload::{Receive, Send};

/// Longest head of a request or response.
const HEAD_BYTES: usize = 8 * 1024;
/// Header fields of a request or response at most.
const FIELDS: usize = 16;

/// Asks for a file and receives it.
#[derive(Debug)]
pub(super) struct Client {
    bytes: u64,
    request: Option<Pending>,
    head: Option<Vec<u8>>,
}

impl Client {
    pub(super) fn new(bytes: u64) -> Self {
        Self {
            bytes,
            request: None,
            head: Some(Vec::new()),
        }
    }
}

impl Role for Client {
    fn go(&mut self, end: &mut End<'_>) -> Result<Progress, Failure> {
        let (bytes, host) = (self.bytes, end.target);
        let request = self.request.get_or_insert_with(|| {
            Pending::new(format!(
                "GET /{bytes} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
            ))
        });
        request.flush(end);
        if let Some(head) = &mut self.head {
            let Some((announced, begin)) = read_head(end, head, announced_length)? else {
                return Ok(Progress::Waiting);
            };
            complete(announced, bytes)?;
            self.head = None;
            if !begin.is_empty() {
                end.take(&begin)?;
            }
        }
        Receive.go(end)
    }
}

/// Reads a request and sends the file.
#[derive(Debug)]
pub(super) enum Server {
    Reading(Vec<u8>),
    Answering(Pending, Send),
}

impl Server {
    pub(super) fn new() -> Self {
        Self::Reading(Vec::new())
    }
}

impl Role for Server {
    fn go(&mut self, end: &mut End<'_>) -> Result<Progress, Failure> {
        if let Self::Reading(head) = self {
            let Some((bytes, _)) = read_head(end, head, requested_length)? else {
                return Ok(Progress::Waiting);
            };
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\nConnection: close\r\n\r\n");
            *self = Self::Answering(Pending::new(head), Send::new(Some(bytes), None));
        }
        if let Self::Answering(head, file) = self
            && head.flush(end)
        {
            return file.go(end);
        }
        Ok(Progress::Waiting)
    }
}

/// What a parser finds in the head of a message: nothing yet, or the head's length and its meaning.
type Head = Result<Option<(usize, u64)>, Failure>;

/// Reads a head; once it is whole, gives its meaning and what came behind it.
fn read_head(
    end: &mut End<'_>,
    head: &mut Vec<u8>,
    parse: fn(&[u8]) -> Head,
) -> Result<Option<(u64, Bytes)>, Failure> {
    while head.len() < HEAD_BYTES {
        match end.read(HEAD_BYTES) {
            None => return Ok(None),
            Some(Input::End) => {
                return Err(malformed(
                    "the connection ended within the head of a message",
                ));
            }
            Some(Input::Bytes(bytes)) => head.extend_from_slice(&bytes),
        }
        if let Some((length, meaning)) = parse(head)? {
            return Ok(Some((meaning, Bytes::from(head.split_off(length)))));
        }
    }
    Err(malformed("the head of a message is too long"))
}

/// The size that a request's path asks for: `GET /1000000`.
fn requested_length(bytes: &[u8]) -> Head {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    let status = request
        .parse(bytes)
        .map_err(|error| malformed(&error.to_string()))?;
    let httparse::Status::Complete(length) = status else {
        return Ok(None);
    };
    let path = request.path.and_then(|path| path.strip_prefix('/'));
    let size = path.and_then(|size| size.parse().ok());
    size.map(|size| Some((length, size)))
        .ok_or_else(|| malformed("the path is not a size"))
}

/// The `Content-Length` of a response.
fn announced_length(bytes: &[u8]) -> Head {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut response = httparse::Response::new(&mut fields);
    let status = response
        .parse(bytes)
        .map_err(|error| malformed(&error.to_string()))?;
    let httparse::Status::Complete(length) = status else {
        return Ok(None);
    };
    let mut fields = response.headers.iter();
    let field = fields.find(|field| field.name.eq_ignore_ascii_case("content-length"));
    let size = field.and_then(|field| std::str::from_utf8(field.value).ok()?.parse().ok());
    size.map(|size| Some((length, size)))
        .ok_or_else(|| malformed("no Content-Length"))
}

fn malformed(what: &str) -> Failure {
    Failure::Other(format!("HTTP: {what}"))
}
