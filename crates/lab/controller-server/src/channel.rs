//! The channel of a switch: its connection, messages in, messages out.

use std::net::{IpAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use mptcplab_openflow::{Framer, Message};

use crate::report::Ended;
use crate::transport::Transport;

/// A connection, and the bytes of it that are under way.
#[derive(Debug)]
pub(crate) struct Channel {
    transport: Transport,
    framer: Framer,
    /// Bytes to the switch; the first `taken` are with the transport.
    out: Vec<u8>,
    taken: usize,
    /// The address of the other end.
    pub(crate) peer: IpAddr,
    /// The time at which something came last.
    pub(crate) heard: Instant,
    /// The time by which its features are to come; `None`: they have.
    pub(crate) unknown_until: Option<Instant>,
    /// Whether the controller knows of it.
    pub(crate) is_told: bool,
}

impl Channel {
    /// A channel with a peer, begun at a time, whose features are to come by another one.
    pub(crate) fn new(
        transport: Transport,
        message_bytes: u16,
        (peer, begun, unknown_until): (IpAddr, Instant, Instant),
    ) -> Self {
        Self {
            peer,
            heard: begun,
            transport,
            framer: Framer::new(message_bytes),
            out: Vec::new(),
            taken: 0,
            unknown_until: Some(unknown_until),
            is_told: false,
        }
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        self.transport.stream()
    }

    /// Whether messages can go both ways.
    pub(crate) fn is_open(&self) -> bool {
        self.transport.is_open()
    }

    /// Takes what has come, as far as it fits into `buffer`, and appends the messages that are
    /// whole.
    pub(crate) fn receive(
        &mut self,
        buffer: &mut [u8],
        messages: &mut Vec<Message>,
    ) -> Result<(), Ended> {
        let mut bytes = Vec::new();
        let goes_on = self
            .transport
            .read(buffer, &mut bytes)
            .map_err(Ended::Failed)?;
        if !bytes.is_empty() {
            self.heard = Instant::now();
        }
        self.framer.feed(&bytes);
        while let Some(frame) = self.framer.next_frame().map_err(Ended::Malformed)? {
            messages.push(frame.message.map_err(Ended::Malformed)?);
        }
        match goes_on {
            true => Ok(()),
            false => Err(Ended::ByPeer),
        }
    }

    /// Takes a message to the switch. One that is too long for OpenFlow is a packet out by very many
    /// ports; it is lost as packets may be.
    pub(crate) fn put(&mut self, message: &Message) {
        let _ = message.encode(&mut self.out);
    }

    /// Sends as much as the switch takes.
    pub(crate) fn send(&mut self, unread_bytes: usize) -> Result<(), Ended> {
        let taken = self.transport.write(&self.out[self.taken..]);
        self.taken += taken.map_err(Ended::Failed)?;
        if self.taken == self.out.len() {
            self.out.clear();
            self.taken = 0;
        } else if self.taken > self.out.len() / 2 {
            self.out.drain(..self.taken);
            self.taken = 0;
        }
        match self.out.len() - self.taken > unread_bytes {
            true => Err(Ended::NotRead),
            false => Ok(()),
        }
    }

    /// Sends what there is room for, and says that no more comes.
    pub(crate) fn close(&mut self) {
        // The connection may have failed already.
        let _ = self.transport.write(&self.out[self.taken..]);
        self.transport.close();
    }

    /// Whether something waits until the switch takes more.
    pub(crate) fn wants_write(&self) -> bool {
        self.transport.wants_write() || self.is_open() && self.taken < self.out.len()
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream().as_fd()
    }
}
