//! Answers, from their bytes as they come.

use std::time::Duration;

use httparse::{EMPTY_HEADER, Header, Status, parse_chunk_size};
use thiserror::Error;

/// Bytes of a head at most.
const MOST_HEAD_BYTES: usize = 16 << 10;
const MOST_HEADERS: usize = 64;
/// Bytes of a body at most.
const MOST_BODY_BYTES: usize = 2 << 20;
/// Bytes of the line of a chunk's size at most.
const MOST_LINE_BYTES: usize = 1 << 10;
const MOST_ETAG: usize = 256;
const MOST_SECONDS_DIGITS: usize = 9;

/// An answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Time after which the server wants to be asked again.
    pub retry_after: Option<Duration>,
    /// The server's name of the state of what was asked for.
    pub etag: Option<String>,
    /// Its body.
    pub body: Vec<u8>,
    /// The connection can carry another request.
    pub is_kept: bool,
}

/// An answer that is none, or beyond the bounds.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Malformed {
    /// No HTTP.
    #[error("the server's answer is no HTTP")]
    Http,
    /// Too large.
    #[error("the server's answer is too large")]
    Large,
    /// It ended early.
    #[error("the server's answer ended early")]
    Short,
}

/// The part of an answer that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    /// So many bytes of the body are missing.
    Body(usize),
    /// The line of a chunk's size.
    Size,
    /// So many bytes of a chunk are missing.
    Chunk(usize),
    /// The end of a chunk's line.
    ChunkEnd,
    /// Lines after the last chunk.
    Trailer,
    /// All until the end of the connection is the body.
    UntilEnd,
    Complete,
}

/// An answer that is coming.
#[derive(Debug)]
pub struct Decoder {
    state: State,
    bytes: Vec<u8>,
    answer: Answer,
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            state: State::Head,
            bytes: Vec::new(),
            answer: Answer::default(),
        }
    }
}

impl Decoder {
    /// Takes bytes; true once the answer is complete.
    ///
    /// # Errors
    /// Bytes that are no answer, or beyond the bounds.
    pub fn push(&mut self, bytes: &[u8]) -> Result<bool, Malformed> {
        self.bytes.extend_from_slice(bytes);
        while self.step()? {}
        Ok(self.state == State::Complete)
    }

    /// The answer, at its end or that of the connection.
    ///
    /// # Errors
    /// An answer that is not complete.
    pub fn end(self) -> Result<Answer, Malformed> {
        match self.state {
            State::Complete | State::UntilEnd => Ok(self.answer),
            _ => Err(Malformed::Short),
        }
    }

    /// Handles what can be handled; false where more bytes are wanted.
    fn step(&mut self) -> Result<bool, Malformed> {
        match self.state {
            State::Head => self.head(),
            State::Body(left) => {
                let left = self.take(left)?;
                self.state = match left {
                    0 => State::Complete,
                    left => State::Body(left),
                };
                Ok(false)
            }
            State::Chunk(left) => {
                let left = self.take(left)?;
                self.state = match left {
                    0 => State::ChunkEnd,
                    left => State::Chunk(left),
                };
                Ok(left == 0)
            }
            State::Size => self.size(),
            State::ChunkEnd => match self.line()? {
                Some(line) if line.is_empty() => {
                    self.state = State::Size;
                    Ok(true)
                }
                Some(_) => Err(Malformed::Http),
                None => Ok(false),
            },
            State::Trailer => match self.line()? {
                Some(line) if line.is_empty() => {
                    self.state = State::Complete;
                    Ok(false)
                }
                line => Ok(line.is_some()),
            },
            State::UntilEnd => {
                self.take(usize::MAX)?;
                Ok(false)
            }
            // The server sends more than it was asked for.
            State::Complete => {
                self.answer.is_kept &= self.bytes.is_empty();
                Ok(false)
            }
        }
    }

    /// Adds up to so many bytes to the body, and gives what is missing then.
    fn take(&mut self, left: usize) -> Result<usize, Malformed> {
        let count = left.min(self.bytes.len());
        if self.answer.body.len() + count > MOST_BODY_BYTES {
            return Err(Malformed::Large);
        }
        self.answer.body.extend(self.bytes.drain(..count));
        Ok(left - count)
    }

