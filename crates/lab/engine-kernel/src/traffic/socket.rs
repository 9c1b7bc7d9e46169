//! Sockets as the plan wants them: TCP or MPTCP, with their congestion control set.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use mptcplab_traffic::Failure;
use socket2::{Domain, SockAddr, Socket, Type};

use super::failure::failed_to;
use crate::plan::{Protocol, Traffic};

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

/// Opens a socket for a flow's connections: of the family of its target, or of both.
pub(super) fn open_for(traffic: &Traffic, congestion_control: &str) -> io::Result<Socket> {
    let is_ipv6 = traffic.dual_stack || traffic.target.is_ipv6();
    let domain = if is_ipv6 { Domain::IPV6 } else { Domain::IPV4 };
    let socket = open(traffic.protocol, domain, congestion_control)?;
    if is_ipv6 {
        // MPTCP's subflows are of IPv6 alone only where the socket is.
        socket.set_only_v6(!traffic.dual_stack)?;
    }
    Ok(socket)
}

/// An address as sockets of the flow take it: one of both families takes IPv4 mapped into IPv6.
pub(super) fn for_socket(traffic: &Traffic, address: SocketAddr) -> SockAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if traffic.dual_stack => ip.to_ipv6_mapped().into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port()).into()
}

/// Lets small segments go at once.
pub(super) fn no_delay(socket: &Socket) -> Result<(), Failure> {
    socket
        .set_tcp_nodelay(true)
        .map_err(failed_to("switch off Nagle's algorithm"))
}

/// A listener on every address that the flow's sockets have: one that is bound to a single address
/// gets no joins on the others.
pub(super) fn listen(traffic: &Traffic) -> io::Result<Socket> {
    let any = if traffic.dual_stack || traffic.target.is_ipv6() {
        IpAddr::from(Ipv6Addr::UNSPECIFIED)
    } else {
        Ipv4Addr::UNSPECIFIED.into()
    };
    let socket = open_for(traffic, &traffic.server_congestion_control)?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::new(any, traffic.port).into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// The congestion controls of this kernel, by name.
pub(super) fn congestion_controls() -> io::Result<Vec<String>> {
    let names = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")?;
    Ok(names.split_whitespace().map(str::to_owned).collect())
}
