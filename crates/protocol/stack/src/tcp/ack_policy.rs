//! When to acknowledge: at once, or after a while (RFC 9293, section 3.8.6.3; RFC 5681,
//! section 4.2), with Linux's quick acknowledgements and its compression of selective ones.
//!
//! Source: `__tcp_ack_snd_check`, `tcp_event_data_recv`, `tcp_measure_rcv_mss` and
//! `tcp_cleanup_rbuf` in Linux 6.18, net/ipv4.

use crate::Nanos;

/// Segments acknowledged at once at the start and after a pause, so that the peer's slow start
/// is not held up.
const QUICK_ACKS: u8 = 16;

/// Repeated acknowledgements of one RCV.NXT that leave at once: by the third the peer knows of the
/// loss.
const REPEATED_ACKS: u8 = 3;

/// Acknowledgements that one may stand for (`tcp_comp_sack_nr`).
const MAX_COMPRESSED: u8 = 44;

/// Payload from which on a segment is taken for a full one (RFC 9293, section 3.7.1), and the
/// smallest that may be one.
const DEFAULT_SEGMENT_BYTES: u64 = 536;
const LEAST_SEGMENT_BYTES: u64 = 88;

/// A segment with payload, as far as acknowledgements hang on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataSegment {
    /// Its payload.
    pub(crate) bytes: u64,
    /// Its options beside timestamps.
    pub(crate) option_bytes: u64,
    /// It has PSH.
    pub(crate) pushed: bool,
    /// It has FIN.
    pub(crate) finished: bool,
}

impl DataSegment {
    /// Whether it may be short as the peer had no more.
    fn is_remnant(&self) -> bool {
        self.pushed || self.finished
    }
}

/// When an acknowledgement is to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AckTime {
    /// Now.
    Now,
    /// Soon, for all segments beyond a hole that come until then.
    Compressed,
    /// With an answer, or after the delay.
    Delayed,
}

/// State of the receiver's acknowledgements.
#[derive(Clone, Debug)]
pub(crate) struct AckPolicy {
    quick: u8,
    /// Data flows both ways in turn: acknowledgements ride on answers.
    interactive: bool,
    last_data: Option<Nanos>,
    /// RCV.NXT of the last acknowledgement sent.
    told: u64,
    /// Data has come since.
    is_scheduled: bool,
    /// Length of the peer's full segments as far as seen, and the longest that they can be.
    segment_bytes: u64,
    max_segment_bytes: u64,
    /// Length of the last segment, where it was shorter.
    last_segment_bytes: u64,
    /// Segments with PSH or shorter ones since the last acknowledgement, up to two: the peer may
    /// have no more, and wait.
    pushed: u8,
    compression: Compression,
}

/// Selective acknowledgements of one RCV.NXT.
#[derive(Clone, Debug, Default)]
struct Compression {
    next: u64,
    /// Those that left at once.
    repeated: u8,
    /// Those held back.
    held: u8,
}

impl AckPolicy {
    /// `told` is the offset that the handshake acknowledges, `max_segment_bytes` the most payload
    /// that a segment of the peer may have.
    pub(crate) fn new(told: u64, max_segment_bytes: u64) -> Self {
        Self {
            quick: QUICK_ACKS,
            interactive: false,
            last_data: None,
            told,
            is_scheduled: false,
            segment_bytes: DEFAULT_SEGMENT_BYTES.min(max_segment_bytes),
            max_segment_bytes,
            last_segment_bytes: 0,
            pushed: 0,
            compression: Compression::default(),
        }
    }

    /// RCV.NXT of the last acknowledgement sent.
    pub(crate) fn told(&self) -> u64 {
        self.told
    }

    /// Notes data that came in order.
    pub(crate) fn on_data(&mut self, now: Nanos, segment: &DataSegment, rto_ns: Nanos) {
        self.on_early(segment);
        let paused = self.last_data.is_some_and(|last| now - last > rto_ns);
        if paused {
            self.quick = self.quick.max(QUICK_ACKS);
        }
        self.last_data = Some(now);
    }

    /// Notes data beyond a hole.
    pub(crate) fn on_early(&mut self, segment: &DataSegment) {
        self.is_scheduled = true;
        self.measure(segment);
    }

    /// Notes data that had come before, or beyond the window: the peer is at a loss.
    pub(crate) fn on_useless(&mut self) {
        self.is_scheduled = true;
        self.quick = self.quick.max(QUICK_ACKS);
        self.interactive = false;
    }

