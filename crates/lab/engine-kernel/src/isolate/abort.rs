//! The end of every TCP connection of a namespace, MPTCP's subflows among them (`SOCK_DESTROY` of
//! `linux/sock_diag.h`).

use std::convert::Infallible;
use std::io;

use netlink_packet_core::{NetlinkDeserializable, NetlinkHeader, NetlinkSerializable};

use mptcplab_linux::netlink::Netlink;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const SOCK_DESTROY: u16 = 21;

/// `struct inet_diag_req_v2`: family, protocol, states, and the socket's identity.
const REQUEST_LENGTH: usize = 56;
const STATES: std::ops::Range<usize> = 4..8;
const REQUEST_IDENTITY: usize = 8;
/// `struct inet_diag_msg` has the same `struct inet_diag_sockid` here.
const ANSWER_IDENTITY: usize = 4;
const IDENTITY_LENGTH: usize = 48;
/// All states but LISTEN (10), as bits.
const CONNECTIONS: u32 = 0xfff & !(1 << 10);

/// Aborts every TCP connection of the calling thread's namespace. A connection that ends meanwhile
/// is no error.
///
/// # Errors
/// When the kernel cannot list sockets.
pub(super) fn connections() -> io::Result<()> {
    let mut kernel = Netlink::open(libc::NETLINK_SOCK_DIAG as isize)?;
    for family in [libc::AF_INET, libc::AF_INET6] {
        let mut bytes = vec![0; REQUEST_LENGTH];
        bytes[0] = family as u8;
        bytes[1] = libc::IPPROTO_TCP as u8;
        bytes[STATES].copy_from_slice(&CONNECTIONS.to_ne_bytes());
        let mut identities = Vec::new();
        let list = Message {
            kind: SOCK_DIAG_BY_FAMILY,
            bytes: bytes.clone(),
        };
        kernel.dump(list, |answer| {
            let end = ANSWER_IDENTITY + IDENTITY_LENGTH;
            identities.extend(answer.bytes.get(ANSWER_IDENTITY..end).map(<[u8]>::to_vec));
        })?;
        for identity in identities {
            bytes[REQUEST_IDENTITY..].copy_from_slice(&identity);
            let destroy = Message {
                kind: SOCK_DESTROY,
                bytes: bytes.clone(),
            };
            // It may have gone, or the kernel may be built without CONFIG_INET_DIAG_DESTROY: then
            // the connection ends by its own timeouts.
            kernel.request(destroy, 0).ok();
        }
    }
    Ok(())
}

/// A message of `NETLINK_SOCK_DIAG`, in its own bytes.
struct Message {
    kind: u16,
    bytes: Vec<u8>,
}

impl NetlinkSerializable for Message {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        self.bytes.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self.bytes);
    }
}

impl NetlinkDeserializable for Message {
    type Error = Infallible;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Self, Infallible> {
        Ok(Self {
            kind: header.message_type,
            bytes: payload.to_vec(),
        })
    }
}
