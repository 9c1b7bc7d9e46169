//! Which data goes on which subflow, and what is sent again.

use alloc::vec::Vec;

use mptcplab_wire::checksum;
use mptcplab_wire::option::{DataNumber, Mapping};

use super::connection::{Connection, Mode};
use super::sender::Sender;
use super::subflow::{Stage, Subflow};
use crate::Nanos;
use crate::endpoint::Event;
use crate::scheduler::{
    Choice, SchedulerKind, SubflowView, View, opportunistic_retransmission, preferred,
};
use crate::tcp::{CloseReason, DataMapping, Tcp};

/// Data handed to a subflow at once after a fallback.
const PLAIN_BYTES: u64 = 1 << 16;

/// Interval of the retransmission timer of data before any round trip is known.
const FIRST_INTERVAL_NS: Nanos = 1_000_000_000;

impl Connection {
    /// Hands data to subflows. True where a subflow got some.
    pub(super) fn schedule(&mut self, now: Nanos) -> bool {
        let handed = match self.mode {
            Mode::Opening => false,
            Mode::Fallback => self.schedule_plain(),
            Mode::Multipath => self.schedule_mapped(now),
        };
        self.widen_send_buffers();
        handed
    }

    fn schedule_plain(&mut self) -> bool {
        let Some(first) = self.subflows.iter_mut().find(|subflow| subflow.is_first()) else {
            return false;
        };
        let mut handed = false;
        while self.sender.next() < self.sender.end()
            && first.tcp.outstanding_bytes() < first.tcp.send_buffer_bytes()
        {
            let from = self.sender.next();
            let data = self.sender.slice(from, PLAIN_BYTES);
            self.sender.handed(from, from + data.len() as u64, 0);
            first.tcp.send(data, None);
            handed = true;
        }
        if self.sender.is_shut() && self.sender.next() == self.sender.end() && !first.closing {
            first.tcp.shutdown();
            first.closing = true;
            handed = true;
        }
        first.pending |= handed;
        handed
    }

    fn schedule_mapped(&mut self, now: Nanos) -> bool {
        let mut handed = self.send_fin(now);
        let unsent = self.sender.next() < self.sender.end();
        if !unsent && self.sender.again().is_none() && !self.sends_everything_everywhere() {
            return handed;
        }
        self.look_at_subflows();
        handed |= self.send_again();
        // New data comes after what may be lost: a scheduler that queues more than the congestion
        // window would leave no room for that as long as there is new data.
        while self.sender.again().is_none()
            && let Some(choice) = self.choose(now)
        {
            if !self.hand(choice) {
                break;
            }
            handed = true;
        }
        if handed {
            self.send_fin(now);
        }
        self.restart_data_timer(now, false);
        handed
    }

    /// A scheduler may have something for a slower subflow although all data was handed out once.
    fn sends_everything_everywhere(&self) -> bool {
        matches!(self.config.scheduler, SchedulerKind::Redundant)
            && self.sender.acknowledged() < self.sender.next()
    }

    /// Fills `views` with the usable subflows. Those that have stalled count only where there is
    /// no other.
    fn look_at_subflows(&mut self) {
        self.views.clear();
        let usable = |subflow: &&Subflow| subflow.may_send();
        let working = self
            .subflows
            .iter()
            .filter(usable)
            .any(|subflow| !subflow.stalled);
        let views = self
            .subflows
            .iter()
            .filter(usable)
            .filter(|subflow| !working || !subflow.stalled)
            .map(Subflow::view);
        self.views.extend(views);
    }

    fn choose(&mut self, now: Nanos) -> Option<Choice> {
        if self.views.is_empty() {
            return None;
        }
        let choice = self.scheduler.choose(&view(now, &self.views, &self.sender));
        if choice.is_some() || !self.config.opportunistic_retransmission {
            return choice;
        }
        self.retransmit_opportunistically(now)
    }

    fn retransmit_opportunistically(&mut self, now: Nanos) -> Option<Choice> {
        let from = self.sender.acknowledged();
        let (carriers, bytes) = self.carriers_of(from);
        let view = view(now, &self.views, &self.sender);
        let found = opportunistic_retransmission(&view, &carriers, bytes)?;
        let faster = self.views[found.choice.subflow].id;
        if let Some(faster) = self
            .subflows
            .iter_mut()
            .find(|subflow| subflow.id == faster)
        {
            faster.relieved_until = from + bytes;
        }
        if self.config.penalisation {
            let id = self.views[found.held_by].id;
            if let Some(slow) = self.subflows.iter_mut().find(|subflow| subflow.id == id)
                && slow.penalised_until <= now
            {
                slow.penalised_until = now + slow.tcp.smoothed_rtt_ns();
                slow.tcp
                    .shrink_window(slow.tcp.congestion_window().bytes / 2);
            }
        }
        Some(found.choice)
    }

