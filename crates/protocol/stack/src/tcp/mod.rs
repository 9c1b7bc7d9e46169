//! One TCP connection (RFC 9293), which may be a subflow of an MPTCP connection.
//!
//! [`Tcp`] takes segments and the time and gives segments and the next deadline. What MPTCP adds
//! to segments comes from its owner through an [`Extension`]; the owner also reads the options of
//! MPTCP in segments received.
//!
//! Places in the stream are offsets of 64 bits: 0 is the SYN, 1 the first byte of data.

mod ack_policy;
mod acknowledge;
mod agreed_options;
mod challenge;
mod chronograph;
mod close;
mod config;
mod congestion_state;
mod counters;
mod cwnd_validation;
mod deadline;
mod delivery;
mod detail;
mod ecn;
mod extension;
mod handshake;
mod handshake_attempts;
mod info;
mod liveness;
mod loss_interval;
mod loss_probe;
mod outgoing_segment;
pub(crate) mod pacing;
mod peer_window;
mod progress;
mod rack;
mod rate;
mod receive;
mod receive_buffer;
mod receive_queue;
mod receive_rtt;
mod receive_window;
mod receiver;
mod record;
mod recovery;
mod retransmit;
mod scoreboard;
mod segment;
mod send_buffer;
mod send_queue;
mod send_sequence;
mod send_state;
mod state;
mod timeout;
mod timers;
mod timestamps;
mod transmission_timer;
mod transmit;
mod undo;
mod view;
mod volume;

use alloc::sync::Arc;

use bytes::Bytes;
use mptcplab_wire::Segment;

use crate::Nanos;
use crate::rtt::RttEstimator;
use crate::stretch::Stretch;

pub use chronograph::SendingTimes;
pub use config::{BufferLimits, EcnPolicy, FourTuple, Keepalive};
pub use detail::TcpDetail;
pub use info::TcpInfo;
pub use progress::CloseReason;
pub use state::State;

pub(crate) use config::{TcpConfig, mss_of};
pub(crate) use counters::TcpCounters;
pub(crate) use extension::{Carrier, DataMapping, Extension, NoExtension};
pub(crate) use outgoing_segment::OutgoingSegment;
pub(crate) use progress::Progress;
pub(crate) use receive_buffer::{PayloadShare, ReceiveBuffer};
pub(crate) use receive_window::{SharedWindow, usable_bytes};

use agreed_options::AgreedOptions;
use challenge::ChallengeLimit;
use congestion_state::CongestionState;
use ecn::EcnState;
use handshake_attempts::HandshakeAttempts;
use liveness::Liveness;
use loss_probe::LossProbe;
use pacing::Pacer;
use rack::Rack;
use rate::DeliveryRate;
use receiver::Receiver;
use recovery::Recovery;
use scoreboard::Scoreboard;
use send_buffer::SendBuffer;
use send_state::SendState;
use timers::Timers;
use volume::Volume;

/// One TCP connection.
#[derive(Clone, Debug)]
pub(crate) struct Tcp {
    /// Settings, which the connections of a socket share.
    config: Arc<TcpConfig>,
    /// Bytes of options that every data segment must leave room for, beside timestamps.
    option_reserve_bytes: u32,
    tuple: FourTuple,
    state: State,
    /// The application has let go of it.
    orphaned: bool,
    counters: TcpCounters,
    volume: Volume,
    times: SendingTimes,
    timers: Timers,
    due: Due,

    // Sending.
    snd: SendState,
    scoreboard: Scoreboard,

    // Loss and congestion.
    congestion: CongestionState,
    send_buffer: SendBuffer,
    rtt: RttEstimator,
    rate: DeliveryRate,
    rack: Rack,
    recovery: Recovery,
    loss_probe: Option<LossProbe>,
    /// Duplicate acknowledgements in a row, where there is no SACK.
    duplicates: u32,
    pacer: Pacer,
    /// Bits that are paced over a round trip, as of the last acknowledgement; 0 before.
    paced_bits: u64,
    attempts: HandshakeAttempts,
    liveness: Liveness,

    // Receiving.
    receiver: Receiver,
    challenges: ChallengeLimit,

    options: AgreedOptions,
    ecn: EcnState,
}

