//! Frames of discovery: LLDP (IEEE 802.1AB), signed, so that no host can make one.

use hmac::{Hmac, KeyInit, Mac as _};
use mptcplab_wire::ethernet::{Header, MacAddress, ether_type};
use sha2::Sha256;

use crate::place::PortRef;

/// The nearest bridge: no other switch passes such a frame on.
const NEAREST_BRIDGE: MacAddress = [0x01, 0x80, 0xc2, 0, 0, 0x0e];

/// Types of parts.
const END: u8 = 0;
const CHASSIS: u8 = 1;
const PORT: u8 = 2;
const TIME_TO_LIVE: u8 = 3;
const ORGANIZATION: u8 = 127;
/// Ids of a kind that the sender chooses ("locally assigned").
const LOCAL_CHASSIS: u8 = 7;
const LOCAL_PORT: u8 = 7;
/// An organization's id of the local kind, and a subtype for the number and the signature.
const OURS: [u8; 4] = [0x02, b'm', b'p', 1];
const SIGNATURE_BYTES: usize = 32;

/// Why a frame is no frame of discovery of this controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// LLDP of another sender.
    Foreign,
    /// A frame that looks as if it were of this controller, but has another signature.
    Forged,
}

/// The frame by which a port tells of itself, with a number that no other one has.
pub(crate) fn write(key: &[u8; 32], port: PortRef, mac: MacAddress, number: u64) -> Vec<u8> {
    let header = Header {
        destination: NEAREST_BRIDGE,
        source: mac,
        ether_type: ether_type::LLDP,
    };
    let mut frame = header.frame();
    let datapath = port.datapath.to_be_bytes();
    part(&mut frame, CHASSIS, &[&[LOCAL_CHASSIS], &datapath]);
    part(&mut frame, PORT, &[&[LOCAL_PORT], &port.port.to_be_bytes()]);
    part(&mut frame, TIME_TO_LIVE, &[&[0, 120]]);
    let signature = sign(key, port, number);
    part(
        &mut frame,
        ORGANIZATION,
        &[&OURS, &number.to_be_bytes(), &signature],
    );
    part(&mut frame, END, &[]);
    frame
}

/// The port and the number that a frame tells, if this controller has signed it.
pub(crate) fn read(key: &[u8; 32], frame: &[u8]) -> Result<(PortRef, u64), Refusal> {
    let mut parts = frame.get(14..).ok_or(Refusal::Foreign)?;
    let (mut datapath, mut port, mut signed) = (None, None, None);
    while let Some((kind, content, rest)) = next_part(parts) {
        match (kind, content) {
            (CHASSIS, [LOCAL_CHASSIS, id @ ..]) => datapath = id.try_into().ok(),
            (PORT, [LOCAL_PORT, id @ ..]) => port = id.try_into().ok(),
            (ORGANIZATION, content) => signed = content.strip_prefix(&OURS).or(signed),
            (END, _) => break,
            _ => {}
        }
        parts = rest;
    }
    let signed = signed.ok_or(Refusal::Foreign)?;
    let (number, signature) = signed.split_first_chunk().ok_or(Refusal::Forged)?;
    let datapath = datapath.map(u64::from_be_bytes).ok_or(Refusal::Forged)?;
    let port = port.map(u32::from_be_bytes).ok_or(Refusal::Forged)?;
    let (port, number) = (PortRef { datapath, port }, u64::from_be_bytes(*number));
    // Compared without telling by the time it takes how much of it is right.
    match mac_of(key, port, number).verify_slice(signature) {
        Ok(()) => Ok((port, number)),
        Err(_) => Err(Refusal::Forged),
    }
}

fn mac_of(key: &[u8; 32], port: PortRef, number: u64) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(&port.datapath.to_be_bytes());
    mac.update(&port.port.to_be_bytes());
    mac.update(&number.to_be_bytes());
    mac
}

fn sign(key: &[u8; 32], port: PortRef, number: u64) -> [u8; SIGNATURE_BYTES] {
    mac_of(key, port, number).finalize().into_bytes().into()
}

/// Appends a part: 7 bits of type, 9 bits of length, content.
fn part(frame: &mut Vec<u8>, kind: u8, content: &[&[u8]]) {
    let length: usize = content.iter().map(|piece| piece.len()).sum();
    frame.extend((u16::from(kind) << 9 | length as u16).to_be_bytes());
    content.iter().for_each(|piece| frame.extend(*piece));
}

fn next_part(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (head, rest) = bytes.split_first_chunk()?;
    let head = u16::from_be_bytes(*head);
    let (content, rest) = rest.split_at_checked(usize::from(head & 0x1ff))?;
    Some(((head >> 9) as u8, content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 32] = [9; 32];

    #[test]
    fn a_frame_is_read_as_written_and_no_bit_of_it_can_be_changed() {
        let port = PortRef::new(0x1122, 3);
        let frame = write(&KEY, port, [2; 6], 77);
        assert_eq!(read(&KEY, &frame), Ok((port, 77)));
        assert_eq!(read(&[8; 32], &frame), Err(Refusal::Forged));
        // The time to live and the end are not signed: they say nothing about the link.
        let unsigned = 14 + 11 + 7..14 + 11 + 7 + 4;
        for bit in (14 * 8..(frame.len() - 2) * 8).filter(|bit| !unsigned.contains(&(bit / 8))) {
            let mut changed = frame.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&KEY, &changed).is_err(), "bit {bit}");
        }
        for length in 0..frame.len() - 2 {
            assert!(read(&KEY, &frame[..length]).is_err());
        }
    }
}
