//! Segments by hand.

use std::net::SocketAddr;

use mptcplab_wire::option::{Capable, DataNumber, Dss, Join, Mapping, MptcpOption};
use mptcplab_wire::{Ecn, Flags, Options};

use super::super::{Placed, Registry};
use crate::dissect::Layers;
use crate::{Event, Nanos, Place, Segment, Side};

pub(super) const A: u64 = 0x0123_4567_89ab_cdef;
pub(super) const B: u64 = 0xfedc_ba98_7654_3210;
pub(super) const CLIENT: &str = "10.0.0.1:5000";
pub(super) const SERVER: &str = "10.0.0.2:80";
/// Initial sequence numbers of the first subflow.
pub(super) const ISN: u32 = 1000;
pub(super) const ISN_SERVER: u32 = 7000;

/// Without flags, data and options, at time 0.
pub(super) fn segment(source: &str, destination: &str) -> Segment {
    Segment {
        at: 0,
        frame: 1,
        interface: 0,
        source: source.parse().unwrap(),
        destination: destination.parse().unwrap(),
        identification: None,
        hop_limit: 64,
        ecn: Ecn::NotCapable,
        packet_bytes: 40,
        sequence: 0,
        acknowledgement: 0,
        flags: Flags::default(),
        window: 500,
        checksum: 0,
        payload_bytes: 0,
        payload_sum: None,
        options: Options::default(),
        options_cut: false,
        layers: Layers::NONE,
    }
}

pub(super) fn syn(source: &str, destination: &str, sequence: u32) -> Segment {
    let mut segment = segment(source, destination);
    segment.flags.syn = true;
    segment.sequence = sequence;
    segment
}

pub(super) fn syn_ack(source: &str, destination: &str, sequence: u32, ack: u32) -> Segment {
    let mut segment = syn(source, destination, sequence);
    segment.flags.ack = true;
    segment.acknowledgement = ack;
    segment
}

pub(super) fn ack(source: &str, destination: &str, sequence: u32, ack: u32) -> Segment {
    let mut segment = segment(source, destination);
    segment.flags.ack = true;
    segment.sequence = sequence;
    segment.acknowledgement = ack;
    segment
}

/// Changes of a segment.
pub(super) trait With: Sized {
    fn with(self, option: MptcpOption) -> Self;
    fn bytes(self, bytes: u32) -> Self;
    fn at(self, at: Nanos) -> Self;
    fn rst(self) -> Self;
    fn fin(self) -> Self;
    fn on(self, interface: u32) -> Self;
    fn identified(self, identification: u16) -> Self;
}

impl With for Segment {
    fn with(mut self, option: MptcpOption) -> Self {
        self.options.mptcp.push(option);
        self
    }

    fn bytes(mut self, bytes: u32) -> Self {
        self.payload_bytes = bytes;
        self
    }

    fn at(mut self, at: Nanos) -> Self {
        self.at = at;
        self
    }

    fn rst(mut self) -> Self {
        self.flags.rst = true;
        self
    }

    fn fin(mut self) -> Self {
        self.flags.fin = true;
        self
    }

    fn on(mut self, interface: u32) -> Self {
        self.interface = interface;
        self
    }

    fn identified(mut self, identification: u16) -> Self {
        self.identification = Some(identification);
        self
    }
}

pub(super) fn capable(version: u8, sender: Option<u64>, receiver: Option<u64>) -> MptcpOption {
    MptcpOption::Capable(Capable {
        version,
        checksum: false,
        extension: false,
        no_initial_address: false,
        hmac: true,
        sender_key: sender,
        receiver_key: receiver,
        data_bytes: None,
        data_checksum: None,
    })
}

pub(super) fn join_syn(token: u32, address_id: u8, nonce: u32) -> MptcpOption {
    MptcpOption::Join(Join::Syn {
        backup: false,
        address_id,
        token,
        nonce,
    })
}

pub(super) fn join_syn_ack(hmac: u64, address_id: u8, nonce: u32) -> MptcpOption {
    MptcpOption::Join(Join::SynAck {
        backup: true,
        address_id,
        hmac,
        nonce,
    })
}

pub(super) fn join_ack(hmac: [u8; 20]) -> MptcpOption {
    MptcpOption::Join(Join::Ack { hmac })
}

pub(super) fn dss(mapping: Option<DataNumber>, ack: Option<DataNumber>) -> MptcpOption {
    MptcpOption::Dss(Dss {
        data_fin: false,
        acknowledgement: ack,
        mapping: mapping.map(|data_sequence| Mapping {
            data_sequence,
            subflow_sequence: 1,
            bytes: 100,
            checksum: None,
        }),
    })
}

/// SYN, SYN/ACK and third ACK of a connection of MPTCP with the keys A and B.
pub(super) fn opening(version: u8) -> [Segment; 3] {
    let key_in_syn = (version == 0).then_some(A);
    [
        syn(CLIENT, SERVER, ISN).with(capable(version, key_in_syn, None)),
        syn_ack(SERVER, CLIENT, ISN_SERVER, ISN + 1)
            .at(10)
            .with(capable(version, Some(B), None)),
        ack(CLIENT, SERVER, ISN + 1, ISN_SERVER + 1)
            .at(20)
            .with(capable(version, Some(A), Some(B))),
    ]
}

/// A registry with what it said.
#[derive(Default)]
pub(super) struct Told {
    pub(super) registry: Registry,
    pub(super) events: Vec<Event>,
    pub(super) released: Vec<(Segment, Placed)>,
}

impl Told {
    pub(super) fn of(segments: impl IntoIterator<Item = Segment>) -> Self {
        let mut told = Self::default();
        for segment in segments {
            told.place(&segment);
        }
        told
    }

    pub(super) fn place(&mut self, segment: &Segment) -> Option<Placed> {
        let placed = self.registry.place(segment, &mut self.events);
        while let Some(released) = self.registry.released() {
            self.released.push(released);
        }
        placed
    }

    pub(super) fn finish(&mut self) {
        self.registry.finish(&mut self.events);
        while let Some(released) = self.registry.released() {
            self.released.push(released);
        }
    }

    /// Connection, subflow and sender of a segment that is no duplicate.
    pub(super) fn whose(&mut self, segment: &Segment) -> Option<(u32, u32, Side)> {
        let placed = self.place(segment)?;
        assert!(!placed.duplicate);
        let Place {
            connection,
            subflow,
            from,
        } = placed.place;
        Some((connection, subflow, from))
    }

    pub(super) fn kinds(&self) -> Vec<&'static str> {
        self.events.iter().map(|event| event.kind).collect()
    }

    pub(super) fn texts(&self, kind: &str) -> Vec<&str> {
        let of_kind = self.events.iter().filter(|event| event.kind == kind);
        of_kind.map(|event| event.text.as_str()).collect()
    }
}

pub(super) fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}