/// Segments that are to be sent next.
#[derive(Clone, Copy, Debug, Default)]
struct Due {
    /// SYN or SYN/ACK.
    syn: bool,
    /// RST.
    reset: bool,
    /// The ACK that answers the SYN/ACK.
    handshake_ack: bool,
    /// An ACK.
    ack: bool,
    /// An ACK with an old sequence number, which the peer must answer.
    probe: bool,
    /// A tail loss probe.
    loss_probe: bool,
    /// New data into a window of the peer that is too small to be worth it.
    silly: bool,
}

impl Tcp {
    /// Hands over data to send. After [`Tcp::shutdown`] nothing is taken any more.
    pub(crate) fn send(&mut self, payload: Stretch) {
        let segment = self.congestion.segment_bytes() as usize;
        self.snd.push(payload, None, segment);
    }

    /// Hands over data with a mapping, which is one segment, for ever, or the rest of the last one;
    /// it should be no more than [`Tcp::segment_room_bytes`]. Each segment that is handed over
    /// after a rest lets the window shrink, as they leave together.
    ///
    /// Source: `tcp_skb_entail` in Linux 6.18, net/ipv4/tcp.c.
    pub(crate) fn send_mapped(&mut self, now: Nanos, payload: Stretch, mapping: DataMapping) {
        let segment = self.congestion.segment_bytes() as usize;
        let joins = self.snd.last_room_bytes(mapping.data_sequence, segment);
        if joins.is_none() {
            self.restart_after_idle(now);
        }
        self.snd.push(payload, Some(mapping), segment);
    }

    /// Marks the end of mapped data that was handed over together, which has PSH (`tcp_push` of
    /// Linux 6.18, net/ipv4/tcp.c).
    pub(crate) fn mark_push(&mut self) {
        self.snd.mark_push();
    }

    /// Room in the congestion window and the peer's beyond the bytes in flight and queued.
    pub(crate) fn room_bytes(&self) -> u64 {
        let room = self.snd.window_room_bytes();
        let admitted = room.saturating_sub(self.snd.queued_bytes());
        self.congestion_room_bytes().min(admitted)
    }

    /// The same of the congestion window alone.
    fn congestion_room_bytes(&self) -> u64 {
        let used = self.flight_bytes() + self.snd.queued_bytes();
        self.congestion.window_bytes().saturating_sub(used)
    }

    /// Segments in flight, in the unit of the congestion window: each counts as a full one,
    /// as Linux counts in segments.
    fn flight_bytes(&self) -> u64 {
        self.scoreboard.in_flight_segments() * self.congestion.segment_bytes()
    }

    /// Payload of a full segment.
    pub(crate) fn segment_bytes(&self) -> u32 {
        self.congestion.window().mss
    }

    /// Room in the segment that the data with this number goes in: that of a full one, or what is
    /// left of the last one that was handed over, where the data follows on it.
    pub(crate) fn segment_room_bytes(&self, data_sequence: u64) -> u64 {
        let segment = self.congestion.segment_bytes();
        let last = self.snd.last_room_bytes(data_sequence, segment as usize);
        last.map_or(segment, |bytes| bytes as u64)
    }

    /// Bytes handed over and not acknowledged.
    pub(crate) fn outstanding_bytes(&self) -> u64 {
        self.snd.queued_bytes() + self.snd.outstanding_bytes()
    }

    /// Takes received data in order, at most `max_bytes`, with its offset.
    #[inline]
    pub(crate) fn take_received(&mut self, now: Nanos, max_bytes: usize) -> Option<(u64, Bytes)> {
        if self.receiver.ready_bytes() == 0 {
            return None;
        }
        self.take_ready(now, max_bytes)
    }

    fn take_ready(&mut self, now: Nanos, max_bytes: usize) -> Option<(u64, Bytes)> {
        let taken = self.receiver.take(max_bytes)?;
        if self.snd.is_window_shared() {
            return Some(taken);
        }
        self.receiver.on_read(now, taken.1.len() as u64);
        if self.state.may_receive() && self.receiver.should_update_window() {
            self.due.ack = true;
        }
        if self.receiver.ready_bytes() == 0 {
            self.acknowledge_read();
        }
        Some(taken)
    }

