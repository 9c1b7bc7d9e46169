//! From the first loss of a window to the end of its repair: proportional rate reduction
//! (RFC 6937) and F-RTO (RFC 5682).

use mptcplab_wire::Segment;

use super::Tcp;
use super::delivery::Delivery;
use super::undo::Undo;
use crate::Nanos;
use crate::congestion::{Cause, CongestionEvent, PathView};

/// Reaction to congestion that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing.
    Open,
    /// The window shrinks to the threshold while data is delivered.
    Reduction {
        /// Loss, or an ECN echo.
        cause: Cause,
    },
    /// Slow start after a timeout.
    Loss {
        /// Detection of a spurious timeout.
        spurious: Spurious,
    },
}

/// Steps of F-RTO (RFC 5682, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spurious {
    /// Not looked for, or excluded.
    No,
    /// The first segment was sent again; the next acknowledgement tells (step 2).
    Maybe,
    /// New data goes out before any further retransmission (step 2b).
    SendingNew,
}

/// State of the repair.
#[derive(Clone, Debug)]
pub(crate) struct Recovery {
    pub(crate) phase: Phase,
    /// SND.NXT when it began: it ends when that is acknowledged.
    pub(crate) point: u64,
    reduction: Reduction,
    pub(crate) undo: Option<Undo>,
}

/// Counts of proportional rate reduction (RFC 6937, section 3).
#[derive(Clone, Copy, Debug, Default)]
struct Reduction {
    /// RecoverFS: the window before.
    window_before: u64,
    /// prr_delivered.
    delivered: u64,
    /// prr_out.
    sent: u64,
}

impl Recovery {
    pub(crate) fn new() -> Self {
        Self {
            phase: Phase::Open,
            point: 0,
            reduction: Reduction::default(),
            undo: None,
        }
    }

    /// Retransmissions must wait until new data has gone out.
    pub(crate) fn sends_new_first(&self) -> bool {
        self.phase
            == Phase::Loss {
                spurious: Spurious::SendingNew,
            }
    }

    /// Counts a segment that went out, in the unit of the window.
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.reduction.sent += bytes;
    }
}

impl Tcp {
    /// Reacts to an acknowledgement as the phase demands, once losses are marked.
    pub(super) fn recover(
        &mut self,
        now: Nanos,
        segment: &Segment,
        delivery: &Delivery,
        advanced: bool,
        newly_lost: bool,
        paths: &[PathView],
    ) {
        let repairing = match self.recovery.phase {
            Phase::Reduction { cause } => cause == Cause::Loss,
            Phase::Loss { .. } => true,
            Phase::Open => false,
        };
        let original = repairing && advanced && self.recovery.answers_original(segment);
        if original || self.recovery.all_duplicates() {
            self.undo(original);
        }
        match self.recovery.phase {
            Phase::Open => {}
            Phase::Reduction {
                cause: Cause::EcnEcho,
            } => {
                if self.snd.una() > self.recovery.point {
                    self.end_recovery();
                }
            }
            Phase::Reduction { .. } => {
                if self.snd.una() >= self.recovery.point {
                    self.end_recovery();
                } else if !self.options.sack() && advanced {
                    self.repair_next_hole();
                }
            }
            Phase::Loss { spurious } => {
                self.judge_timeout(spurious, delivery, advanced);
                if self.snd.una() >= self.recovery.point && self.recovery.phase != Phase::Open {
                    self.recovery.phase = Phase::Open;
                    self.rack.on_recovery_end();
                }
            }
        }
        let lossy = matches!(
            self.recovery.phase,
            Phase::Loss { .. }
                | Phase::Reduction {
                    cause: Cause::Loss | Cause::Timeout
                }
        );
        if self.scoreboard.has_lost() && !lossy {
            self.begin_reduction(now, Cause::Loss, delivery, paths);
        }
        if let Phase::Reduction { .. } = self.recovery.phase {
            self.reduce(self.delivered_bytes(delivery), advanced && !newly_lost);
        }
    }

