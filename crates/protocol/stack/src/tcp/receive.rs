//! Segments that arrive (RFC 9293, section 3.10.7.4; RFC 5961; RFC 7323, section 5).

use mptcplab_wire::Segment;

use super::Tcp;
use super::ack_policy::{AckTime, DataSegment};
use super::progress::{CloseReason, Progress};
use super::receiver::Received;
use super::state::State;
use super::timers::Timer;
use crate::Nanos;
use crate::congestion::PathView;

/// Longest time for which a selective acknowledgement is held back (`tcp_comp_sack_delay_ns`), and
/// how much later its timer fires (`tcp_comp_sack_slack_ns`).
const MAX_COMPRESSION_NS: Nanos = 1_000_000;
const COMPRESSION_SLACK_NS: Nanos = 100_000;

impl Tcp {
    /// Takes a segment for this connection. `paths` are the established paths of the connection,
    /// this one included and marked; they may be empty where the congestion control is not
    /// [coupled](Tcp::is_coupled).
    pub(crate) fn receive(
        &mut self,
        now: Nanos,
        segment: &Segment,
        paths: &[PathView],
    ) -> Progress {
        let mut progress = Progress::default();
        self.counters.segments_in += 1;
        match self.state {
            State::Closed => {}
            State::SynSent => self.receive_in_syn_sent(now, segment, &mut progress),
            _ => self.receive_synchronised(now, segment, paths, &mut progress),
        }
        progress
    }

    fn receive_synchronised(
        &mut self,
        now: Nanos,
        segment: &Segment,
        paths: &[PathView],
        progress: &mut Progress,
    ) {
        let Some(start) = self.receiver.offset(segment.sequence) else {
            if !segment.flags.rst {
                self.challenge(now, segment);
            }
            return;
        };
        if !self.check_timestamp(now, segment) || !self.check_sequence(now, segment, start) {
            return;
        }
        if segment.flags.rst {
            self.take_reset(now, segment, start, progress);
            return;
        }
        if segment.flags.syn && !self.take_repeated_syn(now, segment, start) {
            return;
        }
        if !segment.flags.ack {
            return;
        }
        let Some(acknowledged) = self.check_acknowledgement(now, segment, progress) else {
            return;
        };
        if start <= self.receiver.acknowledged() {
            self.options.set_recent(now, segment);
        }
        progress.accepted = true;
        self.liveness.on_segment(now);
        let was_established = self.state == State::Established;
        if self.state == State::SynReceived {
            self.snd.on_syn_acknowledged();
            self.snd.update_window(segment, start, acknowledged);
            self.establish(now, segment, progress);
        }
        let changed = self.snd.update_window(segment, start, acknowledged);
        if acknowledged > self.snd.una()
            || (acknowledged == self.snd.una() && self.is_news(segment))
        {
            self.acknowledge(now, acknowledged, segment, changed, paths, progress);
        }
        self.after_acknowledgement(now, progress);
        if self.ecn.on_segment(segment) {
            self.due.ack = true;
        }
        if was_established && let Some((echo, elapsed_ns)) = self.options.echo(now, segment) {
            let bytes = segment.payload.len() as u64;
            self.receiver.on_echo(echo, elapsed_ns, bytes);
        }
        self.take_data(now, segment, start, progress);
    }

    /// PAWS (RFC 7323, section 5.3, R1). False: drop the segment.
    fn check_timestamp(&mut self, now: Nanos, segment: &Segment) -> bool {
        if self.options.is_old(now, segment) && !segment.flags.rst {
            self.counters.old_timestamps += 1;
            self.challenge(now, segment);
            return false;
        }
        true
    }

    /// The segment must touch the window that was offered. What lies wholly before it is
    /// answered, as the acknowledgement may have been lost.
    fn check_sequence(&mut self, now: Nanos, segment: &Segment, start: u64) -> bool {
        if self.is_in_window(segment, start) {
            return true;
        }
        if !segment.flags.rst {
            let end = start + u64::from(segment.sequence_bytes());
            if !segment.payload.is_empty() && end <= self.receiver.next() && self.options.sack() {
                self.counters.duplicate_sacks_old += 1;
                self.receiver.note_duplicate(start, end);
            }
            if self.state == State::TimeWait && segment.flags.fin {
                self.enter_time_wait(now);
            }
            self.challenge(now, segment);
        }
        false
    }

    fn is_in_window(&self, segment: &Segment, start: u64) -> bool {
        let end = start + u64::from(segment.sequence_bytes());
        self.receiver.is_in_window(start, end)
    }

    /// In SYN-RECEIVED: whether the numbers of a segment let it complete the handshake.
    pub(crate) fn would_establish(&self, segment: &Segment) -> bool {
        let acknowledged = self.snd.offset(segment.acknowledgement);
        let start = self.receiver.offset(segment.sequence);
        acknowledged == Some(1) && start.is_some_and(|start| self.is_in_window(segment, start))
    }

    /// A RST counts where it hits RCV.NXT exactly (RFC 5961, section 3.2).
    fn take_reset(&mut self, now: Nanos, segment: &Segment, start: u64, progress: &mut Progress) {
        if start != self.receiver.next() {
            self.counters.challenges += 1;
            self.challenge(now, segment);
            return;
        }
        match self.state {
            State::SynReceived => self.counters.failed_attempts += 1,
            State::Established | State::CloseWait => self.counters.established_resets += 1,
            _ => {}
        }
        let reason = match self.state {
            State::TimeWait => CloseReason::Finished,
            _ => CloseReason::Reset,
        };
        self.close(reason, progress);
    }

