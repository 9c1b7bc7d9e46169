//! The time that a transfer takes over a set of paths, by a model of Linux's sender: slow start on
//! each path, its handshake, and data that is handed over in bursts, as far ahead as the send buffer
//! allows. What a slow path was handed, the transfer waits for: in the end for the last of it, and on
//! the way each time that the buffer is full of what comes behind it.

/// Bytes of data of a segment.
const SEGMENT: f64 = 1448.0;
/// The initial window (RFC 6928), bytes.
const INITIAL_WINDOW: f64 = 10.0 * SEGMENT;
/// Bytes of the least queue, which holds 16 frames. Others hold what their path carries in a round
/// trip.
const LEAST_QUEUE: f64 = 24_000.0;
/// Bytes that a subflow is handed at once (`MPTCP_SEND_BURST_SIZE` less headers).
const BURST: f64 = 65_428.0;
/// Bytes of a fragment, the least that a subflow is handed if there are so many.
const FRAGMENT: f64 = 32_768.0;
/// The send buffer beside the congestion window: it has 2304 bytes for each segment of two windows
/// (`tcp_sndbuf_expand`), and a connection's data counts in it with its 1420 bytes a segment alone.
const SEND_BUFFER: f64 = 2.0 * 2304.0 / 1420.0;
/// The widest window beside what a path and its queue hold: slow start ends late, and a send buffer
/// never shrinks.
const OVERSHOOT: f64 = 1.25;
/// The part of its last burst that a subflow still has to send when the others have ended, on
/// average.
const LEFT: f64 = 0.5;
/// Steps of the search for a time.
const STEPS: u32 = 40;

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

/// Rounds of slow start that are over: seconds since the start, bytes sent, and the next window.
struct SlowStart {
    elapsed_s: f64,
    sent: f64,
    window: f64,
}

impl Subflow {
    /// Bytes that fill the path.
    fn fills(&self) -> f64 {
        self.path.rate * self.path.round_trip_s
    }

    /// The widest window.
    fn widest_window(&self) -> f64 {
        OVERSHOOT * (self.fills() + self.fills().max(LEAST_QUEUE))
    }

    /// Rounds of slow start, each with twice the window of the one before, until the window fills
    /// the path; those that end by a time, and those before the one that sends the last of `bytes`.
    fn slow_start(&self, elapsed_s: f64, bytes: f64) -> SlowStart {
        let mut rounds = SlowStart {
            elapsed_s: 0.0,
            sent: 0.0,
            window: INITIAL_WINDOW,
        };
        while rounds.window < self.fills()
            && rounds.elapsed_s + self.path.round_trip_s <= elapsed_s
            && rounds.sent + rounds.window < bytes
        {
            rounds.elapsed_s += self.path.round_trip_s;
            rounds.sent += rounds.window;
            rounds.window *= 2.0;
        }
        rounds
    }

    /// The time at which the last of `bytes` arrives, if there is always something to send.
    fn arrival_s(&self, bytes: f64) -> f64 {
        let rounds = self.slow_start(f64::INFINITY, bytes);
        let by_rounds = rounds.elapsed_s + (bytes - rounds.sent) / self.path.rate;
        let sent_s = by_rounds.max(bytes / self.path.rate);
        self.start_s + sent_s + self.path.round_trip_s / 2.0
    }

    /// Bytes that arrive by a time, if there is always something to send.
    fn arrived(&self, at_s: f64) -> f64 {
        let elapsed_s = at_s - self.start_s - self.path.round_trip_s / 2.0;
        if elapsed_s <= 0.0 {
            return 0.0;
        }
        let rounds = self.slow_start(elapsed_s, f64::INFINITY);
        let by_rate = (elapsed_s - rounds.elapsed_s) * self.path.rate;
        let of_round = match rounds.window < self.fills() {
            true => by_rate.min(rounds.window),
            false => by_rate,
        };
        (rounds.sent + of_round).min(elapsed_s * self.path.rate)
    }

    /// Bytes acknowledged by a time.
    fn acknowledged(&self, at_s: f64) -> f64 {
        self.arrived(at_s - self.path.round_trip_s / 2.0)
    }

    /// The congestion window at a time, bytes: in slow start it grows by what is acknowledged.
    fn window(&self, at_s: f64) -> f64 {
        (INITIAL_WINDOW + self.acknowledged(at_s)).min(self.widest_window())
    }

    /// Bytes handed over by a time: those acknowledged, and a send buffer, which grows with the
    /// window.
    fn handed(&self, at_s: f64) -> f64 {
        match at_s < self.start_s {
            true => 0.0,
            false => self.acknowledged(at_s) + SEND_BUFFER * self.window(at_s),
        }
    }

