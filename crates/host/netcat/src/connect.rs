//! Opening sockets and connections.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::PollFlags;
use socket2::{Domain, Protocol as Transport, Socket, Type};

use crate::failure::Failure;
use crate::options::{Options, Protocol};
use crate::report::Report;
use crate::resolve::resolve;
use crate::signals::Signals;
use crate::stream::Stream;
use crate::waiting::{deadline, ready};

/// The addresses of a host that may be tried, in the order of the system.
///
/// # Errors
/// When the name is unknown, or has no address of the wanted family.
pub(crate) fn addresses(
    host: &str,
    port: u16,
    options: &Options,
) -> Result<Vec<SocketAddr>, Failure> {
    let mut wanted = resolve(host, port).map_err(Failure::of(host.to_owned()))?;
    wanted.retain(|at| options.wants(at.ip()));
    if wanted.is_empty() {
        return Err(Failure::Sentence(format!(
            "{host}: no address of the family that -4, -6 or -s asks for"
        )));
    }
    Ok(wanted)
}

/// A socket of the wanted protocol, or of TCP where the kernel has no MPTCP; and which of them.
///
/// # Errors
/// Those of socket(2).
pub(crate) fn open(
    protocol: Protocol,
    domain: Domain,
    report: &Report,
) -> io::Result<(Socket, Protocol)> {
    let stream = |transport| Socket::new(domain, Type::STREAM, Some(transport));
    match protocol {
        Protocol::Udp => Ok((Socket::new(domain, Type::DGRAM, None)?, protocol)),
        Protocol::Tcp => Ok((stream(Transport::TCP)?, protocol)),
        Protocol::Mptcp => match stream(Transport::MPTCP) {
            // The answer of net.mptcp.enabled=0, and of a kernel without MPTCP.
            Err(error) if is_missing(&error) => {
                report.warn_once("this kernel has no MPTCP, or net.mptcp.enabled is 0: plain TCP");
                Ok((stream(Transport::TCP)?, Protocol::Tcp))
            }
            socket => Ok((socket?, protocol)),
        },
    }
}

fn is_missing(error: &io::Error) -> bool {
    let number = error.raw_os_error();
    matches!(number, Some(libc::ENOPROTOOPT | libc::EPROTONOSUPPORT))
}

/// Connects to the first address that answers.
///
/// # Errors
/// Why the last one did not; a signal.
pub(crate) fn connect(
    options: &Options,
    host: &str,
    port: u16,
    report: &Report,
    signals: &Signals,
) -> Result<Stream, Failure> {
    let mut last = None;
    for address in addresses(host, port, options)? {
        match connect_to(address, options, report, signals) {
            Ok((socket, protocol)) => {
                let name = protocol.name();
                report.verbose(&format!("connected to {host} port {port} ({name})"));
                let peer = format!("{} port {port}", address.ip());
                return Ok(Stream { socket, peer });
            }
            Err(signal @ Failure::Signal(_)) => return Err(signal),
            Err(failure) => {
                if let Some(earlier) = last.replace(failure) {
                    report.verbose(&earlier.to_string());
                }
            }
        }
    }
    Err(last.expect("at least one address was tried"))
}

fn connect_to(
    address: SocketAddr,
    options: &Options,
    report: &Report,
    signals: &Signals,
) -> Result<(Socket, Protocol), Failure> {
    let domain = Domain::for_address(address);
    let opened = open(options.protocol, domain, report);
    let (socket, protocol) = opened.map_err(Failure::of("socket"))?;
    let tried = || {
        let (ip, port, name) = (address.ip(), address.port(), protocol.name());
        format!("connect to {ip} port {port} ({name})")
    };
    bind_source(&socket, address, options)?;
    let begin = || {
        socket.set_nonblocking(true)?;
        match socket.connect(&address.into()) {
            Err(error) if error.raw_os_error() == Some(Errno::EINPROGRESS as i32) => Ok(false),
            other => other.map(|()| true),
        }
    };
    if !begin().map_err(Failure::of(tried()))? {
        let until = deadline(options.timeout());
        if !ready(socket.as_fd(), PollFlags::POLLOUT, until, signals)? {
            let error = io::Error::from_raw_os_error(libc::ETIMEDOUT);
            return Err(Failure::of(tried())(error));
        }
        if let Some(error) = socket.take_error().map_err(Failure::of(tried()))? {
            return Err(Failure::of(tried())(error));
        }
    }
    Ok((socket, protocol))
}

/// Binds to what `-s` and `-p` say.
fn bind_source(socket: &Socket, to: SocketAddr, options: &Options) -> Result<(), Failure> {
    if options.source.is_none() && options.source_port.is_none() {
        return Ok(());
    }
    let any = if to.is_ipv4() {
        std::net::Ipv4Addr::UNSPECIFIED.into()
    } else {
        std::net::Ipv6Addr::UNSPECIFIED.into()
    };
    let source = options.source.unwrap_or(any);
    let address = SocketAddr::new(source, options.source_port.unwrap_or(0));
    let bound = socket
        .set_reuse_address(true)
        .and_then(|()| socket.bind(&address.into()));
    bound.map_err(Failure::of(format!("bind to {address}")))
}
