//! All sockets of a namespace: `NETLINK_SOCK_DIAG` dumps of TCP and MPTCP
//! (`linux/inet_diag.h`).

use std::io;
use std::net::{IpAddr, SocketAddr};

use crate::bytes::{address_at, port_at, u8_at, u32_at, u64_at};
use crate::dump::{Dumper, attributes};
use crate::mptcp_info::MptcpInfo;
use crate::tcp_info::TcpInfo;

/// `TCPDIAG_GETSOCK`: the older request, which returns IPv4 and IPv6 in one pass over the table.
const GETSOCK: u16 = 18;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const REQUEST_LENGTH: usize = 60;
const REQUEST_V2_LENGTH: usize = 56;
const MESSAGE_LENGTH: usize = 72;
/// In the answer.
const COOKIE_OFFSET: usize = 44;
const STATES_OFFSET: usize = 52;

const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_CONG: u16 = 4;
const INET_DIAG_SKMEMINFO: u16 = 7;
const INET_DIAG_ULP_INFO: u16 = 19;
/// Attributes that are requested beside addresses and state.
const EXTENSIONS: u8 =
    1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1) | 1 << (INET_DIAG_SKMEMINFO - 1);
const INET_DIAG_REQ_PROTOCOL: u16 = 3;
const INET_ULP_INFO_MPTCP: u16 = 3;

const SUBFLOW_ATTR_TOKEN_REM: u16 = 1;
const SUBFLOW_ATTR_TOKEN_LOC: u16 = 2;
const SUBFLOW_ATTR_FLAGS: u16 = 8;
const SUBFLOW_ATTR_ID_REM: u16 = 9;
const SUBFLOW_ATTR_ID_LOC: u16 = 10;
/// `MPTCP_SUBFLOW_FLAG_BKUP_REM | MPTCP_SUBFLOW_FLAG_BKUP_LOC`
const SUBFLOW_FLAGS_BACKUP: u32 = 1 << 4 | 1 << 5;

/// ESTABLISHED, FIN-WAIT-1, FIN-WAIT-2, CLOSE-WAIT, LAST-ACK and CLOSING, as bits.
const CONNECTED_STATES: u32 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;

/// One TCP connection or MPTCP subflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpSocket {
    /// The kernel's number of the socket (`SO_COOKIE`), never given again.
    pub cookie: u64,
    /// Its address and port.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
    /// Its state and counters.
    pub info: TcpInfo,
    /// Its buffers.
    pub memory: SocketMemory,
    /// Name of its congestion control.
    pub congestion_control: Option<String>,
    /// Its identity as a subflow of MPTCP; `None` for plain TCP.
    pub mptcp: Option<SubflowIdentity>,
}

/// Buffers of a socket, in memory: a segment takes more than its payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketMemory {
    /// The send buffer holds so much at most (`sk_sndbuf`).
    pub send_buffer_bytes: Option<u32>,
    /// Memory of data that was written and not acknowledged (`sk_wmem_queued`).
    pub send_queued_bytes: Option<u32>,
    /// The receive buffer holds so much at most (`sk_rcvbuf`).
    pub receive_buffer_bytes: Option<u32>,
}

impl SocketMemory {
    /// Reads the words of `SK_MEMINFO_*` (`linux/sock_diag.h`).
    fn parse(words: &[u8]) -> Self {
        Self {
            receive_buffer_bytes: u32_at(words, 4),
            send_buffer_bytes: u32_at(words, 12),
            send_queued_bytes: u32_at(words, 20),
        }
    }
}

/// Identity of a TCP socket as a subflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubflowIdentity {
    /// Token of the connection on this host; told to those with CAP_NET_ADMIN only.
    pub token: Option<u32>,
    /// Token of the connection on the peer. The kernel has it where it sent a join, and tells it to
    /// those with CAP_NET_ADMIN only.
    pub remote_token: Option<u32>,
    /// Id of the local address.
    pub local_id: Option<u8>,
    /// Id of the remote address.
    pub remote_id: Option<u8>,
    /// It is a backup, for one of the two ends.
    pub backup: Option<bool>,
}

/// Every connected TCP socket, subflows included.
///
/// # Errors
/// The kernel's.
pub fn tcp_sockets(netlink: &mut Dumper, mut each: impl FnMut(TcpSocket)) -> io::Result<()> {
    netlink.dump(GETSOCK, &request(false), |message| {
        if let Some(socket) = parse_tcp(message) {
            each(socket);
        }
    })
}

