//! TCP headers (RFC 9293, section 3.1).

use std::net::SocketAddr;

use mptcplab_wire::checksum::Sum;
use mptcplab_wire::{Flags, Options};

use super::ip::Header;
use super::{Extent, Skip};
use crate::Segment;
use crate::input::Frame;

/// Bytes of the header without options.
const FIXED_BYTES: u32 = 20;

/// Reads what follows an IP header. The data are summed up if `sum` and all of them are there.
#[inline]
pub(super) fn read(
    frame: &Frame<'_>,
    header: &Header,
    content: Extent<'_>,
    sum: bool,
) -> Result<Segment, Skip> {
    let tcp = content.front::<{ FIXED_BYTES as usize }>()?;
    let u16_at = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
    let u32_at = |at: usize| u32::from_be_bytes([tcp[at], tcp[at + 1], tcp[at + 2], tcp[at + 3]]);
    let data_offset = u32::from(tcp[12] >> 4) * 4;
    if data_offset < FIXED_BYTES || data_offset > content.bytes {
        return Err(Skip::Malformed);
    }
    let captured_header = content.captured.len().min(data_offset as usize);
    Ok(Segment {
        at: frame.at,
        frame: frame.number,
        interface: frame.interface,
        source: SocketAddr::new(header.source, u16_at(0)),
        destination: SocketAddr::new(header.destination, u16_at(2)),
        identification: header.identification,
        hop_limit: header.hop_limit,
        ecn: header.ecn,
        packet_bytes: header.bytes.saturating_add(content.bytes),
        sequence: u32_at(4),
        acknowledgement: u32_at(8),
        flags: Flags::from_bits(tcp[13]),
        window: u16_at(14),
        checksum: u16_at(16),
        payload_bytes: content.bytes - data_offset,
        payload_sum: (sum && content.is_whole())
            .then(|| sum_of(&content.captured[captured_header..])),
        options: Options::parse(&content.captured[FIXED_BYTES as usize..captured_header]),
        options_cut: captured_header < data_offset as usize,
    })
}

/// Ones' complement sum, not inverted.
pub(super) fn sum_of(bytes: &[u8]) -> u16 {
    let mut sum = Sum::default();
    sum.add(bytes);
    !sum.finish()
}
