//! The packet that an ICMP error is about (RFC 792, RFC 4443), as far as the error holds it: to read
//! and to translate (RFC 5508, section 4).

use bytes::Bytes;
use mptcplab_wire::Packet;
use mptcplab_wire::checksum::{Sum, internet};

use crate::fields::transport;
use crate::flow::{Endpoint, Flow, Side, checksum_place, is_icmp_error, set_endpoint};

const IPV4_CHECKSUM: usize = 10;

/// The packet that an error is about.
#[derive(Debug)]
pub(crate) struct Cause(Packet);

impl Cause {
    /// The cause of an error; `None` where the packet is none, or has not the cause's ports.
    pub(crate) fn of(error: &Packet) -> Option<Self> {
        if !is_icmp_error(error) {
            return None;
        }
        let mut cause = error.clone();
        cause.header.clear();
        let bytes = error.payload.len().min(cause.header.capacity());
        cause.header.extend(error.payload[..bytes].iter().copied());
        cause.payload = error.payload.slice(bytes..);
        Flow::of(&cause)?;
        Some(Self(cause))
    }

    /// Its flow.
    pub(crate) fn flow(&self) -> Option<Flow> {
        Flow::of(&self.0)
    }

    /// Puts the cause, with another address and port, into the error that it is of. Its checksums
    /// stay as right or wrong as they were.
    pub(crate) fn translate(mut self, side: Side, endpoint: Endpoint, error: &mut Packet) {
        let before = self.0.header.clone();
        set_endpoint(&mut self.0, side, endpoint);
        self.correct_checksums(&before);
        let parts = [&self.0.header[..], &self.0.payload[..]];
        error.payload = Bytes::from(parts.concat());
    }

    /// Changes the checksums by what the headers differ in from `before` (RFC 1624).
    fn correct_checksums(&mut self, before: &[u8]) {
        let header = &mut self.0.header;
        let Some((offset, protocol)) = transport(before) else {
            return;
        };
        let (is_ipv4, addresses) = match before[0] >> 4 {
            4 => (true, 12),
            _ => (false, 8),
        };
        if is_ipv4 {
            header[IPV4_CHECKSUM..IPV4_CHECKSUM + 2].fill(0);
            let checksum = internet(&header[..offset]);
            header[IPV4_CHECKSUM..IPV4_CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
        }
        let Some((place, is_over_addresses)) = checksum_place(protocol) else {
            return;
        };
        let place = offset + place..offset + place + 2;
        // A checksum of zero is none (RFC 768).
        if header.len() < place.end || header[place.clone()] == [0, 0] {
            return;
        }
        let without = |header: &[u8]| {
            let mut bytes = header.to_vec();
            bytes[place.clone()].fill(0);
            bytes
        };
        let begin = if is_over_addresses { addresses } else { offset };
        let changed = begin..offset + 8;
        let mut sum = Sum::default();
        sum.add(&inverted(&before[place.clone()]));
        sum.add(&inverted(&without(before)[changed.clone()]));
        sum.add(&without(header)[changed]);
        header[place].copy_from_slice(&sum.finish().to_be_bytes());
    }
}

fn inverted(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| !byte).collect()
}
