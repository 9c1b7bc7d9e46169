//! The carrier of a virtual Ethernet interface: its other end is up.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use nix::net::if_::if_indextoname;

const SIOCETHTOOL: libc::Ioctl = 0x8946;
const ETHTOOL_GLINK: u32 = 0xa;

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// Asks the driver of interface `index`, at once and not by way of the slower operational state.
///
/// # Errors
/// When there is no such interface in the calling thread's namespace.
pub(super) fn is_up(socket: impl AsFd, index: u32) -> io::Result<bool> {
    let name = if_indextoname(index)?;
    let mut value = Value {
        command: ETHTOOL_GLINK,
        data: 0,
    };
    // SAFETY: an all-zero request is valid; the fields that matter are set below.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.as_bytes()) {
        *to = *from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: the request and the value that it points to outlive the call.
    let result = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), SIOCETHTOOL, &mut request) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(value.data != 0)
}
