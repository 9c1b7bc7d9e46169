//! The frames of a stream: data that is made at a constant rate and is of use for some time only.

use mptcplab_link::Nanos;

use crate::Offer;

/// The frames of a stream: number n, from 0, is made n times a frame's time after the begin.
///
/// ```
/// use mptcplab_traffic::Frames;
///
/// // 25 frames a second, for a second.
/// let frames = Frames { rate_bps: 8_000_000, frame_bytes: 40_000, duration_ns: 1_000_000_000 };
/// assert_eq!(frames.count(), 25);
/// assert_eq!(frames.made_ns(3), 120_000_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frames {
    /// Payload in bits a second.
    pub rate_bps: u64,
    /// Payload of each frame.
    pub frame_bytes: u64,
    /// Frames are made before this time.
    pub duration_ns: Nanos,
}

impl Frames {
    /// When a frame is made, from the begin of the stream.
    #[must_use]
    pub fn made_ns(&self, number: u64) -> Nanos {
        let bits = u128::from(number)
            .saturating_mul(u128::from(self.frame_bytes))
            .saturating_mul(8 * 1_000_000_000);
        let span = bits.div_ceil(u128::from(self.rate_bps.max(1)));
        Nanos::try_from(span).unwrap_or(Nanos::MAX)
    }

    /// The number of frames that are made by a time from the begin.
    fn made_by(&self, elapsed_ns: Nanos) -> u64 {
        let work = u128::from(elapsed_ns) * u128::from(self.rate_bps.max(1));
        let frame = u128::from(self.frame_bytes.max(1)) * 8 * 1_000_000_000;
        u64::try_from(work / frame + 1).unwrap_or(u64::MAX)
    }

    /// The number of all frames.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self.duration_ns.checked_sub(1) {
            Some(last_ns) => self.made_by(last_ns),
            None => 0,
        }
    }

    /// Payload of all frames.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.count().saturating_mul(self.frame_bytes)
    }

    /// The next step of the sending application at a time from the begin, where `sent` bytes have
    /// been written, which are not all: it writes what has been made, or waits for the next frame.
    #[must_use]
    pub fn offer(&self, elapsed_ns: Nanos, sent: u64) -> Offer {
        let made = self.made_by(elapsed_ns).min(self.count());
        let made = made.saturating_mul(self.frame_bytes);
        if made > sent {
            Offer::Bytes(made - sent)
        } else {
            Offer::Wait(self.made_ns(sent / self.frame_bytes.max(1)))
        }
    }

    /// The frames that a receiver has whole once it has so many bytes, beyond those that it had.
    pub fn completed(&self, before: u64, after: u64) -> impl Iterator<Item = u64> + use<> {
        let whole = |bytes: u64| bytes / self.frame_bytes.max(1);
        whole(before)..whole(after)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FRAMES: Frames = Frames {
        rate_bps: 3_000_000,
        frame_bytes: 1000,
        duration_ns: 10_000_000,
    };

    #[test]
    fn frames_are_made_at_multiples_of_their_time_before_the_end() {
        // 8000 bits take 2.667 ms.
        let made: Vec<_> = (0..FRAMES.count()).map(|n| FRAMES.made_ns(n)).collect();
        assert_eq!(made, [0, 2_666_667, 5_333_334, 8_000_000]);
        assert_eq!(FRAMES.bytes(), 4000);
    }

    #[test]
    fn the_sender_writes_what_has_been_made_and_waits_for_the_next_frame() {
        assert_eq!(FRAMES.offer(0, 0), Offer::Bytes(1000));
        assert_eq!(FRAMES.offer(0, 1000), Offer::Wait(2_666_667));
        assert_eq!(FRAMES.offer(2_666_666, 1000), Offer::Wait(2_666_667));
        assert_eq!(FRAMES.offer(2_666_667, 1000), Offer::Bytes(1000));
        assert_eq!(FRAMES.offer(6_000_000, 400), Offer::Bytes(2600));
        assert_eq!(FRAMES.offer(99_000_000, 0), Offer::Bytes(4000));
    }

    #[test]
    fn a_frame_is_complete_with_its_last_byte() {
        let completed = |before, after| FRAMES.completed(before, after).collect::<Vec<_>>();
        assert_eq!(completed(0, 999), []);
        assert_eq!(completed(999, 1000), [0]);
        assert_eq!(completed(1500, 3999), [1, 2]);
    }

    proptest! {
        #[test]
        fn no_frame_is_offered_before_it_is_made_or_after_the_next_wait(
            rate_bps in 1_u64..1_000_000_000_000,
            frame_bytes in 1_u64..1_000_000,
            duration_ns in 1_u64..1_000_000_000,
            elapsed_ns in 0_u64..1_000_000_000,
        ) {
            let frames = Frames { rate_bps, frame_bytes, duration_ns };
            let count = frames.count();
            prop_assert!(frames.made_ns(count - 1) < duration_ns);
            prop_assert!(frames.made_ns(count) >= duration_ns);
            match frames.offer(elapsed_ns, 0) {
                Offer::Bytes(bytes) => {
                    let made = bytes / frame_bytes;
                    prop_assert!(made <= count && frames.made_ns(made - 1) <= elapsed_ns);
                    prop_assert!(made == count || frames.made_ns(made) > elapsed_ns);
                }
                Offer::Wait(_) => prop_assert!(false, "the first frame is made at once"),
            }
        }
    }
}
