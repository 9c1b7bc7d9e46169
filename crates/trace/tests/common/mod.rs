//! Captures for tests, from short descriptions. For a test in `tests/`:
//!
//! ```ignore
//! mod common;
//! use common::{Capture, Format, link, segment};
//!
//! let mut capture = Capture::new(Format::PCAPNG, link::ETHERNET);
//! let mut syn = segment("10.0.0.1:1000 > 10.0.0.2:80 S seq=7 win=64240");
//! syn.options.max_segment_bytes = Some(1460);
//! capture.add(1_000_000_000, &syn);
//! capture.add(1_000_200_000, &segment("10.0.0.2:80 > 10.0.0.1:1000 SA seq=99 ack=8"));
//! capture.add(1_000_400_000, &segment("10.0.0.1:1000 > 10.0.0.2:80 PA seq=8 ack=100 len=1448"));
//! let merge = Merge::new([Input::from(std::io::Cursor::new(capture.bytes))]);
//! ```
//!
//! [`segment`] gives a segment of `mptcplab_wire`, whose fields may be set further; [`packet`] its
//! IP packet; [`link::frame`] a frame of that; [`Capture`] a file of frames, whose `bytes` may be
//! written to disk, cut, or compressed.

#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "each test uses some of it"
)]

mod capture;
pub mod ip;
pub mod link;
#[cfg(test)]
pub mod read;
pub mod tunnel;

use bytes::Bytes;
pub use capture::{Capture, Format};
use mptcplab_wire::{Ecn, Flags, Options, Segment};

/// A segment: `SOURCE > DESTINATION`, the letters of its flags (of `CEUAPRSF`; `.` for none), and
/// any of `seq=`, `ack=`, `win=`, `len=`. Data are bytes that count up.
pub fn segment(text: &str) -> Segment {
    let mut words = text.split_whitespace();
    let mut word = || words.next().expect("SOURCE > DESTINATION FLAGS");
    let source = word().parse().expect("an address and port");
    assert_eq!(word(), ">");
    let destination = word().parse().expect("an address and port");
    let flags = flags(word());
    let mut segment = Segment {
        source,
        destination,
        sequence: 0,
        acknowledgement: 0,
        flags,
        window: 1000,
        urgent: 0,
        options: Options::default(),
        ecn: Ecn::NotCapable,
        payload: Bytes::new(),
    };
    for word in words {
        let (name, value) = word.split_once('=').expect("a name and a value");
        let value: u32 = value.parse().expect("a number");
        match name {
            "seq" => segment.sequence = value,
            "ack" => segment.acknowledgement = value,
            "win" => segment.window = value as u16,
            "len" => segment.payload = (0..value).map(|byte| byte as u8).collect(),
            _ => panic!("{name} is none of seq, ack, win, len"),
        }
    }
    segment
}

fn flags(letters: &str) -> Flags {
    let has = |letter| letters.contains(letter);
    Flags {
        cwr: has('C'),
        ece: has('E'),
        urg: has('U'),
        ack: has('A'),
        psh: has('P'),
        rst: has('R'),
        syn: has('S'),
        fin: has('F'),
    }
}

/// The IP packet of a segment, with its checksums; the hop limit is 64.
pub fn packet(segment: &Segment) -> Vec<u8> {
    let mut bytes = Vec::new();
    segment.clone().into_packet(64).write_to(&mut bytes);
    bytes
}
