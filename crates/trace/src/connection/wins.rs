//! Which copy of reinjected data was the first to arrive.

use super::Connection;
use super::ranges::Number;
use crate::Side;

impl Connection {
    /// Numbers of `[start, end)` are acknowledged on a subflow that sent copies.
    #[cold]
    pub(super) fn judge_copies(
        &mut self,
        subflow: usize,
        from: Side,
        (mut at, end): (Number, Number),
    ) {
        while let Some((start, to, shift)) = self.flows[subflow][from].copies_within((at, end)) {
            self.judge(subflow, from, (start + shift, to + shift));
            at = to;
        }
    }

    /// A copy of the data of `[start, end)` is acknowledged on `subflow`.
    fn judge(&mut self, subflow: usize, from: Side, (start, end): (Number, Number)) {
        let direction = &mut self.directions[from];
        // What was acknowledged at the level of data had arrived otherwise.
        let mut at = start.max(direction.acknowledged);
        while let Some((start, to, mut carrier)) = direction.carried.within(at, end) {
            at = to;
            let original = carrier.subflow as usize;
            let arrived_to = self.flows[original][from].acknowledged - carrier.shift;
            let start = start.max(arrived_to);
            if start < to && !carrier.won && original != subflow {
                direction.totals.won_bytes += (to - start) as u64;
                carrier.won = true;
                direction.carried.change(start, to, carrier);
            }
        }
    }
}