/// Every connected MPTCP socket.
///
/// # Errors
/// The kernel's.
pub fn mptcp_sockets(netlink: &mut Dumper, mut each: impl FnMut(MptcpInfo)) -> io::Result<()> {
    mptcp_sockets_by_cookie(netlink, |_, info, _| each(info))
}

/// Every connected MPTCP socket with the kernel's number of it (`SO_COOKIE`) and its buffers.
///
/// # Errors
/// The kernel's.
pub fn mptcp_sockets_by_cookie(
    netlink: &mut Dumper,
    mut each: impl FnMut(u64, MptcpInfo, SocketMemory),
) -> io::Result<()> {
    netlink.dump(GETSOCK, &request(true), |message| {
        let attribute = |wanted| attributes_of(message).find(|&(kind, _)| kind == wanted);
        let memory = attribute(INET_DIAG_SKMEMINFO);
        let memory = memory.map_or_else(SocketMemory::default, |(_, words)| {
            SocketMemory::parse(words)
        });
        let info = attribute(INET_DIAG_INFO);
        if let (Some(cookie), Some((_, info))) = (u64_at(message, COOKIE_OFFSET), info) {
            each(cookie, MptcpInfo::parse(info), memory);
        }
    })
}

/// The TCP socket between these addresses, whatever its state. One that is bound to an interface is
/// found by the index of that only, any other by every index, and by 0.
///
/// # Errors
/// `NotFound` where there is none in the namespace.
pub fn tcp_socket(
    netlink: &mut Dumper,
    local: SocketAddr,
    remote: SocketAddr,
    interface: u32,
) -> io::Result<TcpSocket> {
    let mut found = None;
    netlink.ask(
        SOCK_DIAG_BY_FAMILY,
        &request_one(local, remote, interface),
        |message| {
            found = found.take().or_else(|| parse_tcp(message));
        },
    )?;
    found.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// `struct inet_diag_req_v2`.
fn request_one(local: SocketAddr, remote: SocketAddr, interface: u32) -> Vec<u8> {
    const PORTS_OFFSET: usize = 8;
    const INTERFACE_OFFSET: usize = 44;
    const COOKIE_OFFSET: usize = 48;
    let mut bytes = vec![0; REQUEST_V2_LENGTH];
    bytes[0] = if local.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    } as u8;
    bytes[1] = libc::IPPROTO_TCP as u8;
    bytes[2] = EXTENSIONS;
    bytes[4..8].copy_from_slice(&u32::MAX.to_ne_bytes());
    for (place, address) in [local, remote].iter().enumerate() {
        bytes[PORTS_OFFSET + 2 * place..][..2].copy_from_slice(&address.port().to_be_bytes());
        let bytes = &mut bytes[PORTS_OFFSET + 4 + 16 * place..];
        match address.ip() {
            IpAddr::V4(v4) => bytes[..4].copy_from_slice(&v4.octets()),
            IpAddr::V6(v6) => bytes[..16].copy_from_slice(&v6.octets()),
        }
    }
    bytes[INTERFACE_OFFSET..COOKIE_OFFSET].copy_from_slice(&interface.to_ne_bytes());
    bytes[COOKIE_OFFSET..].fill(0xff);
    bytes
}

/// `struct inet_diag_req`, and for MPTCP, whose number does not fit it, an attribute.
fn request(mptcp: bool) -> Vec<u8> {
    let mut bytes = vec![0; REQUEST_LENGTH];
    bytes[0] = libc::AF_INET as u8;
    bytes[3] = EXTENSIONS;
    bytes[STATES_OFFSET..][..4].copy_from_slice(&CONNECTED_STATES.to_ne_bytes());
    if mptcp {
        bytes.extend(8u16.to_ne_bytes());
        bytes.extend(INET_DIAG_REQ_PROTOCOL.to_ne_bytes());
        bytes.extend((libc::IPPROTO_MPTCP as u32).to_ne_bytes());
    }
    bytes
}

fn attributes_of(message: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    attributes(message.get(MESSAGE_LENGTH..).unwrap_or_default())
}

