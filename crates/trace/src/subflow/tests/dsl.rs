//! Packets in few words.

use std::ops::Range;

use mptcplab_wire::{Ecn, Flags, Options, SackBlock, Timestamps};

use crate::dissect::Layers;
use crate::{Kind, Nanos, Segment, Side, Subflow, TcpSummary, Verdict};

pub(crate) const MS: Nanos = 1_000_000;
pub(crate) const MSS: i64 = 1000;

/// A packet with relative numbers.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    from: Side,
    sequence: i64,
    bytes: u32,
    acknowledgement: Option<i64>,
    flags: Flags,
    window: u16,
    sack: Vec<Range<i64>>,
    timestamps: Option<Timestamps>,
    identification: Option<u16>,
    options: Options,
}

/// Data of the client.
pub(crate) fn data(range: Range<i64>) -> Packet {
    Packet {
        from: Side::Client,
        sequence: range.start,
        bytes: (range.end - range.start) as u32,
        acknowledgement: Some(1),
        flags: Flags::default(),
        window: 1000,
        sack: Vec::new(),
        timestamps: None,
        identification: None,
        options: Options::default(),
    }
}

/// Segment number `n`, from 0, of the client.
pub(crate) fn segment(n: i64) -> Packet {
    data(1 + n * MSS..1 + (n + 1) * MSS)
}

/// An acknowledgement by the server, which has sent nothing.
pub(crate) fn ack(number: i64) -> Packet {
    Packet {
        from: Side::Server,
        acknowledgement: Some(number),
        ..data(1..1)
    }
}

/// An acknowledgement of the first `n` segments.
pub(crate) fn acks(n: i64) -> Packet {
    ack(1 + n * MSS)
}

pub(crate) fn syn() -> Packet {
    let mut packet = data(0..0);
    packet.flags.syn = true;
    packet.acknowledgement = None;
    packet.options.max_segment_bytes = Some(MSS as u16);
    packet.options.window_shift = Some(3);
    packet
}

pub(crate) fn syn_ack() -> Packet {
    Packet {
        from: Side::Server,
        acknowledgement: Some(1),
        ..syn()
    }
}

impl Packet {
    pub(crate) fn from(self, from: Side) -> Self {
        Self { from, ..self }
    }

    pub(crate) fn acknowledging(self, number: Option<i64>) -> Self {
        Self {
            acknowledgement: number,
            ..self
        }
    }

    pub(crate) fn window(self, window: u16) -> Self {
        Self { window, ..self }
    }

    /// With SACK of segments.
    pub(crate) fn sack(self, segments: &[(i64, i64)]) -> Self {
        let bytes = |&(start, end): &(i64, i64)| 1 + start * MSS..1 + end * MSS;
        let sack = segments.iter().map(bytes).collect();
        Self { sack, ..self }
    }

    pub(crate) fn stamps(self, value: u32, echo: u32) -> Self {
        Self {
            timestamps: Some(Timestamps { value, echo }),
            ..self
        }
    }

    pub(crate) fn id(self, identification: u16) -> Self {
        Self {
            identification: Some(identification),
            ..self
        }
    }

    pub(crate) fn flags(mut self, set: impl FnOnce(&mut Flags)) -> Self {
        set(&mut self.flags);
        self
    }

    pub(crate) fn options(mut self, set: impl FnOnce(&mut Options)) -> Self {
        set(&mut self.options);
        self
    }
}

/// A subflow and the clock of its capture.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    pub(crate) subflow: Subflow,
    initial: [u32; 2],
    frame: u64,
}

impl Tape {
    /// Begins with nothing.
    pub(crate) fn blank() -> Self {
        Self::with_initial(1_000_000, 2_000_000)
    }

    pub(crate) fn with_initial(client: u32, server: u32) -> Self {
        Self {
            subflow: Subflow::new(),
            initial: [client, server],
            frame: 0,
        }
    }

    /// Begins with a handshake of no time at time 0: the round trip to the client is 0.
    pub(crate) fn new() -> Self {
        Self::far_from_client(0)
    }

    /// Begins with a handshake that ends at time 0, seen beside the server.
    pub(crate) fn far_from_client(rtt: Nanos) -> Self {
        let mut tape = Self::blank();
        tape.take(-rtt, syn());
        tape.take(-rtt, syn_ack());
        tape.take(0, data(1..1));
        tape
    }

    /// Returns a packet as on the wire; each has the next frame number.
    pub(crate) fn captured(&mut self, at: Nanos, packet: &Packet) -> Segment {
        self.frame += 1;
        let [own, other] = match packet.from {
            Side::Client => self.initial,
            Side::Server => [self.initial[1], self.initial[0]],
        };
        let address = |side| match side {
            Side::Client => ([10, 0, 0, 1], 1000).into(),
            Side::Server => ([10, 0, 0, 2], 80).into(),
        };
        let flags = Flags {
            ack: packet.acknowledgement.is_some(),
            ..packet.flags
        };
        let mut options = packet.options.clone();
        options.timestamps = packet.timestamps;
        options.sack = packet
            .sack
            .iter()
            .map(|range| SackBlock {
                left: other.wrapping_add(range.start as u32),
                right: other.wrapping_add(range.end as u32),
            })
            .collect();
        let acknowledgement = packet.acknowledgement.unwrap_or(0) as u32;
        Segment {
            at,
            frame: self.frame,
            interface: 0,
            source: address(packet.from),
            destination: address(packet.from.other()),
            identification: packet.identification,
            hop_limit: 64,
            ecn: Ecn::default(),
            packet_bytes: 40 + packet.bytes,
            sequence: own.wrapping_add(packet.sequence as u32),
            acknowledgement: other.wrapping_add(acknowledgement),
            flags,
            window: packet.window,
            checksum: 0,
            payload_bytes: packet.bytes,
            payload_sum: None,
            options,
            options_cut: false,
            layers: Layers::NONE,
        }
    }

    pub(crate) fn take(&mut self, at: Nanos, packet: Packet) -> Verdict {
        let segment = self.captured(at, &packet);
        self.subflow.take(&segment, packet.from)
    }

    pub(crate) fn kind(&mut self, at: Nanos, packet: Packet) -> Kind {
        self.take(at, packet).kind
    }

    /// Sends segments of the client that are new.
    pub(crate) fn segments(&mut self, at: Nanos, which: Range<i64>) {
        for n in which {
            assert_eq!(self.kind(at, segment(n)), Kind::New);
        }
    }

    pub(crate) fn summary(&self) -> TcpSummary {
        self.subflow.summary()
    }
}
