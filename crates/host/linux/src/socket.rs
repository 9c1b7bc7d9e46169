//! The state of one's own socket: `getsockopt` at `SOL_MPTCP` and `TCP_INFO`.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};

use crate::bytes::{address_at, port_at, u16_at, u32_at};
use crate::mptcp_info::{MPTCP_INFO_LENGTH, MptcpInfo};
use crate::tcp_info::{TCP_INFO_LENGTH, TcpInfo};

const SOL_MPTCP: i32 = 284;
const MPTCP_INFO: i32 = 1;
const MPTCP_TCPINFO: i32 = 2;
const MPTCP_SUBFLOW_ADDRS: i32 = 3;
const MPTCP_FULL_INFO: i32 = 4;

/// Subflows that are read at most.
const SUBFLOWS: usize = 256;
/// `struct sockaddr_storage`
const ADDRESS_LENGTH: usize = 128;
/// `struct mptcp_subflow_addrs`: local and remote.
const ADDRESSES_LENGTH: usize = 2 * ADDRESS_LENGTH;
/// `struct mptcp_subflow_info`: an id, padding and the addresses.
const SUBFLOW_INFO_LENGTH: usize = 8 + ADDRESSES_LENGTH;
/// `struct mptcp_subflow_data`
const SUBFLOW_DATA_LENGTH: usize = 16;
/// `struct mptcp_full_info` up to the `struct mptcp_info` at its end.
const FULL_INFO_HEADER_LENGTH: usize = 40;

/// One TCP connection below a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subflow {
    /// Its id in the connection, never given again; kernels before 6.5 do not tell.
    pub id: Option<u32>,
    /// Its address and port.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
    /// Its state and counters. A closed initial subflow stays in the list.
    pub info: TcpInfo,
    /// The same as the kernel gave it: `struct tcp_info`.
    pub tcp_info: Vec<u8>,
}

/// State of an MPTCP socket's connection and its subflows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Its counters.
    pub info: MptcpInfo,
    /// Its subflows, the initial one first.
    pub subflows: Vec<Subflow>,
}

/// The connection of an MPTCP socket; `None` where it is TCP, from the start or by fallback.
pub fn connection(socket: &impl AsFd) -> Option<Connection> {
    full_info(socket).or_else(|_| parts(socket)).ok()
}

/// `TCP_INFO`; on an MPTCP socket that has fallen back, that of its only connection.
///
/// # Errors
/// Reads an option by getsockopt(2).
pub fn tcp_info(socket: &impl AsFd) -> io::Result<TcpInfo> {
    let mut bytes = [0; TCP_INFO_LENGTH];
    let length = read_option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes)?;
    Ok(TcpInfo::parse(&bytes[..length]))
}

/// All of it in one call; kernels before 6.5 lack it.
fn full_info(socket: &impl AsFd) -> io::Result<Connection> {
    let mut addresses = vec![0u8; SUBFLOWS * SUBFLOW_INFO_LENGTH];
    let mut infos = vec![0u8; SUBFLOWS * TCP_INFO_LENGTH];
    let mut bytes = [0; FULL_INFO_HEADER_LENGTH + MPTCP_INFO_LENGTH];
    let words = [0, TCP_INFO_LENGTH, 0, SUBFLOW_INFO_LENGTH, 0, SUBFLOWS];
    for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&(word as u32).to_ne_bytes());
    }
    for (offset, array) in [(24, &mut addresses), (32, &mut infos)] {
        let pointer = array.as_mut_ptr().expose_provenance() as u64;
        bytes[offset..][..8].copy_from_slice(&pointer.to_ne_bytes());
    }
    // The kernel writes at most SUBFLOWS elements of the given sizes through the two pointers, to
    // arrays of that size.
    let length = read_option(socket, SOL_MPTCP, MPTCP_FULL_INFO, &mut bytes)?;
    let word = |offset| u32_at(&bytes[..length], offset).unwrap_or(0) as usize;
    // Elements stand as far apart as they are long, which the kernel may make less than was asked.
    let tcp_info_length = word(0).clamp(1, TCP_INFO_LENGTH);
    let count = word(16).min(SUBFLOWS);
    let subflows = addresses
        .chunks_exact(SUBFLOW_INFO_LENGTH)
        .zip(infos.chunks_exact(tcp_info_length))
        .take(count)
        .filter_map(|(addresses, info)| subflow(u32_at(addresses, 0), &addresses[8..], info))
        .collect();
    let info = bytes[..length]
        .get(FULL_INFO_HEADER_LENGTH..)
        .unwrap_or_default();
    Ok(Connection {
        info: MptcpInfo::parse(info),
        subflows,
    })
}

/// The same in three calls, between which a subflow may come or go (then they are not matched).
fn parts(socket: &impl AsFd) -> io::Result<Connection> {
    let mut bytes = [0; MPTCP_INFO_LENGTH];
    let length = read_option(socket, SOL_MPTCP, MPTCP_INFO, &mut bytes)?;
    let info = MptcpInfo::parse(&bytes[..length]);
    let addresses = elements(socket, MPTCP_SUBFLOW_ADDRS, ADDRESSES_LENGTH)?;
    let infos = elements(socket, MPTCP_TCPINFO, TCP_INFO_LENGTH)?;
    let pairs = addresses
        .iter()
        .zip(&infos)
        .take(if addresses.len() == infos.len() {
            infos.len()
        } else {
            0
        });
    let subflows = pairs
        .filter_map(|(addresses, info)| subflow(None, addresses, info))
        .collect();
    Ok(Connection { info, subflows })
}

