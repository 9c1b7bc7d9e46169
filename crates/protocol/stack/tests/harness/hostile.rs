//! A peer that sends anything, close to what the connection expects: the stack must not panic,
//! transmit without end, fire deadlines without end, or take more than its buffers hold.
#![allow(unreachable_pub)] // Shared with the fuzzer.

use std::net::SocketAddr;

use bytes::Bytes;
use mptcplab_stack::{
    BufferLimits, ConnectionId, EcnPolicy, Event, HostConfig, HostStack, Keepalive, LocalAddress,
    Protocol, SocketOptions,
};
use mptcplab_wire::{Ecn, Flags, Options, SackBlock, Segment, Timestamps};

const SECOND: u64 = 1_000_000_000;
const LOCAL: ([u8; 4], u16) = ([10, 0, 0, 1], 80);
const PEER: ([u8; 4], u16) = ([10, 0, 0, 2], 1000);
const BUFFER: BufferLimits = BufferLimits {
    initial_bytes: 10_000,
    max_bytes: 100_000,
};
/// More than a window of the smallest segments.
const MOST_PACKETS: usize = 5000;

/// Reads a script from bytes; at its end all is zero.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((&first, rest)) => {
                self.0 = rest;
                first
            }
            None => 0,
        }
    }

    fn word(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    /// Zero, near zero, some way off, or anything.
    fn distance(&mut self) -> u32 {
        match self.byte() {
            0..=127 => 0,
            128..=191 => i32::from(self.byte() as i8) as u32,
            192..=239 => i32::from(self.word() as i16) as u32,
            _ => u32::from(self.word()) << 16 | u32::from(self.word()),
        }
    }
}

struct Game {
    now: u64,
    host: HostStack,
    id: Option<ConnectionId>,
    /// The sequence number that the stack would take for the next in order.
    sequence: u32,
    acknowledgement: u32,
    timestamps: Timestamps,
    port: u16,
}

/// Plays a script against a host stack.
pub fn play(bytes: &[u8]) {
    let mut script = Script(bytes);
    let mut game = Game::new(&mut script);
    while !script.0.is_empty() {
        game.turn(&mut script);
        game.settle();
    }
    // Left alone, everything ends.
    if let Some(id) = game.id {
        game.host.release(game.now, id);
    }
    for _ in 0..20_000 {
        game.settle();
        let Some(deadline) = game.host.next_deadline() else {
            break;
        };
        game.now = game.now.max(deadline);
        game.host.on_deadline(game.now);
    }
    game.settle();
    assert!(game.host.is_idle(), "something is left");
}

impl Game {
    fn new(script: &mut Script<'_>) -> Self {
        let choice = script.byte();
        let granularity = [1, 1_000_000, 10_000_000][usize::from(choice % 3)];
        let config = HostConfig {
            clock_granularity_ns: granularity,
            ..HostConfig::default()
        };
        let mut host = HostStack::new(config, 1);
        let address = SocketAddr::from(LOCAL).ip();
        let local = LocalAddress {
            address,
            mtu: 1500,
            endpoint: None,
        };
        host.set_addresses(0, &[local]);
        let multipath = choice & 16 != 0;
        let options = SocketOptions {
            protocol: if multipath {
                Protocol::Mptcp
            } else {
                Protocol::Tcp
            },
            no_delay: choice & 32 != 0,
            pacing: choice & 64 != 0,
            ecn: if choice & 128 != 0 {
                EcnPolicy::Request
            } else {
                EcnPolicy::Agree
            },
            keepalive: Some(Keepalive {
                idle_ns: 10 * SECOND,
                interval_ns: SECOND,
                probes: 3,
            }),
            send_buffer: BUFFER,
            receive_buffer: BUFFER,
            ..SocketOptions::default()
        };
        let mut game = Self {
            now: 0,
            host,
            id: None,
            sequence: 1000,
            acknowledgement: 0,
            timestamps: Timestamps { value: 1, echo: 0 },
            port: LOCAL.1,
        };
        game.host.listen(LOCAL.1, options.clone());
        if choice & 8 != 0 {
            game.id = Some(game.host.connect(0, address, PEER.into(), options));
            game.settle();
        } else if choice & 4 != 0 {
            game.open();
        }
        game
    }

    /// A whole handshake.
    fn open(&mut self) {
        let mut syn = self.segment();
        syn.flags.ack = false;
        syn.flags.syn = true;
        syn.options.sack_permitted = true;
        syn.options.window_shift = Some(3);
        syn.options.max_segment_bytes = Some(1460);
        self.host.receive(self.now, syn.into_packet(64));
        self.settle();
        let ack = self.segment();
        self.host.receive(self.now, ack.into_packet(64));
        self.settle();
    }

