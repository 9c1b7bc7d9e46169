//! Segments of any content, in a few flows: each is placed once, and nothing that is told of a
//! connection exceeds what was in its packets.
#![no_main]

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use libfuzzer_sys::fuzz_target;
use mptcplab_trace::dissect::Layers;
use mptcplab_trace::{Connection, IdentityEvent, Placed, Registry, Segment, Side, format_option};
use mptcplab_wire::{Ecn, Flags, Options};

/// Source of the bytes of segments; beyond the end all are 0.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn number(&mut self, bytes: usize) -> u64 {
        let taken = self.take(bytes).iter();
        taken.fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

/// Where both ends of a flow are in their sequence space: the next segments are near.
#[derive(Clone, Copy, Default)]
struct Position {
    next: [u32; 2],
}

fn segment(
    bytes: &mut Bytes<'_>,
    at: &mut i64,
    frame: u64,
    positions: &mut [Position; 4],
) -> Segment {
    let what = bytes.number(2);
    let bit = |number: u32| what >> number & 1 == 1;
    let flow = (what >> 8 & 3) as usize;
    let from = usize::from(bit(10));
    // Mostly little, sometimes much, at times backwards.
    *at = at.saturating_add((bytes.number(2) as i16 as i64) << (if bit(11) { 24 } else { 10 }));
    let step = bytes.number(2) as i16 as i32 as u32;
    let position = &mut positions[flow];
    let sequence = position.next[from].wrapping_add(if bit(12) { step } else { 0 });
    let acknowledgement = position.next[1 - from].wrapping_sub(if bit(13) { step } else { 0 });
    let payload_bytes = if bit(14) { bytes.number(2) as u32 } else { 0 };
    let flags = Flags {
        syn: bit(0),
        ack: !bit(1),
        fin: bit(2),
        rst: bit(3) && bit(4),
        ..Flags::default()
    };
    position.next[from] = sequence
        .wrapping_add(payload_bytes)
        .wrapping_add(u32::from(flags.syn) + u32::from(flags.fin));
    let length = (bytes.number(1) as usize) % 41;
    let end = |side: usize| {
        let address = Ipv4Addr::new(10, 0, (flow >> 1) as u8, side as u8);
        SocketAddr::new(IpAddr::V4(address), 1000 + flow as u16)
    };
    Segment {
        at: *at,
        frame,
        interface: u32::from(bit(15)),
        source: end(from),
        destination: end(1 - from),
        identification: bit(5).then_some(step as u16),
        hop_limit: 64,
        ecn: Ecn::NotCapable,
        packet_bytes: 40 + payload_bytes,
        sequence,
        acknowledgement,
        flags,
        window: step as u16,
        checksum: 0,
        payload_bytes,
        payload_sum: bit(6).then_some(step as u16),
        options: Options::parse(bytes.take(length)),
        options_cut: bit(7),
        layers: Layers::NONE,
    }
}

/// Analyses by connection.
#[derive(Default)]
struct Analysis {
    connections: HashMap<u32, (Connection, u64, u64)>,
    placed: u64,
}

impl Analysis {
    fn take(&mut self, segment: &Segment, placed: Placed) {
        self.placed += 1;
        if placed.duplicate {
            return;
        }
        let fresh = || (Connection::new(segment.options.mptcp.is_empty()), 0, 0);
        let number = placed.place.connection;
        let (connection, payload, packets) = self.connections.entry(number).or_insert_with(fresh);
        let mut events = Vec::new();
        let (verdict, data) = connection.take(segment, placed.place, &mut events);
        *payload += u64::from(segment.payload_bytes);
        *packets += 1;
        assert!(verdict.new_bytes <= segment.payload_bytes);
        assert!(data.reinjected_bytes <= segment.payload_bytes);
        assert!(events.iter().all(|event| event.connection == number));
        for option in &segment.options.mptcp {
            assert!(!format_option(option).is_empty());
        }
    }

    fn on_identity_event(&mut self, connection: u32, event: IdentityEvent) {
        if let Some((connection, ..)) = self.connections.get_mut(&connection) {
            match event {
                IdentityEvent::InitialDataSequence(side, number) => connection.set_initial(side, number),
                IdentityEvent::FellBack => connection.fall_back(),
                IdentityEvent::FallbackWithdrawn => {}
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes(bytes);
    let (mut at, mut frame) = (1_700_000_000_000_000_000, 0);
    let mut positions = [Position::default(); 4];
    for position in &mut positions {
        position.next = [bytes.number(4) as u32, bytes.number(4) as u32];
    }
    let mut registry = Registry::new();
    let mut analysis = Analysis::default();
    let mut events = Vec::new();
    while !bytes.0.is_empty() {
        frame += 1;
        let segment = segment(&mut bytes, &mut at, frame, &mut positions);
        let placed = registry.place(&segment, &mut events);
        while let Some((connection, event)) = registry.next_identity_event() {
            analysis.on_identity_event(connection, event);
        }
        if let Some(placed) = placed {
            analysis.take(&segment, placed);
        }
        while let Some((segment, placed)) = registry.released() {
            analysis.take(&segment, placed);
        }
    }
    registry.finish(&mut events);
    while let Some((segment, placed)) = registry.released() {
        analysis.take(&segment, placed);
    }
    assert_eq!(analysis.placed, frame);
    let identities: Vec<_> = registry.connections().collect();
    for (number, (connection, payload, packets)) in &mut analysis.connections {
        let identity = &identities[*number as usize];
        connection.finish(*number, &mut events);
        let summary = connection.summary();
        assert_eq!(summary.client.packets + summary.server.packets, *packets);
        let mut distinct = 0;
        for side in [Side::Client, Side::Server] {
            let sent = summary.sent(side);
            assert!(sent.bytes + sent.unmapped_bytes <= sent.payload_bytes);
            assert!(sent.reinjected_won_bytes <= sent.reinjected_bytes);
            for subflow in 0..identity.subflows.len() as u32 {
                if let Some(tcp) = connection.subflow(subflow) {
                    let tcp = tcp.summary();
                    let of_end = tcp.sent(side);
                    assert!(of_end.bytes <= of_end.payload_bytes);
                    assert!(of_end.retransmissions <= of_end.packets);
                    distinct += of_end.payload_bytes;
                }
            }
        }
        assert!(distinct <= *payload);
    }
});
