//! What a capture has of a packet.

use std::fmt;

use crate::Nanos;

/// A captured frame. Its bytes stand in the buffer of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// When it was captured.
    pub at: Nanos,
    /// Its number in its file, from 1, as Wireshark shows it.
    pub number: u64,
    /// Its interface: a number over all files, the place in [`Merge::interfaces`](super::Merge).
    pub interface: u32,
    /// What its bytes begin with.
    pub link_type: LinkType,
    /// The bytes that were captured.
    pub captured: &'a [u8],
    /// Bytes that it had on the wire; not fewer than were captured.
    pub original_bytes: u32,
}

/// What the bytes of a frame begin with: a number of the list at
/// <https://www.tcpdump.org/linktypes.html>.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD loopback: the address family in the byte order of the capturing machine.
    pub const NULL: Self = Self(0);
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// IP without anything before it; as [`RAW`](Self::RAW), as some systems number it.
    pub const RAW_BSD: Self = Self(12);
    /// IP without anything before it; as [`RAW`](Self::RAW), as OpenBSD numbers it.
    pub const RAW_OPENBSD: Self = Self(14);
    /// IP without anything before it.
    pub const RAW: Self = Self(101);
    /// OpenBSD loopback: the address family in network byte order.
    pub const LOOP: Self = Self(108);
    /// Linux cooked: what a capture of all interfaces has for a link header.
    pub const LINUX_COOKED: Self = Self(113);
    /// IPv4 without anything before it.
    pub const IPV4: Self = Self(228);
    /// IPv6 without anything before it.
    pub const IPV6: Self = Self(229);
    /// Linux cooked, version 2.
    pub const LINUX_COOKED_2: Self = Self(276);
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Self::NULL | Self::LOOP => "loopback",
            Self::ETHERNET => "Ethernet",
            Self::RAW_BSD | Self::RAW_OPENBSD | Self::RAW => "raw IP",
            Self::LINUX_COOKED => "Linux cooked",
            Self::LINUX_COOKED_2 => "Linux cooked v2",
            Self::IPV4 => "raw IPv4",
            Self::IPV6 => "raw IPv6",
            Self(number) => return write!(f, "link type {number}"),
        })
    }
}
