//! The time that a transfer takes over a set of paths, by a model: slow start on each path, its
//! handshake, and a sender that hands data to every subflow whose window has room, as Linux does.
//! So a slow path that gets a window of data may be what the transfer waits for in the end.

/// Bytes of data of a segment.
const SEGMENT: f64 = 1448.0;
/// The initial window (RFC 6928), segments.
const INITIAL_WINDOW: f64 = 10.0;
/// Rounds of slow start that are looked at: more than any window has.
const ROUNDS: u32 = 30;
/// Steps of the search for a time.
const STEPS: u32 = 50;

/// A path as the model has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ModelPath {
    /// Bytes a second that are left to one more subflow.
    pub(super) rate: f64,
    /// The round trip, queues of others included, s.
    pub(super) round_trip_s: f64,
}

/// A subflow: a path and the time at which the sender may use it.
#[derive(Clone, Copy, Debug)]
struct Subflow {
    path: ModelPath,
    start_s: f64,
}

impl Subflow {
    /// The windows that were begun by a time.
    fn windows(&self, at_s: f64) -> u32 {
        if at_s < self.start_s {
            return 0;
        }
        let rounds = (at_s - self.start_s) / self.path.round_trip_s;
        (rounds.min(f64::from(ROUNDS)) as u32 + 1).min(ROUNDS)
    }

    /// Bytes that may be on their way at once: the initial window, or what fills the path and a
    /// queue of the same size.
    fn outstanding(&self) -> f64 {
        let fills = self.path.rate * self.path.round_trip_s;
        (INITIAL_WINDOW * SEGMENT).max(2.0 * fills)
    }

    /// Bytes handed to the subflow by a time.
    fn handed(&self, at_s: f64) -> f64 {
        let windows = self.windows(at_s);
        if windows == 0 {
            return 0.0;
        }
        bytes_of(windows).min(self.path.rate * (at_s - self.start_s) + self.outstanding())
    }

    /// The time at which the last window before a time was begun.
    fn last_window_s(&self, at_s: f64) -> f64 {
        let rounds = self.windows(at_s).saturating_sub(1);
        self.start_s + f64::from(rounds) * self.path.round_trip_s
    }

    /// The time at which the last of `bytes` arrives, if they are handed over as early as can be,
    /// the last of them by `at_s`.
    fn arrival_s(&self, at_s: f64, bytes: f64) -> f64 {
        let windows = self.windows(at_s);
        let before = bytes_of(windows.saturating_sub(1));
        let last_s = self.last_window_s(at_s);
        let by_windows = last_s + (bytes - before).max(0.0) / self.path.rate;
        let by_rate = self.start_s + bytes / self.path.rate;
        let is_limited_by_windows = bytes > before;
        let sent_s = match is_limited_by_windows {
            true => by_windows.max(by_rate),
            false => by_rate,
        };
        sent_s + self.path.round_trip_s / 2.0
    }
}

/// Bytes of the first windows of slow start, each twice the one before.
fn bytes_of(windows: u32) -> f64 {
    let initials = (1_u64 << windows) - 1;
    INITIAL_WINDOW * SEGMENT * initials as f64
}

/// Seconds from the first SYN to the last byte of a transfer over paths, the first of which has the
/// first subflow. The others are opened when it is established, all at once.
pub(super) fn completion_s(bytes: f64, paths: &[ModelPath]) -> f64 {
    let Some(first) = paths.first() else {
        return f64::INFINITY;
    };
    // The request comes one and a half round trips after the SYN. A MP_JOIN is sent when its first
    // acknowledgement has come, and its subflow carries data after a handshake of its own.
    let subflows: Vec<Subflow> = paths
        .iter()
        .enumerate()
        .map(|(index, path)| Subflow {
            path: *path,
            start_s: match index {
                0 => 1.5 * first.round_trip_s,
                _ => 2.0 * first.round_trip_s + 1.5 * path.round_trip_s,
            },
        })
        .collect();
    let handed = |at_s: f64| -> f64 { subflows.iter().map(|one| one.handed(at_s)).sum() };
    let end_s = last_handed_s(bytes, &subflows[0], handed);
    // The part of a window beyond what is left is taken off the subflow that was last to begin one.
    let mut excess = (handed(end_s) - bytes).max(0.0);
    let mut order: Vec<&Subflow> = subflows.iter().collect();
    order.sort_by(|one, other| {
        let (one_s, other_s) = (one.last_window_s(end_s), other.last_window_s(end_s));
        other_s.total_cmp(&one_s)
    });
    let mut latest_s = 0.0_f64;
    for subflow in order {
        let own = subflow.handed(end_s);
        let less = excess.min(own);
        excess -= less;
        if own > less {
            latest_s = latest_s.max(subflow.arrival_s(end_s, own - less));
        }
    }
    latest_s
}

/// The time at which the last byte is handed to a subflow.
fn last_handed_s(bytes: f64, first: &Subflow, handed: impl Fn(f64) -> f64) -> f64 {
    let mut from_s = 0.0;
    // All rounds, or all at the rate of the first path alone: then it is done.
    let rounds_s = f64::from(ROUNDS) * first.path.round_trip_s;
    let mut to_s = first.start_s + rounds_s + bytes / first.path.rate;
    for _ in 0..STEPS {
        let middle_s = (from_s + to_s) / 2.0;
        if handed(middle_s) < bytes {
            from_s = middle_s;
        } else {
            to_s = middle_s;
        }
    }
    to_s
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(megabits: f64, round_trip_ms: f64) -> ModelPath {
        ModelPath {
            rate: megabits * 1e6 / 8.0,
            round_trip_s: round_trip_ms / 1e3,
        }
    }

    #[test]
    fn one_path_takes_its_handshake_its_rounds_and_the_time_of_its_bytes() {
        // One window: a round trip and a half, the bytes, half a round trip.
        let small = completion_s(10_000.0, &[path(10.0, 20.0)]);
        assert!((small - (0.040 + 0.008)).abs() < 1e-6, "{small}");
        // Large: the path is full nearly all the time.
        let large = completion_s(5e6, &[path(10.0, 20.0)]);
        assert!((4.0..4.2).contains(&large), "{large}");
        // Limited by windows: 4 rounds of 10, 20, 40, 80 segments.
        let rounds = completion_s(200_000.0, &[path(1000.0, 100.0)]);
        assert!((0.4..0.52).contains(&rounds), "{rounds}");
    }

    #[test]
    fn an_equal_path_halves_the_time_and_a_slow_one_lengthens_it() {
        let fast = path(10.0, 20.0);
        let one = completion_s(5e6, &[fast]);
        let two = completion_s(5e6, &[fast, fast]);
        assert!((0.48..0.55).contains(&(two / one)), "{two} {one}");
        let slow = completion_s(500_000.0, &[fast, path(0.1, 20.0)]);
        assert!(slow > 2.0 * completion_s(500_000.0, &[fast]));
    }
}
