//! Acknowledgements: delivery, round trips, losses, the congestion window.

use arrayvec::ArrayVec;
use mptcplab_wire::Segment;

use super::Tcp;
use super::delivery::Delivery;
use super::progress::Progress;
use super::recovery::Phase;
use super::timers::Timer;
use crate::Nanos;
use crate::congestion::{Ack, Cause, PathView};

/// Duplicate acknowledgements that tell of a loss where there is no SACK (RFC 5681, section 3.2).
const DUPLICATE_THRESHOLD: u32 = 3;

impl Tcp {
    /// Whether an acknowledgement may tell of something though SND.UNA does not move. Most of those
    /// that come with data do not.
    pub(super) fn is_news(&self, segment: &Segment) -> bool {
        !self.options.sack()
            || !segment.options.sack.is_empty()
            || self.recovery.phase != Phase::Open
            || self.loss_probe.is_some()
            || segment.flags.ece
    }

    /// Takes an acceptable acknowledgement, `acknowledged` ≤ SND.NXT.
    pub(super) fn acknowledge(
        &mut self,
        now: Nanos,
        acknowledged: u64,
        segment: &Segment,
        window_changed: bool,
        paths: &[PathView],
        progress: &mut Progress,
    ) {
        let minimum = self.rtt.minimum_ns().unwrap_or(0);
        let mut delivery = Delivery::new(now, minimum, self.recovery.point);
        let sacked_before = self.scoreboard.sacked();
        let duplicate = self.options.sack() && self.take_sack(acknowledged, segment, &mut delivery);
        let advanced = acknowledged > self.snd.una();
        if advanced {
            if let Some(echo_end) = self.options.echo_end(now, segment) {
                delivery.echo_before = echo_end;
            }
            progress.acknowledged_bytes = self.advance(acknowledged, &mut delivery);
        } else if !self.options.sack() && self.is_duplicate(acknowledged, segment, window_changed) {
            let presumed = self.count_duplicate();
            delivery.bytes += presumed;
            delivery.records += u32::from(presumed > 0);
        }
        let quiet =
            self.recovery.phase == Phase::Open && self.loss_probe.is_none() && !segment.flags.ece;
        if delivery.bytes == 0 && !advanced && !duplicate && quiet {
            return;
        }
        let rtt_ns = self.sample_rtt(now, segment, &delivery, advanced);
        if delivery.bytes > 0 {
            self.counters.delivered += delivery.records;
            self.counters.delivered_ce += if segment.flags.ece {
                delivery.records
            } else {
                0
            };
            self.rate
                .on_delivery(now, delivery.bytes, delivery.newest, minimum);
            self.congestion.on_delivered(delivery.bytes);
        }
        if self.options.sack() && self.rack.on_delivery(now, &delivery) {
            self.counters.sack_reorderings += 1;
        }
        if rtt_ns.is_some() {
            let ack = self.told(now, rtt_ns, &delivery);
            self.congestion.on_round_trip(&ack);
        }
        let nothing_new = delivery.bytes == 0 && !advanced && segment.payload.is_empty();
        self.end_loss_probe(acknowledged, duplicate || nothing_new, now, paths);
        let lost = self.options.sack() && self.detect_losses(now);
        if segment.flags.ece && self.ecn.is_enabled() && self.recovery.phase == Phase::Open {
            self.begin_reduction(now, Cause::EcnEcho, &delivery, paths);
        }
        let probing = self.scoreboard.sacked() > 0 || sacked_before > 0;
        self.recover(now, segment, &delivery, advanced, lost, paths);
        self.grow(now, rtt_ns, &delivery, advanced, paths);
        self.paced_bits = self.paced_bits_now();
        if advanced {
            self.restart_timers(now);
        } else if probing {
            self.review_timers(now);
        }
    }

    /// The delivery, in the unit of the congestion window: each segment counts as a full one.
    pub(super) fn delivered_bytes(&self, delivery: &Delivery) -> u64 {
        u64::from(delivery.records) * self.congestion.segment_bytes()
    }

    /// Moves SND.UNA. Gives the bytes of data acknowledged, without SYN and FIN.
    fn advance(&mut self, acknowledged: u64, delivery: &mut Delivery) -> u64 {
        self.scoreboard.acknowledge(acknowledged, delivery);
        let oldest = self.scoreboard.oldest().map(|record| record.start);
        self.snd.release(oldest.unwrap_or(acknowledged));
        let bytes = self.snd.acknowledge(acknowledged);
        self.volume.count_acknowledged(bytes);
        self.duplicates = 0;
        self.liveness.on_acknowledged();
        self.rtt.end_backoff();
        if !self.options.sack() && self.recovery.phase == Phase::Open {
            self.scoreboard.forget_presumed(true);
        }
        bytes
    }

    /// Reads the blocks of selective acknowledgement. True where the first one is a D-SACK.
    fn take_sack(&mut self, acknowledged: u64, segment: &Segment, delivery: &mut Delivery) -> bool {
        let mut duplicate = false;
        let mut blocks: ArrayVec<(u64, u64), 4> = ArrayVec::new();
        let edges = |number| self.snd.offset(number);
        let mut listed: ArrayVec<(u64, u64), 4> = ArrayVec::new();
        for block in &segment.options.sack {
            if let (Some(left), Some(right)) = (edges(block.left), edges(block.right))
                && left < right
                && right <= self.snd.next()
            {
                listed.push((left, right));
            }
        }
        for (index, &(left, right)) in listed.iter().enumerate() {
            let within_next = || {
                listed
                    .get(1)
                    .is_some_and(|next| next.0 <= left && right <= next.1)
            };
            if index == 0 && (right <= acknowledged || within_next()) {
                duplicate = true;
                self.counters.duplicate_sacks_in += 1;
                let segments = (right - left).div_ceil(self.congestion.segment_bytes());
                let counter = &mut self.counters.duplicate_segments_in;
                *counter = counter.saturating_add(u32::try_from(segments).unwrap_or(u32::MAX));
                self.recovery.on_duplicate(right, segments);
                self.rack.on_duplicate(acknowledged, self.snd.next());
            } else if left >= acknowledged.max(self.snd.una()) {
                blocks.push((left, right));
            }
        }
        if !blocks.is_empty() {
            self.scoreboard.sack(&blocks, delivery);
        }
        duplicate
    }

