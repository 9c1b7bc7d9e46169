//! Packets in words: one line, and as JSON.

use mptcplab_engine_sim::{Content, LinkPacket};
use mptcplab_link::Place;
use mptcplab_wire::summary;
use serde_json::{Value as Json, json};

/// A packet in one line: addresses, flags, sequence numbers as they stand in it, options of MPTCP.
pub(crate) fn line(content: &Content) -> String {
    match content {
        Content::Packet(packet) => summary::packet(packet),
        Content::Frame(frame) => summary::frame(frame),
    }
}

/// A packet in a link as JSON.
pub(crate) fn in_link_json(carried: &LinkPacket) -> Json {
    let (place, key, at) = match carried.place {
        Place::Propagating { at } => ("propagating", "arrives_ns", at),
        Place::Sending { until } => ("sending", "sent_ns", until),
        Place::Queued { since } => ("queued", "since_ns", since),
    };
    json!({
        "place": place,
        key: at,
        "ip_bytes": carried.ip_bytes,
        "packet": line(&carried.content),
    })
}
