//! The CoDel queue discipline, RFC 8289, section 5.

use crate::Nanos;
use crate::fifo::{Fifo, Waiting};

/// State of CoDel between two packets; names as in the RFC's pseudocode.
#[derive(Clone, Debug)]
pub(crate) struct CoDel {
    target_ns: Nanos,
    interval_ns: Nanos,
    /// When the delay will have been above the target for an interval; `None` while below.
    first_above: Option<Nanos>,
    dropping: bool,
    /// Time of the next drop while dropping.
    drop_next: Nanos,
    /// Packets dropped since dropping began.
    count: u32,
    /// `count` at the time at which dropping began.
    last_count: u32,
}

impl CoDel {
    pub(crate) fn new(target_ns: Nanos, interval_ns: Nanos) -> Self {
        Self {
            target_ns,
            interval_ns,
            first_above: None,
            dropping: false,
            drop_next: 0,
            count: 0,
            last_count: 0,
        }
    }

    pub(crate) fn reset(&mut self) {
        *self = Self::new(self.target_ns, self.interval_ns);
    }

    /// Takes the next packet to send (section 5.5). A queue that holds a packet always yields one:
    /// the last is never dropped.
    pub(crate) fn pop<T>(
        &mut self,
        now: Nanos,
        fifo: &mut Fifo<T>,
        dropped: &mut u64,
    ) -> Option<Waiting<T>> {
        let (mut packet, mut ok_to_drop) = self.next(now, fifo);
        if self.dropping {
            self.dropping = ok_to_drop;
            // A large backlog may make several drops due at once.
            while self.dropping && now >= self.drop_next {
                *dropped += 1;
                self.count = self.count.saturating_add(1);
                (packet, ok_to_drop) = self.next(now, fifo);
                if ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            *dropped += 1;
            (packet, _) = self.next(now, fifo);
            self.dropping = true;
            // Where dropping ended a short while ago, the rate of drops that controlled the queue
            // then is a better start than one.
            let drops_last_time = self.count - self.last_count;
            let was_recent = now
                < self
                    .drop_next
                    .saturating_add(self.interval_ns.saturating_mul(16));
            self.count = if drops_last_time > 1 && was_recent {
                drops_last_time
            } else {
                1
            };
            self.drop_next = self.control_law(now);
            self.last_count = self.count;
        }
        packet
    }

    /// Takes the packet at the head and says whether it may be dropped (section 5.6).
    fn next<T>(&mut self, now: Nanos, fifo: &mut Fifo<T>) -> (Option<Waiting<T>>, bool) {
        let Some(head) = fifo.pop() else {
            self.first_above = None;
            return (None, false);
        };
        let sojourn = now - head.arrived;
        let mut ok_to_drop = false;
        if sojourn < self.target_ns || fifo.bytes() <= u64::from(fifo.largest_bytes()) {
            self.first_above = None;
        } else {
            match self.first_above {
                None => self.first_above = Some(now.saturating_add(self.interval_ns)),
                Some(first_above) => ok_to_drop = now >= first_above,
            }
        }
        (Some(head), ok_to_drop)
    }

    /// Time of the drop after one at `from`: an interval over the square root of the drops so far,
    /// rounded down.
    fn control_law(&self, from: Nanos) -> Nanos {
        from.saturating_add((self.interval_ns as f64 / libm::sqrt(f64::from(self.count))) as Nanos)
    }
}