    /// The segment that the stack expects next.
    fn segment(&self) -> Segment {
        Segment {
            source: PEER.into(),
            destination: (LOCAL.0, self.port).into(),
            sequence: self.sequence,
            acknowledgement: self.acknowledgement,
            flags: Flags {
                ack: true,
                ..Flags::default()
            },
            window: 1000,
            urgent: 0,
            options: Options {
                timestamps: Some(self.timestamps),
                ..Options::default()
            },
            ecn: Ecn::NotCapable,
            payload: Bytes::new(),
        }
    }

    fn turn(&mut self, script: &mut Script<'_>) {
        let kind = script.byte();
        match (kind % 16, self.id) {
            (0..=9, _) => {
                let segment = self.odd_segment(script);
                self.host.receive(self.now, segment.into_packet(64));
            }
            (10, Some(id)) => {
                let data = Bytes::from(vec![1; usize::from(script.word())]);
                self.host.write(self.now, id, data);
            }
            (11, Some(id)) => while self.host.read(self.now, id, 1000).is_some() {},
            (12, Some(id)) => self.host.shutdown(self.now, id),
            (13, Some(id)) if kind > 200 => self.host.abort(self.now, id),
            (14, _) => {
                self.now += u64::from(script.word()) * 100_000;
                self.host.on_deadline(self.now);
            }
            _ => {
                let deadline = self.host.next_deadline().unwrap_or(self.now);
                self.now = self.now.max(deadline);
                self.host.on_deadline(self.now);
            }
        }
    }

    fn odd_segment(&mut self, script: &mut Script<'_>) -> Segment {
        let mut segment = self.segment();
        segment.sequence = segment.sequence.wrapping_add(script.distance());
        segment.acknowledgement = segment.acknowledgement.wrapping_add(script.distance());
        let flags = script.byte();
        segment.flags = Flags {
            ack: flags & 1 == 0,
            syn: flags & 6 == 6,
            fin: flags & 24 == 24,
            rst: flags & 224 == 224,
            ece: flags & 34 == 34,
            cwr: flags & 68 == 68,
            psh: false,
            urg: flags & 136 == 136,
        };
        let shape = script.byte();
        if shape & 1 != 0 {
            segment.window = script.word();
        }
        if shape & 2 != 0 {
            segment.payload = Bytes::from(vec![2; usize::from(script.word() % 1500)]);
        }
        if shape & 4 != 0 {
            let options: Vec<u8> = (0..script.byte() % 36).map(|_| script.byte()).collect();
            segment.options = Options::parse(&options);
        }
        if shape & 8 != 0
            && let Some(timestamps) = &mut segment.options.timestamps
        {
            timestamps.value = timestamps.value.wrapping_add(script.distance());
            timestamps.echo = timestamps.echo.wrapping_add(script.distance());
        }
        if shape & 16 != 0 && segment.options.encoded_bytes() <= 12 {
            for _ in 0..script.byte() % 4 {
                let left = self.acknowledgement.wrapping_add(script.distance());
                let right = left.wrapping_add(script.distance());
                segment.options.sack.push(SackBlock { left, right });
            }
        }
        if shape & 32 != 0 {
            segment.ecn = Ecn::CongestionExperienced;
        }
        segment
    }

    /// Takes what the stack sends and tells.
    fn settle(&mut self) {
        let mut packets = 0;
        while let Some(packet) = self.host.transmit(self.now) {
            packets += 1;
            assert!(packets < MOST_PACKETS, "the stack transmits without end");
            let sent = Segment::parse(*packet).expect("it sends segments");
            if sent.destination == PEER.into() && !sent.flags.rst {
                self.port = sent.source.port();
                self.acknowledgement = sent.sequence.wrapping_add(sent.sequence_bytes());
                if sent.flags.ack {
                    self.sequence = sent.acknowledgement;
                }
                if let Some(timestamps) = sent.options.timestamps {
                    self.timestamps.echo = timestamps.value;
                }
            }
        }
        let mut events = 0;
        while let Some(event) = self.host.poll_event() {
            events += 1;
            assert!(events < 1000, "the stack tells without end");
            match event {
                Event::Accepted { id, .. } if self.id.is_none() => self.id = Some(id),
                Event::Accepted { id, .. } => self.host.release(self.now, id),
                _ => {}
            }
        }
        if let Some(deadline) = self.host.next_deadline() {
            assert!(
                deadline > self.now || self.host_advances(),
                "a deadline stays due"
            );
        }
        for id in self.host.connections() {
            let info = self.host.info(id).expect("it is listed");
            assert!(info.send_queue_bytes <= BUFFER.max_bytes + 2);
            assert!(info.receive_queue_bytes <= BUFFER.max_bytes + 65_535);
        }
    }

    /// Whether a deadline that is due goes away when the host has acted.
    fn host_advances(&mut self) -> bool {
        let mut host_deadline = self.host.next_deadline();
        for _ in 0..100 {
            if host_deadline.is_none_or(|deadline| deadline > self.now) {
                return true;
            }
            self.host.on_deadline(self.now);
            while self.host.transmit(self.now).is_some() {}
            host_deadline = self.host.next_deadline();
        }
        false
    }
}
