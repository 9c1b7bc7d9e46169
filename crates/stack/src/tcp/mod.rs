//! One TCP connection (RFC 9293), which may be a subflow of an MPTCP connection.
//!
//! [`Tcp`] takes segments and the time and gives segments and the next deadline. What MPTCP adds
//! to segments comes from its owner through an [`Extension`]; the owner also reads the options of
//! MPTCP in segments received.
//!
//! Places in the stream are offsets of 64 bits: 0 is the SYN, 1 the first byte of data.

mod ack_policy;
mod acknowledge;
mod alarm;
mod close;
mod config;
mod counters;
mod delivery;
mod draft;
mod ecn;
mod extension;
mod handshake;
mod inbox;
mod info;
mod loss_interval;
mod loss_probe;
pub(crate) mod pacing;
mod peer_window;
mod progress;
mod rack;
mod rate;
mod receive;
mod receive_buffer;
mod receive_window;
mod records;
mod recovery;
mod retransmit;
mod segment;
mod send_buffer;
mod send_queue;
mod state;
mod timeout;
mod timers;
mod timestamps;
mod transmit;
mod undo;
mod usage;
mod view;

use alloc::boxed::Box;

use bytes::Bytes;
use mptcplab_wire::Segment;

use crate::Nanos;
use crate::congestion::{CongestionControl, Window};
use crate::rtt::RttEstimator;
use crate::sequence::Numbering;

pub(crate) use config::mss_of;
pub use config::{BufferLimits, EcnPolicy, FourTuple, Keepalive, TcpConfig};
pub use counters::TcpCounters;
pub use draft::Draft;
pub use extension::{Carrier, DataMapping, Extension, NoExtension};
pub use info::TcpInfo;
pub use progress::{CloseReason, Progress};
pub(crate) use receive_buffer::{PayloadShare, ReceiveBuffer};
pub use receive_window::SharedWindow;
pub(crate) use receive_window::usable_bytes;
pub use state::State;

use ack_policy::AckPolicy;
use ecn::EcnState;
use inbox::Inbox;
use loss_interval::LossInterval;
use loss_probe::LossProbe;
use pacing::Pacer;
use peer_window::PeerWindow;
use rack::Rack;
use rate::DeliveryRate;
use receive_window::ReceiveWindow;
use records::Records;
use recovery::Recovery;
use send_buffer::SendBuffer;
use send_queue::SendQueue;
use timers::Timers;
use timestamps::TimestampState;
use usage::WindowUsage;

/// One TCP connection.
#[derive(Debug)]
pub struct Tcp {
    config: TcpConfig,
    tuple: FourTuple,
    state: State,
    /// The application has let go of it.
    orphaned: bool,
    counters: TcpCounters,
    timers: Timers,
    due: Due,

    // What this end sends.
    numbers_out: Numbering,
    /// SND.UNA.
    una: u64,
    /// SND.NXT.
    next: u64,
    queue: SendQueue,
    records: Records,
    /// No data follows what is queued.
    shut: bool,
    /// Offset of the FIN, once sent.
    fin_offset: Option<u64>,
    /// End of the last segment that was not full: Nagle's algorithm waits for its acknowledgement.
    small_end: u64,
    peer_window: PeerWindow,
    /// The window is that of the whole MPTCP connection, and the owner obeys it.
    window_shared: bool,
    acknowledged_bytes: u64,
    sent_bytes: u64,
    retransmitted_bytes: u64,

    // Loss and congestion.
    window: Window,
    send_buffer: SendBuffer,
    control: Box<dyn CongestionControl>,
    usage: WindowUsage,
    loss_interval: LossInterval,
    rtt: RttEstimator,
    rate: DeliveryRate,
    rack: Rack,
    recovery: Recovery,
    loss_probe: Option<LossProbe>,
    /// Duplicate acknowledgements in a row, where there is no SACK.
    duplicates: u32,
    pacer: Pacer,
    /// The retransmission timer has fired, and nothing was acknowledged since.
    timed_out_before: bool,
    /// When it fired first without an answer since.
    unanswered_since: Option<Nanos>,
    handshake_timeouts: u32,
    /// When SYN or SYN/ACK was sent; none once it was sent again.
    handshake_sent: Option<Nanos>,
    /// Probes of a closed window or an idle peer without an answer.
    probes: u32,
    /// How often the timer of a closed window was doubled.
    persist_backoff: u32,

    // What this end receives.
    numbers_in: Numbering,
    inbox: Inbox,
    receive_window: ReceiveWindow,
    acks: AckPolicy,
    received_bytes: u64,
    /// When the last acceptable segment came.
    heard_at: Nanos,
    /// When a segment that was not acceptable was last answered.
    challenged_at: Option<Nanos>,

    // Options that both ends agreed on.
    sack: bool,
    timestamps: Option<TimestampState>,
    ecn: EcnState,
}

