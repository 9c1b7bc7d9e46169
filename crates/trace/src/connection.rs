//! One connection at the level of data: MPTCP (RFC 8684, RFC 6824), and plain TCP by the same
//! figures, the sequence numbers of its one subflow being those of the data.
//!
//! All figures are about the packets that passed the place of the capture, in their order there.
//!
//! # Where data belongs
//!
//! A byte belongs to the data sequence number that the mapping says which covers it on its subflow,
//! wherever that mapping stood: in the segment itself, in one before, in one after (the byte then
//! counts from that one on). A mapping once seen stays, later ones fill what it leaves (RFC 8684,
//! section 3.3.1). A DATA_FIN takes a data sequence number and is no byte of data. After fallback,
//! and in plain TCP, the subflow's numbers go on as those of data.
//!
//! # New, sent again, reinjected
//!
//! A byte of data is *new* in the segment that is the first to carry its data sequence number. A
//! byte is *reinjected* if its subflow sends it for the first time and its data sequence number was
//! carried before by **another** subflow in the same direction. So these are no reinjections:
//!
//! - a retransmission of TCP, that is the same sequence number on the same subflow, be it of
//!   original or of copy;
//! - data that is mapped a second time on the one subflow that ever carried it.
//!
//! And these are: a copy that a redundant scheduler sends, one that repairs a loss, one that is
//! made because a subflow closed; on each further subflow the bytes count again. Reinjected bytes
//! count for the subflow that sends them, and are said to come *from* the subflow that carried the
//! data first.
//!
//! Bytes are counted, not segments. Memory is bounded: of data that was acknowledged long ago
//! ([`HISTORY_RANGES`](coverage::HISTORY_RANGES)) it is known that it was carried, but not by which
//! subflows if several carried it; it is then taken for reinjected, from an unknown subflow, if it
//! stands at the end of the subflow's data. A sender has no reason to map anew what was
//! acknowledged on the subflow that delivered it.
//!
//! Other tools count otherwise. tshark (`mptcp.reinjection_of`, with
//! `mptcp.intersubflows_retransmission`) looks at each packet whether packets of other subflows
//! overlap it: it counts packets, a retransmission of a copy is one more, and so is that of an
//! original after its copy; in two passes those that are copied later are marked as well.
//! mptcptrace counts mappings, of 4-byte numbers, as they stand in options, so that a mapping that
//! was split over several packets or stands in none of them counts otherwise than the bytes it
//! maps.
//!
//! # Which copy won
//!
//! A reinjected byte *won* if its subflow's cumulative acknowledgement covers it before the
//! original's does on its own, before another copy won, and before a DATA_ACK in an earlier segment
//! covers it, as something else had delivered it then. At the sender's side this is what the sender
//! could know; the way back of the acknowledgements counts, and two that were on their way together
//! may have been sent in the other order. At the receiver's side it is the order of arrival but for
//! delayed acknowledgements. Where the acknowledgements of a subflow were not captured its copies
//! never win.
//!
//! # Times
//!
//! - Late bytes are new data below the highest data sequence number that was seen. At the sender's
//!   side they show how the scheduler distributed, at the receiver's side what had to wait. Their
//!   extent is the largest distance from the first late byte to that number.
//! - The round trip of data is that of [`round_trips`]: from first sending to DATA_ACK.
//! - The window is that of [`window`]: time is limited by it while less than one segment (the
//!   receiver's maximum segment size) is left of it and the DATA_FIN was not sent. At
//!   the receiver's side grants are seen before the sender knows of them, which hides some of it.
//! - A gap (`silence` in the tables) is the time between two segments with new data of an end; also
//!   the time after the last, to the last packet of the connection, if something was never
//!   acknowledged. It is an event at its end if it was longer than 1 s and than 10 smoothed round
//!   trips of data.
//! - The recovery is the longest part of a gap in which data was unacknowledged, from the last
//!   new data on, if it is longer than that limit. Afterwards the application pauses. At the
//!   receiver's side data that did not arrive is not known to be missing.
//! - The path switched (`traffic_moved`) when a subflow carried more than two thirds of the new
//!   data of a period of 1 s and the one that did so last was another; at the moment of its first
//!   new data in that period. After a pause of the application of more than 1 s the scheduler
//!   begins anew, which is no switch; a pause is known where the capture was made nearer to the
//!   sender than to the receiver: there the acknowledgements of the data are seen.
//!
//! # Checksums
//!
//! Where the data of segments was summed up, the checksum of a mapping is verified once all of its
//! data was seen, by the segment that completes it. It stays unverified where data was not captured
//! whole, or stands in one segment with that of another mapping, or where only 4 bytes of the data
//! sequence number are known.
//!
//! Events that depend on later packets (`reinjection`, `traffic_moved`) have the time at which they
//! began and are added later, at the latest by [`Connection::finish`].