    /// The application has read all that came: lets an ACK go out that was held back, where the
    /// peer may wait for it.
    pub(crate) fn acknowledge_read(&mut self) {
        self.due.ack |= self.state.may_receive() && self.receiver.owes_ack();
    }

    /// Takes the room in the connection's window: lets an ACK go out where the peer should
    /// know.
    pub(crate) fn update_shared_window(&mut self, free_bytes: u64) {
        if self.state.may_receive() && self.receiver.should_update_shared_window(free_bytes) {
            self.due.ack = true;
        }
    }

    /// Takes the room that the connection's window leaves from the data that is handed over next.
    pub(crate) fn raise_send_window(&mut self, bytes: u64) {
        self.snd.raise_window(bytes);
    }

    /// Admits a segment within the window that the connection promises: it may come here, whatever
    /// was advertised on this subflow.
    pub(crate) fn admit_promised(&mut self, segment: &Segment, promised_bytes: u64) {
        let end = self.offset_of(segment) + segment.payload.len() as u64;
        self.receiver.promise(end, promised_bytes);
    }

    /// The last window that was advertised.
    pub(crate) fn advertised_window_bytes(&self) -> u64 {
        self.receiver.advertised_bytes()
    }

    /// Part of the receive buffer's memory that is payload.
    pub(crate) fn payload_share(&self) -> PayloadShare {
        self.receiver.share()
    }

    /// Lets the buffer grow as that of the connection, by the bytes read in a round trip.
    pub(crate) fn follow_receive_buffer(&mut self, read_bytes: u64) {
        self.receiver.follow(read_bytes);
    }

    /// The round trip as received data tells it: an end that only receives measures no other after
    /// the handshake. 0 before the first sample.
    pub(crate) fn receive_rtt_ns(&self) -> Nanos {
        self.receiver.rtt_ns()
    }

    /// Bytes that stand ready to be taken.
    pub(crate) fn ready_bytes(&self) -> u64 {
        self.receiver.ready_bytes()
    }

    /// Whether nothing more may be handed over to send.
    pub(crate) fn is_shut(&self) -> bool {
        self.snd.is_shut() || self.state == State::Closed
    }

    /// Whether the connection is closed, and nothing is left to transmit.
    pub(crate) fn is_done(&self) -> bool {
        self.state == State::Closed && !self.due.reset
    }

    /// Whether a new SYN may take its place, which is in TIME-WAIT (RFC 9293, section 3.6.1;
    /// RFC 6191, section 2).
    pub(crate) fn gives_way_to(&self, segment: &Segment) -> bool {
        self.state == State::TimeWait && self.is_newer_syn(segment)
    }

    /// Whether a segment is a SYN that cannot be an old one of this connection.
    fn is_newer_syn(&self, segment: &Segment) -> bool {
        if !segment.flags.syn || segment.flags.ack || segment.flags.rst {
            return false;
        }
        let later = self
            .receiver
            .offset(segment.sequence)
            .is_some_and(|offset| offset > self.receiver.next());
        later || self.options.is_newer(segment)
    }

    /// Lets an ACK go out.
    pub(crate) fn request_ack(&mut self) {
        self.due.ack = true;
    }

    /// Lets an ACK go out that the peer must answer.
    pub(crate) fn request_probe(&mut self) {
        self.due.probe = true;
    }

    /// Whether the window is that of the whole MPTCP connection: then the owner obeys the peer's
    /// ([`Tcp::send_window_bytes`]) and says what to offer ([`Extension::shared_window`]).
    pub(crate) fn share_window(&mut self, shared: bool) {
        self.snd.share_window(shared);
    }

    /// Length and mapping of the first segment that was sent and is not acknowledged cumulatively.
    pub(crate) fn first_unacknowledged(&self) -> Option<(u32, DataMapping)> {
        let record = self.scoreboard.oldest()?;
        let (_, mapping) = self.snd.sent(record.start, record.payload_bytes as usize);
        Some((record.payload_bytes, mapping?))
    }

    /// Forgets what was handed over and not sent.
    pub(crate) fn drop_unsent(&mut self) {
        self.snd.drop_queued();
    }
}
