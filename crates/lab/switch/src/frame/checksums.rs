//! Checksums that follow a change of the bytes that they cover.

use mptcplab_wire::checksum::internet;

use super::headers::{Headers, ICMP, ICMPV6, Network, SCTP, TCP, UDP};

/// The CRC-32C polynomial, reflected (RFC 9260, appendix A).
const CRC32C: u32 = 0x82f6_3b78;

/// The parts that a checksum of the transport layer covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Covered {
    /// Addresses and protocol of the IP header.
    PseudoHeader,
    /// The transport header and what follows it.
    Segment,
}

/// Replaces an even number of bytes, and keeps the checksum of the transport layer as right, or as
/// wrong, as it was. The place has the parity of the transport header's.
pub(crate) fn replace(
    frame: &mut [u8],
    headers: &Headers,
    at: usize,
    new: &[u8],
    covered: Covered,
) {
    let mut old = [0; 16];
    let old = &mut old[..new.len()];
    old.copy_from_slice(&frame[at..at + new.len()]);
    amend(frame, headers, old, new, covered);
    frame[at..at + new.len()].copy_from_slice(new);
}

/// Makes the checksum of the transport layer follow a change of words that it covers (RFC 1624).
pub(crate) fn amend(frame: &mut [u8], headers: &Headers, old: &[u8], new: &[u8], covered: Covered) {
    let place = checksum_at(headers, covered);
    if let Some((place, is_udp)) = place.filter(|(place, _)| place + 2 <= headers.end) {
        let sum = u16::from_be_bytes([frame[place], frame[place + 1]]);
        // UDP without a checksum has none afterwards either (RFC 768).
        if !(is_udp && sum == 0) {
            let mut sum = adjust(sum, old, new);
            if is_udp && sum == 0 {
                sum = 0xffff;
            }
            frame[place..place + 2].copy_from_slice(&sum.to_be_bytes());
        }
    }
}

/// The place of the checksum of the transport layer, if it covers such bytes, and whether it is
/// that of UDP.
fn checksum_at(headers: &Headers, covered: Covered) -> Option<(usize, bool)> {
    let transport = headers.transport?;
    Some(match transport.protocol {
        TCP => (transport.at + 16, false),
        UDP => (transport.at + 6, true),
        ICMPV6 => (transport.at + 2, false),
        ICMP if covered == Covered::Segment => (transport.at + 2, false),
        _ => return None,
    })
}

/// The checksum after bytes that it covers have changed (RFC 1624, equation 3).
fn adjust(checksum: u16, old: &[u8], new: &[u8]) -> u16 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(pair[1]);
    let taken: u32 = old.chunks_exact(2).map(|pair| 0xffff - word(pair)).sum();
    let added: u32 = new.chunks_exact(2).map(word).sum();
    let mut total = u32::from(!checksum) + taken + added;
    while total > 0xffff {
        total = (total >> 16) + (total & 0xffff);
    }
    !(total as u16)
}

/// Computes the checksum of an IPv4 header anew.
pub(crate) fn renew_ipv4(frame: &mut [u8], headers: &Headers) {
    if headers.network == Network::Ipv4 {
        let at = headers.network_at;
        let bytes = usize::from(frame[at] & 0x0f) * 4;
        let header = &mut frame[at..at + bytes];
        header[10..12].fill(0);
        let sum = internet(header);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
    }
}

/// Replaces bytes of an SCTP packet, and keeps its checksum as right, or as wrong, as it was: the
/// error is the difference to the right one, before and after.
pub(crate) fn replace_sctp(frame: &mut [u8], headers: &Headers, at: usize, new: &[u8]) {
    let before = sctp_sum(frame, headers);
    frame[at..at + new.len()].copy_from_slice(new);
    let after = sctp_sum(frame, headers);
    if let (Some((at, before)), Some((_, after))) = (before, after) {
        let changes = before.iter().zip(after);
        for (byte, (before, after)) in frame[at..at + 4].iter_mut().zip(changes) {
            *byte ^= before ^ after;
        }
    }
}

/// The place and the right bytes of the checksum of SCTP.
fn sctp_sum(frame: &[u8], headers: &Headers) -> Option<(usize, [u8; 4])> {
    let at = headers.transport_of(SCTP)?;
    let packet = &frame[at..headers.end];
    let crc = crc32c(&[&packet[..8], &[0; 4], &packet[12..]].concat());
    Some((at + 8, crc.to_le_bytes()))
}

fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = !0;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let mask = (crc & 1).wrapping_neg();
            crc = crc >> 1 ^ (CRC32C & mask);
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_crc_32c_is_e3069283() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn an_adjusted_checksum_is_that_of_the_new_bytes() {
        let old = [1, 2, 3, 4, 0xff, 0xff];
        let new = [9, 2, 0xfe, 0xdc, 0, 1];
        assert_eq!(adjust(internet(&old), &old, &new), internet(&new));
    }
}
