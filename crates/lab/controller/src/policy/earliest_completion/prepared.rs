//! Transfers whose paths were chosen before they begin, with the times that the stack itself takes: so
//! that no connection waits for it.

use std::collections::BTreeMap;

use super::super::completion::rounded;
use super::super::{PathView, Request};

/// Transfers that are prepared.
const MOST: usize = 1024;
/// Paths over which one is prepared.
const MOST_PATHS: usize = 4;
/// Rates of a path, bit/s, and the longest delay, ns: beyond them the stack takes long.
const RATES_BPS: (u64, u64) = (50_000, 10_000_000_000);
const MOST_DELAY_NS: u64 = 1_000_000_000;
/// The part of its rate by which a path is loaded that nothing uses.
const LITTLE: u64 = 20;

/// The choice for a transfer. Paths are places in those of a request.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    /// The paths of its subflows, in their order.
    pub(super) set: Vec<usize>,
    /// The path by which TCP is as good.
    pub(super) tcp: Option<usize>,
}

/// A choice for a subflow: its path, or none, where it is refused.
pub(super) struct Next<'a>(Option<&'a PathView>);

/// Choices by size, and by the rates and delays of the paths.
#[derive(Clone, Debug, Default)]
pub(super) struct Transfers {
    by_numbers: BTreeMap<Vec<u64>, Prepared>,
}

impl<'a> Next<'a> {
    pub(super) fn path(&self) -> Option<&'a PathView> {
        self.0
    }
}

impl Transfers {
    /// The choice for a transfer of which this is a subflow; `None` where it is not prepared, or something
    /// else uses one of the paths.
    pub(super) fn of(&self, request: &Request<'_>) -> Option<&Prepared> {
        let is_beginning = request.carried_bytes < request.bytes? / 2;
        if request.is_moved || !is_beginning || !are_free(request) {
            return None;
        }
        self.by_numbers.get(&numbers(request)?)
    }

    /// Whether a transfer is prepared, but something else uses one of its paths.
    pub(super) fn is_held_up(&self, request: &Request<'_>) -> bool {
        !are_free(request) && numbers(request).is_some_and(|one| self.by_numbers.contains_key(&one))
    }

    /// The choice for the next subflow of a connection of MPTCP. `None`, too, where the others have not the
    /// paths that were chosen.
    pub(super) fn next<'a>(&self, request: &Request<'a>) -> Option<Next<'a>> {
        let prepared = self.of(request).filter(|_| request.is_multipath)?;
        let mut had = request.subflows.iter().zip(&prepared.set);
        let is_as_chosen = had.all(|(subflow, place)| {
            let path = request.disjoint.get(*place);
            path.is_some_and(|path| path.links == subflow.links)
        });
        let next = prepared.set.get(request.subflows.len());
        is_as_chosen.then(|| Next(next.and_then(|place| request.disjoint.get(*place))))
    }

    /// Whether a transfer is not prepared yet, and can be.
    pub(super) fn may_prepare(&self, request: &Request<'_>) -> bool {
        let fits = |path: &PathView| {
            let rate_bps = path.bandwidth_bps.unwrap_or(0);
            (RATES_BPS.0..=RATES_BPS.1).contains(&rate_bps)
                && path.delay_ns.is_none_or(|ns| ns <= MOST_DELAY_NS)
                && is_free(request, path)
        };
        let paths = request.disjoint;
        let is_new = |numbers| !self.by_numbers.contains_key(&numbers);
        (1..=MOST_PATHS).contains(&paths.len())
            && paths.iter().all(fits)
            && numbers(request).is_some_and(is_new)
    }

    pub(super) fn insert(&mut self, request: &Request<'_>, prepared: Prepared) {
        if let Some(numbers) = numbers(request) {
            // Rates and delays change; those of long ago are of no use.
            if self.by_numbers.len() >= MOST {
                self.by_numbers.clear();
            }
            self.by_numbers.insert(numbers, prepared);
        }
    }
}

/// Whether nothing but a connection itself uses its paths.
fn are_free(request: &Request<'_>) -> bool {
    request.disjoint.iter().all(|path| is_free(request, path))
}

/// Whether nothing but a connection itself uses a path.
fn is_free(request: &Request<'_>, path: &PathView) -> bool {
    let subflows = request.subflows.iter();
    let own = subflows
        .filter(|subflow| subflow.links == path.links)
        .count();
    let rate_bps = path.bandwidth_bps.unwrap_or(0);
    path.subflows <= own && (own > 0 || path.load_bps <= rate_bps / LITTLE)
}

/// The numbers by which a transfer is known; delays are measured, and so are never quite the same.
fn numbers(request: &Request<'_>) -> Option<Vec<u64>> {
    let mut numbers = vec![request.bytes?];
    for path in request.disjoint {
        numbers.push(path.bandwidth_bps?);
        numbers.push(rounded(path.delay_ns.unwrap_or(0) as f64).to_bits());
    }
    Some(numbers)
}