    /// Enters a reduction; the threshold is that of a reduction that is under way.
    pub(super) fn begin_reduction(
        &mut self,
        now: Nanos,
        cause: Cause,
        delivery: &Delivery,
        paths: &[PathView],
    ) {
        if self.recovery.phase == Phase::Open {
            let in_flight = self.flight_bytes() + self.delivered_bytes(delivery);
            self.congestion_event(now, cause, in_flight, paths);
            self.recovery.reduction = Reduction {
                window_before: self.congestion.window_bytes(),
                ..Reduction::default()
            };
        }
        self.recovery.phase = Phase::Reduction { cause };
        self.recovery.point = self.snd.next();
        self.loss_probe = None;
        match cause {
            Cause::EcnEcho => {}
            _ if self.options.sack() => self.counters.sack_recoveries += 1,
            _ => self.counters.reno_recoveries += 1,
        }
    }

    /// Asks the congestion control for the threshold and remembers what was before.
    pub(super) fn congestion_event(
        &mut self,
        now: Nanos,
        cause: Cause,
        in_flight_bytes: u64,
        paths: &[PathView],
    ) {
        self.recovery.undo = Some(Undo::new(self.snd.una(), self.congestion.window()));
        let event = CongestionEvent {
            now,
            in_flight_bytes,
            smoothed_rtt_ns: self.rtt.smoothed_ns(),
            cause,
        };
        let own = [self.path_view()];
        let paths = if paths.is_empty() { &own } else { paths };
        self.congestion.on_event(&event, paths);
        self.ecn.on_reduction();
    }

    /// Proportional rate reduction with the slow-start bound where progress is good, else the
    /// conservative bound (RFC 6937, section 3; the choice is Linux's).
    fn reduce(&mut self, delivered: u64, good_progress: bool) {
        if delivered == 0 {
            return;
        }
        let mss = self.congestion.segment_bytes();
        let pipe = self.flight_bytes();
        let threshold = self.congestion.threshold_bytes();
        let reduction = &mut self.recovery.reduction;
        reduction.delivered += delivered;
        let allowed = if pipe > threshold {
            let share = u128::from(reduction.delivered) * u128::from(threshold);
            let target = share.div_ceil(u128::from(reduction.window_before.max(1))) as u64;
            target.saturating_sub(reduction.sent)
        } else {
            let bound = reduction
                .delivered
                .saturating_sub(reduction.sent)
                .max(delivered);
            let bound = if good_progress { bound + mss } else { bound };
            bound.min(threshold - pipe)
        };
        let first = if reduction.sent == 0 { mss } else { 0 };
        self.congestion.reduce_to(pipe + allowed.max(first));
    }

    fn end_recovery(&mut self) {
        self.congestion.end_reduction();
        self.recovery.phase = Phase::Open;
        if !self.options.sack() {
            self.scoreboard.forget_presumed(true);
        }
        self.rack.on_recovery_end();
    }

    /// F-RTO: the timeout was spurious if data arrives that was sent before it and not again.
    fn judge_timeout(&mut self, spurious: Spurious, delivery: &Delivery, advanced: bool) {
        if spurious == Spurious::No {
            return;
        }
        // Without SACK an acknowledgement of what was sent again covers what had arrived before.
        let sure = self.options.sack() || !delivery.retransmitted;
        if delivery.original_before_point && sure {
            self.counters.spurious_timeouts += 1;
            self.undo(false);
            return;
        }
        let next = match spurious {
            Spurious::Maybe if advanced && self.snd.una() < self.recovery.point => {
                if self.snd.may_send_new() {
                    self.recovery.point = self.snd.next();
                    Spurious::SendingNew
                } else {
                    Spurious::No
                }
            }
            Spurious::SendingNew => Spurious::No,
            unchanged => unchanged,
        };
        self.recovery.phase = Phase::Loss { spurious: next };
    }

    /// NewReno (RFC 6582, section 3.2, step 3): a partial acknowledgement tells of the next loss.
    fn repair_next_hole(&mut self) {
        self.scoreboard.forget_presumed(false);
        if let Some(first) = self.scoreboard.first() {
            self.scoreboard.mark_lost(first);
        }
    }
}
