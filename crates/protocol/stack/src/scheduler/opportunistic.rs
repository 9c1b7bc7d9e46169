//! Opportunistic retransmission and penalisation.

use super::lowest_rtt::fastest_with_room;
use super::{Choice, View};

/// Data that is sent again because it holds the connection's window up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retransmission {
    /// The first unacknowledged segment, on a faster subflow.
    pub choice: Choice,
    /// Index of the subflow that holds it up; the caller halves its congestion window where it
    /// penalises, once per round-trip time of that subflow at the most.
    pub held_by: usize,
}

/// When the peer's window is full and a subflow has room, the first unacknowledged data is sent
/// again on it, if it is faster than the subflow that carries that data and has not carried it
/// itself.
///
/// `carriers` are the numbers of the subflows that have carried the data at
/// [`View::acknowledged`], the first one first; `bytes` is the length of its segment.
///
/// Source: C. Raiciu et al., "How Hard Can It Be? Designing and Implementing a Deployable
/// Multipath TCP", NSDI 2012, section 4.2 (mechanisms 1 and 2).
pub fn opportunistic_retransmission(
    view: &View<'_>,
    carriers: &[u32],
    bytes: u64,
) -> Option<Retransmission> {
    let window_is_full = view.next < view.end && view.sendable_bytes() == 0;
    if !window_is_full || bytes == 0 {
        return None;
    }
    let faster = fastest_with_room(view)?;
    let held_by = view
        .subflows
        .iter()
        .position(|subflow| Some(&subflow.id) == carriers.first())?;
    let carried = carriers.contains(&view.subflows[faster].id);
    let sooner = view.subflows[faster].smoothed_rtt_ns < view.subflows[held_by].smoothed_rtt_ns;
    (sooner && !carried).then_some(Retransmission {
        choice: Choice {
            subflow: faster,
            from: view.acknowledged,
            bytes,
        },
        held_by,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{subflow, view};
    use super::*;

    #[test]
    fn a_full_window_is_opened_by_the_faster_subflow() {
        let subflows = [subflow(3, 10), subflow(5, 100)];
        let full = View {
            acknowledged: 1000,
            next: 21_000,
            window_end: 21_000,
            ..view(&subflows)
        };
        let found = opportunistic_retransmission(&full, &[5], 1000).unwrap();
        assert_eq!(
            (found.choice.subflow, found.choice.from, found.held_by),
            (0, 1000, 1)
        );
        // It has carried the segment already; it holds it up itself; the window is open.
        assert_eq!(opportunistic_retransmission(&full, &[5, 3], 1000), None);
        assert_eq!(opportunistic_retransmission(&full, &[3], 1000), None);
        let open = View {
            window_end: 22_000,
            ..full
        };
        assert_eq!(opportunistic_retransmission(&open, &[5], 1000), None);
    }
}
