//! Messages over a session's socket.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use mptcplab_subflow::Error;
use mptcplab_subflow::protocol::{MESSAGE_BYTES, Message};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendFlags, recvmsg, send,
};

use crate::desk::Received;

/// Room for one descriptor; the kernel may use its padding for a second.
const CONTROL_BYTES: usize = rustix::cmsg_space!(ScmRights(1));

/// A message as it came.
pub(crate) struct Letter<'a> {
    pub(crate) bytes: &'a [u8],
    /// The message was longer.
    pub(crate) is_cut: bool,
    /// What came with it, up to two.
    pub(crate) descriptors: Vec<OwnedFd>,
    /// More descriptors came, or one for which the process had no room.
    pub(crate) descriptors_are_cut: bool,
}

impl<'a> From<Letter<'a>> for Received<'a, OwnedFd> {
    fn from(letter: Letter<'a>) -> Self {
        Self {
            bytes: letter.bytes,
            is_cut: letter.is_cut,
            sockets: letter.descriptors,
            sockets_are_cut: letter.descriptors_are_cut,
        }
    }
}

/// Room for messages.
pub(crate) struct Mailbox {
    bytes: Box<[u8; MESSAGE_BYTES]>,
}

impl Mailbox {
    pub(crate) fn new() -> Self {
        Self {
            bytes: Box::new([0; MESSAGE_BYTES]),
        }
    }

    /// The next message; `None` when the client has hung up.
    ///
    /// # Errors
    /// `WouldBlock` when there is none now.
    pub(crate) fn receive(&mut self, session: impl AsFd) -> io::Result<Option<Letter<'_>>> {
        let mut room = [MaybeUninit::uninit(); CONTROL_BYTES];
        let mut control = RecvAncillaryBuffer::new(&mut room);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let mut content = [IoSliceMut::new(&mut self.bytes[..])];
        let received = recvmsg(session, &mut content, &mut control, flags)?;
        let mut descriptors = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                descriptors.extend(rights);
            }
        }
        let cut = |flag| received.flags.contains(flag);
        let descriptors_are_cut = cut(ReturnFlags::CTRUNC);
        if received.bytes == 0 && descriptors.is_empty() && !descriptors_are_cut {
            return Ok(None);
        }
        Ok(Some(Letter {
            is_cut: cut(ReturnFlags::TRUNC),
            descriptors_are_cut,
            bytes: &self.bytes[..received.bytes],
            descriptors,
        }))
    }
}

/// Sends a message.
///
/// # Errors
/// `WouldBlock` when the client has not read what was sent before.
pub(crate) fn deliver(session: impl AsFd, message: &[u8]) -> io::Result<()> {
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    Ok(send(session, message, flags).map(drop)?)
}

/// Tells a client that there is no room for it.
pub(crate) fn turn_away(session: impl AsFd, reason: String) {
    let error = Error::TooMany { reason };
    // It may have gone by itself.
    let _ = deliver(session, &Message::Failed { id: 0, error }.to_bytes());
}
