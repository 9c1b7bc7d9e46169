//! Addresses as `struct sockaddr`.

use std::ffi::c_int;
use std::mem::offset_of;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use libc::{sa_family_t, sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage, socklen_t};

use crate::argument::{array, null};
use crate::failure::Invalid;

/// An address that must be there.
///
/// # Safety
/// As [`optional`].
pub(crate) unsafe fn required(
    pointer: *const sockaddr,
    length: socklen_t,
    name: &str,
) -> Result<SocketAddr, Invalid> {
    // SAFETY: by the caller's promise.
    unsafe { optional(pointer, length, name) }?.ok_or_else(|| null(name))
}

/// An address; `None` for a null pointer.
///
/// # Safety
/// `pointer` is null, or one to so many bytes, aligned or not.
pub(crate) unsafe fn optional(
    pointer: *const sockaddr,
    length: socklen_t,
    name: &str,
) -> Result<Option<SocketAddr>, Invalid> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: so many bytes, by the caller's promise; bytes need no alignment.
    let bytes = unsafe { array(pointer.cast::<u8>(), length as usize, name) }?;
    parse(bytes)
        .map(Some)
        .map_err(|why| Invalid(format!("{name} {why}")))
}

fn parse(bytes: &[u8]) -> Result<SocketAddr, String> {
    let family = bytes.first_chunk().map_or(0, |&it| u16::from_ne_bytes(it));
    let (name, size) = match c_int::from(family) {
        libc::AF_INET => ("sockaddr_in", size_of::<sockaddr_in>()),
        libc::AF_INET6 => ("sockaddr_in6", size_of::<sockaddr_in6>()),
        _ => return Err(format!("is of family {family}, neither IPv4 nor IPv6")),
    };
    if bytes.len() < size {
        return Err(format!("has {} bytes; a {name} has {size}", bytes.len()));
    }
    let port = u16::from_be_bytes(field(bytes, offset_of!(sockaddr_in, sin_port)));
    let ip: IpAddr = if c_int::from(family) == libc::AF_INET {
        Ipv4Addr::from(field::<4>(bytes, offset_of!(sockaddr_in, sin_addr))).into()
    } else {
        if field(bytes, offset_of!(sockaddr_in6, sin6_scope_id)) != [0; 4] {
            return Err("has a scope: name the interface instead".to_owned());
        }
        let ip = Ipv6Addr::from(field::<16>(bytes, offset_of!(sockaddr_in6, sin6_addr)));
        ip.to_canonical()
    };
    Ok(SocketAddr::new(ip, port))
}

fn field<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    std::array::from_fn(|place| bytes[offset + place])
}

/// An address as C takes it; `AF_UNSPEC` where there is none.
pub(crate) fn storage(address: Option<SocketAddr>) -> sockaddr_storage {
    // SAFETY: the structure is of numbers, of which all may be zero.
    let mut storage: sockaddr_storage = unsafe { std::mem::zeroed() };
    match address {
        None => {}
        Some(SocketAddr::V4(v4)) => {
            let place: *mut sockaddr_in = (&raw mut storage).cast();
            // SAFETY: `sockaddr_storage` has the size and alignment of every address.
            let place = unsafe { &mut *place };
            place.sin_family = libc::AF_INET as sa_family_t;
            place.sin_port = v4.port().to_be();
            place.sin_addr.s_addr = u32::from_ne_bytes(v4.ip().octets());
        }
        Some(SocketAddr::V6(v6)) => {
            let place: *mut sockaddr_in6 = (&raw mut storage).cast();
            // SAFETY: as above.
            let place = unsafe { &mut *place };
            place.sin6_family = libc::AF_INET6 as sa_family_t;
            place.sin6_port = v6.port().to_be();
            place.sin6_addr.s6_addr = v6.ip().octets();
        }
    }
    storage
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(storage: &sockaddr_storage) -> Vec<u8> {
        let place: *const u8 = std::ptr::from_ref(storage).cast();
        // SAFETY: the structure's own bytes, all of which were written.
        unsafe { std::slice::from_raw_parts(place, size_of::<sockaddr_storage>()) }.to_vec()
    }

    proptest! {
        #[test]
        fn an_address_comes_back(ip: IpAddr, port: u16) {
            let address = SocketAddr::new(ip.to_canonical(), port);
            prop_assert_eq!(parse(&bytes(&storage(Some(address)))), Ok(address));
        }

        #[test]
        fn any_bytes_are_read_without_panic(family in 0..12u16, rest: Vec<u8>) {
            let _ = parse(&rest);
            let _ = parse(&[&family.to_ne_bytes(), &rest[..]].concat());
        }

        #[test]
        fn a_cut_address_is_refused(ip: IpAddr, length in 0..28usize) {
            let size = if ip.is_ipv4() { 16 } else { 28 };
            let whole = bytes(&storage(Some(SocketAddr::new(ip, 1))));
            prop_assert_eq!(parse(&whole[..length]).is_ok(), length >= size);
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        let why = |bytes: &[u8]| parse(bytes).unwrap_err();
        assert_eq!(why(&[0; 16]), "is of family 0, neither IPv4 nor IPv6");
        let mut short = [0; 8];
        short[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
        assert_eq!(why(&short), "has 8 bytes; a sockaddr_in has 16");
        let mut scoped = bytes(&storage(Some("[fe80::1]:1".parse().unwrap())));
        scoped[24] = 3;
        assert_eq!(why(&scoped), "has a scope: name the interface instead");
    }
}