mod checksum;
mod closing;
mod control;
mod coverage;
mod current_segment;
mod data_placement;
mod direction;
mod flow;
mod gaps;
mod mapping;
mod numbers;
mod origin;
mod path_switches;
mod ranges;
mod reinjection_outcome;
mod round_trips;
mod series;
mod summary;
#[cfg(test)]
mod tests;
mod window;

use mptcplab_wire::option::MptcpOption;

pub use closing::DataEnd;
pub use gaps::DataGap;
pub use summary::{ConnectionSummary, SentData, Spread};

use crate::prefetch::prefetch;
use crate::{DataVerdict, Ends, Event, Kind, Nanos, Place, Segment, Side, Subflow, Verdict};
use current_segment::CurrentSegment;
use direction::Direction;
use flow::Flow;

/// A connection, with its subflows.
///
/// Fields that most segments need stand together: with many connections each cache line counts.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Connection {
    last_at: Nanos,
    /// The subflow's numbers are those of data.
    plain: bool,
    /// Something was seen that may have ended it.
    is_closing: bool,
    is_closed: bool,
    subflows: Vec<Subflow>,
    /// Data of each end on each subflow.
    flows: Vec<Ends<Flow>>,
    /// Data of each end.
    directions: Ends<Direction>,
    /// When MP_FASTCLOSE was first seen.
    fast_closed: Option<Nanos>,
}

impl Connection {
    /// Creates a connection of MPTCP, or of `plain` TCP.
    pub fn new(plain: bool) -> Self {
        Self {
            plain,
            fast_closed: None,
            is_closing: false,
            is_closed: false,
            last_at: Nanos::MIN,
            subflows: Vec::new(),
            directions: Ends::default(),
            flows: Vec::new(),
        }
    }

    /// Sets the initial data sequence number of an end. It is to be set before the first segment
    /// with a data sequence number of that end is taken; else numbers count on from that one.
    pub fn set_initial(&mut self, side: Side, number: u64) {
        self.directions[side].numbers.set_initial(number);
    }

    /// Takes the subflow's numbers as those of data from the next segment on, as they are after
    /// fallback (RFC 8684, section 3.7); they continue what was mapped.
    pub fn fall_back(&mut self) {
        self.plain = true;
        self.flows.iter_mut().for_each(fall_back);
    }

    /// Takes the next segment in the order of capture; one that several interfaces captured is to
    /// be taken once. Returns the results for its subflow and at the level of data.
    #[inline]
    pub fn take(
        &mut self,
        segment: &Segment,
        place: Place,
        events: &mut Vec<Event>,
    ) -> (Verdict, DataVerdict) {
        let subflow = place.subflow as usize;
        if subflow >= self.flows.len() {
            self.add_subflows(subflow + 1);
        }
        let verdict = self.subflows[subflow].take(segment, place.from);
        let mut both = (verdict, DataVerdict::default());
        self.take_data(segment, place, &both.0, &mut both.1, events);
        both
    }

    /// Takes a segment that its receiver does not accept: only the packet counts. Returns the
    /// verdict, and whether the sequence numbers of its sender are known.
    pub fn refuse(&mut self, segment: &Segment, place: Place) -> (Verdict, bool) {
        let subflow = place.subflow as usize;
        if subflow >= self.flows.len() {
            self.add_subflows(subflow + 1);
        }
        self.last_at = self.last_at.max(segment.at);
        let totals = &mut self.directions[place.from].totals;
        totals.packets += 1;
        totals.payload_bytes += u64::from(segment.payload_bytes);
        self.subflows[subflow].refuse(segment, place.from)
    }

