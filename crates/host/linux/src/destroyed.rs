//! The last account of every TCP socket of a network namespace, subflows included: what the kernel
//! broadcasts as it destroys one (`SKNLGRP_INET_TCP_DESTROY` of `linux/sock_diag.h`).

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_packet_core::NetlinkBuffer;

use crate::sock_diag::{TcpSocket, parse_tcp};
use crate::subscription::Subscription;

/// `SKNLGRP_INET_TCP_DESTROY` and `SKNLGRP_INET6_TCP_DESTROY`
const GROUPS: [u32; 2] = [1, 3];
const SOCK_DIAG_BY_FAMILY: u16 = 20;

/// A subscription to the sockets that one namespace destroys. It never blocks.
///
/// A TCP socket is destroyed when it closes for good or enters TIME-WAIT. Its identity in a
/// connection of MPTCP is not told any more. An initial subflow that closed before its connection
/// did has no counters, no local address and no remote port any more either (`tcp_disconnect`,
/// tried on Linux 6.18).
pub struct Destroyed(Subscription);

impl Destroyed {
    /// Subscribes in the calling thread's namespace.
    ///
    /// # Errors
    /// Those of socket(2), bind(2) and setsockopt(2); no privilege is needed.
    pub fn open() -> io::Result<Self> {
        Subscription::open(libc::NETLINK_SOCK_DIAG as isize, &GROUPS).map(Self)
    }

    /// Gives the accounts that are there to `each`.
    ///
    /// # Errors
    /// ENOBUFS when some were lost; the next call goes on with the others.
    pub fn read(&mut self, mut each: impl FnMut(TcpSocket)) -> io::Result<()> {
        self.0.read(|datagram| parse_all(datagram, &mut each))
    }
}

impl AsFd for Destroyed {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn parse_all(mut bytes: &[u8], each: &mut impl FnMut(TcpSocket)) {
    while let Ok(message) = NetlinkBuffer::new_checked(bytes) {
        if message.message_type() == SOCK_DIAG_BY_FAMILY {
            parse_tcp(message.payload())
                .into_iter()
                .for_each(&mut *each);
        }
        let next = (message.length() as usize).next_multiple_of(4);
        bytes = bytes.get(next..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use netlink_packet_core::NLMSG_DONE;
    use proptest::prelude::*;

    use super::*;

    /// `struct nlmsghdr` before a socket from Linux 6.18, with these bytes as its remote port.
    fn message(kind: u16, remote_port: u16) -> Vec<u8> {
        let body = include_bytes!("testdata/subflow.bin");
        let mut bytes = Vec::from(((16 + body.len()) as u32).to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 10]);
        bytes.extend(body);
        bytes[16 + 6..16 + 8].copy_from_slice(&remote_port.to_be_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn ports(datagram: &[u8]) -> Vec<u16> {
        let mut ports = Vec::new();
        parse_all(datagram, &mut |socket| ports.push(socket.remote.port()));
        ports
    }

    #[test]
    fn every_socket_of_a_datagram_is_given() {
        let datagram = [
            message(SOCK_DIAG_BY_FAMILY, 5001),
            message(SOCK_DIAG_BY_FAMILY, 0),
            message(NLMSG_DONE, 5002),
            message(SOCK_DIAG_BY_FAMILY, 5003),
        ]
        .concat();
        assert_eq!(ports(&datagram), [5001, 0, 5003]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            ports(&bytes);
        }
    }
}
