//! A connection of TCP or MPTCP.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

use nix::errno::Errno;
use socket2::Socket;

nix::ioctl_read_bad!(
    /// `SIOCOUTQ`: bytes that the peer has not acknowledged.
    outq,
    libc::TIOCOUTQ,
    libc::c_int
);
nix::ioctl_read_bad!(
    /// `SIOCINQ`: bytes that wait to be read.
    inq,
    libc::FIONREAD,
    libc::c_int
);

/// An established connection, non-blocking.
pub(crate) struct Stream {
    pub(crate) socket: Socket,
    /// The peer, as messages name it.
    pub(crate) peer: String,
}

impl Stream {
    /// Bytes that were written and that the peer has not acknowledged.
    pub(crate) fn unacknowledged(&self) -> io::Result<u64> {
        let mut bytes = 0;
        // SAFETY: the kernel writes one int.
        unsafe { outq(self.socket.as_raw_fd(), &raw mut bytes) }?;
        Ok(u64::try_from(bytes).unwrap_or(0))
    }

    /// Bytes that have been received and not yet read.
    pub(crate) fn unread(&self) -> u64 {
        let mut bytes = 0;
        // SAFETY: the kernel writes one int.
        match unsafe { inq(self.socket.as_raw_fd(), &raw mut bytes) } {
            Ok(_) => u64::try_from(bytes).unwrap_or(0),
            Err(_) => 0,
        }
    }

    /// Makes the close an abort, unless something that was sent could get lost by that.
    ///
    /// A connection of MPTCP that is just closed lives on in the kernel for a minute, takes what
    /// the peer sends, and throws it away; the peer sends on and is not told.
    pub(crate) fn abort_if_acknowledged(&self) {
        if self.unacknowledged().is_ok_and(|bytes| bytes == 0) {
            // Without it, the connection closes as it does otherwise.
            let _ = self.socket.set_linger(Some(Duration::ZERO));
        }
    }

    /// Tells the peer that nothing more will be sent.
    ///
    /// # Errors
    /// None where the connection has gone already: the next read tells.
    pub(crate) fn end_sending(&self) -> io::Result<()> {
        match self.socket.shutdown(std::net::Shutdown::Write) {
            Err(error) if error.raw_os_error() == Some(Errno::ENOTCONN as i32) => Ok(()),
            other => other,
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
