//! Our side: an application on the host stack of the simulator.

use bytes::Bytes;
use mptcplab_stack::{CloseReason, Nanos};
use mptcplab_stack::{ConnectionId, Event, HostStack, Protocol};

use crate::content;
use crate::kernel::{KERNEL_STREAM, OUR_STREAM};

/// Bytes of one write.
const CHUNK: usize = 1 << 16;

/// State of our application.
#[derive(Debug, Default)]
pub(crate) struct Application {
    /// The connection.
    pub(crate) id: Option<ConnectionId>,
    /// Bytes to send.
    pub(crate) to_send: u64,
    /// While this is set, nothing beyond the first half is sent, and so not the end.
    pub(crate) hold: bool,
    /// Bytes sent.
    pub(crate) sent: u64,
    /// Bytes received, all exact.
    pub(crate) received: u64,
    /// The end of the peer's bytes was reached.
    pub(crate) finished: bool,
    /// The connection ended, and why.
    pub(crate) closed: Option<CloseReason>,
    /// Protocol of the connection, as last seen.
    pub(crate) spoken: Option<Protocol>,
    /// All events of the connection.
    pub(crate) events: Vec<Event>,
    /// The end of our bytes was queued.
    pub(crate) shut: bool,
}

impl Application {
    /// Acts on what the stack told.
    pub(crate) fn act(&mut self, stack: &mut HostStack, now: Nanos, events: Vec<Event>) {
        for event in events {
            match event {
                Event::Accepted { id, .. } => self.id = Some(id),
                Event::Finished { .. } => self.finished = true,
                Event::Closed { reason, .. } => self.closed = Some(reason),
                _ => {}
            }
            self.events.push(event);
        }
        if let Some(id) = self.id {
            self.spoken = stack.info(id).map(|info| info.protocol).or(self.spoken);
            self.read(stack, now, id);
            self.write(stack, now, id);
        }
    }

    /// How many subflows were established, the first included.
    pub(crate) fn established(&self) -> usize {
        let is = |event: &&Event| matches!(event, Event::SubflowEstablished { .. });
        self.events.iter().filter(is).count()
    }

    /// How many subflows were closed.
    pub(crate) fn subflows_closed(&self) -> usize {
        let is = |event: &&Event| matches!(event, Event::SubflowClosed { .. });
        self.events.iter().filter(is).count()
    }

    /// Why the connection has become plain TCP, if it has.
    pub(crate) fn fallback(&self) -> Option<&'static str> {
        self.events.iter().find_map(|event| match event {
            Event::Fallback { reason, .. } => Some(*reason),
            _ => None,
        })
    }

    fn read(&mut self, stack: &mut HostStack, now: Nanos, id: ConnectionId) {
        while let Some(bytes) = stack.read(now, id, CHUNK) {
            let exact = content::is_exact(KERNEL_STREAM, self.received, &bytes);
            assert!(exact, "other bytes than were sent, after {}", self.received);
            self.received += bytes.len() as u64;
        }
    }

    fn write(&mut self, stack: &mut HostStack, now: Nanos, id: ConnectionId) {
        let until = if self.hold {
            self.to_send / 2
        } else {
            self.to_send
        };
        while self.sent < until {
            let mut chunk = vec![0; CHUNK.min((until - self.sent) as usize)];
            content::fill(OUR_STREAM, self.sent, &mut chunk);
            let length = chunk.len();
            let taken = stack.write(now, id, Bytes::from(chunk));
            self.sent += taken as u64;
            if taken < length {
                return;
            }
        }
        let connected =
            |event: &Event| matches!(event, Event::Connected { .. } | Event::Accepted { .. });
        if !self.hold && !self.shut && self.events.iter().any(connected) {
            self.shut = true;
            stack.shutdown(now, id);
        }
    }
}
