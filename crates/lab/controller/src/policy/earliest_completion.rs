//! Our selector: the paths by which a transfer is over first, by size, bandwidth, delay, load and
//! queues.

mod better;
mod prepared;

use super::completion::{Completions, ModelPath, Transfer};
use super::{Carrying, PathView, Policy, Request};
use prepared::{Prepared, Transfers};

/// Bytes of a transfer whose size is not known: a long one. The first subflow takes its path for
/// it; others may wait for the paths that it would have.
const UNKNOWN_BYTES: u64 = 10_000_000;
/// The rate of a path whose rate is not known, bit/s.
const UNKNOWN_BPS: u64 = 1_000_000_000;
/// The least round trip, s: hosts and switches take time, too.
const LEAST_ROUND_TRIP_S: f64 = 100e-6;
/// The share of the time that another path must save: the model is not better than that.
const GAIN: f64 = 0.02;
/// Time of a transfer from which MPTCP is worth what its options cost, s: the longer it takes, the sooner a
/// path fails meanwhile.
const LONG_S: f64 = 10.0;
/// The same of one order of paths over another, which the model tells less well.
const ORDER_ERROR: f64 = 0.08;
/// Paths of a connection that are looked at.
const MOST_PATHS: usize = 8;
/// Paths that are tried as the next one of a set, and as the first one.
const MOST_TRIED: usize = 2;

/// The first subflow takes the path of the set over which the transfer is over first, the others
/// take the rest of the set, and what is not in it is refused. The set begins with the best path, and
/// grows by the one that saves most, as long as one saves anything; then others may be its first.
///
/// Of a transfer whose size is not known as much is expected as was carried: a subflow waits until
/// that deserves its path.
#[derive(Clone, Debug, Default)]
pub struct EarliestCompletion {
    completions: Completions,
    transfers: Transfers,
}

impl Policy for EarliestCompletion {
    fn name(&self) -> &'static str {
        "earliest-completion"
    }

    fn choose<'a>(&mut self, request: &Request<'a>) -> Option<&'a PathView> {
        if let Some(next) = self.transfers.next(request) {
            return next.path();
        }
        let transfer = transfer(request, request.bytes.unwrap_or(UNKNOWN_BYTES));
        if request.subflows.is_empty() {
            return match request.is_multipath {
                true => self.first(request, transfer).map(|first| first.path),
                false => self.best_single(&promising(request, transfer), transfer),
            };
        }
        if request.is_moved {
            // A path that another subflow of it has may be better than any that is free.
            return self.best_single(&promising(request, transfer), transfer);
        }
        self.joining(request, request.bytes.unwrap_or(request.carried_bytes))
    }

    fn as_tcp<'a>(&mut self, request: &Request<'a>) -> Option<&'a PathView> {
        match self.transfers.of(request) {
            Some(prepared) => prepared.tcp.and_then(|path| request.disjoint.get(path)),
            None => self.tcp(request, transfer(request, request.bytes?)),
        }
    }

    fn prepare(&mut self, request: &Request<'_>) {
        if !self.transfers.may_prepare(request) {
            return;
        }
        let transfer = Transfer {
            is_alone: true,
            ..transfer(request, request.bytes.unwrap_or(UNKNOWN_BYTES))
        };
        let Some(first) = self.first(request, transfer) else {
            return;
        };
        let mut set = vec![first.path];
        if first.is_joined {
            self.grow(request, transfer, &promising(request, transfer), &mut set);
        }
        let place = |path: &PathView| request.disjoint.iter().position(|one| one == path);
        let prepared = Prepared {
            set: set.into_iter().filter_map(place).collect(),
            tcp: self.tcp(request, transfer).and_then(place),
        };
        self.transfers.insert(request, prepared);
    }

    fn waits_for_ends(&self, request: &Request<'_>) -> bool {
        self.transfers.is_held_up(request)
    }

    fn waits(&mut self, request: &Request<'_>) -> bool {
        request.bytes.is_none() && self.joining(request, UNKNOWN_BYTES).is_some()
    }

    fn reviews(&self) -> bool {
        true
    }

    fn better<'a>(
        &mut self,
        request: &Request<'a>,
        carrying: &Carrying<'_>,
    ) -> Option<&'a PathView> {
        better::path(&mut self.completions, request, carrying)
    }
}

