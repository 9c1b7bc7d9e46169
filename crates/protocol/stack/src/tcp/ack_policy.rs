//! When to acknowledge: at once, or after a while (RFC 9293, section 3.8.6.3; RFC 5681,
//! section 4.2), with Linux's quick acknowledgements at the start.

use crate::Nanos;

/// Segments acknowledged at once at the start and after a pause, so that the peer's slow start
/// is not held up.
const QUICK_ACKS: u8 = 16;

/// State of the receiver's acknowledgements.
#[derive(Clone, Debug)]
pub(crate) struct AckPolicy {
    quick: u8,
    /// Data flows both ways in turn: acknowledgements ride on answers.
    interactive: bool,
    last_data: Option<Nanos>,
    /// RCV.NXT of the last acknowledgement sent.
    told: u64,
    /// Length of the peer's full segments as far as seen.
    segment_bytes: u64,
    /// Data came with PSH or in a small segment since the last acknowledgement: the peer may have
    /// no more, and wait.
    pushed: bool,
}

impl AckPolicy {
    /// `told` is the offset that the handshake acknowledges.
    pub(crate) fn new(told: u64) -> Self {
        Self {
            quick: QUICK_ACKS,
            interactive: false,
            last_data: None,
            told,
            segment_bytes: 536,
            pushed: false,
        }
    }

    /// RCV.NXT of the last acknowledgement sent.
    pub(crate) fn told(&self) -> u64 {
        self.told
    }

    /// Data came in order and left no hole, `pushed` by PSH; `next` is RCV.NXT after it. True where
    /// it is to be acknowledged at once.
    pub(crate) fn on_data(
        &mut self,
        now: Nanos,
        bytes: u64,
        pushed: bool,
        next: u64,
        rto_ns: Nanos,
    ) -> bool {
        self.segment_bytes = self.segment_bytes.max(bytes);
        self.pushed |= pushed || bytes < self.segment_bytes;
        let paused = self.last_data.is_some_and(|last| now - last > rto_ns);
        if paused {
            self.quick = QUICK_ACKS;
        }
        self.last_data = Some(now);
        next - self.told > self.segment_bytes || (self.quick > 0 && !self.interactive)
    }

    /// Notes that data was sent: an answer, if data came not long ago.
    pub(crate) fn on_data_sent(&mut self, now: Nanos, delay_ns: Nanos) {
        if self.last_data.is_some_and(|last| now - last < delay_ns) {
            self.interactive = true;
        }
    }

    /// Notes that an acknowledgement up to `next` has gone out.
    pub(crate) fn on_ack_sent(&mut self, next: u64) {
        if next > self.told {
            self.quick = self.quick.saturating_sub(1);
        }
        self.told = next;
        self.pushed = false;
    }

    /// Whether an acknowledgement is owed to a peer that may wait for it, once the application has
    /// read everything up to `next`.
    ///
    /// Source: `tcp_cleanup_rbuf` in Linux 6.18, net/ipv4/tcp.c.
    pub(crate) fn is_owed(&self, next: u64) -> bool {
        self.pushed && !self.interactive && next > self.told
    }

    /// Notes that the delay ran out: there was no answer to ride on.
    pub(crate) fn on_timer(&mut self) {
        self.interactive = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    fn receive(policy: &mut AckPolicy, now: Nanos, next: u64) -> bool {
        let at_once = policy.on_data(now, 1000, false, next, SECOND);
        if at_once {
            policy.on_ack_sent(next);
        }
        at_once
    }

    #[test]
    fn the_first_sixteen_then_every_second_and_again_after_a_pause() {
        let mut policy = AckPolicy::new(1);
        let mut next = 1;
        let mut take = |now| {
            next += 1000;
            receive(&mut policy, now, next)
        };
        assert!((0..16).all(|_| take(0)));
        assert!(!take(0));
        assert!(take(0));
        assert!(!take(0));
        assert!(take(2 * SECOND));
        assert!(take(2 * SECOND));
    }

    #[test]
    fn an_answer_carries_the_acknowledgement() {
        let mut policy = AckPolicy::new(1);
        assert!(receive(&mut policy, 0, 1001));
        policy.on_data_sent(1, 40_000_000);
        assert!(!receive(&mut policy, 2, 2001));
        policy.on_timer();
        policy.on_ack_sent(2001);
        assert!(receive(&mut policy, 3, 3001));
    }
}
