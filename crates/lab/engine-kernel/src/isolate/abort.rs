//! The end of every TCP connection of a namespace, MPTCP's subflows among them (`SOCK_DESTROY` of
//! `linux/sock_diag.h`).

use std::io;

use mptcplab_linux::dump::Dumper;

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
    let mut kernel = Dumper::open(libc::NETLINK_SOCK_DIAG)?;
    for family in [libc::AF_INET, libc::AF_INET6] {
        let mut bytes = vec![0; REQUEST_LENGTH];
        bytes[0] = family as u8;
        bytes[1] = libc::IPPROTO_TCP as u8;
        bytes[STATES].copy_from_slice(&CONNECTIONS.to_ne_bytes());
        let mut identities = Vec::new();
        kernel.dump(SOCK_DIAG_BY_FAMILY, &bytes, |answer| {
            let end = ANSWER_IDENTITY + IDENTITY_LENGTH;
            identities.extend(answer.get(ANSWER_IDENTITY..end).map(<[u8]>::to_vec));
        })?;
        for identity in identities {
            bytes[REQUEST_IDENTITY..].copy_from_slice(&identity);
            // It may have gone, or the kernel may be built without CONFIG_INET_DIAG_DESTROY: then
            // the connection ends by its own timeouts.
            kernel.ask(SOCK_DESTROY, &bytes, |_| {}).ok();
        }
    }
    Ok(())
}