    /// The subflows whose first unacknowledged segment holds the byte at `from`, or that were given
    /// it again, the one that was given it first in front, and how many bytes of the segment there
    /// are from there.
    fn carriers_of(&self, from: u64) -> (Vec<u32>, u64) {
        let mut carriers = Vec::new();
        let mut bytes = 0;
        for subflow in &self.subflows {
            if from < subflow.relieved_until {
                carriers.push(subflow.id);
                continue;
            }
            let oldest = subflow.tcp.unacknowledged().next();
            let Some((_, payload, Some(mapping))) = oldest else {
                continue;
            };
            let number = DataNumber::Long(mapping.data_sequence);
            let Some(start) = self.sender.numbers().offset(number, from) else {
                continue;
            };
            let end = start + payload.len() as u64;
            if start <= from && from < end {
                carriers.push(subflow.id);
                bytes = end - from;
            }
        }
        // The one that holds it up is the slowest.
        carriers.sort_by_key(|id| {
            let rtt = self
                .subflows
                .iter()
                .find(|subflow| subflow.id == *id)
                .map(|subflow| subflow.tcp.smoothed_rtt_ns());
            core::cmp::Reverse(rtt)
        });
        (carriers, bytes)
    }

    /// Sends again what other subflows may have lost: on the fastest with room. That the others
    /// lack room is no reason to use a backup (RFC 8684, section 3.3.8).
    fn send_again(&mut self) -> bool {
        let mut handed = false;
        while let Some((from, to)) = self.sender.again() {
            let best = preferred(&self.views)
                .filter(|(_, view)| view.has_room())
                .min_by_key(|(_, view)| view.smoothed_rtt_ns);
            let Some((place, view)) = best else {
                break;
            };
            let bytes = (to - from).min(view.segment_bytes);
            let choice = Choice {
                subflow: place,
                from,
                bytes,
            };
            if !self.hand(choice) {
                break;
            }
            self.sender.sent_again(from + bytes);
            handed = true;
        }
        handed
    }

    /// Hands data to a subflow, cut into segments. False where nothing was handed.
    fn hand(&mut self, choice: Choice) -> bool {
        let id = self.views[choice.subflow].id;
        let Some(index) = self.index_of(id) else {
            return false;
        };
        let subflow = &mut self.subflows[index];
        let segment_bytes = u64::from(subflow.tcp.segment_bytes());
        let new = choice.from >= self.sender.next();
        self.linear &= new && subflow.is_first();
        let mut from = choice.from;
        let end = choice.from + choice.bytes;
        while from < end {
            let bytes = (end - from).min(segment_bytes);
            let small = bytes < segment_bytes && from + bytes == self.sender.end();
            if new && small && !self.tcp.no_delay && self.sender.holds_small_back() {
                break;
            }
            let payload = self.sender.slice(from, bytes);
            let window_end = self.sender.window_end();
            subflow
                .tcp
                .raise_send_window(window_end.saturating_sub(from));
            // The last data brings DATA_FIN with it (RFC 8684, section 3.3.3).
            let last = new && self.sender.is_shut() && from + bytes == self.sender.end();
            let with_keys = from == 0 && !self.confirmed;
            let data_fin = last && !with_keys;
            let data_sequence = self.sender.numbers().wire(from);
            let checksum = self.checksum.then(|| {
                let mapping = Mapping {
                    data_sequence: DataNumber::Long(data_sequence),
                    subflow_sequence: subflow.handed as u32,
                    bytes: bytes as u16 + u16::from(data_fin),
                    checksum: None,
                };
                let mut sum = checksum::data_pseudo_header(data_sequence, &mapping);
                sum.add(&payload);
                sum.finish()
            });
            subflow.tcp.send(
                payload,
                Some(DataMapping {
                    data_sequence,
                    data_fin,
                    checksum,
                }),
            );
            subflow.handed += bytes;
            self.sender.handed(from, from + bytes, segment_bytes);
            if data_fin {
                self.sender.fin_goes_with_data();
            }
            from += bytes;
        }
        subflow.sent_until = subflow.sent_until.max(from);
        subflow.pending = true;
        self.views[choice.subflow] = subflow.view();
        from > choice.from
    }