    /// The time that it takes to send a burst from a time on: at its rate, or in rounds of slow
    /// start.
    fn sending_s(&self, bytes: f64, at_s: f64) -> f64 {
        let window = self.window(at_s.max(self.start_s));
        let by_rate = bytes / self.path.rate;
        match window < self.fills() {
            true => by_rate.max(self.path.round_trip_s * (1.0 + bytes / window).log2()),
            false => by_rate,
        }
    }

    /// The time from a burst's handing over until it is acknowledged, s.
    fn burst_s(&self, bytes: f64) -> f64 {
        bytes / self.path.rate + self.path.round_trip_s
    }
}

/// Seconds from the first SYN to the last byte of a transfer over paths, the first of which has the
/// first subflow. The others are opened when it is established, all at once.
pub(super) fn completion_s(bytes: f64, paths: &[ModelPath]) -> f64 {
    let Some((first, joining)) = paths.split_first() else {
        return f64::INFINITY;
    };
    // The request comes one and a half round trips after the SYN. A MP_JOIN is sent when its first
    // acknowledgement has come, and its subflow carries data after a handshake of its own.
    let first = Subflow {
        path: *first,
        start_s: 1.5 * first.round_trip_s,
    };
    let mut joining: Vec<Subflow> = joining
        .iter()
        .map(|path| Subflow {
            path: *path,
            start_s: 2.0 * first.path.round_trip_s + 1.5 * path.round_trip_s,
        })
        .collect();
    joining.sort_by(|one, other| one.start_s.total_cmp(&other.start_s));
    let mut subflows = vec![first];
    let mut waited_s = first.arrival_s(bytes);
    let mut rest = bytes;
    for subflow in joining {
        let handed: f64 = subflows.iter().map(|one| one.handed(subflow.start_s)).sum();
        if handed >= bytes {
            break;
        }
        if subflows.len() == 1 {
            rest = bytes - handed;
            waited_s = first.arrival_s(handed);
        }
        let burst = burst(bytes - handed);
        waited_s = waited_s.max(subflow.arrival_s(burst));
        subflows.push(subflow);
    }
    match subflows.get(1) {
        Some(joined) => waited_s
            .max(balanced_s(bytes, rest, &subflows))
            .max(held_up_s(joined.start_s, rest, &subflows)),
        None => waited_s,
    }
}

/// Bytes that a subflow is handed at once of those that are left.
fn burst(rest: f64) -> f64 {
    match rest < BURST {
        true => rest.min(FRAGMENT),
        false => BURST,
    }
}

/// The time at which all bytes have arrived, if all subflows are busy until one is left with its last
/// burst.
fn balanced_s(bytes: f64, rest: f64, subflows: &[Subflow]) -> f64 {
    let mut from_s = 0.0;
    let mut to_s = subflows[0].arrival_s(bytes);
    for _ in 0..STEPS {
        let middle_s = (from_s + to_s) / 2.0;
        let arrived: f64 = subflows.iter().map(|one| one.arrived(middle_s)).sum();
        if arrived < bytes {
            from_s = middle_s;
        } else {
            to_s = middle_s;
        }
    }
    let last = burst(rest);
    let sending_s = subflows.iter().map(|one| one.sending_s(last, to_s));
    to_s + LEFT * sending_s.fold(0.0, f64::max)
}

/// The time at which all bytes are acknowledged, if no more than a send buffer is handed over while
/// the slowest subflow has a burst.
fn held_up_s(joined_s: f64, rest: f64, subflows: &[Subflow]) -> f64 {
    let windows: f64 = subflows.iter().map(Subflow::widest_window).sum();
    let buffer = SEND_BUFFER * windows;
    if rest <= buffer {
        return 0.0;
    }
    let bursts_s = subflows.iter().map(|one| one.burst_s(BURST));
    joined_s + rest / buffer * bursts_s.fold(0.0, f64::max)
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
    #[test]
    fn a_path_whose_bursts_outlast_the_send_buffer_holds_up_the_other() {
        let fast = path(10.0, 10.0);
        let one = completion_s(50e6, &[fast]);
        assert!(completion_s(50e6, &[fast, path(1.0, 10.0)]) > 1.5 * one);
        assert!(completion_s(50e6, &[fast, path(4.0, 10.0)]) < 0.8 * one);
        // A buffer for a long round trip lasts longer.
        let late = path(10.0, 300.0);
        let one = completion_s(50e6, &[late]);
        assert!(completion_s(50e6, &[late, path(1.0, 10.0)]) < one);
    }

    #[test]
    fn a_join_that_comes_when_all_is_handed_over_changes_nothing() {
        let (fast, late) = (path(10.0, 10.0), path(10.0, 100.0));
        let alone = completion_s(100_000.0, &[fast]);
        assert_eq!(completion_s(100_000.0, &[fast, late]), alone);
        assert!(completion_s(1e6, &[fast, fast]) < completion_s(1e6, &[fast]));
    }
}
