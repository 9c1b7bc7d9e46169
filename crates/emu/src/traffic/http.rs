//! Downloads over HTTP/1.1 (RFC 9112): a connection each, one after the other.

use socket2::Socket;

use super::content::{Content, splitmix64};
use super::conversation::{End, converse};
use super::failure::Failure;
use super::item::Item;
use super::payload::{Receiver, complete, send};
use super::rendezvous::Rendezvous;
use crate::plan::Way;

/// Longest head of a request or response.
const HEAD_LENGTH: usize = 8 * 1024;
/// Header fields of a request or response at most.
const FIELDS: usize = 16;

/// Downloads `bytes`, `count` times.
pub(super) fn run(item: &Item, listener: &Socket, bytes: u64, count: u32) {
    let rendezvous = &Rendezvous::default();
    rendezvous.accept_during(item, listener, || {
        item.on_client(|| {
            for index in (0..count).take_while(|_| item.stop.reason().is_none()) {
                download(item, rendezvous, index, bytes);
            }
        });
    });
}

fn download(item: &Item, rendezvous: &Rendezvous, index: u32, bytes: u64) {
    let content = &Content::new(splitmix64(item.seed, index.into()));
    let mut transfer = item.transfer("http", index, Way::Down);
    let mut receiver = Receiver::new(&transfer, item, Some(content));
    let client = |end: &End<'_>| {
        let host = item.target();
        let request = format!("GET /{bytes} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        end.write_all(request.as_bytes())?;
        let (announced, begin) = read_head(end, announced_length)?;
        complete(announced, bytes)?;
        if !begin.is_empty() {
            receiver.take(&begin)?;
        }
        receiver.take_all(end)
    };
    let server = |end: &End<'_>| {
        let (bytes, _) = read_head(end, requested_length)?;
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\nConnection: close\r\n\r\n");
        end.write_all(head.as_bytes())?;
        send(end, content, Some(bytes))
    };
    let result = converse(item, rendezvous, &mut transfer, None, client, server);
    let received = receiver.bytes();
    receiver.finish(&mut transfer);
    item.write_transfer(transfer, result.and_then(|()| complete(received, bytes)));
}

/// What a parser finds in the head of a message: nothing yet, or the head's length and its meaning.
type Head = Result<Option<(usize, u64)>, Failure>;

/// Reads a head; returns its meaning and what came behind it.
fn read_head(end: &End<'_>, parse: fn(&[u8]) -> Head) -> Result<(u64, Vec<u8>), Failure> {
    let mut head = Vec::new();
    let mut buffer = [0; HEAD_LENGTH];
    while head.len() < HEAD_LENGTH {
        let length = end.read(&mut buffer)?;
        if length == 0 {
            return Err(malformed(
                "the connection ended within the head of a message",
            ));
        }
        head.extend_from_slice(&buffer[..length]);
        if let Some((length, meaning)) = parse(&head)? {
            return Ok((meaning, head.split_off(length)));
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
