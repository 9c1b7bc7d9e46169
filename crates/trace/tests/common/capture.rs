//! Files of captures.

use mptcplab_wire::Segment;

use super::{link, packet};

/// How a capture is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    pub pcapng: bool,
    pub big_endian: bool,
    /// Nanoseconds; else microseconds.
    pub nanos: bool,
}

impl Format {
    /// pcap of microseconds, little-endian: what tcpdump writes.
    pub const PCAP: Self = Self {
        pcapng: false,
        big_endian: false,
        nanos: false,
    };

    /// pcapng of nanoseconds, little-endian: what dumpcap writes.
    pub const PCAPNG: Self = Self {
        pcapng: true,
        big_endian: false,
        nanos: true,
    };

    /// Every one.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..8).map(|bits| Self {
            pcapng: bits & 1 != 0,
            big_endian: bits & 2 != 0,
            nanos: bits & 4 != 0,
        })
    }
}

/// A capture in the making.
pub struct Capture {
    /// The file as it is so far.
    pub bytes: Vec<u8>,
    format: Format,
    link_types: Vec<u16>,
}

impl Capture {
    /// A file with one interface, which has no name, and no frames.
    pub fn new(format: Format, link_type: u16) -> Self {
        let mut capture = Self {
            bytes: Vec::new(),
            format,
            link_types: Vec::new(),
        };
        if format.pcapng {
            capture.section();
            capture.interface(link_type, "");
        } else {
            let magic: u32 = if format.nanos {
                0xa1b2_3c4d
            } else {
                0xa1b2_c3d4
            };
            let version = if format.big_endian {
                0x0002_0004
            } else {
                0x0004_0002
            };
            capture.numbers(&[magic, version, 0, 0, 262_144, link_type.into()]);
            capture.link_types.push(link_type);
        }
        capture
    }

    /// Adds a segment as a frame of the first interface.
    pub fn add(&mut self, at_ns: u64, segment: &Segment) {
        let frame = link::frame(self.link_types[0], &packet(segment));
        self.frame(at_ns, &frame);
    }

    /// Adds a frame of the first interface.
    pub fn frame(&mut self, at_ns: u64, frame: &[u8]) {
        self.cut_frame(0, at_ns, frame, frame.len());
    }

    /// Adds a frame of which only some of the first bytes are captured.
    pub fn cut_frame(&mut self, interface: u32, at_ns: u64, frame: &[u8], captured: usize) {
        let kept = &frame[..captured.min(frame.len())];
        let lengths = [kept.len() as u32, frame.len() as u32];
        let unit = if self.format.nanos { 1 } else { 1000 };
        if self.format.pcapng {
            let ticks = at_ns / unit;
            let time = [(ticks >> 32) as u32, ticks as u32];
            let mut body = self.as_bytes(&[interface, time[0], time[1], lengths[0], lengths[1]]);
            body.extend_from_slice(kept);
            self.block(6, &body);
        } else {
            let time =
                [at_ns / 1_000_000_000, at_ns % 1_000_000_000 / unit].map(|part| part as u32);
            self.numbers(&[time, lengths].concat());
            self.bytes.extend_from_slice(kept);
        }
    }

    /// pcapng only: begins a section, which has no interfaces yet.
    pub fn section(&mut self) {
        self.link_types.clear();
        let version = if self.format.big_endian {
            0x0001_0000
        } else {
            1
        };
        let body = self.as_bytes(&[0x1a2b_3c4d, version, u32::MAX, u32::MAX]);
        self.block(0x0a0d_0d0a, &body);
    }

    /// pcapng only: describes one more interface; gives its number in the section.
    pub fn interface(&mut self, link_type: u16, name: &str) -> u32 {
        let resolution = if self.format.nanos { 9 } else { 6 };
        let mut body = self.as_halves(&[link_type, 0]);
        body.extend([0; 4]);
        if !name.is_empty() {
            body.extend(self.option(2, name.as_bytes()));
        }
        body.extend(self.option(9, &[resolution]));
        body.extend(self.option(0, &[]));
        self.block(1, &body);
        self.link_types.push(link_type);
        self.link_types.len() as u32 - 1
    }

    /// pcapng only: adds any block; its content is padded.
    pub fn block(&mut self, kind: u32, body: &[u8]) {
        let padded = body.len().next_multiple_of(4);
        let bytes = padded as u32 + 12;
        self.numbers(&[kind, bytes]);
        self.bytes.extend_from_slice(body);
        self.bytes.resize(self.bytes.len() + padded - body.len(), 0);
        self.numbers(&[bytes]);
    }

    /// pcapng only: an option, padded.
    pub fn option(&self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = self.as_halves(&[code, value.len() as u16]);
        bytes.extend_from_slice(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn numbers(&mut self, numbers: &[u32]) {
        let bytes = self.as_bytes(numbers);
        self.bytes.extend(bytes);
    }

    /// Numbers of 4 bytes in the order of the file.
    pub fn as_bytes(&self, numbers: &[u32]) -> Vec<u8> {
        let bytes = |number: &u32| match self.format.big_endian {
            true => number.to_be_bytes(),
            false => number.to_le_bytes(),
        };
        numbers.iter().flat_map(bytes).collect()
    }

    /// Numbers of 2 bytes in the order of the file.
    pub fn as_halves(&self, numbers: &[u16]) -> Vec<u8> {
        let bytes = |number: &u16| match self.format.big_endian {
            true => number.to_be_bytes(),
            false => number.to_le_bytes(),
        };
        numbers.iter().flat_map(bytes).collect()
    }
}
