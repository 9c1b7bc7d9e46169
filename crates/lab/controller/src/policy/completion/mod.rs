//! The time that a transfer takes over a set of paths, by a model of Linux's sender: the handshakes,
//! the congestion window of each subflow, and the scheduler, which hands bursts to the subflow that
//! will have sent them first, as far ahead as the send buffers allow. What a slow path was handed,
//! the transfer waits for: in the end for the last of it, and on the way each time that the buffer
//! of the connection is full of what comes behind it.

mod download;
mod sender;
mod subflow;
mod window;

use std::collections::BTreeMap;

use mptcplab_stack::Protocol;

use sender::{Limit, Sender};

/// Bytes of data of a segment of MPTCP, and of its frame.
const SEGMENT: f64 = 1420.0;
const FRAME: f64 = 1514.0;
/// The same of a segment of TCP, whose frame is as long.
const TCP_SEGMENT: f64 = 1448.0;
/// Parts of its size for which a transfer is reckoned, too: a few bytes more may need another burst,
/// and no model tells exactly where.
const SIZES: [f64; 3] = [0.95, 1.0, 1.05];
/// Bytes of a transfer over two paths that is reckoned to its end. A longer one goes on as it did in
/// the second half of so many. It is less over more paths, and where there are more to choose among.
const LONG: f64 = 5e6;
/// Bits of a number's fraction that count: a change of less than 0.8 % changes no choice.
const BITS: u32 = 6;
/// Times that are remembered.
const MOST_KNOWN: usize = 4096;

/// A path as the model has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ModelPath {
    /// Bytes a second that are left to one more subflow.
    pub(super) rate: f64,
    /// The round trip, queues of others included, s.
    pub(super) round_trip_s: f64,
}

/// A transfer for which paths are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Transfer {
    pub(super) bytes: f64,
    /// Paths that there are to choose among.
    pub(super) among: usize,
    /// Nothing else uses the paths, and there is time: the stack itself carries it out.
    pub(super) is_alone: bool,
}

/// Times of transfers. Those that are known are not reckoned again: connections that come while
/// little has changed ask the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Completions {
    known: BTreeMap<Vec<u64>, Known>,
}

/// A time, s, as far as it is known.
#[derive(Clone, Copy, Debug)]
enum Known {
    Exactly(f64),
    /// It is not less.
    Least(f64),
}

impl Completions {
    /// Seconds from the first SYN to the last byte of a transfer over paths, the first of which has
    /// the first subflow. The others are opened when it is established, all at once. A time that is
    /// not below the limit is given as infinite, which takes less to find out.
    pub(super) fn time_s(&mut self, transfer: Transfer, paths: &[ModelPath], limit_s: f64) -> f64 {
        self.of(transfer, paths, limit_s, Protocol::Mptcp)
    }

    fn of(
        &mut self,
        transfer: Transfer,
        paths: &[ModelPath],
        limit_s: f64,
        protocol: Protocol,
    ) -> f64 {
        let (transfer, paths) = match transfer.is_alone {
            true => (transfer, paths.to_vec()),
            false => nearly(transfer, paths),
        };
        let numbers = paths.iter().flat_map(|path| [path.rate, path.round_trip_s]);
        let is_alone = f64::from(u8::from(transfer.is_alone));
        let among = match protocol {
            Protocol::Mptcp => transfer.among as f64,
            Protocol::Tcp => 0.0,
        };
        let key: Vec<u64> = [is_alone, among, transfer.bytes]
            .into_iter()
            .chain(numbers)
            .map(f64::to_bits)
            .collect();
        let known = self.known.get(&key).copied();
        let known = known.filter(|known| match known {
            Known::Exactly(_) => true,
            Known::Least(least_s) => *least_s >= limit_s,
        });
        let known = known.unwrap_or_else(|| {
            if self.known.len() >= MOST_KNOWN {
                self.known.clear();
            }
            let bytes = transfer.bytes;
            let time_s = match protocol {
                _ if transfer.is_alone => {
                    download::completion_s(bytes as u64, &paths, protocol, limit_s)
                }
                Protocol::Mptcp => completion_s(transfer, &paths, limit_s),
                Protocol::Tcp => tcp_completion_s(bytes, &paths[0], limit_s),
            };
            let known = time_s.map_or(Known::Least(limit_s), Known::Exactly);
            self.known.insert(key, known);
            known
        });
        match known {
            Known::Exactly(time_s) if time_s < limit_s => time_s,
            _ => f64::INFINITY,
        }
    }

