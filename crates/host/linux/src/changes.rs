//! Notices that links and addresses change (rtnetlink).

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_sys::protocols::NETLINK_ROUTE;

use crate::netlink::Netlink;

/// The kernel's notices that a link or an address of one namespace has changed.
pub struct NetworkChanges(Netlink);

impl NetworkChanges {
    /// Subscribes in the calling thread's namespace.
    ///
    /// # Errors
    /// Those of socket(2) and bind(2).
    pub fn open() -> io::Result<Self> {
        let mut netlink = Netlink::open(NETLINK_ROUTE)?;
        for group in [
            libc::RTNLGRP_LINK,
            libc::RTNLGRP_IPV4_IFADDR,
            libc::RTNLGRP_IPV6_IFADDR,
        ] {
            netlink.socket().add_membership(group)?;
        }
        netlink.socket().set_non_blocking(true)?;
        Ok(Self(netlink))
    }

    /// Forgets all notices that have come: what they are about is asked for anew. False where there
    /// were none.
    ///
    /// # Errors
    /// Those of recvmsg(2).
    pub fn drain(&mut self) -> io::Result<bool> {
        let mut were_there = false;
        loop {
            match self.0.socket().recv_from_full() {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(were_there),
                // Some were lost; the state that is asked for next is whole.
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {}
                Err(error) => return Err(error),
            }
            were_there = true;
        }
    }
}

impl AsFd for NetworkChanges {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
