//! The congestion control of sockets: whether this kernel lets them use one, and the one that they use.

use std::fs;
use std::io;
use std::net::TcpStream;

use socket2::{Domain, Protocol, SockRef, Socket, Type};

/// The file with those that the kernel has.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// The beginning of each text about a congestion control that cannot be used.
pub fn prefix(name: &str) -> String {
    format!("congestion control {name}: ")
}

/// The reason for which sockets of TCP and MPTCP cannot use it here, a sentence without its stop;
/// `None` where they can. Sockets are asked: a kernel may load a module for one, and has some that
/// only CAP_NET_ADMIN may use.
pub fn obstacle(name: &str) -> Option<String> {
    let mut tried = [Protocol::TCP, Protocol::MPTCP].into_iter();
    let error = tried.find_map(|protocol| set_at(name, protocol).err())?;
    let reason = match error.raw_os_error() {
        Some(libc::ENOENT) => match available() {
            Some(names) => format!("the kernel has none of this name, but {names}"),
            None => "the kernel has none of this name".to_owned(),
        },
        Some(libc::EPERM) => "only CAP_NET_ADMIN may use it, unless \
            net.ipv4.tcp_allowed_congestion_control lists it"
            .to_owned(),
        _ => error.to_string(),
    };
    Some(format!("{}{reason}", prefix(name)))
}

/// Sets it at a new socket. A kernel without MPTCP is no obstacle: that is told of connections.
fn set_at(name: &str, protocol: Protocol) -> io::Result<()> {
    match Socket::new(Domain::IPV4, Type::STREAM, Some(protocol)) {
        Ok(socket) => socket.set_tcp_congestion(name.as_bytes()),
        Err(_) if protocol == Protocol::MPTCP => Ok(()),
        Err(error) => Err(error),
    }
}

fn available() -> Option<String> {
    let text = fs::read_to_string(AVAILABLE).ok()?;
    let names: Vec<_> = text.split_whitespace().collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The one that a connection uses; `None` where the kernel does not tell.
pub(crate) fn used(stream: &TcpStream) -> Option<String> {
    let bytes = SockRef::from(stream).tcp_congestion().ok()?;
    let name: Vec<_> = bytes.into_iter().take_while(|byte| *byte != 0).collect();
    String::from_utf8(name).ok().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn one_that_the_kernel_lacks_is_told_with_those_that_it_has() {
        assert_eq!(obstacle("reno"), None);
        let told = obstacle("nosuch").unwrap();
        assert!(told.starts_with(&prefix("nosuch")), "{told}");
        assert!(told.contains("none of this name"), "{told}");
        assert!(told.contains("reno"), "{told}");
    }

    #[test]
    fn a_connection_tells_the_one_that_it_uses() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        SockRef::from(&stream).set_tcp_congestion(b"reno").unwrap();
        assert_eq!(used(&stream).as_deref(), Some("reno"));
    }
}