    /// Notes that the window grows: the peer should know at once. While it grows with each segment,
    /// every second quick acknowledgement is not used up.
    pub(crate) fn on_larger_window(&mut self) {
        self.quick |= 1;
    }

    /// Notes that little room is left: the application has to read before the peer needs to know.
    ///
    /// Source: `__tcp_select_window` in Linux 6.18, net/ipv4/tcp_output.c.
    pub(crate) fn on_scarce_window(&mut self) {
        self.quick = 0;
    }

    /// Whether a segment of so much payload is a full one.
    pub(crate) fn is_full(&self, bytes: u64) -> bool {
        bytes >= self.segment_bytes
    }

    /// Follows the length of the peer's segments. Options make them shorter at times: two of one
    /// length, options included, are needed before a shorter one is taken for full.
    fn measure(&mut self, segment: &DataSegment) {
        let last = core::mem::take(&mut self.last_segment_bytes);
        let bytes = segment.bytes;
        if bytes >= self.segment_bytes {
            self.segment_bytes = bytes.min(self.max_segment_bytes);
            self.pushed = self.pushed.max(u8::from(segment.pushed));
            return;
        }
        let bytes = bytes + segment.option_bytes;
        if bytes >= DEFAULT_SEGMENT_BYTES || (bytes >= LEAST_SEGMENT_BYTES && !segment.is_remnant())
        {
            self.last_segment_bytes = bytes;
            if bytes == last {
                self.segment_bytes = bytes;
                return;
            }
        }
        self.pushed = (self.pushed + 1).min(2);
    }

    /// When to acknowledge what has come up to `next`, which is RCV.NXT. `sacks` tells where there
    /// is a hole, and whether selective acknowledgements tell of what is beyond it; `is_room_taken`
    /// whether data that was not read yet keeps the window's right edge back: the reader then
    /// acknowledges ([`AckPolicy::is_owed`]).
    pub(crate) fn time(&mut self, next: u64, sacks: Option<bool>, is_room_taken: bool) -> AckTime {
        let is_second = self.is_second(next) && !is_room_taken;
        if is_second || (self.quick > 0 && !self.interactive) {
            return AckTime::Now;
        }
        let Some(selective) = sacks else {
            return AckTime::Delayed;
        };
        let compression = &mut self.compression;
        if !selective || compression.held >= MAX_COMPRESSED {
            return AckTime::Now;
        }
        if compression.next != next {
            compression.next = next;
            compression.repeated = 0;
        }
        if compression.repeated < REPEATED_ACKS {
            compression.repeated += 1;
            return AckTime::Now;
        }
        compression.held += 1;
        AckTime::Compressed
    }

    /// Notes that data was sent: an answer, if data came not long ago.
    pub(crate) fn on_data_sent(&mut self, now: Nanos, delay_ns: Nanos) {
        if self.last_data.is_some_and(|last| now - last < delay_ns) {
            self.interactive = true;
        }
    }

    /// Notes that an acknowledgement up to `next` has gone out.
    pub(crate) fn on_ack_sent(&mut self, next: u64) {
        if core::mem::take(&mut self.is_scheduled) {
            self.quick = self.quick.saturating_sub(1);
        }
        self.told = next;
        self.pushed = 0;
        self.compression.held = 0;
    }

    /// Whether more than a full segment was not acknowledged.
    fn is_second(&self, next: u64) -> bool {
        next - self.told > self.segment_bytes
    }