    /// The same of a transfer by TCP over a path.
    pub(super) fn tcp_s(&mut self, transfer: Transfer, path: &ModelPath, limit_s: f64) -> f64 {
        self.of(transfer, &[*path], limit_s, Protocol::Tcp)
    }

    /// Times that are remembered.
    #[cfg(test)]
    pub(super) fn known(&self) -> usize {
        self.known.len()
    }
}

/// A transfer over paths in numbers of few bits.
fn nearly(transfer: Transfer, paths: &[ModelPath]) -> (Transfer, Vec<ModelPath>) {
    let transfer = Transfer {
        bytes: rounded(transfer.bytes.max(1.0)),
        ..transfer
    };
    let path = |path: &ModelPath| ModelPath {
        rate: rounded(path.rate),
        round_trip_s: rounded(path.round_trip_s),
    };
    (transfer, paths.iter().map(path).collect())
}

/// The nearest number with so few bits.
pub(super) fn rounded(value: f64) -> f64 {
    let unused = f64::MANTISSA_DIGITS - 1 - BITS;
    let half = 1 << (unused - 1);
    f64::from_bits((value.to_bits() + half) >> unused << unused)
}

/// The time of a transfer, where it is below a limit; others need not be reckoned to the end.
fn completion_s(transfer: Transfer, paths: &[ModelPath], limit_s: f64) -> Option<f64> {
    let bytes = transfer.bytes;
    let (first, joining) = paths.split_first()?;
    let mut sender = Sender::new(first, joining);
    let limit = Limit {
        bytes,
        time_s: limit_s,
    };
    let long = LONG / joining.len().max(transfer.among / 2).max(1) as f64;
    if !joining.is_empty() && bytes > long {
        let half_s = sender.time_s(long / 2.0, limit)?;
        let long_s = sender.time_s(long, limit)?;
        return Some(long_s + (bytes / long - 1.0) * 2.0 * (long_s - half_s));
    }
    mean_s(&mut sender, limit)
}

/// The same of TCP over a path: as that of a subflow whose segments have no options of MPTCP, and as
/// many bytes more.
fn tcp_completion_s(bytes: f64, path: &ModelPath, limit_s: f64) -> Option<f64> {
    let limit = Limit {
        bytes: bytes * SEGMENT / TCP_SEGMENT,
        time_s: limit_s,
    };
    mean_s(&mut Sender::of_tcp(path), limit)
}