/// `struct inet_diag_msg` and its attributes.
pub(crate) fn parse_tcp(message: &[u8]) -> Option<TcpSocket> {
    let family = u16::from(u8_at(message, 0)?);
    let address = |port, address| {
        Some(SocketAddr::new(
            address_at(message, address, family)?,
            port_at(message, port)?,
        ))
    };
    let mut socket = TcpSocket {
        cookie: u64_at(message, COOKIE_OFFSET)?,
        local: address(4, 8)?,
        remote: address(6, 24)?,
        info: TcpInfo::default(),
        memory: SocketMemory::default(),
        congestion_control: None,
        mptcp: None,
    };
    for (kind, value) in attributes_of(message) {
        match kind {
            INET_DIAG_INFO => socket.info = TcpInfo::parse(value),
            INET_DIAG_SKMEMINFO => socket.memory = SocketMemory::parse(value),
            INET_DIAG_CONG => {
                let name = value.split(|&byte| byte == 0).next().unwrap_or_default();
                socket.congestion_control = Some(String::from_utf8_lossy(name).into_owned());
            }
            INET_DIAG_ULP_INFO => socket.mptcp = parse_ulp(value),
            _ => {}
        }
    }
    Some(socket)
}

fn parse_ulp(value: &[u8]) -> Option<SubflowIdentity> {
    let (_, subflow) = attributes(value).find(|&(kind, _)| kind == INET_ULP_INFO_MPTCP)?;
    let mut identity = SubflowIdentity::default();
    for (kind, value) in attributes(subflow) {
        match kind {
            SUBFLOW_ATTR_TOKEN_LOC => identity.token = u32_at(value, 0),
            SUBFLOW_ATTR_TOKEN_REM => {
                identity.remote_token = u32_at(value, 0).filter(|&token| token != 0);
            }
            SUBFLOW_ATTR_FLAGS => {
                identity.backup = u32_at(value, 0).map(|flags| flags & SUBFLOW_FLAGS_BACKUP != 0);
            }
            SUBFLOW_ATTR_ID_LOC => identity.local_id = u8_at(value, 0),
            SUBFLOW_ATTR_ID_REM => identity.remote_id = u8_at(value, 0),
            _ => {}
        }
    }
    Some(identity)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// From Linux 6.18: a subflow from 127.0.0.2, joined as a backup, after an exchange of a few
    /// bytes on the initial one.
    const SUBFLOW: &[u8] = include_bytes!("testdata/subflow.bin");
    /// The connection that it belongs to, with 1000 bytes sent and one received.
    const CONNECTION: &[u8] = include_bytes!("testdata/connection.bin");
    const TOKEN: u32 = 2_846_571_824;
    const REMOTE_TOKEN: u32 = 6_462_691;

    fn connection(message: &[u8]) -> Option<MptcpInfo> {
        let info = attributes_of(message).find(|&(kind, _)| kind == INET_DIAG_INFO);
        info.map(|(_, value)| MptcpInfo::parse(value))
    }

    #[test]
    fn a_subflow_has_addresses_state_and_identity() {
        let socket = parse_tcp(SUBFLOW).unwrap();
        assert_eq!(socket.local, "127.0.0.2:51399".parse().unwrap());
        assert_eq!(socket.remote, "127.0.0.1:5001".parse().unwrap());
        assert_eq!(socket.info.state, Some("ESTABLISHED"));
        assert_eq!(socket.info.bytes_sent, Some(0));
        assert_eq!(socket.info.cwnd, Some(10));
        let identity = SubflowIdentity {
            token: Some(TOKEN),
            remote_token: Some(REMOTE_TOKEN),
            local_id: Some(1),
            remote_id: Some(0),
            backup: Some(true),
        };
        assert_eq!(socket.mptcp, Some(identity));
    }

    #[test]
    fn a_connection_has_its_counters() {
        let info = connection(CONNECTION).unwrap();
        assert_eq!(info.token, Some(TOKEN));
        assert_eq!(info.subflows, Some(1));
        assert_eq!(info.subflows_total, Some(2));
        assert_eq!(info.fallback, Some(false));
        assert_eq!(
            (info.bytes_sent, info.bytes_acked),
            (Some(1000), Some(1000))
        );
        assert_eq!(info.bytes_received, Some(1));
    }

    #[test]
    fn buffers_are_read_from_the_words_of_the_kernel_header() {
        let words: Vec<u8> = (0..9u32).flat_map(u32::to_ne_bytes).collect();
        let memory = SocketMemory::parse(&words);
        assert_eq!(memory.receive_buffer_bytes, Some(1));
        assert_eq!(memory.send_buffer_bytes, Some(3));
        assert_eq!(memory.send_queued_bytes, Some(5));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            parse_tcp(&bytes);
            parse_ulp(&bytes);
            connection(&bytes);
        }

        #[test]
        fn a_damaged_message_is_read_without_panic(place in 0..504usize, value: u8, end in 0..504usize) {
            let mut message = SUBFLOW.to_vec();
            message[place] = value;
            parse_tcp(&message);
            parse_tcp(&message[..end]);
        }
    }
}
