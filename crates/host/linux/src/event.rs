//! The path manager's events of a network namespace (`mptcp_pm_events`).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use netlink_packet_core::NetlinkPayload;

use crate::dump::attributes;
use crate::generic::{Family, GenericMessage, number};
use crate::netlink::{Netlink, messages};
use crate::subscription::Subscription;

const ATTR_TOKEN: u16 = 1;
const ATTR_LOC_ID: u16 = 3;
const ATTR_REM_ID: u16 = 4;
const ATTR_SADDR4: u16 = 5;
const ATTR_SADDR6: u16 = 6;
const ATTR_DADDR4: u16 = 7;
const ATTR_DADDR6: u16 = 8;
const ATTR_SPORT: u16 = 9;
const ATTR_DPORT: u16 = 10;
const ATTR_BACKUP: u16 = 11;
const ATTR_ERROR: u16 = 12;
const ATTR_IF_IDX: u16 = 15;
const ATTR_RESET_REASON: u16 = 16;
const ATTR_SERVER_SIDE: u16 = 18;

/// Attempts to forget old events while others are lost.
const MOST_LOSSES: usize = 16;

/// Kind of an event (`enum mptcp_event_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A connection was opened; its handshake is not complete.
    Created,
    /// A connection is established.
    Established,
    /// A connection is closed.
    Closed,
    /// The peer announced an address (ADD_ADDR).
    Announced,
    /// The peer withdrew an address (REMOVE_ADDR).
    Removed,
    /// An additional subflow is established.
    SubflowEstablished,
    /// A subflow is closed, or could not be opened.
    SubflowClosed,
    /// The peer changed a subflow's priority (MP_PRIO).
    SubflowPriority,
}

impl EventKind {
    fn of(command: u8) -> Option<Self> {
        Some(match command {
            1 => Self::Created,
            2 => Self::Established,
            3 => Self::Closed,
            6 => Self::Announced,
            7 => Self::Removed,
            10 => Self::SubflowEstablished,
            11 => Self::SubflowClosed,
            13 => Self::SubflowPriority,
            _ => return None,
        })
    }
}

/// An event of one connection. What the kernel did not tell of it is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Kind of the event.
    pub kind: EventKind,
    /// The connection's token on this host.
    pub token: u32,
    /// Local address of the subflow.
    pub local: Option<SocketAddr>,
    /// Remote address of the subflow, or the announced one; where no port was announced it has that
    /// of the connection.
    pub remote: Option<SocketAddr>,
    /// Id of the local address.
    pub local_id: Option<u8>,
    /// Id of the remote, announced or withdrawn address.
    pub remote_id: Option<u8>,
    /// The peer wants the subflow to be used as a backup.
    pub backup: Option<bool>,
    /// Error number of the subflow's socket when it closed.
    pub error: Option<u8>,
    /// Reason of the peer's MP_TCPRST (RFC 8684, section 3.6).
    pub reset_reason: Option<u8>,
    /// Index of the interface that the subflow is bound to.
    pub interface: Option<u32>,
    /// This host accepted the connection.
    pub server_side: Option<bool>,
}

impl Event {
    /// Reads a message of the family `mptcp_pm`.
    pub fn parse(message: &GenericMessage) -> Option<Self> {
        let mut found = Found::default();
        for (kind, value) in attributes(&message.attributes) {
            found.take(kind, value);
        }
        let address = |ip: Option<IpAddr>, port: Option<u16>| {
            ip.map(|ip| SocketAddr::new(ip, port.unwrap_or(0)))
        };
        Some(Self {
            kind: EventKind::of(message.command)?,
            token: found.token?,
            local: address(found.local, found.local_port),
            remote: address(found.remote, found.remote_port),
            local_id: found.local_id,
            remote_id: found.remote_id,
            backup: found.backup,
            error: found.error,
            reset_reason: found.reset_reason,
            interface: found.interface,
            server_side: found.server_side,
        })
    }
}

/// The attributes of a message.
#[derive(Default)]
struct Found {
    token: Option<u32>,
    local: Option<IpAddr>,
    remote: Option<IpAddr>,
    local_port: Option<u16>,
    remote_port: Option<u16>,
    local_id: Option<u8>,
    remote_id: Option<u8>,
    backup: Option<bool>,
    error: Option<u8>,
    reset_reason: Option<u8>,
    interface: Option<u32>,
    server_side: Option<bool>,
}

