//! Bulk transfers: as much as the connection carries, until a time or an amount.

use std::thread;

use mptcplab_link::Nanos;
use mptcplab_record::Transfer;
use mptcplab_traffic::{Content, Failure, complete, delivered};
use socket2::Socket;

use super::conversation::{End, converse};
use super::flow::Flow;
use super::payload::{Receiver, content, send};
use super::rendezvous::Rendezvous;
use crate::plan::Way;

/// The end of a bulk transfer.
#[derive(Clone, Copy)]
pub(super) enum Until {
    /// After this time from its start.
    Duration(Nanos),
    /// After this payload.
    Bytes(u64),
}

/// Runs every stream of the flow, and returns when they have ended.
pub(super) fn run(
    flow: &Flow,
    listener: &Socket,
    way: Way,
    streams: u32,
    until: Until,
    rate_bps: Option<u64>,
) {
    let rendezvous = &Rendezvous::new(listener, flow.recorder.clock());
    thread::scope(|scope| {
        for &way in way.each() {
            for index in 0..streams {
                scope.spawn(move || stream(flow, rendezvous, index, way, (until, rate_bps)));
            }
        }
    });
}

fn stream(
    flow: &Flow,
    rendezvous: &Rendezvous<'_>,
    index: u32,
    way: Way,
    amount: (Until, Option<u64>),
) {
    let content = content(flow, index);
    let entered = flow.enter_client();
    let mut transfer = flow.transfer("bulk", index, way);
    let result = entered.and_then(|()| carry(flow, rendezvous, &content, &mut transfer, amount));
    flow.write_transfer(transfer, result);
}

fn carry(
    flow: &Flow,
    rendezvous: &Rendezvous<'_>,
    content: &Content,
    transfer: &mut Transfer<'_>,
    (until, rate_bps): (Until, Option<u64>),
) -> Result<(), Failure> {
    let (end_ns, amount) = match until {
        Until::Duration(duration) => (Some(transfer.start_ns + duration), None),
        Until::Bytes(bytes) => (None, Some(bytes)),
    };
    let deadline = end_ns.map(|end| flow.instant(end));
    let mut receiver = Receiver::new(transfer, flow, amount.map(|_| content)).until(end_ns);
    let send = |end: &End<'_>| send(end, content, amount, rate_bps);
    let receive = |end: &End<'_>| {
        let result = receiver.take_all(end);
        // A sender without an amount goes on for ever.
        end.cancel_other();
        result
    };
    let result = match transfer.way {
        Way::Down => converse(flow, rendezvous, transfer, deadline, receive, send),
        Way::Up | Way::Both => converse(flow, rendezvous, transfer, deadline, send, receive),
    };
    let bytes = receiver.bytes();
    receiver.finish(transfer);
    match (result, amount) {
        (Err(Failure::Deadline), None) => {
            transfer.end_ns = end_ns;
            delivered(bytes)
        }
        (result, amount) => result.and_then(|()| complete(bytes, amount.unwrap_or(bytes))),
    }
}