impl EarliestCompletion {
    /// The path over which a transfer is over first by TCP, where that is as good as MPTCP over the best
    /// set.
    fn tcp<'a>(&mut self, request: &Request<'a>, transfer: Transfer) -> Option<&'a PathView> {
        let (path, tcp_s) = self.best_of_tcp(&promising(request, transfer), transfer)?;
        let first = self.first(request, transfer)?;
        let mptcp_s = first.time_s;
        let is_first = Some(first.path) == request.disjoint.first();
        let is_doubtful = match first.is_joined {
            // Paths in another order than without a selector may be slower than they seem.
            true => !is_first,
            // Over one path MPTCP has nothing to gain, but by chance.
            false => first.path == path && mptcp_s < LONG_S,
        };
        let is_as_good = match is_doubtful {
            true => tcp_s * (1.0 - ORDER_ERROR) < mptcp_s,
            false => tcp_s < mptcp_s * (1.0 - gain(mptcp_s)),
        };
        is_as_good.then_some(path)
    }

    /// The path of a subflow that joins others, of a transfer of so many bytes.
    fn joining<'a>(&mut self, request: &Request<'a>, bytes: u64) -> Option<&'a PathView> {
        let used = request.subflows.iter().filter_map(|subflow| {
            let mut paths = request.disjoint.iter();
            paths.find(|path| path.links == subflow.links)
        });
        let mut set: Vec<&PathView> = used.collect();
        let had = set.len();
        let transfer = transfer(request, bytes);
        self.grow(request, transfer, &promising(request, transfer), &mut set);
        set.get(had).copied()
    }

    /// The path of the first subflow.
    fn first<'a>(&mut self, request: &Request<'a>, transfer: Transfer) -> Option<First<'a>> {
        let promising = promising(request, transfer);
        let best = self.best_single(&promising, transfer)?;
        let mut set = vec![best];
        let best_s = self.grow(request, transfer, &promising, &mut set);
        let mut firsts = vec![First {
            path: best,
            time_s: best_s,
            is_joined: set.len() > 1,
        }];
        let others = promising.into_iter().filter(|path| *path != best);
        for path in others.take(MOST_TRIED) {
            // The same set, or one with a path more, in another order.
            let least_s = firsts
                .iter()
                .map(|first| first.time_s)
                .fold(f64::INFINITY, f64::min);
            let mut models = vec![model(path, Subflow::Coming)];
            let alone_limit_s = least_s / (1.0 - ORDER_ERROR) / (1.0 - GAIN);
            let alone_s = self.completions.time_s(transfer, &models, alone_limit_s);
            let rest = set.iter().filter(|other| **other != path);
            models.extend(rest.map(|other| model(other, Subflow::Coming)));
            let limit_s = (least_s / (1.0 - ORDER_ERROR)).min((1.0 - GAIN) * alone_s);
            let joined_s = self.completions.time_s(transfer, &models, limit_s);
            firsts.push(First {
                path,
                time_s: joined_s.min(alone_s),
                is_joined: joined_s < limit_s,
            });
        }
        let least = firsts
            .iter()
            .min_by(|one, other| one.time_s.total_cmp(&other.time_s))?;
        let is_as_good = |first: &&First<'_>| {
            let error = match first.is_joined && least.is_joined {
                true => ORDER_ERROR,
                false => GAIN,
            };
            first.time_s * (1.0 - error) <= least.time_s
        };
        // Of those that are as good, the widest where one path is all, and else the first one, as without
        // a selector.
        let place = |first: &First<'_>| request.disjoint.iter().position(|one| one == first.path);
        let rate = |first: &First<'_>| match least.is_joined {
            true => 0.0,
            false => model(first.path, Subflow::Coming).rate,
        };
        let chosen = firsts.iter().filter(is_as_good).min_by(|one, other| {
            let by_rate = rate(other).total_cmp(&rate(one));
            by_rate.then_with(|| place(one).cmp(&place(other)))
        });
        chosen.copied()
    }

    /// The path by which a transfer by TCP is over first, and its time.
    fn best_of_tcp<'a>(
        &mut self,
        paths: &[&'a PathView],
        transfer: Transfer,
    ) -> Option<(&'a PathView, f64)> {
        let mut best = None;
        let mut least_s = f64::INFINITY;
        for path in paths {
            let time_s = self
                .completions
                .tcp_s(transfer, &model(path, Subflow::Coming), least_s);
            if time_s < least_s {
                (best, least_s) = (Some(*path), time_s);
            }
        }
        best.map(|path| (path, least_s))
    }

    fn best_single<'a>(
        &mut self,
        paths: &[&'a PathView],
        transfer: Transfer,
    ) -> Option<&'a PathView> {
        let mut best = (f64::INFINITY, *paths.first()?);
        for path in paths {
            let models = [model(path, Subflow::Coming)];
            let time_s = self.completions.time_s(transfer, &models, best.0);
            if time_s < best.0 {
                best = (time_s, path);
            }
        }
        Some(best.1)
    }

    /// Adds paths to a set while one saves time, and returns the time.
    fn grow<'a>(
        &mut self,
        request: &Request<'a>,
        transfer: Transfer,
        promising: &[&'a PathView],
        set: &mut Vec<&'a PathView>,
    ) -> f64 {
        let subflow = match request.carried_bytes {
            _ if request.subflows.is_empty() => Subflow::Coming,
            0 => Subflow::New,
            _ => Subflow::Carrying,
        };
        let had = set.iter().map(|path| model(path, subflow));
        let mut models: Vec<ModelPath> = had.collect();
        let mut time_s = self.completions.time_s(transfer, &models, f64::INFINITY);
        while set.len() < MOST_PATHS {
            let mut best = ((1.0 - GAIN) * time_s, None);
            // A path that adds no more cannot save more.
            let least = GAIN * models.iter().map(|path| path.rate).sum::<f64>();
            let others = promising
                .iter()
                .filter(|path| !set.contains(path) && model(path, Subflow::Coming).rate > least);
            for path in others.take(MOST_TRIED) {
                models.push(model(path, Subflow::Coming));
                let more_s = self.completions.time_s(transfer, &models, best.0);
                if more_s < best.0 {
                    best = (more_s, Some(*path));
                }
                models.pop();
            }
            let (more_s, Some(path)) = best else {
                break;
            };
            time_s = more_s;
            models.push(model(path, Subflow::Coming));
            set.push(path);
        }
        time_s
    }
}