    /// Whether an acknowledgement up to `next` is owed to a peer that may wait for it, once the
    /// application has read everything.
    pub(crate) fn is_owed(&self, next: u64) -> bool {
        let may_wait = self.pushed > 1 || (self.pushed > 0 && !self.interactive);
        self.is_scheduled && (may_wait || self.is_second(next))
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

    fn segment(bytes: u64) -> DataSegment {
        DataSegment {
            bytes,
            option_bytes: 0,
            pushed: false,
            finished: false,
        }
    }

    fn receive(policy: &mut AckPolicy, now: Nanos, next: u64) -> bool {
        policy.on_data(now, &segment(1000), SECOND);
        let at_once = policy.time(next, None, false) == AckTime::Now;
        if at_once {
            policy.on_ack_sent(next);
        }
        at_once
    }

    /// A policy whose quick acknowledgements are used up.
    fn used(segment_bytes: u64) -> AckPolicy {
        let mut policy = AckPolicy::new(1, 1448);
        for _ in 0..QUICK_ACKS {
            policy.on_data(0, &segment(segment_bytes), SECOND);
            policy.on_ack_sent(1);
        }
        policy
    }

    #[test]
    fn the_first_sixteen_then_every_second_and_again_after_a_pause() {
        let mut policy = AckPolicy::new(1, 1448);
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
    fn a_reader_acknowledges_what_kept_the_window_back() {
        let mut policy = used(1000);
        policy.on_data(0, &segment(1000), SECOND);
        assert_eq!(policy.time(1001, None, true), AckTime::Delayed);
        assert!(!policy.is_owed(1001));
        policy.on_data(0, &segment(1000), SECOND);
        assert_eq!(policy.time(2001, None, true), AckTime::Delayed);
        assert!(policy.is_owed(2001));
        policy.on_ack_sent(2001);
        assert!(!policy.is_owed(2001));
    }

    #[test]
    fn an_answer_carries_the_acknowledgement() {
        let mut policy = AckPolicy::new(1, 1448);
        assert!(receive(&mut policy, 0, 1001));
        policy.on_data_sent(1, 40_000_000);
        assert!(!receive(&mut policy, 2, 2001));
        policy.on_timer();
        policy.on_ack_sent(2001);
        assert!(receive(&mut policy, 3, 3001));
    }

    #[test]
    fn a_window_that_grows_is_told_with_each_segment() {
        let mut policy = used(1000);
        assert!(!receive(&mut policy, 0, 1001));
        policy.on_larger_window();
        assert!(receive(&mut policy, 0, 1001));
    }

    #[test]
    fn quick_acknowledgements_last_while_the_window_grows() {
        let mut policy = used(1000);
        policy.on_useless();
        let mut next = 1;
        for _ in 0..100 {
            next += 1000;
            policy.on_larger_window();
            assert!(receive(&mut policy, 0, next));
        }
        assert_eq!(policy.quick, QUICK_ACKS);
    }

    #[test]
    fn with_little_room_left_none_is_quick() {
        let mut policy = AckPolicy::new(1, 1448);
        assert!(receive(&mut policy, 0, 1001));
        policy.on_scarce_window();
        assert!(!receive(&mut policy, 0, 2001));
    }

    #[test]
    fn three_selective_acknowledgements_leave_at_once_then_one_stands_for_many() {
        let mut policy = used(1000);
        let mut early = |next| {
            policy.on_early(&segment(1000));
            let time = policy.time(next, Some(true), false);
            if time == AckTime::Now {
                policy.on_ack_sent(next);
            }
            time
        };
        assert!((0..3).all(|_| early(1) == AckTime::Now));
        assert!((0..44).all(|_| early(1) == AckTime::Compressed));
        assert_eq!(early(1), AckTime::Now);
        assert_eq!(early(1), AckTime::Compressed);
        assert_eq!(early(1001), AckTime::Now);
    }

    #[test]
    fn without_selective_acknowledgements_each_leaves_at_once() {
        let mut policy = used(1000);
        assert!((0..9).all(|_| policy.time(1, Some(false), false) == AckTime::Now));
    }

    #[test]
    fn a_segment_sent_for_nothing_brings_quick_acknowledgements() {
        let mut policy = used(1000);
        policy.on_useless();
        policy.on_ack_sent(1);
        assert!((1..16).all(|n| receive(&mut policy, 0, 1 + 1000 * n)));
        assert!(!receive(&mut policy, 0, 16_001));
    }

    #[test]
    fn the_second_short_segment_is_owed_an_acknowledgement_in_a_dialogue_too() {
        let mut policy = used(1448);
        policy.on_data_sent(1, SECOND);
        policy.on_data(2, &segment(100), SECOND);
        assert!(!policy.is_owed(1));
        policy.on_data(3, &segment(200), SECOND);
        assert!(policy.is_owed(1));
    }

    #[test]
    fn two_segments_of_one_length_are_full_ones_whatever_their_options() {
        let mut policy = used(1448);
        policy.on_data(0, &segment(1000), SECOND);
        assert_eq!(policy.segment_bytes, 1448);
        let shorter = DataSegment {
            option_bytes: 12,
            ..segment(988)
        };
        policy.on_data(0, &shorter, SECOND);
        assert_eq!(policy.segment_bytes, 1000);
    }

    #[test]
    fn segments_joined_on_the_way_count_as_one_of_the_announced_length() {
        assert_eq!(used(4000).segment_bytes, 1448);
    }
}