    /// DATA_FIN, where all data was handed out: on all subflows, as one may not get through.
    fn send_fin(&mut self, now: Nanos) -> bool {
        let due = self.sender.send_fin();
        if due {
            if !self.sender.fin_went_with_data() {
                self.signal_fin();
            }
            self.restart_data_timer(now, false);
        }
        due
    }

    fn signal_fin(&mut self) {
        for subflow in &mut self.subflows {
            if subflow.stage == Stage::Established && subflow.tcp.state().is_synchronised() {
                subflow.request_ack();
            }
        }
    }

    /// Data was acknowledged at the level of data.
    pub(super) fn on_data_acknowledged(&mut self, now: Nanos, bytes: u64) {
        self.restart_data_timer(now, true);
        if bytes > 0 {
            self.offer_room();
        }
    }

    /// A subflow's TCP had data acknowledged.
    pub(super) fn on_subflow_acknowledged(&mut self, now: Nanos, index: usize) {
        let subflow = &mut self.subflows[index];
        subflow.acknowledged = true;
        if core::mem::take(&mut subflow.stalled) {
            self.counters.recovered += 1;
        }
        if self.mode == Mode::Fallback && subflow.is_first() {
            let acknowledged = subflow.tcp.acknowledged().saturating_sub(1);
            self.sender.release(acknowledged);
            self.offer_room();
        }
        self.restart_data_timer(now, false);
    }

    /// Starts the timer where it does not run, restarts it after progress, stops it where there is
    /// nothing to wait for.
    fn restart_data_timer(&mut self, now: Nanos, progress: bool) {
        if self.mode != Mode::Multipath || self.closed.is_some() {
            return;
        }
        if !self.sender.awaits_peer() {
            self.sender.stop_timer();
        } else if progress || self.sender.deadline().is_none() {
            self.sender.start_timer(now, self.data_interval());
        }
    }

    /// Interval of the retransmission timer of data: the longest of the subflows that work.
    fn data_interval(&self) -> Nanos {
        let measured = |subflow: &&Subflow| subflow.may_send() && subflow.tcp.smoothed_rtt_ns() > 0;
        let measured = self.subflows.iter().filter(measured);
        // One that has failed tells nothing of how long the others take.
        let working = measured
            .clone()
            .filter(|subflow| !subflow.tcp.is_timed_out());
        let longest = working.map(|subflow| subflow.tcp.rto_ns()).max();
        longest
            .or_else(|| measured.map(|subflow| subflow.tcp.rto_ns()).max())
            .unwrap_or(FIRST_INTERVAL_NS)
    }

    /// Nothing was acknowledged at the level of data for long.
    pub(super) fn on_data_timeout(&mut self, now: Nanos) {
        self.sender.back_off(now);
        self.reschedule = true;
        if self.sender.is_blocked() {
            self.probe_window();
            return;
        }
        if self.sender.is_hopeless() {
            self.close(CloseReason::TimedOut);
            return;
        }
        if self.sender.fin_to_signal().is_some() {
            self.signal_fin();
        }
        // What waits to become plain TCP must not be sent twice.
        if self.failed.is_some() {
            return;
        }
        let (from, next) = (self.sender.acknowledged(), self.sender.next());
        if from == next {
            return;
        }
        // A subflow that still works on its data may be about to deliver it; one that is idle has
        // delivered all it had, and something was lost behind TCP.
        let idle = |subflow: &Subflow| subflow.tcp.outstanding_bytes() == 0;
        let mut usable = self.subflows.iter().filter(|subflow| subflow.may_send());
        let all_idle = usable.clone().all(idle);
        let some_idle = usable.any(idle);
        if all_idle {
            self.sender.ask_again(from, next);
        } else if some_idle {
            let (_, bytes) = self.carriers_of(from);
            let head = bytes.max(u64::from(self.tcp.mss));
            self.sender.ask_again(from, from + head);
        }
        if some_idle {
            self.counters.retransmitted += 1;
        }
    }

    /// The peer's window is closed and nothing is on its way that would tell of its opening.
    fn probe_window(&mut self) {
        let open = |subflow: &&mut Subflow| subflow.is_open();
        let mut open: Vec<_> = self.subflows.iter_mut().filter(open).collect();
        open.sort_by_key(|subflow| (subflow.stalled, subflow.tcp.smoothed_rtt_ns()));
        if let Some(subflow) = open.first_mut() {
            subflow.tcp.request_probe();
            subflow.pending = true;
        }
    }

