//! Small questions to sockets.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::sys::socket::{SockaddrStorage, getpeername, getsockname};

/// A socket option that is a number.
fn option<T: Default + Copy>(socket: impl AsFd, level: i32, name: i32) -> io::Result<T> {
    let mut value = T::default();
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel writes at most the given length, which is that of the number, and every
    // pattern of bits is one of the numbers that this is used for.
    let result = unsafe {
        let fd = socket.as_fd().as_raw_fd();
        libc::getsockopt(fd, level, name, (&raw mut value).cast(), &raw mut length)
    };
    match result {
        0 => Ok(value),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Protocol of a socket (`IPPROTO_MPTCP` …).
pub(crate) fn protocol(socket: impl AsFd) -> io::Result<i32> {
    option::<libc::c_int>(socket, libc::SOL_SOCKET, libc::SO_PROTOCOL)
}

/// The network namespace that a socket belongs to, as a number that no other has while the machine
/// runs.
pub(crate) fn namespace(socket: impl AsFd) -> Option<u64> {
    const SO_NETNS_COOKIE: i32 = 71;
    option::<u64>(socket, libc::SOL_SOCKET, SO_NETNS_COOKIE).ok()
}

/// The address at which the connection was opened.
pub(crate) fn own_address(socket: BorrowedFd<'_>) -> Option<SocketAddr> {
    socket_address(&getsockname(socket.as_raw_fd()).ok()?)
}

/// The peer's.
pub(crate) fn peer_address(socket: BorrowedFd<'_>) -> Option<SocketAddr> {
    socket_address(&getpeername(socket.as_raw_fd()).ok()?)
}

/// An IPv4 address mapped into IPv6 comes out as IPv4.
fn socket_address(address: &SockaddrStorage) -> Option<SocketAddr> {
    let (ip, port) = match (address.as_sockaddr_in(), address.as_sockaddr_in6()) {
        (Some(v4), _) => (v4.ip().into(), v4.port()),
        (_, Some(v6)) => (v6.ip().to_canonical(), v6.port()),
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}
