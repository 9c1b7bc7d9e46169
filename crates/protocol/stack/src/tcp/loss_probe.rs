//! Tail loss probes (RFC 8985, section 7).

use super::Tcp;
use super::recovery::Phase;
use crate::Nanos;
use crate::congestion::{Cause, PathView};

/// A probe that is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LossProbe {
    /// SND.NXT when it was sent.
    end: u64,
    /// It was the last segment again, not new data.
    retransmission: bool,
}

impl Tcp {
    /// Notes that the probe has gone out.
    pub(super) fn on_loss_probe_sent(&mut self, now: Nanos, retransmission: bool) {
        self.due.loss_probe = false;
        self.counters.loss_probes += 1;
        self.loss_probe = Some(LossProbe {
            end: self.snd.next(),
            retransmission,
        });
        self.restart_retransmission(now);
    }

    /// Finds the probe answered, and a loss that it repaired (section 7.4.2): such a loss shrinks
    /// the window as any other. There was none where the original has arrived too, which a D-SACK
    /// tells, or an acknowledgement that brings nothing new.
    pub(super) fn end_loss_probe(
        &mut self,
        acknowledged: u64,
        both_arrived: bool,
        now: Nanos,
        paths: &[PathView],
    ) {
        let Some(probe) = self.loss_probe else { return };
        if acknowledged < probe.end {
            return;
        }
        if !probe.retransmission || both_arrived {
            self.loss_probe = None;
        } else if acknowledged > probe.end {
            self.loss_probe = None;
            self.repaired_by_probe(now, paths);
        }
    }

    fn repaired_by_probe(&mut self, now: Nanos, paths: &[PathView]) {
        self.counters.loss_probe_recoveries += 1;
        if self.recovery.phase != Phase::Open {
            return;
        }
        self.congestion_event(now, Cause::Loss, self.flight_bytes(), paths);
        self.recovery.undo = None;
        self.congestion.shrink_to_threshold();
    }
}
