//! Hosts: they answer for their addresses, and shake hands as MPTCP does.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcplab_controller::PortRef;
use mptcplab_wire::option::{Capable, Join, MptcpOption};
use mptcplab_wire::{Ecn, Flags, Options, Packet, Segment};

pub(crate) type Mac = [u8; 6];

/// An interface of a host at a port of a switch.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) mac: Mac,
    pub(crate) ip: IpAddr,
    pub(crate) at: PortRef,
    /// The key of its connections.
    pub(crate) key: u64,
    /// Whether it answers at all.
    pub(crate) is_alive: bool,
    /// Segments that it got.
    pub(crate) received: Vec<Segment>,
    /// Frames that it got, but for those of discovery.
    pub(crate) frames: usize,
}

impl Host {
    pub(crate) fn new(at: PortRef, ip: &str) -> Self {
        let ip: IpAddr = ip.parse().expect("an address");
        let last = match ip {
            IpAddr::V4(v4) => v4.octets()[2..].to_vec(),
            IpAddr::V6(v6) => v6.octets()[14..].to_vec(),
        };
        let family = if ip.is_ipv4() { 4 } else { 6 };
        Self {
            mac: [2, 0, family, 0, last[0], last[1]],
            ip,
            at,
            key: 0x1000 + u64::from(last[1]),
            is_alive: true,
            received: Vec::new(),
            frames: 0,
        }
    }

    /// Takes a frame, and returns the answer.
    pub(crate) fn receive(&mut self, frame: &[u8]) -> Option<Vec<u8>> {
        self.frames += usize::from(frame.get(12..14)? != [0x88, 0xcc]);
        if !self.is_alive {
            return None;
        }
        match frame.get(12..14)? {
            [8, 6] => self.answer_arp(frame),
            [8, 0] | [0x86, 0xdd] => self
                .answer_neighbour(frame)
                .or_else(|| self.answer_segment(frame)),
            _ => None,
        }
    }

    fn answer_arp(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let IpAddr::V4(own) = self.ip else {
            return None;
        };
        if frame[20..22] != [0, 1] || frame[38..42] != own.octets() {
            return None;
        }
        let mut answer = [&frame[22..28], &self.mac, &frame[12..20], &[0, 2]].concat();
        answer.extend(self.mac);
        answer.extend(own.octets());
        answer.extend(&frame[22..32]);
        Some(answer)
    }

    fn answer_neighbour(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let IpAddr::V6(own) = self.ip else {
            return None;
        };
        let is_question = frame[20] == 58 && frame[54] == 135 && frame[62..78] == own.octets();
        if !is_question {
            return None;
        }
        let mut answer = [&frame[6..12], &self.mac, &frame[12..22], &own.octets()].concat();
        answer.extend(&frame[22..38]);
        // Checksums are not looked at in this network.
        answer.extend([136, 0, 0, 0, 0x60, 0, 0, 0]);
        answer.extend(own.octets());
        answer.extend([2, 1]);
        answer.extend(self.mac);
        Some(answer)
    }

    fn answer_segment(&mut self, frame: &[u8]) -> Option<Vec<u8>> {
        let packet = Packet::read(Bytes::copy_from_slice(&frame[14..])).ok()?;
        let segment = Segment::parse(packet).ok()?;
        if segment.destination.ip() != self.ip {
            return None;
        }
        self.received.push(segment.clone());
        let mut mac = Mac::default();
        mac.copy_from_slice(&frame[6..12]);
        let (flags, options) = match (segment.flags.syn, segment.flags.ack) {
            (true, false) => (flags(true, true), self.answer_options(&segment)),
            (true, true) => (flags(false, true), self.last_options(&segment)),
            _ => return None,
        };
        let mut answer = self.segment(segment.source, segment.destination.port(), flags, options);
        answer.acknowledgement = segment.sequence.wrapping_add(1);
        Some(self.frame(mac, answer))
    }

    fn answer_options(&self, segment: &Segment) -> Vec<MptcpOption> {
        let option = segment.options.mptcp.first();
        option.map_or(Vec::new(), |option| match option {
            MptcpOption::Capable(_) => vec![capable(Some(self.key), None)],
            _ => vec![MptcpOption::Join(Join::SynAck {
                backup: false,
                address_id: 1,
                hmac: 0,
                nonce: 0,
            })],
        })
    }

    fn last_options(&self, segment: &Segment) -> Vec<MptcpOption> {
        match segment.options.mptcp.first() {
            Some(MptcpOption::Capable(other)) => vec![capable(Some(self.key), other.sender_key)],
            _ => Vec::new(),
        }
    }

    /// A segment of this host.
    pub(crate) fn segment(
        &self,
        to: SocketAddr,
        port: u16,
        flags: Flags,
        mptcp: Vec<MptcpOption>,
    ) -> Segment {
        let mut options = Options::default();
        options.mptcp.extend(mptcp);
        Segment {
            source: SocketAddr::new(self.ip, port),
            destination: to,
            sequence: 1_000,
            acknowledgement: 0,
            flags,
            window: 1_000,
            urgent: 0,
            options,
            ecn: Ecn::NotCapable,
            payload: Bytes::new(),
        }
    }

    /// The frame of a segment to an interface.
    pub(crate) fn frame(&self, to: Mac, segment: Segment) -> Vec<u8> {
        let ether_type = if self.ip.is_ipv4() {
            [8, 0]
        } else {
            [0x86, 0xdd]
        };
        let mut frame = [&to[..], &self.mac, &ether_type].concat();
        segment.into_packet(64).write_to(&mut frame);
        frame
    }

    /// A question for an address.
    pub(crate) fn arp_request(&self, target: &str) -> Vec<u8> {
        let target: std::net::Ipv4Addr = target.parse().expect("an address");
        let IpAddr::V4(own) = self.ip else {
            panic!("ARP is for IPv4");
        };
        let mut frame = [&[0xff; 6][..], &self.mac, &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1]].concat();
        frame.extend(self.mac);
        frame.extend(own.octets());
        frame.extend([0; 6]);
        frame.extend(target.octets());
        frame
    }
}

pub(crate) fn flags(syn: bool, ack: bool) -> Flags {
    Flags {
        syn,
        ack,
        ..Flags::default()
    }
}

/// MP_CAPABLE of version 1.
pub(crate) fn capable(sender_key: Option<u64>, receiver_key: Option<u64>) -> MptcpOption {
    MptcpOption::Capable(Capable {
        version: 1,
        checksum: false,
        extension: false,
        no_initial_address: false,
        hmac: true,
        sender_key,
        receiver_key,
        data_bytes: None,
        data_checksum: None,
    })
}

/// MP_JOIN of a SYN.
pub(crate) fn join(token: u32) -> MptcpOption {
    MptcpOption::Join(Join::Syn {
        backup: false,
        address_id: 1,
        token,
        nonce: 7,
    })
}