    /// A SYN for a connection that has one already (RFC 5961, section 4). True where the rest of
    /// the segment counts: the SYN/ACK of a simultaneous open.
    fn take_repeated_syn(&mut self, now: Nanos, segment: &Segment, start: u64) -> bool {
        if self.state == State::SynReceived && start == 0 {
            if segment.flags.ack {
                return true;
            }
            if self.limit_challenge(now) {
                self.due.syn = true;
                self.attempts.on_repeated();
                self.start_handshake_timer(now);
            }
            return false;
        }
        self.counters.syn_challenges += 1;
        self.counters.challenges += 1;
        // A repeated SYN/ACK: the ACK that answered it is lost.
        self.due.handshake_ack |= segment.flags.ack && start == 0;
        self.challenge(now, segment);
        false
    }

    /// SEG.ACK must be of something sent, and not too old (RFC 5961, section 5.2).
    fn check_acknowledgement(
        &mut self,
        now: Nanos,
        segment: &Segment,
        progress: &mut Progress,
    ) -> Option<u64> {
        let acknowledged = self.snd.offset(segment.acknowledgement);
        if self.state == State::SynReceived {
            let valid = acknowledged.is_some_and(|offset| offset > 0 && offset <= self.snd.next());
            progress.answer_with_reset = !valid;
            return acknowledged.filter(|_| valid);
        }
        let oldest = self.snd.oldest_acknowledgement();
        let valid = |offset: &u64| *offset <= self.snd.next() && *offset >= oldest;
        let acknowledged = acknowledged.filter(valid);
        if acknowledged.is_none() {
            self.counters.challenges += 1;
            self.challenge(now, segment);
        }
        acknowledged
    }

    /// Payload and FIN (seventh and eighth step).
    fn take_data(&mut self, now: Nanos, segment: &Segment, start: u64, progress: &mut Progress) {
        if !segment.payload.is_empty() {
            self.take_payload(now, segment, start, progress);
        }
        if self.state == State::Closed {
            return;
        }
        let mut finished = false;
        if segment.flags.fin && start > 0 {
            let end = start + segment.payload.len() as u64;
            self.due.ack = true;
            if self.state.may_receive() && end >= self.receiver.next() {
                finished = self.receiver.end_at(end);
            } else if self.state == State::TimeWait {
                self.enter_time_wait(now);
            }
        } else if progress.readable {
            finished = self.receiver.reaches_end();
        }
        if finished {
            progress.finished = true;
            self.on_peer_finished(now, progress);
        }
    }

    fn take_payload(&mut self, now: Nanos, segment: &Segment, start: u64, progress: &mut Progress) {
        if !self.state.may_receive() || start == 0 {
            return;
        }
        let mut payload = segment.payload.clone();
        let end = start + payload.len() as u64;
        if self.orphaned && end > self.receiver.next() {
            self.counters.aborted_on_data += 1;
            self.abort_with(CloseReason::Aborted, progress);
            return;
        }
        if self.receiver.fit_window(start, &mut payload) {
            // A window probe, or a peer that ignores the window.
            self.due.ack = true;
            if payload.is_empty() {
                return;
            }
        }
        let before = self.receiver.next();
        let rto = self.rtt.rto_ns();
        let data = self.data_segment(segment, payload.len() as u64);
        let shared = self.snd.is_window_shared();
        let received = self
            .receiver
            .insert(now, start, payload, &data, rto, shared);
        match received {
            Received::InOrder { bytes, ack } => {
                self.volume.count_received(bytes);
                progress.readable = true;
                self.acknowledge_at(now, ack);
            }
            Received::Early { ack } => {
                self.counters.queued_early += 1;
                self.acknowledge_at(now, ack);
            }
            Received::Duplicate => {
                if end <= before {
                    self.counters.duplicate_sacks_old += 1;
                } else {
                    self.counters.duplicate_sacks_early += 1;
                }
                self.due.ack = true;
            }
            Received::Dropped => {
                self.counters.dropped_early += 1;
                self.due.ack = true;
            }
        }
    }

    /// The traits of a segment that acknowledgements hang on, with so much payload in the window.
    fn data_segment(&self, segment: &Segment, bytes: u64) -> DataSegment {
        let options = segment.options.encoded_bytes();
        let option_bytes = options.saturating_sub(self.options.timestamps_bytes());
        DataSegment {
            bytes,
            option_bytes: option_bytes as u64,
            pushed: segment.flags.psh,
            finished: segment.flags.fin,
        }
    }

    /// Lets an ACK go out at this time, or at once where a delay is nearly over
    /// (`tcp_send_delayed_ack`).
    fn acknowledge_at(&mut self, now: Nanos, time: AckTime) {
        let (timer, delay_ns) = match time {
            AckTime::Now => return self.due.ack = true,
            AckTime::Compressed => (Timer::CompressedAck, self.compression_ns()),
            AckTime::Delayed => (Timer::DelayedAck, self.config.delayed_ack_ns),
        };
        match self.timers.get(timer) {
            None => self.timers.set(timer, now + delay_ns),
            Some(deadline) => {
                self.due.ack |= time == AckTime::Delayed && deadline <= now + delay_ns / 4;
            }
        }
    }

    /// How long an ACK is held back that tells of segments beyond a hole: a twentieth of the round
    /// trip.
    ///
    /// Source: `__tcp_ack_snd_check` in Linux 6.18, net/ipv4/tcp_input.c.
    fn compression_ns(&self) -> Nanos {
        let received = self.receiver.rtt_ns();
        let smoothed = self.rtt.smoothed_ns();
        let rtt = if smoothed > 0 {
            smoothed.min(received)
        } else {
            received
        };
        (rtt / 20).min(MAX_COMPRESSION_NS) + COMPRESSION_SLACK_NS
    }
}
