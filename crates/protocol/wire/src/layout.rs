//! Where the fields of IP headers stand (RFC 791, RFC 8200).
//!
//! Written by hand, because each hop of each packet reads or changes one or two of them: a library
//! would decode the whole header. Tests compare with one.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::ops::Range;

use crate::ecn::Ecn;

/// IP protocol numbers.
pub(crate) mod protocol {
    /// ICMP.
    pub(crate) const ICMP: u8 = 1;
    /// TCP.
    pub(crate) const TCP: u8 = 6;
    /// UDP.
    pub(crate) const UDP: u8 = 17;
    /// ICMPv6.
    pub(crate) const ICMPV6: u8 = 58;
}

/// Bytes of an IPv4 header without options.
pub(crate) const IPV4_BYTES: usize = 20;
/// Bytes of an IPv6 header.
pub(crate) const IPV6_BYTES: usize = 40;
/// Place of the checksum of an IPv4 header.
pub(crate) const IPV4_CHECKSUM: usize = 10;

/// Version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Family {
    /// Bytes of the header without options.
    #[inline]
    pub(crate) fn header_bytes(self) -> usize {
        match self {
            Self::V4 => IPV4_BYTES,
            Self::V6 => IPV6_BYTES,
        }
    }

    /// Place of the protocol, or next header.
    #[inline]
    pub(crate) fn protocol(self) -> usize {
        match self {
            Self::V4 => 9,
            Self::V6 => 6,
        }
    }

    /// Place of the time to live, or hop limit.
    #[inline]
    pub(crate) fn hop_limit(self) -> usize {
        match self {
            Self::V4 => 8,
            Self::V6 => 7,
        }
    }

    /// Place of both addresses.
    #[inline]
    pub(crate) fn addresses(self) -> Range<usize> {
        match self {
            Self::V4 => 12..20,
            Self::V6 => 8..40,
        }
    }
}

/// The version of the IP header at the start of `header`; `None` where there is no whole one.
#[inline]
pub(crate) fn family(header: &[u8]) -> Option<Family> {
    match header.first()? >> 4 {
        4 if header.len() >= IPV4_BYTES => Some(Family::V4),
        6 if header.len() >= IPV6_BYTES => Some(Family::V6),
        _ => None,
    }
}

/// Length of the IP header, options of IPv4 included; `None` where it is not there in full.
#[inline]
pub(crate) fn ip_header_bytes(header: &[u8]) -> Option<usize> {
    let bytes = match family(header)? {
        Family::V4 => usize::from(header[0] & 0x0f) * 4,
        Family::V6 => IPV6_BYTES,
    };
    (IPV4_BYTES..=header.len())
        .contains(&bytes)
        .then_some(bytes)
}

/// Source and destination; unspecified where the header is none of IP.
#[inline]
pub(crate) fn addresses(header: &[u8]) -> (IpAddr, IpAddr) {
    let Some(family) = family(header) else {
        let none = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        return (none, none);
    };
    let both = &header[family.addresses()];
    match family {
        Family::V4 => {
            let at = |at: usize| {
                Ipv4Addr::new(both[at], both[at + 1], both[at + 2], both[at + 3]).into()
            };
            (at(0), at(4))
        }
        Family::V6 => {
            let (source, destination) = both.split_at(16);
            let address = |bytes: &[u8]| {
                let mut octets = [0; 16];
                octets.copy_from_slice(bytes);
                Ipv6Addr::from(octets).into()
            };
            (address(source), address(destination))
        }
    }
}

/// The ECN field: the low two bits of the traffic class.
#[inline]
pub(crate) fn ecn(header: &[u8], family: Family) -> Ecn {
    Ecn::from_bits(match family {
        Family::V4 => header[1],
        Family::V6 => header[1] >> 4,
    })
}

/// Sets the ECN field.
pub(crate) fn set_ecn(header: &mut [u8], family: Family, ecn: Ecn) {
    let shift = match family {
        Family::V4 => 0,
        Family::V6 => 4,
    };
    header[1] = header[1] & !(0b11 << shift) | ecn.bits() << shift;
}
