//! The timers of a connection: deadlines with a name each.

use crate::Nanos;

/// Purpose of a timer. Timers due at the same time fire in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// Retransmission of SYN, SYN/ACK, data or FIN (RFC 6298).
    Retransmission,
    /// Segments older than the reordering window are lost (RFC 8985, section 6.2).
    Reordering,
    /// Tail loss probe (RFC 8985, section 7).
    LossProbe,
    /// Probe of a closed window (RFC 9293, section 3.8.6.1).
    Persist,
    /// Acknowledgement that was held back (RFC 9293, section 3.8.6.3).
    DelayedAck,
    /// Acknowledgement that tells of several segments beyond a hole.
    CompressedAck,
    /// Probe of an idle peer (RFC 9293, section 3.8.4).
    Keepalive,
    /// The next segment of a paced connection.
    Pacing,
    /// End of TIME-WAIT, or of FIN-WAIT-2 once the application has gone.
    Close,
}

pub(super) const TIMERS: [Timer; 9] = [
    Timer::Retransmission,
    Timer::Reordering,
    Timer::LossProbe,
    Timer::Persist,
    Timer::DelayedAck,
    Timer::CompressedAck,
    Timer::Keepalive,
    Timer::Pacing,
    Timer::Close,
];

impl Timer {
    /// Name of the timer.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Retransmission => "retransmission",
            Self::Reordering => "reordering",
            Self::LossProbe => "loss_probe",
            Self::Persist => "persist",
            Self::DelayedAck => "delayed_ack",
            Self::CompressedAck => "compressed_ack",
            Self::Keepalive => "keepalive",
            Self::Pacing => "pacing",
            Self::Close => "close",
        }
    }
}

/// Deadline of each timer.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    /// [`Nanos::MAX`] where the timer is off.
    deadlines: [Nanos; TIMERS.len()],
    /// The earliest of them, or earlier.
    earliest: Nanos,
    granularity_ns: Nanos,
}

impl Timers {
    /// Timers of which none runs. Deadlines are rounded up to multiples of `granularity_ns`.
    pub(crate) fn new(granularity_ns: Nanos) -> Self {
        Self {
            deadlines: [Nanos::MAX; TIMERS.len()],
            earliest: Nanos::MAX,
            granularity_ns: granularity_ns.max(1),
        }
    }

    /// Starts a timer, or moves its deadline.
    pub(crate) fn set(&mut self, timer: Timer, deadline: Nanos) {
        let deadline = if self.granularity_ns == 1 {
            deadline
        } else {
            deadline
                .checked_next_multiple_of(self.granularity_ns)
                .unwrap_or(Nanos::MAX)
        };
        self.deadlines[timer as usize] = deadline;
        self.earliest = self.earliest.min(deadline);
    }

    /// Stops a timer.
    pub(crate) fn clear(&mut self, timer: Timer) {
        self.deadlines[timer as usize] = Nanos::MAX;
    }

    /// Stops all.
    pub(crate) fn clear_all(&mut self) {
        self.deadlines = [Nanos::MAX; TIMERS.len()];
        self.earliest = Nanos::MAX;
    }

    /// Deadline of a timer that runs.
    pub(crate) fn get(&self, timer: Timer) -> Option<Nanos> {
        let deadline = self.deadlines[timer as usize];
        (deadline != Nanos::MAX).then_some(deadline)
    }

    /// The earliest deadline, or a time before it: that of a timer that was stopped or moved. It is
    /// exact where no timer [is due](Timers::are_due) then.
    pub(crate) fn next(&self) -> Option<Nanos> {
        (self.earliest != Nanos::MAX).then_some(self.earliest)
    }

    /// Whether any timer is due.
    pub(crate) fn are_due(&mut self, now: Nanos) -> bool {
        if self.earliest <= now {
            self.earliest = self.deadlines.iter().copied().fold(Nanos::MAX, Nanos::min);
        }
        self.earliest <= now
    }

    /// Stops and gives the first timer that is due.
    pub(crate) fn take_due(&mut self, now: Nanos) -> Option<Timer> {
        if !self.are_due(now) {
            return None;
        }
        let due = |timer: &Timer| self.deadlines[*timer as usize] <= now;
        let timer = TIMERS.into_iter().find(due)?;
        self.clear(timer);
        Some(timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_are_rounded_up_to_the_clock() {
        let mut timers = Timers::new(10);
        timers.set(Timer::Persist, 21);
        assert_eq!(timers.get(Timer::Persist), Some(30));
        timers.set(Timer::Persist, 20);
        assert_eq!(timers.next(), Some(20));
    }

    #[test]
    fn due_timers_come_once_in_their_order() {
        let mut timers = Timers::new(1);
        timers.set(Timer::Close, 5);
        timers.set(Timer::Retransmission, 7);
        timers.set(Timer::Keepalive, 8);
        assert_eq!(timers.take_due(4), None);
        assert_eq!(timers.take_due(7), Some(Timer::Retransmission));
        assert_eq!(timers.take_due(7), Some(Timer::Close));
        assert_eq!(timers.take_due(7), None);
        assert_eq!(timers.next(), Some(8));
        assert_eq!(timers.take_due(8), Some(Timer::Keepalive));
    }
}
