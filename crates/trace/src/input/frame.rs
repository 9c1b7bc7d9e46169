//! Frames of a capture.

use std::fmt;

use super::link_names;
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
    /// Type of its link.
    pub link_type: LinkType,
    /// The bytes that were captured.
    pub captured: &'a [u8],
    /// Bytes that it had on the wire; not fewer than were captured.
    pub original_bytes: u32,
}

/// Type of a frame's link header: a number of the list at
/// <https://www.tcpdump.org/linktypes.html>.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD loopback: the address family in the byte order of the capturing machine.
    pub const NULL: Self = Self(0);
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// PPP, with or without its address and control.
    pub const PPP: Self = Self(9);
    /// IP without anything before it; as [`RAW`](Self::RAW), as some systems number it.
    pub const RAW_BSD: Self = Self(12);
    /// IP without anything before it; as [`RAW`](Self::RAW), as OpenBSD numbers it.
    pub const RAW_OPENBSD: Self = Self(14);
    /// PPP in frames of HDLC, or Cisco's HDLC.
    pub const PPP_HDLC: Self = Self(50);
    /// The session of PPP over Ethernet, without Ethernet.
    pub const PPP_ETHER: Self = Self(51);
    /// IP without anything before it.
    pub const RAW: Self = Self(101);
    /// Cisco's HDLC.
    pub const CISCO_HDLC: Self = Self(104);
    /// OpenBSD loopback: the address family in network byte order.
    pub const LOOP: Self = Self(108);
    /// Linux cooked: what a capture of all interfaces has for a link header.
    pub const LINUX_COOKED: Self = Self(113);
    /// PPP behind a byte for the direction.
    pub const PPP_WITH_DIRECTION: Self = Self(204);
    /// IPv4 without anything before it.
    pub const IPV4: Self = Self(228);
    /// IPv6 without anything before it.
    pub const IPV6: Self = Self(229);
    /// Linux cooked, version 2.
    pub const LINUX_COOKED_2: Self = Self(276);
}

impl LinkType {
    /// Returns its name in the registry, without `LINKTYPE_`.
    pub fn name(self) -> Option<&'static str> {
        link_names::of(self.0)
    }
}

/// As `name (number)`.
impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name().unwrap_or("unknown"), self.0)
    }
}