    /// Brings what is known of the subflows into the near caches.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(&self.subflows);
        prefetch(&self.flows);
    }

    /// Returns the TCP of a subflow.
    pub fn subflow(&self, subflow: u32) -> Option<&Subflow> {
        self.subflows.get(subflow as usize)
    }

    #[cold]
    fn add_subflows(&mut self, count: usize) {
        // Most connections have one, and there may be thousands of connections.
        self.subflows.reserve_exact(count - self.subflows.len());
        self.subflows.resize_with(count, Subflow::new);
        self.flows.reserve_exact(count - self.flows.len());
        self.flows.resize_with(count, Default::default);
        if self.plain {
            self.flows.iter_mut().for_each(fall_back);
        }
    }

    /// Takes the data level of a segment with this `verdict` of its subflow. Adds to `found`.
    fn take_data(
        &mut self,
        segment: &Segment,
        place: Place,
        verdict: &Verdict,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let current = &CurrentSegment::new(segment, place);
        self.last_at = self.last_at.max(segment.at);
        let flags = segment.flags;
        if flags.syn || flags.fin || flags.rst {
            self.take_control(current, segment, events);
        }
        if self.plain {
            self.count_as_tcp(segment, place, verdict);
        }
        let window = verdict.window_bytes.filter(|_| !flags.syn);
        self.take_ack(current, segment, window, found, events);
        let mut mapped = None;
        for option in &segment.options.mptcp {
            match option {
                MptcpOption::Dss(dss) => {
                    mapped = self.take_dss(current, segment, dss, window, found, events);
                }
                MptcpOption::Capable(capable) => mapped = self.take_first_mapping(current, capable),
                MptcpOption::FastClose { .. } => self.take_fast_close(current),
                _ => {}
            }
        }
        if segment.payload_bytes > 0 && !flags.rst && verdict.kind != Kind::KeepAlive {
            self.take_payload(current, segment, mapped, found, events);
        }
        if let Some(sum) = segment.payload_sum {
            self.take_sum(current, segment, sum, found, events);
        }
        if verdict.kind == Kind::TimeoutRetransmission {
            self.report_timeout(current, verdict, events);
        }
        if self.is_closing {
            self.report_closed(current, events);
        }
    }

    /// Counts a segment of its sender, and takes its acknowledgement of the other end's data.
    #[inline]
    fn take_ack(
        &mut self,
        current: &CurrentSegment,
        segment: &Segment,
        window: Option<u64>,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let own = &mut self.directions[current.from];
        let (own_flow, flow) = self.flows[current.subflow as usize].pair_mut(current.from);
        own.totals.packets += 1;
        own.totals.payload_bytes += u64::from(segment.payload_bytes);
        own_flow.used |= !segment.flags.syn && !segment.flags.rst;
        if !segment.flags.ack || segment.flags.rst {
            return;
        }
        let number = flow.origin.read(segment.acknowledgement);
        let before = flow.acknowledged;
        let infinite = flow.infinite;
        if number > before {
            flow.acknowledged = number;
            flow.timed_out = false;
            if flow.has_copies() {
                self.on_copies_acknowledged(
                    current.subflow as usize,
                    current.from.other(),
                    (before, number),
                );
            }
        }
        if let Some((start, shift)) = infinite
            && number >= start
        {
            self.directions[current.from.other()].acknowledge(
                current,
                number + shift,
                window,
                found,
                events,
            );
        }
    }

    /// Counts the numbers of plain TCP as the subflow's analysis does.
    #[inline]
    fn count_as_tcp(&mut self, segment: &Segment, place: Place, verdict: &Verdict) {
        let flows = &mut self.flows[place.subflow as usize];
        flows[place.from].count_from(segment.sequence, verdict.sequence);
        if let Some(acknowledgement) = verdict.acknowledgement {
            flows[place.from.other()].count_from(segment.acknowledgement, acknowledgement);
        }
    }
}

fn fall_back(flows: &mut Ends<Flow>) {
    flows.client.fall_back();
    flows.server.fall_back();
}
