//! A client that keeps to no protocol.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use mptcplab_subflow::Error;
use mptcplab_subflow::protocol::{Command, Message, Request, VERSION};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix,
    SocketFlags, SocketType, connect, recv, sendmsg, socket_with,
};

/// The most descriptors of a message (`SCM_MAX_FD`).
pub(crate) const MOST_DESCRIPTORS: usize = 253;

/// A session with the broker.
pub(crate) struct RawSession(pub(crate) OwnedFd);

impl RawSession {
    pub(crate) fn open(path: &Path) -> Self {
        Self::try_open(path).expect("the broker listens")
    }

    pub(crate) fn try_open(path: &Path) -> Result<Self, Errno> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        connect(&socket, &SocketAddrUnix::new(path)?)?;
        Ok(Self(socket))
    }

    /// Sends these bytes with these descriptors.
    pub(crate) fn send(&self, bytes: &[u8], with: &[BorrowedFd<'_>]) -> Result<(), Errno> {
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
        let mut control = SendAncillaryBuffer::new(&mut room);
        if !with.is_empty() {
            assert!(control.push(SendAncillaryMessage::ScmRights(with)));
        }
        let content = [IoSlice::new(bytes)];
        sendmsg(&self.0, &content, &mut control, SendFlags::NOSIGNAL).map(drop)
    }

    /// Whether there is something to receive now.
    pub(crate) fn has_answer(&self) -> bool {
        let mut waited = [PollFd::new(&self.0, PollFlags::IN)];
        poll(&mut waited, Some(&Timespec::default())) != Ok(0)
    }

    /// The next message; `None` when the broker has hung up.
    pub(crate) fn receive(&self) -> Option<Message> {
        let mut bytes = vec![0; 16 * 1024];
        let mut receive = || recv(&self.0, &mut bytes[..], RecvFlags::empty());
        let received = match receive() {
            // The messages that the broker sent before it hung up come after this.
            Err(Errno::CONNRESET) => receive(),
            other => other,
        };
        match received {
            Ok((0, _)) | Err(_) => None,
            Ok((length, _)) => Some(Message::parse(&bytes[..length]).expect("a message")),
        }
    }

    /// Asks for something, and what is answered.
    pub(crate) fn ask(&self, command: Command, with: &[BorrowedFd<'_>]) -> Result<(), Error> {
        self.send(&bytes_of(command), with).expect("room");
        match self.receive().expect("an answer") {
            Message::Done { .. } => Ok(()),
            Message::Failed { error, .. } => Err(error),
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) fn bytes_of(command: Command) -> Vec<u8> {
    let (version, id) = (VERSION, 7);
    Request {
        version,
        id,
        command,
    }
    .to_bytes()
}

/// Waits until a pipe's other end is closed everywhere; nothing was ever written to it.
pub(crate) fn wait_for_end(pipe: impl AsFd) {
    let mut byte = [0];
    assert_eq!(rustix::io::read(pipe, &mut byte), Ok(0));
}
