//! Send times of the data under way.

use std::collections::VecDeque;

use crate::{Nanos, Segment};

/// Most segments whose time is kept. Beyond it every second one is forgotten: their
/// acknowledgements give no round trip.
const MAX_FIRST_SENDS: usize = 2048;
/// Capacity that is kept while nothing is under way.
const KEPT_FIRST_SENDS: usize = 32;

/// A segment when it was sent first. The numbers are the low halves of relative sequence numbers:
/// all that is under way together is far less than 2^31.
#[derive(Clone, Copy, Debug)]
struct FirstSend {
    start: u32,
    end: u32,
    /// TSval; 0 where there is none.
    timestamp: u32,
    at: Nanos,
}

/// First transmissions, in the order of sequence numbers, of what is not acknowledged.
#[derive(Clone, Debug, Default)]
pub(super) struct SendTimes {
    sends: VecDeque<FirstSend>,
}

impl SendTimes {
    /// Notes that `[start, end)`, above all there is, was sent by a segment.
    #[inline]
    pub(super) fn push(&mut self, start: i64, end: i64, segment: &Segment) {
        if self.sends.len() == MAX_FIRST_SENDS {
            self.thin();
        }
        self.sends.push_back(FirstSend {
            start: start as u32,
            end: end as u32,
            timestamp: segment.options.timestamps.map_or(0, |stamps| stamps.value),
            at: segment.at,
        });
    }

    /// Returns when `number` was sent.
    pub(super) fn at(&self, number: i64) -> Option<Nanos> {
        let low = number as u32;
        let which = self
            .sends
            .partition_point(|send| distance(send.end, low) <= 0);
        let send = self.sends.get(which)?;
        (distance(low, send.start) >= 0).then_some(send.at)
    }

    /// Returns when the lowest segment before `end` with a TSval of `echo` was sent.
    pub(super) fn echoed(&self, end: i64, echo: u32) -> Option<Nanos> {
        let low = end as u32;
        self.sends
            .iter()
            .take_while(|send| distance(low, send.start) > 0)
            .find(|send| send.timestamp == echo)
            .map(|send| send.at)
    }

    /// Forgets the numbers before `acknowledged`. Returns when the last of them was sent.
    #[inline]
    pub(super) fn acknowledge(&mut self, acknowledged: i64) -> Option<Nanos> {
        let low = acknowledged as u32;
        while let Some(send) = self.sends.front() {
            let beyond = distance(send.end, low);
            if beyond > 0 {
                return (distance(low, send.start) > 0).then_some(send.at);
            }
            let at = send.at;
            self.sends.pop_front();
            if beyond == 0 {
                if self.sends.is_empty() && self.sends.capacity() > KEPT_FIRST_SENDS {
                    self.clear();
                }
                return Some(at);
            }
        }
        None
    }

    /// Forgets all.
    #[cold]
    pub(super) fn clear(&mut self) {
        self.sends = VecDeque::new();
    }

    #[cold]
    fn thin(&mut self) {
        let mut odd = false;
        self.sends.retain(|_| {
            odd = !odd;
            odd
        });
    }
}

/// Returns how far `number` lies beyond `origin`.
#[inline]
fn distance(number: u32, origin: u32) -> i32 {
    number.wrapping_sub(origin) as i32
}

#[cfg(test)]
mod tests {
    use super::super::tests::dsl::{Tape, data};
    use super::*;

    /// Notes a range whose TSval is its time.
    fn push(sends: &mut SendTimes, start: i64, end: i64, at: Nanos) {
        let packet = data(0..0).stamps(at as u32, 0);
        sends.push(start, end, &Tape::blank().captured(at, &packet));
    }

    #[test]
    fn an_acknowledgement_tells_when_its_last_byte_was_sent() {
        let mut sends = SendTimes::default();
        for n in 0..4 {
            push(&mut sends, 10 * n, 10 * n + 10, n);
        }
        assert_eq!(sends.at(0), Some(0));
        assert_eq!(sends.at(39), Some(3));
        assert_eq!(sends.at(40), None);
        assert_eq!(sends.acknowledge(20), Some(1));
        assert_eq!(sends.at(19), None);
        assert_eq!(sends.at(20), Some(2));
        // Within a segment: that of the segment, again and again.
        assert_eq!(sends.acknowledge(21), Some(2));
        assert_eq!(sends.acknowledge(29), Some(2));
        assert_eq!(sends.acknowledge(41), None);
        assert_eq!(sends.acknowledge(50), None);
    }

    #[test]
    fn an_echo_tells_when_its_segment_was_sent() {
        let mut sends = SendTimes::default();
        for (n, at) in [(0, 5), (1, 6), (2, 6), (3, 7)] {
            push(&mut sends, 10 * n, 10 * n + 10, at);
        }
        assert_eq!(sends.echoed(30, 6), Some(6));
        assert_eq!(sends.echoed(30, 7), None);
        assert_eq!(sends.echoed(31, 7), Some(7));
    }

    #[test]
    fn what_was_not_seen_has_no_time() {
        let mut sends = SendTimes::default();
        push(&mut sends, 0, 10, 1);
        push(&mut sends, 20, 30, 2);
        assert_eq!((sends.at(10), sends.at(20)), (None, Some(2)));
        assert_eq!(sends.acknowledge(15), None);
        assert_eq!(sends.acknowledge(20), None);
        assert_eq!(sends.acknowledge(30), Some(2));
    }

    #[test]
    fn beyond_the_limit_every_second_is_forgotten_and_the_room_is_given_back() {
        let mut sends = SendTimes::default();
        let start = i64::from(u32::MAX) - 100;
        let many = MAX_FIRST_SENDS as i64 + 1;
        for n in 0..many {
            push(&mut sends, start + 10 * n, start + 10 * n + 10, n);
        }
        assert_eq!(sends.sends.len(), MAX_FIRST_SENDS / 2 + 1);
        assert_eq!(sends.acknowledge(start + 10), Some(0));
        assert_eq!(sends.acknowledge(start + 20), None);
        assert_eq!(sends.acknowledge(start + 30), Some(2));
        assert_eq!(sends.acknowledge(start + 10 * many), Some(many - 1));
        assert_eq!(sends.sends.capacity(), 0);
    }
}
