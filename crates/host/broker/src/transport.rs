//! Messages over a session's socket.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use mptcplab_subflow::Error;
use mptcplab_subflow::protocol::{MESSAGE_BYTES, Message};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendFlags, recvmsg, send,
};

use crate::request::Received;

/// Room for one descriptor; the kernel may use its padding for a second.
const CONTROL_BYTES: usize = rustix::cmsg_space!(ScmRights(1));

/// A message as recvmsg(2) gave it.
pub(crate) struct Datagram<'a> {
    pub(crate) bytes: &'a [u8],
    /// The message was longer.
    pub(crate) is_cut: bool,
    /// The descriptors that came with it, up to two.
    pub(crate) descriptors: Vec<OwnedFd>,
    /// More descriptors came, or one for which the process had no room.
    pub(crate) descriptors_are_cut: bool,
}

impl<'a> From<Datagram<'a>> for Received<'a, OwnedFd> {
    fn from(datagram: Datagram<'a>) -> Self {
        Self {
            bytes: datagram.bytes,
            is_cut: datagram.is_cut,
            sockets: datagram.descriptors,
            sockets_are_cut: datagram.descriptors_are_cut,
        }
    }
}

/// Room for one message.
pub(crate) struct RecvBuffer {
    bytes: Box<[u8; MESSAGE_BYTES]>,
}

impl RecvBuffer {
    pub(crate) fn new() -> Self {
        Self {
            bytes: Box::new([0; MESSAGE_BYTES]),
        }
    }

    /// Receives the next message; `None` when the client has hung up.
    ///
    /// # Errors
    /// `WouldBlock` when there is none now.
    pub(crate) fn receive(&mut self, socket: impl AsFd) -> io::Result<Option<Datagram<'_>>> {
        let mut room = [MaybeUninit::uninit(); CONTROL_BYTES];
        let mut control = RecvAncillaryBuffer::new(&mut room);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let mut content = [IoSliceMut::new(&mut self.bytes[..])];
        let received = recvmsg(&socket, &mut content, &mut control, flags)?;
        let mut descriptors = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                descriptors.extend(rights);
            }
        }
        let cut = |flag| received.flags.contains(flag);
        let descriptors_are_cut = cut(ReturnFlags::CTRUNC);
        let is_empty = received.bytes == 0 && descriptors.is_empty() && !descriptors_are_cut;
        if is_empty && has_hung_up(&socket) {
            return Ok(None);
        }
        Ok(Some(Datagram {
            is_cut: cut(ReturnFlags::TRUNC),
            descriptors_are_cut,
            bytes: &self.bytes[..received.bytes],
            descriptors,
        }))
    }
}

/// Tells whether a client sends no more. An empty message is received as the end is.
fn has_hung_up(socket: impl AsFd) -> bool {
    let mut polled = [PollFd::new(&socket, PollFlags::RDHUP)];
    // Where poll(2) fails the session ends: no answer to an empty message is missed.
    poll(&mut polled, Some(&Timespec::default())).is_err() || !polled[0].revents().is_empty()
}

/// Sends a message.
///
/// # Errors
/// `WouldBlock` when the client has not read what was sent before.
pub(crate) fn send_message(socket: impl AsFd, message: &[u8]) -> io::Result<()> {
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    Ok(send(socket, message, flags).map(drop)?)
}

/// Tells a client why it is not served.
pub(crate) fn reject(socket: impl AsFd, error: Error) {
    // The client may have hung up.
    let _ = send_message(socket, &Message::Failed { id: 0, error }.to_bytes());
}
