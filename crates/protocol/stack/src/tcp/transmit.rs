//! The next segment to leave: retransmissions, new data, FIN, acknowledgements, in this order.

use bytes::Bytes;

use super::Tcp;
use super::extension::Carrier;
use super::outgoing_segment::OutgoingSegment;
use super::recovery::Phase;
use super::state::State;
use super::timers::Timer;
use crate::Nanos;

impl Tcp {
    /// The segment that leaves now; to be called until there is none. It counts as sent: it is to
    /// be [written](Tcp::write) at once.
    pub(crate) fn next_segment(&mut self, now: Nanos) -> Option<OutgoingSegment> {
        if self.due.reset {
            return Some(self.reset_segment());
        }
        match self.state {
            State::Closed => None,
            State::SynSent | State::SynReceived => self.next_syn(),
            _ => self.next_synchronised(now),
        }
    }

    fn next_synchronised(&mut self, now: Nanos) -> Option<OutgoingSegment> {
        if self.due.handshake_ack {
            return Some(self.bare_segment(self.snd.next(), Carrier::HandshakeAck));
        }
        if !self.scoreboard.is_empty() || self.snd.has_queued() || self.snd.fin_is_due() {
            let segment = self.next_data(now);
            if segment.is_some() {
                return segment;
            }
        }
        self.note_limit(now);
        if core::mem::take(&mut self.due.probe) {
            return Some(self.bare_segment(self.snd.una() - 1, Carrier::Ack));
        }
        if self.due.ack {
            return Some(self.bare_segment(self.snd.next(), Carrier::Ack));
        }
        None
    }

    /// A segment without payload.
    fn bare_segment(&mut self, offset: u64, carrier: Carrier) -> OutgoingSegment {
        self.counters.segments_out += 1;
        OutgoingSegment::bare(offset, carrier)
    }

    fn next_data(&mut self, now: Nanos) -> Option<OutgoingSegment> {
        if self.due.loss_probe {
            return self.next_loss_probe(now);
        }
        if let Some(until) = self.paced_until(now) {
            self.timers.set(Timer::Pacing, until);
            return None;
        }
        if self.scoreboard.has_lost() {
            let segment = self.next_retransmission(now);
            if segment.is_some() {
                return segment;
            }
        }
        let segment = self.new_segment(now, false);
        if segment.is_none() {
            let has_room = self.flight_bytes() < self.congestion.window_bytes();
            if has_room && !self.snd.has_queued() {
                let flight = self.scoreboard.in_flight_bytes();
                self.rate.limit_by_application(flight);
            }
            self.watch_closed_window(now);
        }
        segment
    }

    fn paced_until(&self, now: Nanos) -> Option<Nanos> {
        self.config
            .pacing
            .then(|| self.pacer.blocked_until(now))
            .flatten()
    }

    /// Lets a window shrink that rested, as new data is handed over.
    pub(super) fn restart_after_idle(&mut self, now: Nanos) {
        if self.scoreboard.is_empty() && self.recovery.phase == Phase::Open {
            self.congestion.restart_after_idle(now, self.rtt.rto_ns());
        }
    }

    /// Notes the use of the congestion window, after new data has left.
    fn on_new_data_sent(&mut self, now: Nanos) {
        let flight = self.flight_bytes();
        let (acknowledged, next) = (self.snd.una(), self.snd.next());
        let limited = self
            .congestion
            .on_new_data_sent(now, flight, acknowledged, next);
        if !limited && !self.snd.has_queued() {
            let reducing = self.recovery.phase != Phase::Open || self.is_awaited();
            self.congestion
                .shrink_unused(now, self.rtt.rto_ns(), reducing);
        }
    }

    /// New data, or a FIN, where windows and Nagle's algorithm let it go. A probe needs no room
    /// in the congestion window.
    pub(super) fn new_segment(&mut self, now: Nanos, probe: bool) -> Option<OutgoingSegment> {
        if !matches!(self.state, State::Established | State::CloseWait) {
            return None;
        }
        if !self.snd.has_queued() {
            if !self.snd.fin_is_due() {
                return None;
            }
            return Some(self.send_new(now, Bytes::new(), None, true));
        }
        let bytes = self.next_new_bytes(probe)?;
        if !self.snd.next_is_mapped() {
            self.restart_after_idle(now);
        }
        if self.scoreboard.is_empty() {
            self.congestion.end_rest(now);
        }
        let (payload, mapping, fin) = self.snd.take(bytes as usize);
        Some(self.send_new(now, payload, mapping, fin))
    }

    /// Length of the next new segment, where it may go now.
    fn next_new_bytes(&self, probe: bool) -> Option<u64> {
        let segment = self.congestion.segment_bytes();
        let wanted = self.snd.next_bytes(segment);
        let flight = self.flight_bytes();
        if !probe && flight > 0 && flight + segment > self.congestion.window_bytes() {
            return None;
        }
        let bytes = self.snd.fit_window(wanted, self.due.silly)?;
        let may_go =
            probe || bytes >= segment || self.config.no_delay || self.snd.small_may_go(bytes);
        may_go.then_some(bytes)
    }

    fn send_new(
        &mut self,
        now: Nanos,
        payload: Bytes,
        mapping: Option<super::DataMapping>,
        fin: bool,
    ) -> OutgoingSegment {
        let bytes = payload.len() as u64;
        let segment_bytes = self.congestion.segment_bytes();
        let offset = self.snd.send(bytes, fin, segment_bytes);
        let stamp = self.rate.stamp(now, self.scoreboard.is_empty());
        self.scoreboard
            .push(now, offset, bytes as u32, mapping.is_some(), fin, stamp);
        self.volume.count_sent(bytes);
        self.counters.segments_out += 1;
        if fin {
            self.on_fin_sent();
        }
        if bytes > 0 {
            self.counters.original_data += 1;
            self.receiver.on_data_sent(now, self.config.delayed_ack_ns);
        }
        self.recovery.on_sent(self.congestion.segment_bytes());
        self.on_new_data_sent(now);
        self.fill_send_buffer(now);
        self.pace(now, bytes);
        self.timers.clear(Timer::Persist);
        self.liveness.end_persist_backoff();
        self.due.silly = false;
        self.extend_timers(now);
        OutgoingSegment::data(offset, payload, mapping, fin, true)
    }

    /// Notes when the next segment may follow one of so many bytes.
    pub(super) fn pace(&mut self, now: Nanos, bytes: u64) {
        if self.config.pacing
            && let Some(rate) = self.pacing_rate_bps()
        {
            let granularity = self.config.clock_granularity_ns;
            self.pacer.on_sent(now, bytes, rate, granularity);
        }
    }

    /// Lets the peer's window be probed in time, where nothing on its way could open it again.
    fn watch_closed_window(&mut self, now: Nanos) {
        let wanted = self.snd.next_bytes(self.congestion.segment_bytes());
        let waiting = self.snd.has_queued()
            && self.scoreboard.is_empty()
            && !self.snd.is_window_shared()
            && self.next_new_bytes(true).is_none()
            && self.snd.fit_window(wanted, self.due.silly).is_none();
        if waiting && self.timers.get(Timer::Persist).is_none() {
            self.timers.set(Timer::Persist, now + self.rtt.rto_ns());
        }
    }
}