    /// A subflow's retransmission timer fired: others send its data too, and it gets no new data
    /// before something is acknowledged on it.
    ///
    /// Source: C. Paasch, O. Bonaventure, "Multipath TCP", ACM Queue 12(2), 2014 ("potentially
    /// failed" in the multipath-tcp.org kernel). The upstream kernel waits for four timeouts at
    /// the level of data.
    pub(super) fn on_subflow_timeout(&mut self, index: usize) {
        if self.mode != Mode::Multipath || self.subflows[index].stalled {
            return;
        }
        let others = self
            .subflows
            .iter()
            .enumerate()
            .any(|(place, other)| place != index && other.may_send() && !other.stalled);
        if others {
            self.subflows[index].stalled = true;
            self.counters.stale += 1;
            self.reinject(index);
        }
    }

    /// What a subflow was handed and has not delivered is to be sent by others.
    pub(super) fn reinject(&mut self, index: usize) {
        let tcp = &self.subflows[index].tcp;
        let lost: Vec<_> = sent(tcp).chain(unsent(tcp)).collect();
        self.ask_again(&lost);
    }

    /// Where a subflow's path will not do for MPTCP, the peer may have thrown away what TCP has
    /// acknowledged: all data that the peer lacks and that no other subflow has on its way is to be
    /// sent again. What the peer does have it acknowledges with the first of it.
    pub(super) fn reinject_all(&mut self, index: usize) {
        let near = self.sender.acknowledged();
        let mut held = Vec::new();
        for (place, subflow) in self.subflows.iter().enumerate() {
            if place != index && !subflow.is_over() {
                let sent = sent(&subflow.tcp).chain(unsent(&subflow.tcp));
                let number = |mapping: DataMapping| DataNumber::Long(mapping.data_sequence);
                held.extend(sent.filter_map(|(mapping, bytes)| {
                    let start = self.sender.numbers().offset(number(mapping), near)?;
                    Some((start, start + bytes))
                }));
            }
        }
        held.sort_unstable();
        let mut from = near;
        for (start, end) in held {
            if from < start {
                self.sender.ask_again(from, start);
            }
            from = from.max(end);
        }
        self.sender.ask_again(from, self.sender.next());
        self.reschedule = true;
    }

    /// What waits at a subflow, and was never sent on it, is to be sent by others instead.
    pub(super) fn take_unsent(&mut self, index: usize) {
        let tcp = &mut self.subflows[index].tcp;
        let taken: Vec<_> = unsent(tcp).collect();
        tcp.drop_unsent();
        self.ask_again(&taken);
    }

    /// Data that a subflow was handed is to be sent by others. So is a DATA_FIN that went with it.
    fn ask_again(&mut self, handed: &[(DataMapping, u64)]) {
        let numbers = self.sender.numbers();
        let near = self.sender.acknowledged();
        for (mapping, bytes) in handed {
            let number = DataNumber::Long(mapping.data_sequence);
            if let Some(start) = numbers.offset(number, near) {
                self.sender.ask_again(start, start + bytes);
            }
        }
        if handed.iter().any(|(mapping, _)| mapping.data_fin) {
            self.signal_fin();
        }
        self.reschedule = true;
    }

    /// The application writes no more.
    pub fn shutdown(&mut self) {
        self.sender.shut();
        self.counters.established = 0;
        self.reschedule = true;
        for subflow in &mut self.subflows {
            subflow.pending = true;
        }
    }

    /// Tells the application that there is room again where it waits for that.
    pub(super) fn offer_room(&mut self) {
        if self.wants_room && self.has_room() {
            self.wants_room = false;
            self.event(Event::Writable { id: self.id });
        }
    }
}

/// Mappings and lengths of what a subflow has sent and TCP has not acknowledged.
fn sent(tcp: &Tcp) -> impl Iterator<Item = (DataMapping, u64)> {
    tcp.unacknowledged()
        .filter_map(|(_, payload, mapping)| Some((mapping?, payload.len() as u64)))
}

/// Mappings and lengths of what a subflow was handed and has not sent.
fn unsent(tcp: &Tcp) -> impl Iterator<Item = (DataMapping, u64)> {
    tcp.unsent()
        .filter_map(|(payload, mapping)| Some((mapping?, payload.len() as u64)))
}

/// What a scheduler sees.
fn view<'a>(now: Nanos, subflows: &'a [SubflowView], sender: &Sender) -> View<'a> {
    View {
        now,
        subflows,
        acknowledged: sender.acknowledged(),
        next: sender.next(),
        end: sender.end(),
        window_end: sender.window_end(),
    }
}