impl Found {
    fn take(&mut self, kind: u16, value: &[u8]) {
        let first = value.first().copied();
        let port = || number(value).map(u16::from_be_bytes);
        match kind {
            ATTR_TOKEN => self.token = number(value).map(u32::from_ne_bytes),
            ATTR_LOC_ID => self.local_id = first,
            ATTR_REM_ID => self.remote_id = first,
            ATTR_SADDR4 => self.local = ipv4(value),
            ATTR_SADDR6 => self.local = ipv6(value),
            ATTR_DADDR4 => self.remote = ipv4(value),
            ATTR_DADDR6 => self.remote = ipv6(value),
            ATTR_SPORT => self.local_port = port(),
            ATTR_DPORT => self.remote_port = port(),
            ATTR_BACKUP => self.backup = first.map(|flag| flag != 0),
            ATTR_ERROR => self.error = first,
            ATTR_IF_IDX => self.interface = number(value).map(u32::from_ne_bytes),
            ATTR_RESET_REASON => {
                self.reset_reason = number(value).map(|reason| u32::from_ne_bytes(reason) as u8);
            }
            ATTR_SERVER_SIDE => self.server_side = first.map(|flag| flag != 0),
            _ => {}
        }
    }
}

pub(crate) fn ipv4(value: &[u8]) -> Option<IpAddr> {
    number::<4>(value).map(|octets| IpAddr::V4(Ipv4Addr::from(octets)))
}

/// An IPv4 address mapped into IPv6 comes out as IPv4.
pub(crate) fn ipv6(value: &[u8]) -> Option<IpAddr> {
    number::<16>(value).map(|octets| Ipv6Addr::from(octets).to_canonical())
}

/// A subscription to the events of one namespace. It never blocks.
pub struct Events(Subscription);

impl Events {
    /// Subscribes in the calling thread's namespace. Without a subscriber the kernel resets each
    /// subflow that is opened by command (`net.mptcp.path_manager=userspace`).
    ///
    /// # Errors
    /// `NotFound` where the kernel has no MPTCP; `PermissionDenied` without CAP_NET_ADMIN.
    pub fn open() -> io::Result<Self> {
        let family = Family::ask(&mut Netlink::generic()?)?;
        let groups = [family.event_group];
        Subscription::open(netlink_sys::protocols::NETLINK_GENERIC, &groups).map(Self)
    }

    /// Gives the events that are there to `each`, in their order, until there are no more.
    ///
    /// # Errors
    /// `ENOBUFS` where the kernel had no room for some: they are lost, later ones can be read.
    pub fn read(&mut self, mut each: impl FnMut(Event)) -> io::Result<()> {
        self.0.read(|datagram| parse_all(datagram, &mut each))
    }

    /// Reads what is there and leaves nothing of it, also of what came after a loss.
    pub fn forget(&mut self) {
        let is_loss = |error: io::Error| error.raw_os_error() == Some(libc::ENOBUFS);
        let _ = (0..MOST_LOSSES).find(|_| !self.read(|_| {}).is_err_and(is_loss));
    }
}

impl AsFd for Events {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn parse_all(datagram: &[u8], each: &mut impl FnMut(Event)) {
    for message in messages::<GenericMessage>(datagram).flatten() {
        if let NetlinkPayload::InnerMessage(message) = message.payload {
            Event::parse(&message).into_iter().for_each(&mut *each);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// From Linux 6.18.
    const SUB_ESTABLISHED: &[u8] = include_bytes!("testdata/sub_established.bin");

    fn read(datagram: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        parse_all(datagram, &mut |event| events.push(event));
        events
    }

    #[test]
    fn a_join_names_its_connection_and_its_subflow() {
        let [event] = read(SUB_ESTABLISHED)[..] else {
            panic!("one event")
        };
        assert_eq!(event.kind, EventKind::SubflowEstablished);
        assert_eq!(event.token, 0x0062_9ce3);
        assert_eq!(event.local, Some("127.0.0.1:5001".parse().unwrap()));
        assert_eq!(event.remote, Some("127.0.0.2:51399".parse().unwrap()));
        assert_eq!((event.local_id, event.remote_id), (Some(0), Some(1)));
        assert_eq!(event.backup, Some(true));
    }

    #[test]
    fn events_that_are_not_of_a_connection_are_passed_over() {
        let mut listener = SUB_ESTABLISHED.to_vec();
        listener[16] = 15;
        assert_eq!(read(&listener), []);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            read(&bytes);
        }

        #[test]
        fn a_damaged_event_is_read_without_panic(place in 0..100usize, value: u8, end in 0..200usize) {
            let mut message = SUB_ESTABLISHED.to_vec();
            if let Some(byte) = message.get_mut(place) {
                *byte = value;
            }
            read(&message[..end.min(message.len())]);
        }
    }
}
