//! Opening a connection (RFC 9293, sections 3.5 and 3.10.7.3).

use alloc::sync::Arc;

use mptcplab_wire::{Flags, Options, Segment};

use super::agreed_options::AgreedOptions;
use super::config::{FourTuple, TcpConfig};
use super::congestion_state::CongestionState;
use super::ecn::EcnState;
use super::extension::{Carrier, Extension};
use super::handshake_attempts::HandshakeAttempts;
use super::liveness::Liveness;
use super::outgoing_segment::OutgoingSegment;
use super::pacing::Pacer;
use super::progress::{CloseReason, Progress};
use super::rack::Rack;
use super::receiver::Receiver;
use super::recovery::Recovery;
use super::send_buffer::SendBuffer;
use super::send_state::SendState;
use super::state::State;
use super::timers::{Timer, Timers};
use super::{Due, Tcp};
use crate::Nanos;
use crate::rtt::{INITIAL_RTO_NS, RttEstimator};

/// MSS where the peer names none (RFC 9293, section 3.7.1, for IPv4).
const DEFAULT_MSS: u32 = 536;

/// Least MSS that is believed: a smaller one would send nothing but headers.
const LEAST_MSS: u32 = 88;

/// Least timeout above SRTT, whatever the settings say.
const LEAST_RTO_NS: Nanos = 1_000_000;

impl Tcp {
    /// Opens a connection whose data segments leave so much room for options, beside timestamps.
    /// The SYN leaves with the next [`Tcp::next_segment`].
    pub(crate) fn connect(
        now: Nanos,
        config: &Arc<TcpConfig>,
        option_reserve_bytes: u32,
        tuple: FourTuple,
        initial: u32,
    ) -> Self {
        let mut tcp = Self::new(now, config, tuple, initial, State::SynSent);
        tcp.option_reserve_bytes = option_reserve_bytes;
        tcp.due.syn = true;
        tcp.timers.set(Timer::Retransmission, now + INITIAL_RTO_NS);
        tcp
    }

    /// Answers a SYN in the same way. The SYN/ACK leaves with the next [`Tcp::next_segment`].
    pub(crate) fn accept(
        now: Nanos,
        config: &Arc<TcpConfig>,
        option_reserve_bytes: u32,
        tuple: FourTuple,
        initial: u32,
        syn: &Segment,
    ) -> Self {
        let mut tcp = Self::new(now, config, tuple, initial, State::SynReceived);
        tcp.option_reserve_bytes = option_reserve_bytes;
        tcp.counters.segments_in += 1;
        tcp.take_syn(now, syn);
        tcp.ecn.on_syn(syn.flags);
        tcp.due.syn = true;
        tcp.timers.set(Timer::Retransmission, now + INITIAL_RTO_NS);
        tcp
    }

    fn new(
        now: Nanos,
        config: &Arc<TcpConfig>,
        tuple: FourTuple,
        initial: u32,
        state: State,
    ) -> Self {
        let congestion = CongestionState::new(config);
        Self {
            tuple,
            state,
            orphaned: false,
            counters: Default::default(),
            timers: Timers::new(config.clock_granularity_ns),
            due: Due::default(),
            snd: SendState::new(initial),
            scoreboard: Default::default(),
            send_buffer: SendBuffer::new(config.send_buffer, congestion.window()),
            volume: Default::default(),
            times: Default::default(),
            congestion,
            rtt: RttEstimator::new(
                config
                    .min_rto_ns
                    .max(config.clock_granularity_ns)
                    .max(LEAST_RTO_NS),
                config.max_rto_ns,
            ),
            rate: Default::default(),
            rack: Rack::new(),
            recovery: Recovery::new(),
            loss_probe: None,
            duplicates: 0,
            pacer: Pacer::default(),
            paced_bits: 0,
            attempts: HandshakeAttempts::new(now),
            liveness: Liveness::new(now),
            receiver: Receiver::new(config.receive_buffer, config.mss),
            challenges: Default::default(),
            options: AgreedOptions::offered(config.clock_granularity_ns, initial),
            ecn: EcnState::new(config.ecn),
            config: Arc::clone(config),
            option_reserve_bytes: 0,
        }
    }

    /// Takes sequence number and options of the peer's SYN or SYN/ACK.
    fn take_syn(&mut self, now: Nanos, syn: &Segment) {
        self.options.on_syn(now, syn);
        let option_bytes = self.options.timestamps_bytes() as u64;
        self.receiver.on_syn(syn, option_bytes);
        self.snd.on_syn(syn);
        let peer_mss = syn.options.max_segment_bytes.map_or(DEFAULT_MSS, u32::from);
        let timestamps = self.options.timestamps_bytes() as u32;
        let mss = peer_mss.max(LEAST_MSS).min(self.config.mss);
        let mss = mss
            .saturating_sub(timestamps + self.option_reserve_bytes)
            .max(LEAST_MSS / 2);
        self.congestion.begin(mss);
        self.send_buffer = SendBuffer::new(self.config.send_buffer, self.congestion.window());
    }

