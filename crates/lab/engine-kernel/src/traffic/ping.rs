//! ICMP echo (RFC 792, RFC 4443).

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::os::fd::AsFd;

use mptcplab_link::Nanos;
use nix::poll::PollFlags;
use socket2::{Domain, Protocol, Socket, Type};

use super::flow::Flow;
use super::stop::{Wake, wait_on};

/// Time to wait for replies after the last request.
const GRACE_NS: Nanos = 2_000_000_000;
const HEADER_LENGTH: usize = 8;
/// Largest IP packet.
const READ_LENGTH: usize = 65_536;

/// The pattern of the requests.
#[derive(Clone, Copy)]
pub(super) struct Pattern {
    pub(super) interval_ns: Nanos,
    pub(super) count: u32,
    pub(super) payload_bytes: u32,
}

/// Sends every request; returns when all are answered or the last one is given up.
pub(super) fn run(flow: &Flow, pattern: Pattern) {
    let mut outstanding = BTreeMap::new();
    let result = flow
        .client
        .netns
        .run(|| open(flow))
        .and_then(|socket| socket);
    if let Err(error) = result.and_then(|socket| exchange(flow, &socket, pattern, &mut outstanding))
    {
        flow.warn(&format!("ping ended: {error}"));
    }
    for (sequence, t_ns) in outstanding.into_values() {
        flow.write_latency("ping", sequence, t_ns, None);
    }
}

fn open(flow: &Flow) -> io::Result<Socket> {
    let target = SocketAddr::new(flow.traffic.target, 0);
    let protocol = if target.is_ipv4() {
        Protocol::ICMPV4
    } else {
        Protocol::ICMPV6
    };
    let socket = Socket::new(Domain::for_address(target), Type::RAW, Some(protocol))?;
    if let Some(source) = flow.traffic.source {
        socket.bind(&SocketAddr::new(source, 0).into())?;
    }
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// `outstanding` holds, by the number in the packet, the requests without an answer.
fn exchange(
    flow: &Flow,
    socket: &Socket,
    pattern: Pattern,
    outstanding: &mut BTreeMap<u16, (u32, Nanos)>,
) -> io::Result<()> {
    let target = SocketAddr::new(flow.traffic.target, 0);
    let identifier = flow.seed as u16;
    let mut sequence = 0;
    let mut due_ns = flow.recorder.now();
    while sequence < pattern.count || !outstanding.is_empty() {
        let readable = Some((socket.as_fd(), PollFlags::POLLIN));
        let due = Some(flow.instant(due_ns));
        match wait_on(flow.recorder.clock(), readable, &[&flow.stop], due)? {
            Wake::Stopped(_) => break,
            Wake::Ready => {
                for number in answers(socket, target.is_ipv4(), identifier) {
                    if let Some((sequence, t_ns)) = outstanding.remove(&number) {
                        let rtt_ns = flow.recorder.now() - t_ns;
                        flow.write_latency("ping", sequence, t_ns, Some(rtt_ns));
                    }
                }
            }
            Wake::Deadline if sequence == pattern.count => break,
            Wake::Deadline => {
                let number = sequence as u16;
                let request = request(target.is_ipv4(), identifier, number, pattern.payload_bytes);
                let lost = outstanding.insert(number, (sequence, flow.recorder.now()));
                // The number is used again after 65,536 requests: its earlier one is given up.
                if let Some((sequence, t_ns)) = lost {
                    flow.write_latency("ping", sequence, t_ns, None);
                }
                // A request that cannot be sent, as without a route, is a lost one.
                let _ = socket.send_to(&request, &target.into());
                sequence += 1;
                due_ns += if sequence == pattern.count {
                    GRACE_NS
                } else {
                    pattern.interval_ns
                };
            }
        }
    }
    Ok(())
}

/// The numbers of the echo replies that are there.
fn answers(mut socket: &Socket, ipv4: bool, identifier: u16) -> Vec<u16> {
    let mut buffer = vec![0; READ_LENGTH];
    let mut numbers = Vec::new();
    while let Ok(length) = socket.read(&mut buffer) {
        numbers.extend(answer(&buffer[..length], ipv4, identifier));
    }
    numbers
}

/// An echo request. IPv6 has its checksum from the kernel, which knows the addresses.
fn request(ipv4: bool, identifier: u16, number: u16, payload_bytes: u32) -> Vec<u8> {
    let mut packet = vec![0; HEADER_LENGTH + payload_bytes as usize];
    packet[0] = if ipv4 { 8 } else { 128 };
    packet[4..6].copy_from_slice(&identifier.to_be_bytes());
    packet[6..8].copy_from_slice(&number.to_be_bytes());
    if ipv4 {
        let checksum = checksum(&packet);
        packet[2..4].copy_from_slice(&checksum.to_be_bytes());
    }
    packet
}

/// The number of an echo reply to `identifier`. A raw socket of IPv4 gives the IP header too.
fn answer(packet: &[u8], ipv4: bool, identifier: u16) -> Option<u16> {
    let header_words = if ipv4 { packet.first()? & 0x0f } else { 0 };
    let icmp = packet.get(usize::from(header_words) * 4..)?;
    let expected = if ipv4 { 0 } else { 129 };
    let field = |offset| {
        icmp.get(offset..)?
            .first_chunk()
            .copied()
            .map(u16::from_be_bytes)
    };
    (*icmp.first()? == expected && field(4)? == identifier).then(|| field(6))?
}

/// The Internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|word| match *word {
        [high, low] => u32::from(u16::from_be_bytes([high, low])),
        [high] => u32::from(high) << 8,
        _ => 0,
    });
    let sum = words.fold(0, |sum: u32, word| {
        let sum = sum + word;
        (sum & 0xffff) + (sum >> 16)
    });
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_request_is_the_packet_of_rfc_792() {
        let packet = request(true, 0x1234, 0x0001, 3);
        assert_eq!(packet[..2], [8, 0]);
        assert_eq!(packet[4..], [0x12, 0x34, 0, 1, 0, 0, 0]);
        assert_eq!(checksum(&packet), 0, "a right checksum sums up to zero");
    }

    #[test]
    fn only_the_own_replies_count() {
        let mut reply = vec![0x45; 20];
        reply.extend([0, 0, 0, 0, 0x12, 0x34, 0, 7]);
        assert_eq!(answer(&reply, true, 0x1234), Some(7));
        assert_eq!(answer(&reply, true, 0x1235), None);
        reply[20] = 8;
        assert_eq!(answer(&reply, true, 0x1234), None);
        assert_eq!(
            answer(&[129, 0, 0, 0, 0x12, 0x34, 0, 7], false, 0x1234),
            Some(7)
        );
    }

    proptest! {
        #[test]
        fn any_packet_is_read_without_panic(packet: Vec<u8>, ipv4: bool) {
            answer(&packet, ipv4, 0);
        }
    }
}
