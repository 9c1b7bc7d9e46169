//! Bulk transfers: as much as the connection carries, until a time or an amount.

use std::thread;

use mptcplab_link::Nanos;
use socket2::Socket;

use super::content::{Content, splitmix64};
use super::conversation::{End, Rendezvous, converse};
use super::deliveries::Deliveries;
use super::failure::Failure;
use super::item::Item;
use super::rows::Transfer;
use super::stop::Stop;
use crate::plan::Way;

/// Read at most at once.
const READ_LENGTH: usize = 256 * 1024;

/// When a bulk transfer is done.
#[derive(Clone, Copy)]
pub(super) enum Until {
    /// After this time from its start.
    Duration(Nanos),
    /// After this payload.
    Bytes(u64),
}

/// Runs every stream of the item, and returns when they have ended.
pub(super) fn run(item: &Item, listener: &Socket, ways: &[Way], streams: u32, until: Until) {
    let rendezvous = Rendezvous::default();
    with_acceptor(item, listener, &rendezvous, || {
        thread::scope(|scope| {
            for &way in ways {
                for index in 0..streams {
                    let rendezvous = &rendezvous;
                    scope.spawn(move || stream(item, rendezvous, index, way, until));
                }
            }
        });
    });
}

/// Accepts connections while `clients` runs.
pub(super) fn with_acceptor(
    item: &Item,
    listener: &Socket,
    rendezvous: &Rendezvous,
    clients: impl FnOnce(),
) {
    let Ok(ended) = Stop::new() else {
        return item.warn("no file descriptors are left: nothing was sent");
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            if let Err(error) = rendezvous.accept(listener, &ended) {
                item.warn(&format!("the server stopped accepting connections: {error}"));
            }
        });
        clients();
        ended.request("the clients have ended");
    });
}

fn stream(item: &Item, rendezvous: &Rendezvous, index: u32, way: Way, until: Until) {
    let content = Content::new(splitmix64(item.seed, u64::from(index)));
    let entered = enter_client(item);
    let mut transfer = item.transfer("bulk", index, way);
    let result = entered.and_then(|()| carry(item, rendezvous, &content, &mut transfer, until));
    if let Err(failure) = result {
        transfer.error = Some(failure.to_string());
    }
    item.write("transfers", transfer);
}

/// Moves the calling thread into the client's namespace.
pub(super) fn enter_client(item: &Item) -> Result<(), Failure> {
    let name = &item.client.name;
    item.client.netns.enter().map_err(Failure::of(format!("enter the namespace of {name}")))
}

fn carry(
    item: &Item,
    rendezvous: &Rendezvous,
    content: &Content,
    transfer: &mut Transfer<'_>,
    until: Until,
) -> Result<(), Failure> {
    let (index, way) = (transfer.index, transfer.way);
    let mut deliveries = Deliveries::default();
    let (end_ns, amount) = match until {
        Until::Duration(duration) => (Some(transfer.start_ns + duration), None),
        Until::Bytes(bytes) => (None, Some(bytes)),
    };
    let deadline = end_ns.map(|end| item.instant(end));
    let send = |end: &End<'_>| send(end, content, amount);
    let receive = |end: &End<'_>| {
        let result = receive(end, item, (index, way), &mut deliveries, amount.map(|_| content));
        // A sender without an amount goes on for ever.
        end.cancel_other();
        result
    };
    let result = match way {
        Way::Down => converse(item, rendezvous, transfer, deadline, receive, send),
        Way::Up | Way::Both => converse(item, rendezvous, transfer, deadline, send, receive),
    };
    item.write_bin(index, way, deliveries.finish());
    transfer.deliver(&deliveries);
    match (result, amount) {
        (Err(Failure::Deadline), None) => {
            transfer.end_ns = end_ns;
            if deliveries.bytes == 0 {
                return Err(Failure::Other("no byte was delivered".to_owned()));
            }
            Ok(())
        }
        (Ok(()), Some(amount)) if deliveries.bytes != amount => {
            let bytes = deliveries.bytes;
            Err(Failure::Other(format!("the connection ended after {bytes} of {amount} bytes")))
        }
        (result, _) => result,
    }
}

/// Sends the content: `amount` of it, or until the other end cancels.
pub(super) fn send(end: &End<'_>, content: &Content, amount: Option<u64>) -> Result<(), Failure> {
    let mut sent = 0;
    while amount.is_none_or(|amount| sent < amount) {
        let left = amount.map_or(u64::MAX, |amount| amount - sent);
        sent += end.write(content.from(sent, left))? as u64;
    }
    end.finish()
}

/// Receives to the end of the stream, comparing with `expected` where given.
fn receive(
    end: &End<'_>,
    item: &Item,
    (index, way): (u32, Way),
    deliveries: &mut Deliveries,
    expected: Option<&Content>,
) -> Result<(), Failure> {
    let mut buffer = vec![0; READ_LENGTH];
    loop {
        let length = end.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        let offset = deliveries.bytes;
        let bin = deliveries.record(item.recorder.now(), length as u64);
        item.write_bin(index, way, bin);
        let wrong =
            expected.and_then(|content| content.first_difference(offset, &buffer[..length]));
        if let Some(place) = wrong {
            return Err(Failure::Other(format!("byte {place} is not the one that was sent")));
        }
    }
}