/// What is to be sent next.
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
    /// Hands over data to send. With a mapping the bytes are one segment, for ever; they should
    /// be no more than [`Tcp::segment_bytes`]. After [`Tcp::shutdown`] nothing is taken any more.
    pub fn send(&mut self, payload: Bytes, mapping: Option<DataMapping>) {
        if !self.shut {
            self.queue.push(payload, mapping);
        }
    }

    /// What the congestion window and the peer's leave beyond what is in flight and queued.
    pub fn room_bytes(&self) -> u64 {
        let admitted = self.peer_room_bytes().saturating_sub(self.queue.bytes());
        self.congestion_room_bytes().min(admitted)
    }

    /// The same of the congestion window alone.
    fn congestion_room_bytes(&self) -> u64 {
        let used = self.records.in_flight_bytes() + self.queue.bytes();
        self.window.bytes.saturating_sub(used)
    }

    /// Payload of a full segment.
    pub fn segment_bytes(&self) -> u32 {
        self.window.mss
    }

    /// Bytes handed over and not sent.
    pub fn queued_bytes(&self) -> u64 {
        self.queue.bytes()
    }

    /// Bytes handed over and not acknowledged.
    pub fn outstanding_bytes(&self) -> u64 {
        self.queue.bytes() + self.next.saturating_sub(self.una.max(1))
    }

    /// Takes received data in order, at most `max_bytes`, with its offset.
    #[inline]
    pub fn take_received(&mut self, now: Nanos, max_bytes: usize) -> Option<(u64, Bytes)> {
        if self.inbox.ready_bytes() == 0 {
            return None;
        }
        self.take_ready(now, max_bytes)
    }

    fn take_ready(&mut self, now: Nanos, max_bytes: usize) -> Option<(u64, Bytes)> {
        let taken = self.inbox.take(max_bytes)?;
        if self.window_shared {
            return Some(taken);
        }
        let next = self.inbox.next();
        let held = self.inbox.held_bytes();
        let ready = self.inbox.ready_bytes();
        let beyond = self.inbox.beyond_bytes();
        self.receive_window
            .on_read(now, taken.1.len() as u64, ready, beyond);
        if self.state.may_receive() && self.receive_window.should_update(next, held) {
            self.due.ack = true;
        }
        Some(taken)
    }

    /// The window of the connection has so much room now: lets an ACK go out where the peer should
    /// know.
    pub fn update_shared_window(&mut self, free_bytes: u64) {
        let next = self.inbox.next();
        if self.state.may_receive() && self.receive_window.should_update_shared(next, free_bytes) {
            self.due.ack = true;
        }
    }

    /// The window of the connection leaves so much from the data that is handed over next.
    pub fn raise_send_window(&mut self, bytes: u64) {
        self.peer_window.raise(bytes);
    }

    /// The window of the connection promises so much: a segment within it may come here, whatever
    /// was advertised on this subflow.
    pub fn admit_promised(&mut self, segment: &Segment, promised_bytes: u64) {
        let next = self.inbox.next();
        if self.offset_of(segment) + segment.payload.len() as u64 > self.receive_window.right() {
            self.receive_window.promise(next, promised_bytes);
        }
    }

    /// The last window that was advertised.
    pub fn advertised_window_bytes(&self) -> u64 {
        self.receive_window.advertised_bytes()
    }

    /// Part of the receive buffer's memory that is payload.
    pub(crate) fn payload_share(&self) -> PayloadShare {
        self.receive_window.share()
    }

    /// The buffer of the connection grew as the application read so much in a round trip.
    pub fn follow_receive_buffer(&mut self, read_bytes: u64) {
        self.receive_window.follow(read_bytes);
    }

    /// The round trip as received data tells it: an end that only receives measures no other after
    /// the handshake. 0 before the first sample.
    pub fn receive_rtt_ns(&self) -> Nanos {
        self.receive_window.rtt_ns()
    }

    /// Bytes that stand ready to be taken.
    pub fn ready_bytes(&self) -> u64 {
        self.inbox.ready_bytes()
    }

    /// Nothing more may be handed over to send.
    pub fn is_shut(&self) -> bool {
        self.shut || self.state == State::Closed
    }

    /// The connection is closed, and nothing is left to transmit.
    pub fn is_done(&self) -> bool {
        self.state == State::Closed && !self.due.reset
    }

    /// A SYN that cannot be an old one of this connection.
    pub fn is_newer_syn(&self, segment: &Segment) -> bool {
        if !segment.flags.syn || segment.flags.ack || segment.flags.rst {
            return false;
        }
        let later = self
            .numbers_in
            .offset(segment.sequence, self.inbox.next())
            .is_some_and(|offset| offset > self.inbox.next());
        later
            || self
                .timestamps
                .as_ref()
                .zip(segment.options.timestamps)
                .is_some_and(|(state, timestamps)| state.is_newer(timestamps.value))
    }

    /// Lets an ACK go out.
    pub fn request_ack(&mut self) {
        self.due.ack = true;
    }

    /// Lets an ACK go out that the peer must answer.
    pub fn request_probe(&mut self) {
        self.due.probe = true;
    }

    /// Whether the window is that of the whole MPTCP connection: then the owner obeys the peer's
    /// ([`Tcp::send_window_bytes`]) and says what to offer ([`Extension::shared_window`]).
    pub fn share_window(&mut self, shared: bool) {
        self.window_shared = shared;
    }

    /// What was sent and is not acknowledged cumulatively: offset, payload and mapping.
    pub fn unacknowledged(&self) -> impl Iterator<Item = (u64, &Bytes, Option<DataMapping>)> {
        self.records
            .iter()
            .map(|record| (record.start, &record.payload, record.mapping))
    }

    /// What was handed over and not sent.
    pub fn unsent(&self) -> impl Iterator<Item = (&Bytes, Option<DataMapping>)> {
        self.queue.iter()
    }

    /// Forgets what was handed over and not sent.
    pub fn drop_unsent(&mut self) {
        self.queue.clear();
    }
}