    /// The next line, without its end.
    fn line(&mut self) -> Result<Option<Vec<u8>>, Malformed> {
        let Some(end) = self.bytes.windows(2).position(|two| two == b"\r\n") else {
            return match self.bytes.len() > MOST_LINE_BYTES {
                true => Err(Malformed::Large),
                false => Ok(None),
            };
        };
        let line = self.bytes[..end].to_vec();
        self.bytes.drain(..end + 2);
        Ok(Some(line))
    }

    fn size(&mut self) -> Result<bool, Malformed> {
        let Some(mut line) = self.line()? else {
            return Ok(false);
        };
        line.extend_from_slice(b"\r\n");
        let Ok(Status::Complete((_, size))) = parse_chunk_size(&line) else {
            return Err(Malformed::Http);
        };
        let size = usize::try_from(size).map_err(|_| Malformed::Large)?;
        if size > MOST_BODY_BYTES {
            return Err(Malformed::Large);
        }
        self.state = match size {
            0 => State::Trailer,
            size => State::Chunk(size),
        };
        Ok(true)
    }

    fn head(&mut self) -> Result<bool, Malformed> {
        let mut headers = [EMPTY_HEADER; MOST_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let length = match response.parse(&self.bytes) {
            Ok(Status::Complete(length)) => length,
            Ok(Status::Partial) if self.bytes.len() > MOST_HEAD_BYTES => {
                return Err(Malformed::Large);
            }
            Ok(Status::Partial) => return Ok(false),
            Err(httparse::Error::TooManyHeaders) => return Err(Malformed::Large),
            Err(_) => return Err(Malformed::Http),
        };
        let status = response.code.ok_or(Malformed::Http)?;
        // Interim answers; no other protocol was asked for.
        let is_interim = (100..200).contains(&status);
        if !is_interim {
            let is_newest = response.version == Some(1);
            self.answer = answer(status, is_newest, response.headers);
            self.state = body(status, response.headers)?;
            self.answer.is_kept &= self.state != State::UntilEnd;
        }
        self.bytes.drain(..length);
        Ok(true)
    }
}

fn answer(status: u16, is_newest: bool, headers: &[Header<'_>]) -> Answer {
    let retry_after = text(headers, "retry-after").filter(|digits| {
        let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
        is_number && digits.len() <= MOST_SECONDS_DIGITS
    });
    let etag = text(headers, "etag").filter(|etag| {
        etag.len() <= MOST_ETAG && etag.bytes().all(|letter| letter.is_ascii_graphic())
    });
    let is_closed =
        text(headers, "connection").is_some_and(|word| word.eq_ignore_ascii_case("close"));
    Answer {
        status,
        retry_after: retry_after
            .and_then(|digits| digits.parse().ok())
            .map(Duration::from_secs),
        etag: etag.map(str::to_owned),
        body: Vec::new(),
        is_kept: is_newest && !is_closed,
    }
}

/// The bytes that come after the head.
fn body(status: u16, headers: &[Header<'_>]) -> Result<State, Malformed> {
    if status == 204 || status == 304 {
        return Ok(State::Complete);
    }
    if let Some(coding) = text(headers, "transfer-encoding") {
        return match coding.eq_ignore_ascii_case("chunked") {
            true => Ok(State::Size),
            false => Err(Malformed::Http),
        };
    }
    let Some(digits) = text(headers, "content-length") else {
        return Ok(State::UntilEnd);
    };
    match digits.parse::<usize>() {
        Ok(length) if length > MOST_BODY_BYTES => Err(Malformed::Large),
        Ok(0) => Ok(State::Complete),
        Ok(length) => Ok(State::Body(length)),
        Err(_) => Err(Malformed::Http),
    }
}

fn text<'a>(headers: &'a [Header<'_>], name: &str) -> Option<&'a str> {
    let header = headers
        .iter()
        .find(|header| header.name.eq_ignore_ascii_case(name))?;
    Some(std::str::from_utf8(header.value).ok()?.trim())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Result<Answer, Malformed> {
        let mut decoder = Decoder::default();
        for piece in pieces {
            if decoder.push(piece)? {
                break;
            }
        }
        decoder.end()
    }

    const CHUNKED: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\nRetry-After: 7\r\n\
        ETag: \"a\"\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nx: y\r\n\r\n";

    #[test]
    fn an_answer_has_its_status_and_its_body() {
        let answer = read(&[b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"]).unwrap();
        assert_eq!((answer.status, &answer.body[..]), (200, &b"{}"[..]));
        assert!(answer.is_kept && answer.retry_after.is_none() && answer.etag.is_none());
        let none = read(&[b"HTTP/1.1 304 Not Modified\r\nETag: \"b\"\r\n\r\n"]).unwrap();
        assert_eq!((none.status, none.etag.as_deref()), (304, Some("\"b\"")));
        let old = read(&[b"HTTP/1.0 404 No\r\n\r\nno", b" such page"]).unwrap();
        assert_eq!((old.is_kept, &old.body[..]), (false, &b"no such page"[..]));
        let closed = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        assert!(!read(&[closed]).unwrap().is_kept);
        let more = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc";
        assert_eq!(read(&[more]).unwrap().body, b"a");
    }

    #[test]
    fn chunks_are_put_together() {
        let answer = read(&[CHUNKED]).unwrap();
        assert_eq!((answer.status, &answer.body[..]), (503, &b"abcde"[..]));
        assert_eq!(answer.retry_after, Some(Duration::from_secs(7)));
        assert_eq!(answer.etag.as_deref(), Some("\"a\""));
    }

    #[test]
    fn what_is_no_answer_or_too_large_is_refused() {
        let head = b"HTTP/1.1 200 OK\r\n";
        let endless = [b'a'; 1 << 16];
        for (pieces, expected) in [
            (vec![&b"SSH-2.0-x\r\n\r\n"[..]], Malformed::Http),
            (
                vec![head, b"Content-Length: 99999999\r\n\r\n"],
                Malformed::Large,
            ),
            (vec![head, b"Content-Length: -1\r\n\r\n"], Malformed::Http),
            (vec![head, b"Content-Length: 3\r\n\r\nab"], Malformed::Short),
            (vec![head], Malformed::Short),
            (vec![head, b"X: ", &endless], Malformed::Large),
            (
                vec![head, b"Transfer-Encoding: gzip\r\n\r\n"],
                Malformed::Http,
            ),
            (
                vec![head, b"Transfer-Encoding: chunked\r\n\r\nffffffff\r\n"],
                Malformed::Large,
            ),
            (
                vec![head, b"Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"],
                Malformed::Http,
            ),
            (
                vec![head, b"Transfer-Encoding: chunked\r\n\r\n", &endless],
                Malformed::Large,
            ),
        ] {
            assert_eq!(read(&pieces), Err(expected));
        }
        let mut body = vec![&b"HTTP/1.1 200 OK\r\n\r\n"[..]];
        body.extend([&endless[..]; 40]);
        assert_eq!(read(&body), Err(Malformed::Large));
        let headers = "a: b\r\n".repeat(65);
        let many = [&head[..], headers.as_bytes(), b"\r\n"].concat();
        assert_eq!(read(&[&many]), Err(Malformed::Large));
    }

    proptest! {
        #[test]
        fn the_pieces_in_which_an_answer_comes_make_no_difference(cuts in vec(0_usize..140, 0..9)) {
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(CHUNKED.len())).collect();
            cuts.extend([0, CHUNKED.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|two| &CHUNKED[two[0]..two[1]]).collect();
            prop_assert_eq!(read(&pieces), read(&[CHUNKED]));
        }

        #[test]
        fn any_bytes_are_an_answer_or_none(head: bool, pieces in vec(any::<Vec<u8>>(), 0..6)) {
            let mut decoder = Decoder::default();
            if head {
                let _ = decoder.push(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            }
            for piece in pieces {
                if decoder.push(&piece).is_err() {
                    return Ok(());
                }
            }
            let _ = decoder.end();
        }
    }
}
