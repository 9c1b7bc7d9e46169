//! Subscriptions to multicast groups of netlink.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use netlink_sys::Socket;
use nix::sys::socket::{setsockopt, sockopt};

/// Room for one datagram.
const READ_BYTES: usize = 16 * 1024;
/// Room for what comes between two reads; without privilege the kernel's limit may be lower.
const QUEUE_BYTES: usize = 4 * 1024 * 1024;

/// A subscription to groups of one protocol in one namespace. It never blocks.
pub(crate) struct Subscription {
    socket: Socket,
    buffer: Vec<u8>,
}

impl Subscription {
    /// Subscribes in the calling thread's namespace.
    ///
    /// # Errors
    /// Those of socket(2), bind(2) and setsockopt(2).
    pub(crate) fn open(protocol: isize, groups: &[u32]) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.set_non_blocking(true)?;
        setsockopt(&socket, sockopt::RcvBufForce, &QUEUE_BYTES)
            .or_else(|_| setsockopt(&socket, sockopt::RcvBuf, &QUEUE_BYTES))?;
        for group in groups {
            socket.add_membership(*group)?;
        }
        Ok(Self {
            socket,
            buffer: vec![0; READ_BYTES],
        })
    }

    /// Gives the datagrams that are there to `each`, in their order, until there are no more.
    ///
    /// # Errors
    /// `ENOBUFS` where the kernel had no room for some: they are lost, later ones can be read.
    pub(crate) fn read(&mut self, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        loop {
            match self.socket.recv(&mut &mut self.buffer[..], 0) {
                Ok(length) => each(&self.buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl AsFd for Subscription {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor is the socket's, which lives as long as the borrow.
        unsafe { BorrowedFd::borrow_raw(self.socket.as_raw_fd()) }
    }
}
