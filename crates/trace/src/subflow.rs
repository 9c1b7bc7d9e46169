//! TCP of one subflow.
//!
//! Both directions of its packets are seen at one place, anywhere on the way: at the sender, at
//! the receiver or between them. Nothing is known but what passed there. The order of capture is
//! not exact: an acknowledgement may be captured before the data that it acknowledges.
//!
//! # Sequence numbers
//!
//! Numbers are relative and do not wrap: 0 is the SYN, 1 the first byte of data. Where the SYN was
//! not captured, number 1 is what the first packet shows to come next in a direction: the
//! sequence number of its segment, or what the other end acknowledges, if that is captured first.
//! Data before it that come late have numbers of 0 and less.
//!
//! The *highest* number is that of the last byte, SYN or FIN that was sent. Where a segment, an
//! acknowledgement without data too, begins beyond the next number, there is a *gap*: data that were
//! sent but not seen. Data below the highest that
//! lie in no gap were *seen before*. So the distinct bytes are exact, whatever is lost or
//! reordered; at most 1024 gaps are kept, and the lowest are forgotten beyond that.
//!
//! # In flight, and the pipe
//!
//! In flight is data: bytes that were sent and are not cumulatively acknowledged, the `FlightSize`
//! of RFC 5681. SYN and FIN take a number of the sequence space (RFC 9293, section 3.4) and are no
//! data. Data that SACK reported still count; the [`pipe`] does not count them.
//!
//! # Kinds of segments
//!
//! In this order, what holds first:
//!
//! - **Keep-alive, window probe** (RFC 9293, sections 3.8.4 and 3.8.6.1): no byte, or one that was
//!   seen before, at the last number below all that was sent, all of which is acknowledged; the
//!   one byte only where nothing came or went for 1 s before. Where the window is closed that is a
//!   window probe, and so are a segment without data just below what is acknowledged, which Linux
//!   sends, and one new byte. It is no retransmission.
//! - **Acknowledgement**: neither data nor SYN, FIN or RST.
//! - **New**: RST; the first SYN; what has nothing below the next number.
//! - **Retransmission**: something of it was seen before. It may have new bytes too.
//! - The rest fills gaps only. It was sent twice and its first copy lost before the place of
//!   the capture, or it was overtaken. First transmissions leave in the order of their numbers, so
//!   it was sent again if it was sent after the segment that began beyond the gap. That is decided
//!   by TSval where the two differ (RFC 7323, section 5.4: it does not decrease); else by the
//!   IPv4 identification where those of the sender count up; else by the time between the two: it
//!   is a **retransmission** after the smallest round trip between the place of the capture and
//!   the sender (3 ms where that is unknown, and at least 3 ms where the receiver did not report
//!   the gap before), and **out of order** if sooner.
//!
//! Data that is lost before the place of the capture with nothing after it shows no gap: its
//! retransmission is new.
//!
//! # Why it was sent again
//!
//! - **Fast**: the receiver had reported later data. A SACK block reached above its end, or three
//!   duplicate acknowledgements asked for it, or something arrived that was sent after its last
//!   transmission (RACK, RFC 8985, section 6.2), or it belongs to a repair that began so: until
//!   all is acknowledged that had been sent when it began (RFC 6582, RFC 6675).
//! - **Timeout**: a timer, otherwise. Also where the receiver had reported later data, but neither
//!   reported anything new nor did the sender send data for so long that it must have been the
//!   timer: 100 ms, SRTT and the SRTT between the place of the capture and the sender. If it is the
//!   first segment that is not acknowledged and not the last that was sent, then what else is sent
//!   again until all is acknowledged that had been sent before counts as sent by timeout too (RFC
//!   6298, section 5; RFC 5681, section 3.1). Tail loss probes (RFC 8985, section 7) count as
//!   timeouts, but begin no such repair. So do SYN and FIN.
//!
//! A repair ends early where it turns out that there was no loss: D-SACK reported all its
//! retransmissions as not needed (RFC 3708), or the acknowledgement moves on with the
//! echo of a timestamp older than that of its first (RFC 3522, RFC 4015).
//!
//! A retransmission is *spurious* where a D-SACK (RFC 2883) names a byte of it: the oldest of the
//! last 1024 retransmissions of that byte that is not counted as spurious yet.
//!
//! # Round trips
//!
//! A round trip is the time from the passing of data to that of its acknowledgement, at the place
//! of the capture: at the sender's, the round trip of the path, at the receiver's, its own time.
//! There is at most one for each acknowledgement that acknowledges something new. Usually it
//! counts from the first transmission of its last byte. Where what it acknowledges had been
//! sent again, came late or was selectively acknowledged, or a duplicate acknowledgement came
//! before, the arrival of its first byte caused it, and it counts from that: from the first
//! transmission if all of it was sent once (Karn), else from the transmission that has the
//! timestamp that is echoed (RFC 7323, section 4.3; RFC 3522), if that is known. The SYN has a
//! round trip too. Of more than 2048 segments under way every second is forgotten.

