//! Outcome of reinjections: the copy of data that arrived first.

use super::Connection;
use super::ranges::Number;
use crate::Side;

impl Connection {
    /// Takes the acknowledgement of `[start, end)` on a subflow that sent copies.
    #[cold]
    pub(super) fn on_copies_acknowledged(
        &mut self,
        subflow: usize,
        from: Side,
        (mut at, end): (Number, Number),
    ) {
        while let Some((start, to, shift)) = self.flows[subflow][from].copies_within((at, end)) {
            self.count_won(subflow, from, (start + shift, to + shift));
            at = to;
        }
    }

    /// Counts the bytes of `[start, end)` that a copy on `subflow` won.
    fn count_won(&mut self, subflow: usize, from: Side, (start, end): (Number, Number)) {
        let direction = &mut self.directions[from];
        // Data that a DATA_ACK covers had arrived otherwise.
        let mut at = start.max(direction.acknowledged);
        while let Some((start, to, mut carrier)) = direction.coverage.within(at, end) {
            at = to;
            let original = carrier.subflow as usize;
            let arrived_to = self.flows[original][from].acknowledged - carrier.shift;
            let start = start.max(arrived_to);
            if start < to && !carrier.won && original != subflow {
                direction.totals.won_bytes += (to - start) as u64;
                carrier.won = true;
                direction.coverage.change(start, to, carrier);
            }
        }
    }
}
