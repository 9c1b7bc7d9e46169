//! Waiting for clients.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;

use nix::poll::PollFlags;
use socket2::{Domain, Socket};

use crate::connect::{addresses, open};
use crate::failure::Failure;
use crate::options::{Family, Options, Protocol};
use crate::report::Report;
use crate::signals::Signals;
use crate::stream::Stream;
use crate::waiting::ready;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 128;

/// A bound socket, which listens where its protocol has connections; and its protocol.
///
/// Without an address it takes every one of the wanted families. MPTCP needs that: what is bound
/// to one address gets no subflows to the others.
///
/// # Errors
/// The system's, with the address.
pub(crate) fn listen(
    options: &Options,
    port: u16,
    report: &Report,
) -> Result<(Socket, Protocol), Failure> {
    let any4 = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
    let any6 = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
    let bound = match (&options.host, options.family) {
        (Some(host), _) => bind(addresses(host, port, options)?[0], true, options, report),
        (None, Some(Family::V4)) => bind(any4, true, options, report),
        (None, Some(Family::V6)) => bind(any6, true, options, report),
        (None, None) => bind(any6, false, options, report).or_else(|failure| match failure {
            // Hosts without IPv6.
            Failure::Io { error, .. } if has_no_ipv6(&error) => bind(any4, true, options, report),
            other => Err(other),
        }),
    };
    let (socket, protocol) = bound?;
    if let Ok(Some(at)) = socket.local_addr().map(|address| address.as_socket()) {
        let name = protocol.name();
        report.verbose(&format!(
            "listening on {} port {} ({name})",
            at.ip(),
            at.port()
        ));
    }
    Ok((socket, protocol))
}

fn bind(
    address: SocketAddr,
    only_v6: bool,
    options: &Options,
    report: &Report,
) -> Result<(Socket, Protocol), Failure> {
    let what = || format!("listen on {} port {}", address.ip(), address.port());
    let made = || -> io::Result<_> {
        let domain = Domain::for_address(address);
        let (socket, protocol) = open(options.protocol, domain, report)?;
        if address.is_ipv6() {
            socket.set_only_v6(only_v6)?;
        }
        if protocol != Protocol::Udp {
            socket.set_reuse_address(true)?;
        }
        socket.bind(&address.into())?;
        if protocol != Protocol::Udp {
            socket.listen(BACKLOG)?;
        }
        socket.set_nonblocking(true)?;
        Ok((socket, protocol))
    };
    made().map_err(|error| Failure::of(what())(error))
}

fn has_no_ipv6(error: &io::Error) -> bool {
    let number = error.raw_os_error();
    matches!(number, Some(libc::EAFNOSUPPORT | libc::EADDRNOTAVAIL))
}

/// Waits for the next client; its address is in [`Stream::peer`].
///
/// # Errors
/// Those of accept(2); a signal.
pub(crate) fn accept(listener: &Socket, signals: &Signals) -> Result<Stream, Failure> {
    loop {
        ready(listener.as_fd(), PollFlags::POLLIN, None, signals)?;
        let (socket, address) = match listener.accept() {
            Ok(accepted) => accepted,
            // The client has gone again before its turn came.
            Err(error) if is_passing(&error) => continue,
            Err(error) => return Err(Failure::of("accept")(error)),
        };
        socket
            .set_nonblocking(true)
            .map_err(Failure::of("accept"))?;
        let peer = match address.as_socket() {
            Some(at) => format!("{} port {}", at.ip().to_canonical(), at.port()),
            None => "the peer".to_owned(),
        };
        return Ok(Stream { socket, peer });
    }
}

fn is_passing(error: &io::Error) -> bool {
    let passing = [io::ErrorKind::WouldBlock, io::ErrorKind::ConnectionAborted];
    passing.contains(&error.kind()) || error.raw_os_error() == Some(libc::EPROTO)
}
