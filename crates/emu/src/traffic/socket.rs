//! Sockets as the plan wants them: TCP or MPTCP, with their congestion control set.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Socket, Type};

use crate::plan::Protocol;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// Opens a stream socket in the calling thread's namespace.
///
/// Where the namespace has MPTCP switched off the socket is TCP, as programs that ask for MPTCP
/// do it; the recording then says `fallback`.
pub(super) fn open(
    protocol: Protocol,
    domain: Domain,
    congestion_control: &str,
) -> io::Result<Socket> {
    let tcp = || Socket::new(domain, Type::STREAM, Some(socket2::Protocol::TCP));
    let socket = match protocol {
        Protocol::Tcp => tcp()?,
        Protocol::Mptcp => {
            match Socket::new(domain, Type::STREAM, Some(socket2::Protocol::MPTCP)) {
                // The answer of net.mptcp.enabled=0, and of a kernel without MPTCP.
                Err(error)
                    if matches!(
                        error.raw_os_error(),
                        Some(libc::ENOPROTOOPT | libc::EPROTONOSUPPORT)
                    ) =>
                {
                    tcp()?
                }
                result => result?,
            }
        }
    };
    socket.set_tcp_congestion(congestion_control.as_bytes())?;
    Ok(socket)
}

/// A listener on every address of the family of `address`: one that is bound to a single address
/// gets no joins on the others.
pub(super) fn listen(
    address: SocketAddr,
    protocol: Protocol,
    congestion_control: &str,
) -> io::Result<Socket> {
    let any = if address.is_ipv4() {
        IpAddr::from(Ipv4Addr::UNSPECIFIED)
    } else {
        Ipv6Addr::UNSPECIFIED.into()
    };
    let socket = open(protocol, Domain::for_address(address), congestion_control)?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind(&SocketAddr::new(any, address.port()).into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// The congestion controls of this kernel, by name.
pub(super) fn congestion_controls() -> io::Result<Vec<String>> {
    let names = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")?;
    Ok(names.split_whitespace().map(str::to_owned).collect())
}
