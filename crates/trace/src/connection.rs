//! What happened at the level of data of one connection: MPTCP (RFC 8684, RFC 6824), and plain TCP
//! by the same figures, the sequence numbers of its one subflow being those of the data.
//!
//! All figures tell what passed the place of the capture, in the order in which it did.
//!
//! # Where data belongs
//!
//! A byte belongs to the data sequence number that the mapping says which covers it on its subflow,
//! wherever that mapping stood: in the segment itself, in one before, in one after (the byte then
//! counts from that one on). A mapping once told stays, later ones fill what it leaves (RFC 8684,
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
//! And these are: a copy that a redundant scheduler sends, one that repairs a loss, one that is made
//! because a subflow closed; on each further subflow the bytes count again. Reinjected bytes count
//! for the subflow that sends them, and are said to come *from* the subflow that carried the data
//! first.
//!
//! Bytes are counted, not segments. Memory is bounded: of data that was acknowledged long ago
//! ([`HISTORY_RANGES`](carried::HISTORY_RANGES)) it is known that it was carried, no longer by whom
//! if it was more than one; it is then taken for reinjected, from an unknown subflow, if it stands at
//! the end of what the subflow sent. Nobody has a reason to map anew what was acknowledged on the
//! subflow that delivered it.
//!
//! Other tools count otherwise. tshark (`mptcp.reinjection_of`, with
//! `mptcp.intersubflows_retransmission`) looks at each packet whether packets of other subflows
//! overlap it: it counts packets, a retransmission of a copy is one more, and so is that of an
//! original after its copy; in two passes those that are copied later are marked as well. mptcptrace
//! counts mappings, of 4-byte numbers, as they stand in options, so that a mapping that was split
//! over several packets or stands in none of them counts otherwise than the bytes it maps.
//!
//! # Which copy won
//!
//! A reinjected byte *won* if its subflow's cumulative acknowledgement covers it before the
//! original's does on its own, before another copy won, and before a DATA_ACK in an earlier segment
//! covers it: for then something else had delivered it. At the sender's side this is what the sender
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
//!   maximum segment size that the receiver told) is left of it and the DATA_FIN was not sent. At
//!   the receiver's side grants are seen before the sender knows of them, which hides some of it.
//! - A silence of an end is the time between two segments with new data; also the time after the
//!   last, to the last packet of the connection, if something was never acknowledged. It is told as
//!   an event at its end if it was longer than 1 s and than 10 smoothed round trips of data.
//! - The recovery is the longest silence told of which it is known that it was no pause of the
//!   application: data was unacknowledged for longer than that limit, or it went on over another
//!   subflow. At the receiver's side what did not arrive is not known to be missing: there only
//!   the second shows.
//! - Data moved (`traffic_moved`) when a subflow carried more than two thirds of the new data of a
//!   period of 1 s and the one that did so last was another; at the moment of its first new data in
//!   that period.
//!
//! # Checksums
//!
//! Where the data of segments was summed up, the checksum of a mapping is verified once all of its
//! data was seen, by the segment that completes it. It stays unverified where data was not captured
//! whole, or stands in one segment with that of another mapping, or where only 4 bytes of the data
//! sequence number are known.
//!
//! Events that need what follows (`reinjection`, `traffic_moved`) bear the time at which they
//! began and are told later, at the latest by [`Connection::finish`].

mod carried;
mod carry;
mod checksum;
mod closing;
mod control;
mod direction;
mod flow;
mod mapping;
mod moves;
mod now;
mod numbers;
mod origin;
mod ranges;
mod round_trips;
mod series;
mod silence;
mod summary;
#[cfg(test)]
mod tests;
mod window;
mod wins;

use mptcplab_wire::option::MptcpOption;

pub use closing::DataEnd;
pub use silence::Silence;
pub use summary::{ConnectionSummary, SentData, Spread};

use crate::{DataVerdict, Ends, Event, Kind, Nanos, Place, Segment, Side, Subflow, Verdict};
use direction::Direction;
use flow::Flow;
use now::Now;

/// A connection, with its subflows.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The subflow's numbers are those of data.
    plain: bool,
    /// When MP_FASTCLOSE was first seen.
    fast_closed: Option<Nanos>,
    /// Something was seen that may have ended it.
    is_closing: bool,
    is_closed: bool,
    last_at: Nanos,
    subflows: Vec<Subflow>,
    /// What each end sent.
    directions: Ends<Direction>,
    /// What each end sent on each subflow.
    flows: Vec<Ends<Flow>>,
}

impl Connection {
    /// A connection of MPTCP, or of `plain` TCP.
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

    /// Tells the initial data sequence number of an end. It is to be told before the first segment
    /// with a data sequence number of that end is taken; else numbers count on from that one.
    pub fn set_initial(&mut self, side: Side, number: u64) {
        self.directions[side].numbers.set_initial(number);
    }

    /// From the next segment on the subflow's numbers are those of data, as they are after fallback
    /// (RFC 8684, section 3.7); they continue what was mapped.
    pub fn fall_back(&mut self) {
        self.plain = true;
        self.flows.iter_mut().for_each(fall_back);
    }

    /// Takes up the next segment in the order of capture; one that another interface captured too
    /// is to be taken once. Returns what it was to its subflow and at the level of data.
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

    /// TCP of a subflow.
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

    /// The level of data of a segment that was `verdict` to its subflow: what is found is added to
    /// `found`.
    fn take_data(
        &mut self,
        segment: &Segment,
        place: Place,
        verdict: &Verdict,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let now = &Now::new(segment, place);
        self.last_at = self.last_at.max(segment.at);
        let flags = segment.flags;
        if flags.syn || flags.fin || flags.rst {
            self.take_control(now, segment, events);
        }
        if self.plain {
            self.count_as_tcp(segment, place, verdict);
        }
        let window = verdict.window_bytes.filter(|_| !flags.syn);
        self.take_ack(now, segment, window, found, events);
        let mut mapped = None;
        for option in &segment.options.mptcp {
            match option {
                MptcpOption::Dss(dss) => {
                    mapped = self.take_dss(now, segment, dss, window, found, events);
                }
                MptcpOption::Capable(capable) => mapped = self.take_first_mapping(now, capable),
                MptcpOption::FastClose { .. } => self.take_fast_close(now),
                _ => {}
            }
        }
        if segment.payload_bytes > 0 && !flags.rst && verdict.kind != Kind::KeepAlive {
            self.take_payload(now, segment, mapped, found, events);
        }
        if let Some(sum) = segment.payload_sum {
            self.take_sum(now, segment, sum, found, events);
        }
        if verdict.kind == Kind::TimeoutRetransmission {
            self.tell_timeout(now, verdict, events);
        }
        if self.is_closing {
            self.tell_closed(now, events);
        }
    }

    /// What a segment is to both directions of its subflow: one more of its sender, an
    /// acknowledgement of what the other end sent.
    #[inline]
    fn take_ack(
        &mut self,
        now: &Now,
        segment: &Segment,
        window: Option<u64>,
        found: &mut DataVerdict,
        events: &mut Vec<Event>,
    ) {
        let own = &mut self.directions[now.from];
        let (own_flow, flow) = self.flows[now.subflow as usize].pair_mut(now.from);
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
                self.judge_copies(now.subflow as usize, now.from.other(), (before, number));
            }
        }
        if let Some((start, shift)) = infinite
            && number >= start
        {
            self.directions[now.from.other()].acknowledge(
                now,
                number + shift,
                window,
                found,
                events,
            );
        }
    }

    /// The numbers of plain TCP are those of the subflow's analysis.
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