/// An option that returns `struct mptcp_subflow_data` and an element a subflow.
fn elements(socket: &impl AsFd, name: i32, length: usize) -> io::Result<Vec<Vec<u8>>> {
    let mut bytes = vec![0u8; SUBFLOW_DATA_LENGTH + SUBFLOWS * length];
    for (place, word) in bytes
        .chunks_exact_mut(4)
        .zip([SUBFLOW_DATA_LENGTH, 0, 0, length])
    {
        place.copy_from_slice(&(word as u32).to_ne_bytes());
    }
    read_option(socket, SOL_MPTCP, name, &mut bytes)?;
    let count = u32_at(&bytes, 4).unwrap_or(0) as usize;
    let known = u32_at(&bytes, 8).unwrap_or(0) as usize;
    let elements = bytes[SUBFLOW_DATA_LENGTH..]
        .chunks_exact(known.clamp(1, length))
        .take(count);
    Ok(elements.map(<[u8]>::to_vec).collect())
}

fn subflow(id: Option<u32>, addresses: &[u8], info: &[u8]) -> Option<Subflow> {
    Some(Subflow {
        id,
        local: socket_address(addresses)?,
        remote: socket_address(addresses.get(ADDRESS_LENGTH..)?)?,
        info: TcpInfo::parse(info),
        tcp_info: info.to_vec(),
    })
}

/// `struct sockaddr_in` or `sockaddr_in6`.
fn socket_address(bytes: &[u8]) -> Option<SocketAddr> {
    let family = u16_at(bytes, 0)?;
    let offset = if i32::from(family) == libc::AF_INET {
        4
    } else {
        8
    };
    Some(SocketAddr::new(
        address_at(bytes, offset, family)?,
        port_at(bytes, 2)?,
    ))
}

/// `getsockopt` into `bytes`; returns how many the kernel wrote.
fn read_option(socket: &impl AsFd, level: i32, name: i32, bytes: &mut [u8]) -> io::Result<usize> {
    let mut length = bytes.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `bytes`, and the length to `length`.
    // MPTCP_FULL_INFO also writes through pointers in `bytes`, for which its caller answers.
    let result = unsafe {
        let fd = socket.as_fd().as_raw_fd();
        libc::getsockopt(fd, level, name, bytes.as_mut_ptr().cast(), &raw mut length)
    };
    if result == 0 {
        Ok((length as usize).min(bytes.len()))
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use proptest::prelude::*;
    use socket2::{Domain, Protocol, Socket, Type};

    use super::*;

    /// Both ends of an MPTCP connection on the loopback, over which `payload` went.
    fn pair(payload: &[u8]) -> io::Result<(TcpStream, TcpStream)> {
        let open = || Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP));
        let listener = open()?;
        listener.bind(
            &"127.0.0.1:0"
                .parse::<SocketAddr>()
                .expect("an address")
                .into(),
        )?;
        listener.listen(1)?;
        let client = open()?;
        client.connect(&listener.local_addr()?)?;
        let (mut client, (mut server, _)) = (
            TcpStream::from(client),
            TcpListener::from(listener).accept()?,
        );
        client.write_all(payload)?;
        server.read_exact(&mut vec![0; payload.len()])?;
        Ok((client, server))
    }

    #[test]
    fn one_call_and_three_calls_tell_the_same() {
        let (client, _server) = match pair(&[0; 1000]) {
            Ok(pair) => pair,
            Err(error) => return println!("skipped: no MPTCP here: {error}"),
        };
        let parts = parts(&client).unwrap();
        assert_eq!(parts.info.fallback, Some(false));
        let [subflow] = &parts.subflows[..] else {
            panic!("one subflow")
        };
        assert_eq!(subflow.local, client.local_addr().unwrap());
        assert_eq!(subflow.remote, client.peer_addr().unwrap());
        assert_eq!(subflow.info.bytes_sent, Some(1000));
        match full_info(&client) {
            Ok(full) => {
                assert_eq!(full.info.token, parts.info.token);
                let [whole] = &full.subflows[..] else {
                    panic!("one subflow")
                };
                assert_eq!((whole.local, whole.remote), (subflow.local, subflow.remote));
                assert_eq!(whole.info.bytes_sent, Some(1000));
            }
            Err(error) => println!("skipped: no MPTCP_FULL_INFO here: {error}"),
        }
    }

    #[test]
    fn a_tcp_socket_has_no_connection_but_tcp_info() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert_eq!(connection(&client), None);
        assert_eq!(tcp_info(&client).unwrap().state, Some("ESTABLISHED"));
    }

    #[test]
    fn addresses_of_both_families_are_read() {
        let mut v4 = [0; 128];
        v4[..8].copy_from_slice(&[libc::AF_INET as u8, 0, 0x13, 0x89, 10, 0, 1, 2]);
        assert_eq!(socket_address(&v4), Some("10.0.1.2:5001".parse().unwrap()));
        let mut v6 = [0; 128];
        v6[..4].copy_from_slice(&[libc::AF_INET6 as u8, 0, 0x13, 0x89]);
        (v6[8], v6[23]) = (0xfd, 2);
        assert_eq!(socket_address(&v6), Some("[fd00::2]:5001".parse().unwrap()));
        assert_eq!(socket_address(&[0; 128]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(addresses: Vec<u8>, info: Vec<u8>) {
            subflow(None, &addresses, &info);
        }
    }
}
