//! Downloads over HTTP/1.1 (RFC 9112).

use bytes::Bytes;
use mptcplab_plan::Protocol;
use mptcplab_traffic::http::{
    self, HEAD_BYTES, Head, Malformed, announced_length, requested_length,
};

use super::end::{End, Input, Pending, Progress, Role};
use super::payload::{Receive, Send};
use super::wake_up::is_sleeping_reader;
use mptcplab_traffic::{Failure, complete};

/// Asks for a file and receives it.
#[derive(Clone, Debug)]
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
    fn sleeps(&self, protocol: Protocol) -> bool {
        is_sleeping_reader(protocol)
    }

    fn advance(&mut self, end: &mut End<'_>) -> Result<Progress, Failure> {
        let (bytes, host) = (self.bytes, end.target);
        let request = self
            .request
            .get_or_insert_with(|| Pending::new(http::request(bytes, host)));
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
        Receive.advance(end)
    }
}

/// Reads a request and sends the file.
#[derive(Clone, Debug)]
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
    fn listens(&self) -> bool {
        true
    }

    fn advance(&mut self, end: &mut End<'_>) -> Result<Progress, Failure> {
        if let Self::Reading(head) = self {
            let Some((bytes, _)) = read_head(end, head, requested_length)? else {
                return Ok(Progress::Waiting);
            };
            let head = Pending::new(http::response(bytes));
            *self = Self::Answering(head, Send::new(Some(bytes), None));
        }
        let Self::Answering(head, file) = self else {
            return Ok(Progress::Waiting);
        };
        if head.is_written() {
            return file.advance(end);
        }
        Ok(match head.flush(end) {
            true => Progress::NextCall,
            false => Progress::Waiting,
        })
    }
}

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
                return Err(Malformed::cut_off().into());
            }
            Some(Input::Bytes(bytes)) => head.extend_from_slice(&bytes),
        }
        if let Some((length, meaning)) = parse(head)? {
            return Ok(Some((meaning, Bytes::from(head.split_off(length)))));
        }
    }
    Err(Malformed::too_long().into())
}
