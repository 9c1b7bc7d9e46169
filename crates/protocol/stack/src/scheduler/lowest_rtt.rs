//! Lowest round-trip time first.

use super::{Choice, Scheduler, View};

/// The smallest smoothed round-trip time among the subflows with room in the congestion window;
/// backups only if there is no other. The scheduler of the first implementations.
///
/// Source: C. Raiciu et al., "How Hard Can It Be? Designing and Implementing a Deployable
/// Multipath TCP", NSDI 2012, section 4.2; C. Paasch et al., "Experimental Evaluation of Multipath
/// TCP Schedulers", CSWS 2014, section 3.
#[derive(Clone, Copy, Debug)]
pub struct LowestRtt;

impl Scheduler for LowestRtt {
    fn choose(&mut self, view: &View<'_>) -> Option<Choice> {
        let fastest = fastest_with_room(view)?;
        view.new_data(fastest, view.segment_bytes(fastest))
    }
}

/// Index of the fastest subflow with room for a segment. Of equal ones the older; one without a
/// measurement comes last.
pub(super) fn fastest_with_room(view: &View<'_>) -> Option<usize> {
    view.preferred()
        .filter(|(_, subflow)| subflow.has_room())
        .min_by_key(|(_, subflow)| subflow.smoothed_rtt_ns.wrapping_sub(1))
        .map(|(index, _)| index)
}

/// Index of the fastest subflow, with room or without.
pub(super) fn fastest(view: &View<'_>) -> Option<usize> {
    view.preferred()
        .min_by_key(|(_, subflow)| subflow.smoothed_rtt_ns.wrapping_sub(1))
        .map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{full, subflow, view};
    use super::*;

    fn chosen(subflows: &[super::super::SubflowView]) -> Option<usize> {
        LowestRtt
            .choose(&view(subflows))
            .map(|choice| choice.subflow)
    }

    #[test]
    fn the_fastest_subflow_with_room_is_taken() {
        assert_eq!(chosen(&[subflow(0, 30), subflow(1, 10)]), Some(1));
        assert_eq!(chosen(&[subflow(0, 30), full(1, 10)]), Some(0));
        assert_eq!(chosen(&[full(0, 30), full(1, 10)]), None);
    }

    #[test]
    fn a_subflow_without_a_measurement_comes_last() {
        assert_eq!(chosen(&[subflow(0, 0), subflow(1, 500)]), Some(1));
        assert_eq!(chosen(&[subflow(0, 0), full(1, 500)]), Some(0));
    }
}
