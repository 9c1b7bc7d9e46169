//! Frames that a node sends as they are, by one of its interfaces.

use std::io;
use std::os::fd::OwnedFd;

use super::port::{bind, open_socket};

/// A sender of frames by an interface of the calling thread's namespace.
pub(crate) struct RawSender(OwnedFd);

impl RawSender {
    /// Opens a sender by the interface of an index.
    ///
    /// # Errors
    /// Without CAP_NET_RAW in the namespace, or without such an interface.
    pub(crate) fn open(index: u32) -> io::Result<Self> {
        let socket = open_socket()?;
        bind(&socket, index, 0)?;
        Ok(Self(socket))
    }

    /// Sends a frame, Ethernet header first.
    ///
    /// # Errors
    /// Those of write(2), as where the interface is down.
    pub(crate) fn send(&self, frame: &[u8]) -> io::Result<()> {
        nix::unistd::write(&self.0, frame)?;
        Ok(())
    }
}