mod direction;
mod gaps;
mod identification;
mod on_ack;
mod on_send;
mod out_of_order;
mod pipe;
mod recovery;
mod resent;
mod round_trips;
mod scale;
mod send_times;
mod summary;
#[cfg(test)]
mod tests;

pub use summary::{SentSummary, TcpEnd, TcpSummary};

use direction::Direction;
use on_ack::Acknowledged;
use scale::Offer;

use crate::{Kind, Nanos, Segment, Side, Verdict};

/// MTU where no SYN has the MSS.
const USUAL_MTU: u32 = 1500;
/// Bytes of IPv4 and TCP headers without options: what the MSS leaves (RFC 6691).
const IPV4_HEADERS: u32 = 40;
/// The same with IPv6.
const IPV6_HEADERS: u32 = 60;

/// TCP of one subflow.
#[derive(Clone, Debug)]
pub struct Subflow {
    client: Direction,
    server: Direction,
    /// The smaller MTU of the two ends, as far as their SYNs give it.
    mtu: u32,
}

impl Default for Subflow {
    fn default() -> Self {
        Self {
            client: Direction::default(),
            server: Direction::default(),
            mtu: USUAL_MTU,
        }
    }
}

impl Subflow {
    /// Creates a subflow without segments.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next segment in the order of capture.
    #[inline]
    pub fn take(&mut self, segment: &Segment, from: Side) -> Verdict {
        if segment.flags.syn {
            self.take_syn(segment, from);
        }
        let wire_packets = self.wire_packets(segment);
        let (own, other) = match from {
            Side::Client => (&mut self.client, &mut self.server),
            Side::Server => (&mut self.server, &mut self.client),
        };
        if !own.known {
            own.begin(segment);
        }
        let mut acknowledgement = None;
        let mut acknowledged = Acknowledged::default();
        if segment.flags.ack {
            if !other.known {
                other.begin_after(segment.acknowledgement, segment);
            }
            let number = other.acknowledged_number(segment.acknowledgement);
            acknowledgement = Some(number);
            if !segment.flags.rst {
                acknowledged = other.on_ack(segment, number);
            }
        }
        let sequence = own.sent_number(segment.sequence);
        let (kind, new_bytes) = own.on_send(segment, sequence, wire_packets, &other.round_trips);
        let (in_flight_bytes, pipe_bytes) = own.in_flight_and_pipe();
        own.count_under_way(in_flight_bytes, pipe_bytes);
        let window_bytes = own.window_bytes(segment);
        other.counts.window_max_bytes = other.counts.window_max_bytes.max(window_bytes);
        Verdict {
            kind,
            sequence,
            acknowledgement,
            new_bytes,
            newly_acknowledged_bytes: acknowledged.bytes,
            in_flight_bytes,
            pipe_bytes,
            window_bytes,
            rtt: acknowledged.rtt,
            spurious_frame: acknowledged.spurious_frame,
        }
    }

    /// Takes a segment that its receiver does not accept: only the packet counts. Returns the
    /// verdict, and whether the numbers of its sender are known.
    pub fn refuse(&mut self, segment: &Segment, from: Side) -> (Verdict, bool) {
        let wire_packets = self.wire_packets(segment);
        let (own, other) = match from {
            Side::Client => (&mut self.client, &self.server),
            Side::Server => (&mut self.server, &self.client),
        };
        own.count(segment, wire_packets);
        let is_known = segment.flags.ack && other.known;
        let (in_flight_bytes, pipe_bytes) = own.in_flight_and_pipe();
        let verdict = Verdict {
            sequence: own.sent_number(segment.sequence),
            acknowledgement: is_known.then(|| other.acknowledged_number(segment.acknowledgement)),
            in_flight_bytes,
            pipe_bytes,
            ..Verdict::of(Kind::NotAcceptable)
        };
        (verdict, own.known)
    }

