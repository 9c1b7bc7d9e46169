//! MPSSHetN, multipath subflow selection for heterogeneous networks: the policy of the Birzeit
//! document, chapter 5.

use super::{PathView, Policy, Request};

/// Thresholds of the gap in tenths, by the size from which they hold (table 5.1): bytes, tenths.
const THRESHOLDS: [(u64, u64); 5] = [
    (0, 0),
    (50_000, 4),
    (100_000, 6),
    (200_000, 7),
    (500_000, 9),
];

/// The first subflow takes the reference path. Each other one takes the next path whose bandwidth
/// is within the threshold of the reference's; where there is none it is refused.
#[derive(Clone, Copy, Debug)]
pub struct MpssHetN;

impl Policy for MpssHetN {
    fn name(&self) -> &'static str {
        "mpsshetn"
    }

    fn choose<'a>(&mut self, request: &Request<'a>) -> Option<&'a PathView> {
        let reference = request.disjoint.first()?;
        if request.subflows.is_empty() {
            return Some(reference);
        }
        let tenths = threshold_tenths(request.bytes);
        let is_within = |path: &&PathView| is_within(reference, path, tenths);
        let chosen = request.unused().find(is_within);
        chosen.or_else(|| request.unused().next().filter(|_| request.is_moved))
    }
}

/// The threshold for a size. The document's sizes are always known; of one that is not, the
/// threshold is that of the largest.
fn threshold_tenths(bytes: Option<u64>) -> u64 {
    let bytes = bytes.unwrap_or(u64::MAX);
    let reached = THRESHOLDS.iter().rev().find(|(from, _)| bytes >= *from);
    reached.map_or(0, |(_, tenths)| *tenths)
}

/// Whether |BW1 − BWj| / BW1 is at most the threshold. Where a bandwidth is not known, they count
/// as equal.
fn is_within(reference: &PathView, path: &PathView, tenths: u64) -> bool {
    match (reference.bandwidth_bps, path.bandwidth_bps) {
        (Some(first), Some(other)) => {
            10 * u128::from(first.abs_diff(other)) <= u128::from(tenths) * u128::from(first)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_those_of_table_5_1() {
        let sizes = [10, 49, 50, 99, 100, 199, 200, 499, 500, 5_000];
        let tenths = sizes.map(|kilobytes| threshold_tenths(Some(kilobytes * 1_000)));
        assert_eq!(tenths, [0, 0, 4, 4, 6, 6, 7, 7, 9, 9]);
        assert_eq!(threshold_tenths(None), 9);
    }
}
