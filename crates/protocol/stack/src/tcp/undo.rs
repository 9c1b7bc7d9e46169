//! Repairs that prove to be in vain, and what is restored then: by timestamps (Eifel, RFC 3522) or
//! D-SACK (RFC 3708).

use mptcplab_wire::Segment;

use super::Tcp;
use super::recovery::{Phase, Recovery};
use super::timestamps::is_before;
use crate::congestion::Window;

/// State to restore if the repair proves to be in vain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undo {
    /// SND.UNA when it began.
    marker: u64,
    window_bytes: u64,
    threshold_bytes: u64,
    /// Segments sent again that no D-SACK has answered; none before the first.
    unanswered: Option<u64>,
    /// TSval of the first of them.
    first_timestamp: Option<u32>,
}

impl Undo {
    pub(crate) fn new(marker: u64, window: &Window) -> Self {
        Self {
            marker,
            window_bytes: window.bytes,
            threshold_bytes: window.slow_start_threshold_bytes,
            unanswered: None,
            first_timestamp: None,
        }
    }
}

impl Recovery {
    /// Notes that a segment went out again.
    pub(crate) fn on_retransmitted(&mut self, timestamp: Option<u32>) {
        if let Some(undo) = &mut self.undo {
            undo.unanswered = Some(undo.unanswered.unwrap_or(0) + 1);
            undo.first_timestamp = undo.first_timestamp.or(timestamp);
        }
    }

    /// Takes a D-SACK of segments up to `end` that came twice.
    pub(crate) fn on_duplicate(&mut self, end: u64, segments: u64) {
        if let Some(undo) = &mut self.undo
            && end > undo.marker
            && let Some(unanswered) = &mut undo.unanswered
        {
            *unanswered = unanswered.saturating_sub(segments);
        }
    }

    /// Whether all that was sent again came twice.
    pub(super) fn all_duplicates(&self) -> bool {
        self.undo.is_some_and(|undo| undo.unanswered == Some(0))
    }

    /// The acknowledgement echoes a timestamp from before the first retransmission: it is of the
    /// original (Eifel, RFC 3522, section 3.2).
    pub(super) fn answers_original(&self, segment: &Segment) -> bool {
        let Some(Undo {
            first_timestamp: Some(first),
            ..
        }) = self.undo
        else {
            return false;
        };
        segment
            .options
            .timestamps
            .is_some_and(|timestamps| is_before(timestamps.echo, first))
    }
}

impl Tcp {
    /// Restores what was before the repair.
    pub(super) fn undo(&mut self, late: bool) {
        let Some(undo) = self.recovery.undo.take() else {
            return;
        };
        match self.recovery.phase {
            Phase::Loss { .. } => self.counters.loss_undos += 1,
            _ if late => self.counters.full_undos += 1,
            _ => self.counters.duplicate_sack_undos += 1,
        }
        if late {
            self.rack.note_reordering();
        }
        self.congestion
            .restore(undo.window_bytes, undo.threshold_bytes);
        self.scoreboard.unmark_lost();
        self.recovery.phase = Phase::Open;
    }
}