    /// A duplicate acknowledgement in the sense of RFC 5681, section 2.
    fn is_duplicate(&self, acknowledged: u64, segment: &Segment, window_changed: bool) -> bool {
        acknowledged == self.snd.una()
            && !self.scoreboard.is_empty()
            && segment.sequence_bytes() == 0
            && !window_changed
    }

    /// Gives the bytes that a duplicate acknowledgement tells to have arrived.
    fn count_duplicate(&mut self) -> u64 {
        self.duplicates += 1;
        if self.duplicates == DUPLICATE_THRESHOLD
            && self.recovery.phase == Phase::Open
            && self.snd.una() >= self.recovery.point
            && let Some(first) = self.scoreboard.first()
        {
            self.scoreboard.mark_lost(first);
        }
        self.scoreboard.presume_received()
    }

    /// Feeds the estimator. Gives the round trip of what was sent last.
    fn sample_rtt(
        &mut self,
        now: Nanos,
        segment: &Segment,
        delivery: &Delivery,
        advanced: bool,
    ) -> Option<Nanos> {
        match delivery.original_sent {
            // An answer to a retransmission may be of the original (Karn's algorithm).
            Some((first, last)) if !delivery.retransmitted => {
                let round_trip = self.round_trip_ns(now, first);
                self.sample(now, round_trip);
                Some(self.round_trip_ns(now, last))
            }
            _ => {
                let elapsed = self.options.elapsed_ns(now, segment);
                let elapsed = elapsed.filter(|_| advanced);
                if let Some(elapsed) = elapsed {
                    self.sample(now, elapsed);
                }
                elapsed
            }
        }
    }

    /// Feeds the estimator, which looks back on a round trip at a time.
    pub(super) fn sample(&mut self, now: Nanos, rtt_ns: Nanos) {
        let (acknowledged, next) = (self.snd.una(), self.snd.next());
        self.rtt.sample(now, rtt_ns, acknowledged, next);
    }

    /// Time since `sent`; a tick of the clock where it did not move, as 0 means that no round trip
    /// was measured.
    pub(super) fn round_trip_ns(&self, now: Nanos, sent: Nanos) -> Nanos {
        (now - sent).max(self.config.clock_granularity_ns).max(1)
    }

    /// Marks losses by time and sets the timer for those that may follow. True where it found any.
    pub(super) fn detect_losses(&mut self, now: Nanos) -> bool {
        let smoothed = self.rtt.smoothed_ns();
        let minimum = self.rtt.minimum_ns().unwrap_or(smoothed);
        let recovering = self.recovery.phase != Phase::Open;
        let detected = self
            .rack
            .detect(now, &mut self.scoreboard, recovering, minimum, smoothed);
        self.counters.lost_retransmissions += detected.lost_again;
        match detected.deadline {
            Some(deadline) => self.timers.set(Timer::Reordering, deadline),
            None => self.timers.clear(Timer::Reordering),
        }
        detected.lost > 0
    }

    /// Takes segments to be lost that are not acknowledged when the reordering timer fires.
    pub(super) fn on_reordering_timer(&mut self, now: Nanos, paths: &[PathView]) {
        if self.detect_losses(now)
            && !matches!(
                self.recovery.phase,
                Phase::Loss { .. } | Phase::Reduction { cause: Cause::Loss }
            )
        {
            let delivery = Delivery::new(now, 0, 0);
            self.begin_reduction(now, Cause::Loss, &delivery, paths);
            self.congestion.collapse(self.flight_bytes());
        }
    }

    /// Lets the congestion control grow the window (RFC 5681, section 3.1).
    fn grow(
        &mut self,
        now: Nanos,
        rtt_ns: Option<Nanos>,
        delivery: &Delivery,
        advanced: bool,
        paths: &[PathView],
    ) {
        let forward = advanced || self.rack.reorderings() > 0;
        let reducing = matches!(self.recovery.phase, Phase::Reduction { .. });
        if delivery.bytes == 0 || reducing || !forward {
            return;
        }
        let ack = self.told(now, rtt_ns, delivery);
        if paths.is_empty() && self.congestion.is_coupled() {
            let own = [self.path_view()];
            self.congestion.on_ack(&ack, &own);
        } else {
            self.congestion.on_ack(&ack, paths);
        }
    }

    /// An acknowledgement, as congestion controls are told of it.
    fn told(&self, now: Nanos, rtt_ns: Option<Nanos>, delivery: &Delivery) -> Ack {
        Ack {
            now,
            acknowledged_bytes: self.delivered_bytes(delivery),
            rtt_ns,
            smoothed_rtt_ns: self.rtt.smoothed_ns(),
            min_rtt_ns: self.rtt.minimum_ns().unwrap_or(0),
            in_flight_bytes: self.flight_bytes(),
            window_limited: self.congestion.limits(),
            acknowledged: self.snd.una(),
            next: self.snd.next(),
        }
    }
}
