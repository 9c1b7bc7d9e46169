//! Round robin.

use super::{Choice, Scheduler, View};

/// A number of segments in turn on each subflow.
///
/// With `window_limited` subflows whose congestion window is full are skipped; the shares then
/// follow the windows. Without, the turn waits for the subflow, and the shares are equal.
///
/// Source: C. Paasch et al., "Experimental Evaluation of Multipath TCP Schedulers", CSWS 2014,
/// section 3; the settings are those of the multipath-tcp.org kernel (`num_segments`,
/// `cwnd_limited`).
#[derive(Clone, Copy, Debug)]
pub struct RoundRobin {
    segments: u32,
    window_limited: bool,
    /// Number of the subflow whose turn it is.
    turn: Option<u32>,
    /// Segments that are left of the turn.
    left: u32,
}

impl RoundRobin {
    /// `segments` in turn, at least 1.
    pub fn new(segments: u32, window_limited: bool) -> Self {
        Self {
            segments: segments.max(1),
            window_limited,
            turn: None,
            left: 0,
        }
    }

    /// Passes the turn on: to the next number above the one whose turn it was, around to the
    /// lowest; over those without room where they are skipped.
    fn pass(&self, view: &View<'_>) -> Option<usize> {
        let candidates = || {
            view.preferred()
                .filter(|(_, subflow)| !self.window_limited || subflow.has_room())
        };
        candidates()
            .filter(|(_, subflow)| self.turn.is_some_and(|turn| subflow.id > turn))
            .min_by_key(|(_, subflow)| subflow.id)
            .or_else(|| candidates().min_by_key(|(_, subflow)| subflow.id))
            .map(|(index, _)| index)
    }
}

impl Scheduler for RoundRobin {
    fn choose(&mut self, view: &View<'_>) -> Option<Choice> {
        let current = view
            .preferred()
            .find(|(_, subflow)| Some(subflow.id) == self.turn)
            .filter(|(_, subflow)| self.left > 0 && (!self.window_limited || subflow.has_room()))
            .map(|(index, _)| index);
        let index = match current {
            Some(index) => index,
            None => {
                let index = self.pass(view)?;
                self.turn = Some(view.subflows[index].id);
                self.left = self.segments;
                index
            }
        };
        if !view.subflows[index].has_room() {
            return None;
        }
        let choice = view.new_data(index, view.segment_bytes(index))?;
        self.left -= 1;
        Some(choice)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::SubflowView;
    use super::super::tests::{full, subflow, view};
    use super::*;

    fn turns(scheduler: &mut RoundRobin, subflows: &[SubflowView], count: usize) -> Vec<usize> {
        (0..count)
            .filter_map(|_| scheduler.choose(&view(subflows)))
            .map(|choice| choice.subflow)
            .collect()
    }

    #[test]
    fn each_subflow_has_its_segments_in_turn() {
        let subflows = [subflow(0, 10), subflow(1, 99), subflow(2, 50)];
        let mut scheduler = RoundRobin::new(2, true);
        assert_eq!(
            turns(&mut scheduler, &subflows, 8),
            [0, 0, 1, 1, 2, 2, 0, 0]
        );
    }

    #[test]
    fn subflows_without_room_are_skipped_or_waited_for() {
        let subflows = [subflow(0, 10), full(1, 10)];
        assert_eq!(
            turns(&mut RoundRobin::new(1, true), &subflows, 3),
            [0, 0, 0]
        );
        assert_eq!(turns(&mut RoundRobin::new(1, false), &subflows, 3), [0]);
    }

    #[test]
    fn the_turn_goes_on_when_its_subflow_is_gone() {
        let mut scheduler = RoundRobin::new(5, false);
        turns(&mut scheduler, &[subflow(0, 10), subflow(1, 10)], 2);
        assert_eq!(turns(&mut scheduler, &[subflow(1, 10)], 2), [0, 0]);
    }
}
