//! Downloads over HTTP/1.1 (RFC 9112): a connection each, one after the other.

use mptcplab_traffic::http::{
    self, HEAD_BYTES, Head, Malformed, announced_length, requested_length,
};
use socket2::Socket;

use super::conversation::{End, converse};
use super::flow::Flow;
use super::payload::{self, Receiver, send};
use super::rendezvous::Rendezvous;
use crate::plan::Way;
use mptcplab_traffic::{Failure, complete};

/// Downloads `bytes`, `count` times.
pub(super) fn run(flow: &Flow, listener: &Socket, bytes: u64, count: u32) {
    let rendezvous = &Rendezvous::new(listener, flow.recorder.clock());
    flow.on_client(|| {
        for index in (0..count).take_while(|_| flow.stop.reason().is_none()) {
            download(flow, rendezvous, index, bytes);
        }
    });
}

fn download(flow: &Flow, rendezvous: &Rendezvous<'_>, index: u32, bytes: u64) {
    let content = &payload::content(flow, index);
    let mut transfer = flow.transfer("http", index, Way::Down);
    let mut receiver = Receiver::new(&transfer, flow, Some(content));
    let client = |end: &End<'_>| {
        end.write_all(http::request(bytes, flow.target()).as_bytes())?;
        let (announced, begin) = read_head(end, announced_length)?;
        complete(announced, bytes)?;
        if !begin.is_empty() {
            receiver.take(&begin)?;
        }
        receiver.take_all(end)
    };
    let server = |end: &End<'_>| {
        let (bytes, _) = read_head(end, requested_length)?;
        end.write_all(http::response(bytes).as_bytes())?;
        send(end, content, Some(bytes), None)
    };
    let result = converse(flow, rendezvous, &mut transfer, None, client, server);
    let received = receiver.bytes();
    receiver.finish(&mut transfer);
    flow.write_transfer(transfer, result.and_then(|()| complete(received, bytes)));
}

/// Reads a head; returns its meaning and the bytes behind it.
fn read_head(end: &End<'_>, parse: fn(&[u8]) -> Head) -> Result<(u64, Vec<u8>), Failure> {
    let mut head = Vec::new();
    let mut buffer = [0; HEAD_BYTES];
    while head.len() < HEAD_BYTES {
        let length = end.read(&mut buffer)?;
        if length == 0 {
            return Err(Malformed::cut_off().into());
        }
        head.extend_from_slice(&buffer[..length]);
        if let Some((length, meaning)) = parse(&head)? {
            return Ok((meaning, head.split_off(length)));
        }
    }
    Err(Malformed::too_long().into())
}
