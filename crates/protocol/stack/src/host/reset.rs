//! Resets that answer segments of no connection.

use mptcplab_wire::{Flags, Options, Segment};

/// The RST that answers a segment (RFC 9293, section 3.10.7.1); none answers a RST.
pub(crate) fn answer(segment: &Segment) -> Option<Segment> {
    if segment.flags.rst {
        return None;
    }
    let acknowledges = !segment.flags.ack;
    Some(Segment {
        source: segment.destination,
        destination: segment.source,
        sequence: if segment.flags.ack {
            segment.acknowledgement
        } else {
            0
        },
        acknowledgement: if acknowledges {
            segment.sequence.wrapping_add(segment.sequence_bytes())
        } else {
            0
        },
        flags: Flags {
            rst: true,
            ack: acknowledges,
            ..Flags::default()
        },
        window: 0,
        urgent: 0,
        options: Options::default(),
        ecn: Default::default(),
        payload: Default::default(),
    })
}
