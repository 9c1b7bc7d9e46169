//! Everything on every subflow.

use super::{Choice, Scheduler, View};

/// Each subflow has its own pointer into the data of the connection and sends all of it: the
/// delay of the fastest path, the throughput of one.
///
/// A pointer skips what is already acknowledged. The subflow that is furthest ahead comes first,
/// so that the window is opened by the fastest.
///
/// Source: A. Frömmgen et al., "ReMP TCP: Low Latency Multipath TCP", ICC 2016.
#[derive(Clone, Copy, Debug)]
pub struct Redundant;

impl Scheduler for Redundant {
    fn choose(&mut self, view: &View<'_>) -> Option<Choice> {
        let limit = view.end.min(view.window_end);
        let (index, from) = view
            .preferred()
            .filter(|(_, subflow)| subflow.has_room())
            .map(|(index, subflow)| (index, subflow.sent_until.max(view.acknowledged)))
            .filter(|&(_, from)| from < limit)
            // The last of equal ones would win; the older subflow shall.
            .max_by_key(|&(index, from)| (from, core::cmp::Reverse(index)))?;
        Some(Choice {
            subflow: index,
            from,
            bytes: view.segment_bytes(index).min(limit - from),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::SubflowView;
    use super::super::tests::{subflow, view};
    use super::*;

    #[test]
    fn each_subflow_sends_all_the_data() {
        let mut subflows = [subflow(0, 10), subflow(1, 50)];
        let mut next = 0;
        let mut sent = alloc::vec::Vec::new();
        for _ in 0..4 {
            let view = View {
                next,
                end: 2000,
                ..view(&subflows)
            };
            let choice = Redundant.choose(&view).unwrap();
            sent.push((choice.subflow, choice.from));
            subflows[choice.subflow].sent_until = choice.from + choice.bytes;
            next = next.max(choice.from + choice.bytes);
        }
        assert_eq!(sent, [(0, 0), (0, 1000), (1, 0), (1, 1000)]);
        let done = View {
            next,
            end: 2000,
            ..view(&subflows)
        };
        assert_eq!(Redundant.choose(&done), None);
    }

    #[test]
    fn what_is_acknowledged_is_not_sent_on_the_slower_subflow() {
        let ahead = SubflowView {
            sent_until: 5000,
            ..subflow(0, 10)
        };
        let subflows = [ahead, subflow(1, 50)];
        let view = View {
            acknowledged: 3000,
            next: 5000,
            end: 5000,
            ..view(&subflows)
        };
        let choice = Redundant.choose(&view).unwrap();
        assert_eq!((choice.subflow, choice.from, choice.bytes), (1, 3000, 1000));
    }
}
