//! Segments in packets of every kind, and the reasons of packets that hold none.

#[path = "../common/mod.rs"]
mod common;
mod ip;
mod links;
mod properties;
mod segment;

use common::link;
use mptcplab_trace::Segment;
use mptcplab_trace::dissect::{Dissector, Layers, Skipped};
use mptcplab_trace::input::{Frame, LinkType};

const V4: &str = "10.0.0.1:1000 > 10.0.0.2:80 PA seq=7 ack=9 len=101";

const V6: &str = "[fd00::1]:1000 > [fd00::2]:80 PA seq=7 ack=9 len=101";

/// A frame of which the first bytes were captured.
fn frame(link_type: u16, captured: &[u8], original_bytes: usize) -> Frame<'_> {
    Frame {
        at: 5,
        number: 1,
        interface: 0,
        link_type: LinkType(link_type),
        captured,
        original_bytes: original_bytes as u32,
    }
}

/// Dissects a frame that was captured whole.
fn take(link_type: u16, bytes: &[u8]) -> Result<Segment, Skipped> {
    take_cut(link_type, bytes, bytes.len())
}

/// Dissects a frame of which some bytes were captured.
fn take_cut(link_type: u16, bytes: &[u8], captured: usize) -> Result<Segment, Skipped> {
    let mut dissector = Dissector::new(true);
    let segment = dissector.take(&frame(link_type, &bytes[..captured], bytes.len()));
    segment.ok_or(*dissector.skipped())
}

fn raw(bytes: &[u8]) -> Result<Segment, Skipped> {
    take(link::RAW, bytes)
}

fn without_layers(segment: Segment) -> Segment {
    Segment {
        layers: Layers::NONE,
        ..segment
    }
}

const NOT_IP: Skipped = Skipped { not_ip: 1, ..NONE };

const NOT_TCP: Skipped = Skipped { not_tcp: 1, ..NONE };

const TRUNCATED: Skipped = Skipped {
    truncated: 1,
    ..NONE
};

const MALFORMED: Skipped = Skipped {
    malformed: 1,
    ..NONE
};

const NONE: Skipped = Skipped {
    not_ip: 0,
    not_tcp: 0,
    truncated: 0,
    fragment_incomplete: 0,
    fragment_joined: 0,
    unknown_link_type: 0,
    malformed: 0,
};
