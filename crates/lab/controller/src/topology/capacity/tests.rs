use super::*;
use crate::place::PortRef;

const MILLISECOND: u64 = 1_000_000;
const TOLD_BPS: u64 = 10_000_000;
const DELAY_NS: u64 = 5 * MILLISECOND;

/// A link, the frames of which are sent each second, at the time of the readings.
#[derive(Default)]
struct Watched {
    capacity: Capacity,
    now_ns: u64,
    /// How much longer the control channels may take.
    control_ms: u64,
    /// How long all frames of the switch wait.
    shared_ms: u64,
}

impl Watched {
    /// A second later: so much has come since the last reading, and the frame that is sent now waits
    /// for so long, or does not come.
    fn second(&mut self, bps: u64, waits_ms: Option<u64>) {
        let from_ns = self.now_ns;
        self.now_ns += SECOND;
        let missing = match waits_ms {
            Some(waits_ms) => {
                self.capacity.add(
                    Frame {
                        sent_ns: self.now_ns,
                        took_ns: DELAY_NS + waits_ms * MILLISECOND,
                        control_ns: self.control_ms * MILLISECOND,
                    },
                    None,
                );
                None
            }
            None => Some(self.now_ns),
        };
        let interval = Interval {
            from_ns,
            to_ns: self.now_ns,
            bps,
        };
        let review_ns = self.now_ns + SECOND / 2;
        let (missing, shared_ns) = (missing.into_iter(), self.shared_ms * MILLISECOND);
        self.capacity
            .measure(review_ns, interval, missing, |_| shared_ns, Some(TOLD_BPS));
    }

    /// The rate as measured, if it counts.
    fn slow_bps(&self) -> Option<u64> {
        let slow = self.capacity.slow;
        let slow = slow.filter(|slow| slow.until_ns >= self.now_ns);
        slow.map(|slow| slow.bps)
    }
}

/// One that was idle, and then carried what it can.
fn watched(bps: u64) -> Watched {
    let mut link = Watched::default();
    link.second(0, Some(0));
    for _ in 0..3 {
        link.second(bps, Some(400));
    }
    link
}

#[test]
fn what_came_while_every_frame_waited_is_the_rate() {
    let mut link = Watched::default();
    link.second(TOLD_BPS, Some(0));
    link.second(500_000, Some(400));
    // It may have been idle after the frame before.
    assert_eq!(link.slow_bps(), None);
    link.second(400_000, Some(400));
    // It may have been idle between the frames, of which more come now.
    assert!(link.capacity.is_suspect && !link.capacity.is_busy);
    link.second(400_000, Some(400));
    assert!(link.capacity.is_busy);
    assert_eq!(link.slow_bps(), Some(400_000));
    link.second(300_000, None);
    assert_eq!(link.slow_bps(), Some(300_000));
}

#[test]
fn a_link_that_may_have_been_idle_is_not_slow() {
    // The first frame, or the second, does not wait for a full one at that rate: 24 ms.
    for waits_ms in [[0, 400], [400, 0], [20, 400], [400, 20]] {
        let mut link = Watched::default();
        link.second(0, Some(0));
        for waits_ms in waits_ms {
            link.second(500_000, Some(waits_ms));
        }
        assert_eq!(link.slow_bps(), None, "{waits_ms:?}");
    }
    // None has come: they may have been lost elsewhere.
    let mut link = Watched::default();
    for _ in 0..4 {
        link.second(500_000, None);
    }
    assert!(!link.capacity.is_busy);
}

#[test]
fn a_rate_that_is_nearly_as_told_is_as_told() {
    let link = watched(TOLD_BPS * 7 / 10);
    assert!(link.capacity.is_busy);
    assert_eq!(link.slow_bps(), None);
    assert!(watched(TOLD_BPS * 7 / 10 - 1).slow_bps().is_some());
}

#[test]
fn a_link_is_slow_for_a_while_and_longer_if_it_is_slow_again() {
    let mut link = watched(500_000);
    let mut kept = Vec::new();
    for _ in 0..7 {
        let mut seconds = 0;
        while link.slow_bps().is_some() {
            link.second(0, Some(0));
            seconds += 1;
        }
        kept.push(seconds);
        for _ in 0..3 {
            link.second(500_000, Some(400));
        }
    }
    assert_eq!(kept, [31, 61, 121, 241, 481, 481, 481]);
    // More has come, though nothing waited: it is not as slow.
    link.second(2_000_000, Some(0));
    assert_eq!(link.slow_bps(), Some(2_000_000));
    // It is as told again.
    for _ in 0..2 {
        link.second(TOLD_BPS, Some(19));
    }
    assert_eq!(link.slow_bps(), None);
    for _ in 0..3 {
        link.second(500_000, Some(400));
    }
    assert!(link.slow_bps().is_some());
    assert_eq!(link.capacity.slow.map(|slow| slow.kept_ns), Some(KEPT_NS));
}

#[test]
fn readings_from_before_a_subflow_left_do_not_count() {
    let mut link = watched(500_000);
    link.capacity.since_ns = link.now_ns + SECOND / 2;
    link.second(500_000, Some(400));
    assert!(!link.capacity.is_busy);
    for _ in 0..2 {
        link.second(500_000, Some(400));
    }
    assert!(link.capacity.is_busy);
}

#[test]
fn what_control_channels_or_all_links_of_a_switch_wait_is_no_queue() {
    for (control_ms, shared_ms) in [(390, 0), (0, 390)] {
        let mut link = Watched {
            control_ms,
            shared_ms,
            ..Watched::default()
        };
        link.second(0, Some(0));
        for _ in 0..4 {
            link.second(500_000, Some(400));
            assert!(!link.capacity.is_busy);
        }
        assert_eq!(link.slow_bps(), None);
        // There is a queue beyond that.
        for _ in 0..3 {
            link.second(500_000, Some(900));
        }
        assert_eq!(link.slow_bps(), Some(500_000));
    }
}

#[test]
fn a_wait_is_shared_by_the_frames_of_a_round_of_one_switch() {
    let link = |from, to| Link {
        from: PortRef::new(from, to as u32),
        to: PortRef::new(to, from as u32),
    };
    let mut shared = SharedWaits::default();
    for (from, waited_ns) in [(1, 300), (2, 200), (3, 500)] {
        shared.add(link(from, 9), 7, waited_ns);
    }
    assert_eq!(shared.of(link(3, 9), 7), 200);
    assert_eq!(shared.of(link(3, 9), 8), 0);
    // The other direction, and a link that is the only one of its switch.
    assert_eq!(shared.of(link(9, 3), 7), 0);
    shared.add(link(4, 5), 7, 400);
    assert_eq!(shared.of(link(4, 5), 7), 0);
    shared.add(link(4, 6), 7, 0);
    assert_eq!(shared.of(link(4, 5), 7), 0);
}

#[test]
fn a_link_by_which_comes_nearly_what_was_told_is_not_slow() {
    let mut link = watched(500_000);
    link.second(TOLD_BPS * 7 / 10 - 1, Some(0));
    assert!(link.slow_bps().is_some());
    link.second(TOLD_BPS * 7 / 10, Some(0));
    assert_eq!(link.slow_bps(), None);
}
