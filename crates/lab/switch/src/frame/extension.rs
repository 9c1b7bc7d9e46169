//! Extension headers of IPv6 (RFC 8200, section 4).

use mptcplab_openflow::matching::ExtensionHeaders;

/// Bytes of the IPv6 header.
pub(crate) const IPV6_BYTES: usize = 40;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const ESP: u8 = 50;
const AUTHENTICATION: u8 = 51;
const NO_NEXT: u8 = 59;
const DESTINATION: u8 = 60;

/// The chain of headers behind the IPv6 header.
#[derive(Debug)]
pub(crate) struct Chain {
    /// Headers that were met.
    pub(crate) headers: ExtensionHeaders,
    /// The protocol that follows them.
    pub(crate) next: u8,
    /// The place of its number.
    pub(crate) next_at: usize,
    /// The place at which it begins.
    pub(crate) at: usize,
    pub(crate) is_later_fragment: bool,
    /// Whether a header was not whole.
    pub(crate) is_broken: bool,
    /// Rank of the last header in the recommended order (RFC 8200, section 4.1).
    rank: u8,
    /// Headers of destination options that were met.
    destinations: u8,
}

impl Chain {
    /// The chain behind an IPv6 header at a place.
    pub(crate) fn new(next: u8, header_at: usize) -> Self {
        Self {
            headers: ExtensionHeaders::empty(),
            next,
            next_at: header_at + 6,
            at: header_at + IPV6_BYTES,
            is_later_fragment: false,
            is_broken: false,
            rank: 0,
            destinations: 0,
        }
    }

    /// Goes to the end of the chain, or to the first header that is not whole.
    pub(crate) fn walk(&mut self, packet: &[u8]) {
        while let Some((header, rank)) = self.kind() {
            self.note(header, rank);
            if matches!(self.next, ESP | NO_NEXT) {
                return;
            }
            let Some(&[next, length, third, fourth, ..]) =
                packet.get(self.at..).and_then(<[u8]>::first_chunk::<8>)
            else {
                self.is_broken = true;
                return;
            };
            let bytes = match self.next {
                FRAGMENT => 8,
                AUTHENTICATION => (usize::from(length) + 2) * 4,
                _ => (usize::from(length) + 1) * 8,
            };
            if self.next == FRAGMENT && u16::from_be_bytes([third, fourth]) >> 3 != 0 {
                self.is_later_fragment = true;
            }
            self.next = next;
            self.next_at = self.at;
            self.at += bytes;
            if self.is_later_fragment {
                return;
            }
        }
    }

    /// The header that comes next and its rank; `None`: it is no extension header.
    fn kind(&self) -> Option<(ExtensionHeaders, u8)> {
        Some(match self.next {
            HOP_BY_HOP => (ExtensionHeaders::HOP, 0),
            // Before the routing header, or at the end.
            DESTINATION if self.rank <= 1 && self.destinations == 0 => (ExtensionHeaders::DEST, 1),
            DESTINATION => (ExtensionHeaders::DEST, 6),
            ROUTING => (ExtensionHeaders::ROUTER, 2),
            FRAGMENT => (ExtensionHeaders::FRAG, 3),
            AUTHENTICATION => (ExtensionHeaders::AUTH, 4),
            ESP => (ExtensionHeaders::ESP, 5),
            NO_NEXT => (ExtensionHeaders::NONEXT, 7),
            _ => return None,
        })
    }

    fn note(&mut self, header: ExtensionHeaders, rank: u8) {
        let is_destination = header == ExtensionHeaders::DEST;
        self.destinations += u8::from(is_destination && self.destinations < 3);
        let is_repeated = match is_destination {
            true => self.destinations > 2,
            false => self.headers.contains(header),
        };
        if is_repeated {
            self.headers |= ExtensionHeaders::UNREP;
        }
        if rank < self.rank {
            self.headers |= ExtensionHeaders::UNSEQ;
        }
        self.headers |= header;
        self.rank = rank;
    }
}
