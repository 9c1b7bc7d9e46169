//! Summary of a connection at the level of data.

use mptcplab_wire::option::DataNumber;

use super::closing::DataEnd;
use super::direction::Direction;
use super::{Connection, DataGap};
use crate::{Nanos, Side};

/// Summary of a connection at the level of data. Unknown figures are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionSummary {
    /// How it ended.
    pub end: DataEnd,
    /// When MP_FASTCLOSE was first seen.
    pub fast_close_ns: Option<Nanos>,
    /// Data of the client.
    pub client: SentData,
    /// Data of the server.
    pub server: SentData,
}

impl ConnectionSummary {
    /// Returns the data of an end.
    pub fn sent(&self, by: Side) -> &SentData {
        match by {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }
}

/// Data that one end sent. Definitions stand in the description of the module `connection`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentData {
    /// Segments, those without data included.
    pub packets: u64,
    /// Data bytes of all segments, those sent again included.
    pub payload_bytes: u64,
    /// Distinct bytes of data.
    pub bytes: u64,
    /// Bytes of which no mapping was seen; not in `bytes`.
    pub unmapped_bytes: u64,
    /// Reinjected bytes.
    pub reinjected_bytes: u64,
    /// Those of them that won.
    pub reinjected_won_bytes: u64,
    /// New data below the highest data sequence number seen.
    pub late_bytes: u64,
    /// How far below at most.
    pub late_extent_bytes: u64,
    /// Round trips at the level of data.
    pub round_trip: Option<Spread>,
    /// Least and most window that the other end granted, in bytes.
    pub window_bytes: Option<(u64, u64)>,
    /// Time during which less than one segment was left of it.
    pub window_limited_ns: Nanos,
    /// When its DATA_FIN was seen first.
    pub data_fin_ns: Option<Nanos>,
    /// When a DATA_ACK covered that first.
    pub data_fin_acknowledged_ns: Option<Nanos>,
    /// When new data was seen first.
    pub first_data_ns: Option<Nanos>,
    /// When new data was seen last.
    pub last_data_ns: Option<Nanos>,
    /// The longest gap between new data.
    pub longest_gap: Option<DataGap>,
    /// The longest gap that was no pause of the application.
    pub recovery: Option<DataGap>,
    /// Checksums of mappings that were verified.
    pub checksums_verified: u64,
    /// Those of them that are wrong.
    pub checksums_wrong: u64,
    /// How often another subflow came to carry most of the data.
    pub path_switches: u32,
}

/// Samples of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// How many.
    pub samples: u64,
    /// Least.
    pub min_ns: Nanos,
    /// Mean.
    pub mean_ns: Nanos,
    /// Most.
    pub max_ns: Nanos,
}

impl Connection {
    /// Summarises the connection so far.
    pub fn summary(&self) -> ConnectionSummary {
        ConnectionSummary {
            end: self.end(),
            fast_close_ns: self.fast_closed,
            client: self.sent(Side::Client),
            server: self.sent(Side::Server),
        }
    }

    /// Returns the bytes that an end reinjected on a subflow.
    pub fn reinjected_bytes(&self, subflow: u32, by: Side) -> u64 {
        let flows = self.flows.get(subflow as usize);
        flows.map_or(0, |flows| flows[by].reinjected_bytes)
    }

    /// Returns the 8 bytes on the wire of a data sequence number of an end, counted from its
    /// initial one; `None` while only numbers of 4 bytes were seen, and no initial one is known.
    pub fn wire_data_sequence(&self, side: Side, number: i64) -> Option<u64> {
        self.directions[side].numbers.wire(number)
    }

    /// Returns a data sequence number of an end, counted from its initial one. One of 4 bytes is
    /// the one closest to the last number that was taken; `None` where it is nowhere near.
    pub fn data_sequence(&self, side: Side, number: DataNumber) -> Option<i64> {
        let mut numbers = self.directions[side].numbers;
        numbers.read(number, 1)
    }

    fn sent(&self, by: Side) -> SentData {
        let direction = &self.directions[by];
        let flows = self.flows.iter().map(|flows| &flows[by]);
        let totals = &direction.totals;
        SentData {
            packets: totals.packets,
            payload_bytes: totals.payload_bytes,
            bytes: totals.new_bytes,
            unmapped_bytes: flows.map(|flow| flow.unmapped_bytes()).sum(),
            reinjected_bytes: totals.reinjected_bytes,
            reinjected_won_bytes: totals.won_bytes,
            late_bytes: totals.late_bytes,
            late_extent_bytes: totals.late_extent_bytes,
            round_trip: round_trip(direction),
            window_bytes: direction.window.range(),
            window_limited_ns: direction.window.limited_ns_until(self.last_at),
            data_fin_ns: direction.fin.at,
            data_fin_acknowledged_ns: direction.fin.acknowledged_at,
            first_data_ns: direction.gaps.span.map(|(first, _)| first),
            last_data_ns: direction.gaps.span.map(|(_, last)| last),
            longest_gap: longest_gap(direction, self.last_at),
            recovery: Some(direction.gaps.recovery).filter(|recovery| recovery.ns > 0),
            checksums_verified: totals.checksums_verified,
            checksums_wrong: totals.checksums_wrong,
            path_switches: direction.path_switches.count,
        }
    }
}

fn round_trip(direction: &Direction) -> Option<Spread> {
    let trips = &direction.trips;
    Some(Spread {
        samples: trips.samples,
        min_ns: trips.min_ns,
        mean_ns: trips.mean_ns()?,
        max_ns: trips.max_ns,
    })
}

fn longest_gap(direction: &Direction, end: Nanos) -> Option<DataGap> {
    let all_acknowledged = direction.acknowledged >= direction.sent_to;
    direction.gaps.longest_until(end, all_acknowledged)
}
