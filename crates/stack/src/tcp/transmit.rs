//! What leaves next: retransmissions, new data, FIN, acknowledgements, in this order.

use bytes::Bytes;

use super::Tcp;
use super::draft::Draft;
use super::extension::Carrier;
use super::state::State;
use super::timers::Timer;
use crate::Nanos;

impl Tcp {
    /// What leaves now, to be called until there is nothing. It counts as sent: it is to be
    /// [written](Tcp::write) at once.
    pub fn draft(&mut self, now: Nanos) -> Option<Draft> {
        if self.due.reset {
            return Some(self.draft_reset());
        }
        match self.state {
            State::Closed => None,
            State::SynSent | State::SynReceived => self.draft_syn(),
            _ => self.draft_synchronised(now),
        }
    }

    fn draft_synchronised(&mut self, now: Nanos) -> Option<Draft> {
        if self.due.handshake_ack {
            return Some(self.draft_bare(self.next, Carrier::HandshakeAck));
        }
        if !self.records.is_empty() || !self.queue.is_empty() || self.fin_is_due() {
            let draft = self.draft_data(now);
            if draft.is_some() {
                return draft;
            }
        }
        if core::mem::take(&mut self.due.probe) {
            return Some(self.draft_bare(self.una - 1, Carrier::Ack));
        }
        if self.due.ack {
            return Some(self.draft_bare(self.next, Carrier::Ack));
        }
        None
    }

    /// A segment without payload.
    fn draft_bare(&mut self, offset: u64, carrier: Carrier) -> Draft {
        self.counters.segments_out += 1;
        Draft::bare(offset, carrier)
    }

    fn draft_data(&mut self, now: Nanos) -> Option<Draft> {
        if self.due.loss_probe {
            return self.draft_loss_probe(now);
        }
        if let Some(until) = self.paced_until(now) {
            self.timers.set(Timer::Pacing, until);
            return None;
        }
        if self.records.has_lost() {
            let draft = self.draft_lost(now);
            if draft.is_some() {
                return draft;
            }
        }
        let draft = self.draft_new(now, false);
        if draft.is_none() {
            if self.queue.is_empty() {
                let flight = self.records.in_flight_bytes();
                if flight < self.window.bytes {
                    self.rate.limit_by_application(flight);
                }
            }
            self.watch_closed_window(now);
        }
        draft
    }

    fn paced_until(&self, now: Nanos) -> Option<Nanos> {
        self.config
            .pacing
            .then(|| self.pacer.blocked_until(now))
            .flatten()
    }

    /// New data, or a FIN, where windows and Nagle's algorithm let it go. A probe needs no room
    /// in the congestion window.
    pub(super) fn draft_new(&mut self, now: Nanos, probe: bool) -> Option<Draft> {
        if !matches!(self.state, State::Established | State::CloseWait) {
            return None;
        }
        if self.queue.is_empty() {
            if !self.fin_is_due() {
                return None;
            }
            return Some(self.send_new(now, Bytes::new(), None, true));
        }
        let bytes = self.next_new_bytes(probe)?;
        self.restart_after_idle(now);
        let (payload, mapping) = self.queue.take(bytes as usize);
        let fin = self.queue.is_empty() && self.shut;
        Some(self.send_new(now, payload, mapping, fin))
    }

    /// New data may go out.
    pub(super) fn may_send_new(&self) -> bool {
        !self.queue.is_empty() && self.peer_room_bytes() > 0
    }

    /// What the peer's window leaves for new data. One that all subflows share is obeyed at the
    /// level of data; it holds for each of them too, as a peer drops what lies beyond, and a path
    /// that does not scale windows has a smaller one. There a subflow that waits for nothing may
    /// send all the same: what it was handed is within the window of the data.
    pub(super) fn peer_room_bytes(&self) -> u64 {
        if self.window_shared && self.next == self.una {
            return u64::MAX;
        }
        (self.una + self.peer_window.bytes()).saturating_sub(self.next)
    }

    /// Length of the next new segment, where it may go now.
    fn next_new_bytes(&self, probe: bool) -> Option<u64> {
        let segment = u64::from(self.window.mss);
        let wanted = self.queue.next_bytes(segment);
        let flight = self.records.in_flight_bytes();
        if !probe && flight > 0 && flight + wanted > self.window.bytes {
            return None;
        }
        let bytes = self.fit_peer_window(wanted)?;
        (bytes >= segment || self.small_may_go(bytes)).then_some(bytes)
    }

    /// What the peer's window takes of a segment; no silly parts of it (RFC 9293,
    /// section 3.8.6.2.1).
    fn fit_peer_window(&self, wanted: u64) -> Option<u64> {
        let usable = self.peer_room_bytes();
        if usable >= wanted {
            return Some(wanted);
        }
        let large = 2 * usable >= self.peer_window.largest_bytes();
        let worth = usable > 0 && (large || self.due.silly);
        (worth && !self.queue.next_is_mapped()).then_some(usable)
    }

    /// Nagle's algorithm (RFC 9293, section 3.7.4) in Minshall's form: one segment that is not
    /// full at a time.
    fn small_may_go(&self, bytes: u64) -> bool {
        let last = bytes == self.queue.bytes();
        self.config.no_delay
            || self.queue.next_is_mapped()
            || self.small_end <= self.una
            || (last && self.shut)
    }

    fn fin_is_due(&self) -> bool {
        self.shut && self.fin_offset.is_none() && self.queue.is_empty()
    }

    fn send_new(
        &mut self,
        now: Nanos,
        payload: Bytes,
        mapping: Option<super::DataMapping>,
        fin: bool,
    ) -> Draft {
        let offset = self.next;
        let bytes = payload.len() as u64;
        let stamp = self.rate.stamp(now, self.records.is_empty());
        self.records
            .push(now, offset, payload.clone(), mapping, fin, stamp);
        self.next += bytes + u64::from(fin);
        self.sent_bytes += bytes;
        self.counters.segments_out += 1;
        if fin {
            self.fin_offset = Some(offset + bytes);
            self.on_fin_sent();
        }
        if bytes > 0 {
            self.counters.original_data += 1;
            self.acks.on_data_sent(now, self.config.delayed_ack_ns);
        }
        if bytes < u64::from(self.window.mss) {
            self.small_end = self.next;
        }
        self.recovery.on_sent(bytes);
        self.note_usage(now);
        self.pace(now, bytes);
        self.timers.clear(Timer::Persist);
        self.persist_backoff = 0;
        self.due.silly = false;
        if self.timers.get(Timer::Retransmission).is_none() {
            self.timers
                .set(Timer::Retransmission, now + self.rtt.rto_ns());
        }
        self.schedule_loss_probe(now);
        Draft::data(offset, payload, mapping, fin, true)
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

    /// Nothing is on its way that could open the peer's window again: probe it in time.
    fn watch_closed_window(&mut self, now: Nanos) {
        let waiting = !self.queue.is_empty()
            && self.records.is_empty()
            && !self.window_shared
            && self.next_new_bytes(true).is_none()
            && self
                .fit_peer_window(self.queue.next_bytes(u64::from(self.window.mss)))
                .is_none();
        if waiting && self.timers.get(Timer::Persist).is_none() {
            self.timers.set(Timer::Persist, now + self.rtt.rto_ns());
        }
    }
}
