//! TCP headers (RFC 9293, section 3.1).

use std::net::SocketAddr;

use mptcplab_wire::checksum::Sum;
use mptcplab_wire::{Flags, Options};

use super::ip::Header;
use super::{Extent, Layers, Skip};
use crate::Segment;
use crate::input::Frame;

/// Bytes of the header without options.
const FIXED_BYTES: u32 = 20;

/// Result of reading the content of an IP packet.
#[derive(Clone, Copy)]
pub(super) struct Tcp<'a> {
    fixed: &'a [u8; FIXED_BYTES as usize],
    /// Captured bytes of the options.
    options: &'a [u8],
    options_cut: bool,
    payload: Extent<'a>,
}

/// Reads the header.
#[inline(always)]
pub(super) fn read(content: Extent<'_>) -> Result<Tcp<'_>, Skip> {
    let fixed = content.front::<{ FIXED_BYTES as usize }>()?;
    let data_offset = u32::from(fixed[12] >> 4) * 4;
    if data_offset < FIXED_BYTES || data_offset > content.bytes {
        return Err(Skip::Malformed);
    }
    let captured = content.captured.len().min(data_offset as usize);
    let (header, payload) = content.captured.split_at(captured);
    Ok(Tcp {
        fixed,
        options: header.get(FIXED_BYTES as usize..).unwrap_or_default(),
        options_cut: captured < data_offset as usize,
        payload: Extent {
            captured: payload,
            bytes: content.bytes - data_offset,
        },
    })
}

impl<'a> Tcp<'a> {
    /// Returns the captured data.
    pub(super) fn payload(&self) -> &'a [u8] {
        self.payload.captured
    }

    /// Returns the segment. The data are summed up if `sum` and all of them were captured.
    #[inline(always)]
    pub(super) fn segment(&self, frame: &Frame<'_>, header: Header, sum: bool) -> Segment {
        let u16_at = |at: usize| u16::from_be_bytes([self.fixed[at], self.fixed[at + 1]]);
        let u32_at = |at: usize| (u32::from(u16_at(at)) << 16) | u32::from(u16_at(at + 2));
        let payload = self.payload;
        let header_bytes = header.bytes + u32::from(self.fixed[12] >> 4) * 4;
        Segment {
            at: frame.at,
            frame: frame.number,
            interface: frame.interface,
            source: SocketAddr::new(header.source, u16_at(0)),
            destination: SocketAddr::new(header.destination, u16_at(2)),
            identification: header.identification,
            hop_limit: header.hop_limit,
            ecn: header.ecn,
            packet_bytes: header_bytes.saturating_add(payload.bytes),
            sequence: u32_at(4),
            acknowledgement: u32_at(8),
            flags: Flags::from_bits(self.fixed[13]),
            window: u16_at(14),
            checksum: u16_at(16),
            payload_bytes: payload.bytes,
            payload_sum: (sum && payload.is_whole()).then(|| sum_of(payload.captured)),
            options: Options::parse(self.options),
            options_cut: self.options_cut,
            layers: Layers::NONE,
        }
    }
}

/// Ones' complement sum, not inverted.
pub(super) fn sum_of(bytes: &[u8]) -> u16 {
    let mut sum = Sum::default();
    sum.add(bytes);
    !sum.finish()
}