/// The mean of the times of sizes that are nearly so many bytes.
fn mean_s(sender: &mut Sender, limit: Limit) -> Option<f64> {
    let mut sum_s = 0.0;
    for part in SIZES {
        sum_s += sender.time_s((part * limit.bytes).round(), limit)? / part;
    }
    Some(sum_s / SIZES.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completion_s(bytes: f64, paths: &[ModelPath]) -> f64 {
        let transfer = transfer(bytes);
        super::completion_s(transfer, paths, f64::INFINITY).expect("there is no limit")
    }

    fn transfer(bytes: f64) -> Transfer {
        Transfer {
            bytes,
            among: 2,
            is_alone: false,
        }
    }

    fn path(megabits: f64, round_trip_ms: f64) -> ModelPath {
        ModelPath {
            rate: megabits * 1e6 / 8.0,
            round_trip_s: round_trip_ms / 1e3,
        }
    }

    #[test]
    fn one_path_takes_its_handshake_its_rounds_and_the_time_of_its_bytes() {
        // The last segment waits for the first one's acknowledgement: three round trips in all.
        let small = completion_s(3_000.0, &[path(10.0, 20.0)]);
        assert!((0.060..0.062).contains(&small), "{small}");
        // Large: the path is full nearly all the time, with headers.
        let large = completion_s(5e6, &[path(10.0, 20.0)]);
        assert!((4.25..4.4).contains(&large), "{large}");
        // Limited by windows: 4 rounds of 10, 20, 40, 80 segments.
        let rounds = completion_s(180_000.0, &[path(1000.0, 100.0)]);
        assert!((0.4..0.52).contains(&rounds), "{rounds}");
        // The frames of the handshake alone take a while.
        let narrow = completion_s(3_000.0, &[path(0.1, 20.0)]);
        assert!((0.30..0.36).contains(&narrow), "{narrow}");
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
        assert!(completion_s(50e6, &[fast, path(1.0, 10.0)]) > 1.3 * one);
        assert!(completion_s(50e6, &[fast, path(4.0, 10.0)]) < 0.8 * one);
        // A late path that gets little has a small window, and so a small buffer.
        assert!(completion_s(50e6, &[fast, path(1.0, 300.0)]) > 1.1 * one);
    }

    #[test]
    fn a_join_that_comes_when_all_is_written_changes_nothing() {
        let (fast, late) = (path(10.0, 10.0), path(10.0, 100.0));
        let alone = completion_s(100_000.0, &[fast]);
        let joined = completion_s(100_000.0, &[fast, late]);
        assert!((joined / alone - 1.0).abs() < 1e-9, "{joined} {alone}");
        assert!(completion_s(1e6, &[fast, fast]) < completion_s(1e6, &[fast]));
    }

    #[test]
    fn a_long_transfer_goes_on_as_it_began() {
        let paths = [path(10.0, 20.0), path(6.0, 40.0)];
        let limit = Limit {
            bytes: 30e6,
            time_s: f64::INFINITY,
        };
        let whole = Sender::new(&paths[0], &paths[1..]).time_s(30e6, limit);
        let whole = whole.expect("there is no limit");
        let long = completion_s(30e6, &paths);
        assert!((long / whole - 1.0).abs() < 0.02, "{long} {whole}");
    }

    #[test]
    fn what_sizes_have_in_common_is_reckoned_once_and_changes_nothing() {
        let paths = [path(10.0, 20.0), path(3.0, 40.0)];
        let limit = Limit {
            bytes: 3e6,
            time_s: f64::INFINITY,
        };
        let mut together = Sender::new(&paths[0], &paths[1..]);
        for bytes in [20e3, 300e3, 320e3, 3e6] {
            let mut apart = Sender::new(&paths[0], &paths[1..]);
            let time_s = apart.time_s(bytes, limit);
            assert_eq!(together.time_s(bytes, limit), time_s, "{bytes}");
        }
    }

    #[test]
    fn a_limit_changes_no_time_below_it() {
        for (bytes, second) in [(300e3, 3.0), (3e6, 8.0), (30e6, 0.3)] {
            let paths = [path(10.0, 20.0), path(second, 40.0)];
            let whole_s = Completions::default().time_s(transfer(bytes), &paths, f64::INFINITY);
            let mut completions = Completions::default();
            for part in [0.5, 0.999, 1.001, 1.5, 0.5] {
                let time_s = completions.time_s(transfer(bytes), &paths, part * whole_s);
                let expected_s = if part > 1.0 { whole_s } else { f64::INFINITY };
                assert_eq!(time_s, expected_s, "{bytes} {part}");
            }
        }
    }

    #[test]
    fn times_are_remembered_for_numbers_that_hardly_differ_but_not_without_end() {
        let mut completions = Completions::default();
        let first = completions.time_s(transfer(1e6), &[path(10.0, 20.0)], f64::INFINITY);
        let near = [path(10.01, 20.01)];
        assert_eq!(
            completions.time_s(transfer(1.001e6), &near, f64::INFINITY),
            first
        );
        assert_eq!(completions.known.len(), 1);
        for bytes in 0..2 * MOST_KNOWN {
            let paths = [path(bytes as f64 + 1.0, 1e-3)];
            completions.time_s(transfer((1 + bytes % 64) as f64), &paths, f64::INFINITY);
        }
        assert!(completions.known.len() <= MOST_KNOWN);
    }

    #[test]
    fn extreme_numbers_have_a_time() {
        let extremes = [(1e-6, 0.1), (1e9, 1e-3), (1e9, 1e9), (1e-6, 1e9)];
        let paths = extremes.map(|(megabits, ms)| path(megabits, ms));
        for bytes in [0.0, 1.0, 1e3, 1e18] {
            let time_s = Completions::default().time_s(transfer(bytes), &paths, f64::INFINITY);
            assert!(time_s.is_finite() && time_s > 0.0, "{bytes} {time_s}");
        }
    }
}