/// The part of the time of a transfer by MPTCP that TCP must save.
fn gain(time_s: f64) -> f64 {
    GAIN * (time_s / LONG_S).min(1.0)
}

/// The transfer of a request, of so many bytes.
fn transfer(request: &Request<'_>, bytes: u64) -> Transfer {
    Transfer {
        bytes: bytes as f64,
        among: request.disjoint.len().min(MOST_PATHS),
        is_alone: false,
    }
}

/// The paths by which a transfer alone would be over first, if nothing but delays and rates counted.
fn promising<'a>(request: &Request<'a>, transfer: Transfer) -> Vec<&'a PathView> {
    let least_s = |path: &PathView| {
        let model = model(path, Subflow::Coming);
        2.0 * model.round_trip_s + transfer.bytes / model.rate
    };
    let mut paths: Vec<&PathView> = request.disjoint.iter().collect();
    paths.sort_by(|one, other| least_s(one).total_cmp(&least_s(other)));
    paths.truncate(MOST_PATHS);
    paths
}

/// A path for the first subflow.
#[derive(Clone, Copy, Debug)]
struct First<'a> {
    path: &'a PathView,
    /// The time of the transfer over all that it is to have.
    time_s: f64,
    /// Whether other paths are among that.
    is_joined: bool,
}

/// A subflow that a path is looked at for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subflow {
    /// It is not there yet.
    Coming,
    /// It is there, and has carried nothing yet.
    New,
    /// It carries, and a part of the load is its own.
    Carrying,
}

/// A path as the model has it. Subflows of others share its rate; other load takes its part, as long
/// as a fair share is left, and the rest is shared with subflows that the load does not have yet.
fn model(path: &PathView, subflow: Subflow) -> ModelPath {
    let rate_bps = path.bandwidth_bps.unwrap_or(UNKNOWN_BPS).max(1) as f64;
    let own = usize::from(subflow != Subflow::Coming);
    let sharing = path.subflows.saturating_sub(own) + 1;
    let left = match subflow {
        Subflow::Carrying => 0.0,
        Subflow::Coming | Subflow::New => {
            let new = path.new_subflows.saturating_sub(own) + 1;
            (rate_bps - path.load_bps as f64) / new as f64
        }
    };
    let delay_ns = path.delay_ns.unwrap_or(0);
    ModelPath {
        rate: left.max(rate_bps / sharing as f64) / 8.0,
        round_trip_s: (2.0 * delay_ns as f64 / 1e9 + path.queueing_ns as f64 / 1e9)
            .max(LEAST_ROUND_TRIP_S),
    }
}

#[cfg(test)]
mod tests;
