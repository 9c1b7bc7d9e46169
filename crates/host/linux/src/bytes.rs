//! Bounds-checked reads from structures that the kernel wrote: a field that an older kernel does
//! not have is `None`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

fn field<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

/// A byte.
pub fn u8_at(bytes: &[u8], offset: usize) -> Option<u8> {
    bytes.get(offset).copied()
}

/// Two bytes, in the byte order of the machine.
pub fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    field(bytes, offset).map(u16::from_ne_bytes)
}

/// Four bytes, in the byte order of the machine.
pub fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    field(bytes, offset).map(u32::from_ne_bytes)
}

/// Eight bytes, in the byte order of the machine.
pub fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    field(bytes, offset).map(u64::from_ne_bytes)
}

/// A port: network byte order.
pub fn port_at(bytes: &[u8], offset: usize) -> Option<u16> {
    field(bytes, offset).map(u16::from_be_bytes)
}

/// An address of `family`; an IPv4 address mapped into IPv6 comes out as IPv4.
pub fn address_at(bytes: &[u8], offset: usize, family: u16) -> Option<IpAddr> {
    match i32::from(family) {
        libc::AF_INET => field::<4>(bytes, offset).map(|octets| Ipv4Addr::from(octets).into()),
        libc::AF_INET6 => {
            field::<16>(bytes, offset).map(|octets| Ipv6Addr::from(octets).to_canonical())
        }
        _ => None,
    }
}