    /// Summarises the subflow so far.
    pub fn summary(&self) -> TcpSummary {
        let client = self.client.summary();
        let server = self.server.summary();
        let resets = [client.reset_ns, server.reset_ns];
        let end = match (
            client.fin_ns,
            server.fin_ns,
            resets.into_iter().flatten().min(),
        ) {
            (Some(one), Some(two), Some(reset)) if one.max(two) <= reset => TcpEnd::Fin,
            (_, _, Some(_)) => TcpEnd::Reset,
            (Some(_), Some(_), None) => TcpEnd::Fin,
            _ => TcpEnd::Open,
        };
        let handshake = self.client.syn_round_trip.zip(self.server.syn_round_trip);
        TcpSummary {
            client,
            server,
            handshake_rtt_ns: handshake.map(|(syn, syn_ack)| syn.saturating_add(syn_ack)),
            end,
        }
    }

    /// Returns the smoothed round trip (RFC 6298) of one end's data, from the place of the capture
    /// to the other end and back.
    pub fn smoothed_rtt(&self, by: Side) -> Option<Nanos> {
        match by {
            Side::Client => self.client.round_trips.smoothed(),
            Side::Server => self.server.round_trips.smoothed(),
        }
    }

    /// Takes the MSS and the window scale of a SYN.
    #[cold]
    #[inline(never)]
    fn take_syn(&mut self, segment: &Segment, from: Side) {
        let (own, other) = match from {
            Side::Client => (&mut self.client, &mut self.server),
            Side::Server => (&mut self.server, &mut self.client),
        };
        if !own.take_syn(segment) {
            return;
        }
        own.shift = scale::shift(own.offer, other.offer);
        other.shift = scale::shift(other.offer, own.offer);
        let headers = if segment.source.is_ipv6() {
            IPV6_HEADERS
        } else {
            IPV4_HEADERS
        };
        let sizes = [own.counts.mss, other.counts.mss];
        if let Some(size) = sizes.into_iter().flatten().min() {
            self.mtu = u32::from(size) + headers;
            own.segment_bytes = Some(size);
            other.segment_bytes = Some(size);
        }
    }

    /// Returns how many packets on the wire a captured one stands for: hosts hand their interface
    /// more than the MTU at once and are handed more (GSO, GRO), each part with the headers of the
    /// whole. Linux counts its segments in this way too.
    #[inline]
    fn wire_packets(&self, segment: &Segment) -> u32 {
        if segment.packet_bytes <= self.mtu {
            return 1;
        }
        let headers = segment.packet_bytes.saturating_sub(segment.payload_bytes);
        let per_packet = self.mtu.saturating_sub(headers).max(1);
        segment.payload_bytes.div_ceil(per_packet).max(1)
    }
}

impl Direction {
    /// Takes the SYN of this end. Returns whether it is of this connection: one with another
    /// number, while no data were seen, begins the numbers anew.
    fn take_syn(&mut self, segment: &Segment) -> bool {
        if self.known && self.sent_number(segment.sequence) != 0 {
            if self.counts.payload_bytes > 0 {
                return false;
            }
            self.begin_at_syn(segment.sequence);
        } else if !self.known {
            self.begin_at_syn(segment.sequence);
        } else {
            // There is nothing below the SYN.
            self.gaps.fill(i64::MIN, 0);
        }
        let options = &segment.options;
        self.offer = Some(Offer {
            shift: options.window_shift,
            answers: segment.flags.ack,
        });
        self.counts.mss = options.max_segment_bytes;
        self.counts.window_shift = options.window_shift;
        true
    }

    /// Returns the window that a segment of this end grants; an RST grants none.
    #[inline]
    fn window_bytes(&self, segment: &Segment) -> Option<u64> {
        let shift = if segment.flags.rst {
            None
        } else if segment.flags.syn || segment.window == 0 {
            Some(0)
        } else {
            self.shift
        };
        shift.map(|shift| u64::from(segment.window) << shift)
    }
}