    /// Leaves so much room for options in segments from now on, more than before.
    pub(crate) fn reserve_options(&mut self, bytes: u32) {
        let more = bytes.saturating_sub(self.option_reserve_bytes);
        self.option_reserve_bytes = bytes;
        if self.state != State::SynSent {
            let shorter = self.segment_bytes().saturating_sub(more);
            self.congestion
                .set_segment_bytes(shorter.max(LEAST_MSS / 2));
        }
    }

    /// The next SYN or SYN/ACK.
    pub(super) fn next_syn(&mut self) -> Option<OutgoingSegment> {
        if !core::mem::take(&mut self.due.syn) {
            return None;
        }
        if self.attempts.sent().is_some() {
            self.counters.segments_out += 1;
        } else {
            self.counters.retransmitted += 1;
        }
        let carrier = match self.state {
            State::SynReceived => Carrier::SynAck,
            _ => Carrier::Syn,
        };
        Some(OutgoingSegment::bare(0, carrier))
    }

    pub(super) fn write_syn(
        &mut self,
        now: Nanos,
        carrier: Carrier,
        extension: &mut impl Extension,
    ) -> Segment {
        let answers = carrier == Carrier::SynAck;
        let mut flags = Flags {
            syn: true,
            ack: answers,
            ..Flags::default()
        };
        let mut timestamps = self.options.timestamps(now);
        if answers {
            self.ecn.syn_ack_flags(&mut flags);
        } else {
            self.ecn.syn_flags(&mut flags);
            if let Some(timestamps) = &mut timestamps {
                timestamps.echo = 0;
            }
        }
        let mut options = Options {
            max_segment_bytes: Some(u16::try_from(self.config.mss).unwrap_or(u16::MAX)),
            window_shift: self.receiver.window_shift(),
            sack_permitted: self.options.sack(),
            timestamps,
            ..Options::default()
        };
        self.extend(carrier, extension, &mut options);
        let window = self.receiver.syn_window();
        Segment {
            source: self.tuple.local,
            destination: self.tuple.remote,
            sequence: self.snd.wire(0),
            acknowledgement: if answers { self.receiver.wire(1) } else { 0 },
            flags,
            window,
            urgent: 0,
            options,
            ecn: Default::default(),
            payload: Default::default(),
        }
    }

    /// Takes the error of a router that a segment with this sequence number had no route: the end
    /// of a connection that is being opened. One that is open goes on, as the error may pass
    /// (RFC 1122, section 4.2.3.9).
    ///
    /// Source: `tcp_v4_err` in Linux 6.18, net/ipv4/tcp_ipv4.c.
    pub(crate) fn on_unreachable(&mut self, sequence: u32) -> Progress {
        let mut progress = Progress::default();
        let ends = match self.state {
            State::SynSent => true,
            // Linux drops a request without an account of it, and over IPv4 alone.
            State::SynReceived => self.tuple.remote.is_ipv4(),
            _ => false,
        };
        if ends && sequence == self.snd.wire(0) {
            self.counters.failed_attempts += u32::from(self.state == State::SynSent);
            self.close(CloseReason::Unreachable, &mut progress);
        }
        progress
    }

    /// Takes a segment in SYN-SENT.
    pub(super) fn receive_in_syn_sent(
        &mut self,
        now: Nanos,
        segment: &Segment,
        progress: &mut Progress,
    ) {
        let flags = segment.flags;
        let answers = flags.ack && segment.acknowledgement == self.snd.wire(1);
        if flags.ack && !answers {
            progress.answer_with_reset = !flags.rst;
            return;
        }
        if flags.rst {
            if answers {
                self.counters.failed_attempts += 1;
                self.close(CloseReason::Refused, progress);
            }
            return;
        }
        if !flags.syn {
            return;
        }
        progress.accepted = true;
        self.take_syn(now, segment);
        if !answers {
            // Both opened at once (section 3.5, figure 7).
            self.state = State::SynReceived;
            self.ecn.on_syn(flags);
            self.due.syn = true;
            return;
        }
        self.ecn.on_syn_ack(flags);
        self.snd.on_syn_acknowledged();
        self.due.handshake_ack = true;
        self.establish(now, segment, progress);
    }

    /// Enters ESTABLISHED, as the handshake is complete.
    pub(super) fn establish(&mut self, now: Nanos, segment: &Segment, progress: &mut Progress) {
        self.state = State::Established;
        progress.established = true;
        self.timers.clear(Timer::Retransmission);
        let echoed = self.options.elapsed_ns(now, segment);
        let round_trip = self
            .attempts
            .sent()
            .map(|sent| self.round_trip_ns(now, sent));
        let round_trip = round_trip.or(echoed);
        if let Some(round_trip) = round_trip {
            self.sample(now, round_trip);
        }
        // A SYN lost twice tells of congestion (RFC 6928, section 3; the count is Linux's).
        if self.attempts.is_congested() {
            self.congestion.begin_slowly();
        }
        self.liveness.on_segment(now);
        self.start_keepalive(now);
    }
}
