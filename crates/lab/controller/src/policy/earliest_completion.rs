//! Our selector: the paths by which a transfer is over first, by size, bandwidth, delay, load and
//! queues.

use super::completion::{Completions, ModelPath};
use super::{PathView, Policy, Request};

/// Bytes of a transfer whose size is not known: a long one. The first subflow takes its path for
/// it; others may wait for the paths that it would have.
const UNKNOWN_BYTES: u64 = 10_000_000;
/// The rate of a path whose rate is not known, bit/s.
const UNKNOWN_BPS: u64 = 1_000_000_000;
/// The least round trip, s: hosts and switches take time, too.
const LEAST_ROUND_TRIP_S: f64 = 100e-6;
/// The share of the time that another path must save: the model is not better than that.
const GAIN: f64 = 0.02;
/// Paths of a connection that are tried.
const MOST_PATHS: usize = 8;

/// The first subflow takes the path of the set over which the transfer is over first, the others
/// take the rest of the set, and what is not in it is refused. The set grows by the path that saves
/// most, as long as one saves anything.
///
/// Of a transfer whose size is not known as much is expected as was carried: a subflow waits until
/// that deserves its path.
#[derive(Clone, Debug, Default)]
pub struct EarliestCompletion {
    completions: Completions,
}

impl Policy for EarliestCompletion {
    fn name(&self) -> &'static str {
        "earliest-completion"
    }

    fn choose<'a>(&mut self, request: &Request<'a>) -> Option<&'a PathView> {
        let bytes = request.bytes.unwrap_or(UNKNOWN_BYTES) as f64;
        if request.subflows.is_empty() {
            return self.first(request, bytes);
        }
        if request.is_moved {
            // A path that another subflow of it has may be better than any that is free.
            return self.best_single(request.disjoint, bytes);
        }
        self.joining(request, request.bytes.unwrap_or(request.carried_bytes))
    }

    fn waits(&mut self, request: &Request<'_>) -> bool {
        request.bytes.is_none() && self.joining(request, UNKNOWN_BYTES).is_some()
    }
}

impl EarliestCompletion {
    /// The path of a subflow that joins others, of a transfer of so many bytes.
    fn joining<'a>(&mut self, request: &Request<'a>, bytes: u64) -> Option<&'a PathView> {
        let used = request.subflows.iter().filter_map(|subflow| {
            let mut paths = request.disjoint.iter();
            paths.find(|path| path.links == subflow.links)
        });
        let mut set: Vec<&PathView> = used.collect();
        let had = set.len();
        self.grow(request, bytes as f64, &mut set);
        set.get(had).copied()
    }

    /// The path of the first subflow.
    fn first<'a>(&mut self, request: &Request<'a>, bytes: f64) -> Option<&'a PathView> {
        if !request.is_multipath {
            return self.best_single(request.disjoint, bytes);
        }
        let firsts = request.disjoint.iter().take(MOST_PATHS);
        let sets = firsts.map(|path| (self.grow(request, bytes, &mut vec![path]), path));
        let sets: Vec<(f64, &PathView)> = sets.collect();
        let times_s = sets.iter().map(|(time_s, _)| *time_s);
        let least_s = times_s.min_by(f64::total_cmp)?;
        // Of those that are as good, the one that is handed most before another joins should carry
        // most.
        let as_good = sets
            .iter()
            .filter(|(time_s, _)| *time_s * (1.0 - GAIN) <= least_s);
        let widest = as_good.min_by(|(_, one), (_, other)| {
            let rate = |path: &PathView| model(path, false).rate;
            rate(other).total_cmp(&rate(one))
        });
        widest.map(|(_, path)| *path)
    }

    fn best_single<'a>(&mut self, paths: &'a [PathView], bytes: f64) -> Option<&'a PathView> {
        let times = paths.iter().map(|path| {
            let time_s = self.completions.time_s(bytes, &[model(path, false)]);
            (time_s, path)
        });
        let best = times.min_by(|(one_s, _), (other_s, _)| one_s.total_cmp(other_s));
        best.map(|(_, path)| path)
    }

    /// Adds paths to a set while one saves time, and returns the time.
    fn grow<'a>(&mut self, request: &Request<'a>, bytes: f64, set: &mut Vec<&'a PathView>) -> f64 {
        let is_used = |path: &PathView| {
            let mut subflows = request.subflows.iter();
            subflows.any(|subflow| subflow.links == path.links)
        };
        let mut models: Vec<ModelPath> =
            set.iter().map(|path| model(path, is_used(path))).collect();
        let mut time_s = self.completions.time_s(bytes, &models);
        while set.len() < MOST_PATHS {
            let others = request.disjoint.iter().filter(|path| !set.contains(path));
            let tried = others.map(|path| {
                let mut more = models.clone();
                more.push(model(path, false));
                (self.completions.time_s(bytes, &more), path)
            });
            let best = tried.min_by(|(one, _), (other, _)| one.total_cmp(other));
            let Some((other_s, path)) =
                best.filter(|(other_s, _)| *other_s < (1.0 - GAIN) * time_s)
            else {
                break;
            };
            time_s = other_s;
            models.push(model(path, false));
            set.push(path);
        }
        time_s
    }
}

/// A path as the model has it. Subflows of others share its rate; other load takes its part, as long
/// as a fair share is left, and the rest is shared with subflows that the load does not have yet.
fn model(path: &PathView, is_own: bool) -> ModelPath {
    let rate_bps = path.bandwidth_bps.unwrap_or(UNKNOWN_BPS).max(1) as f64;
    let sharing = path.subflows.saturating_sub(usize::from(is_own)) + 1;
    let left = match is_own {
        // The load may be its own.
        true => 0.0,
        false => (rate_bps - path.load_bps as f64) / (path.new_subflows + 1) as f64,
    };
    let delay_ns = path.delay_ns.unwrap_or(0);
    ModelPath {
        rate: left.max(rate_bps / sharing as f64) / 8.0,
        round_trip_s: (2.0 * delay_ns as f64 / 1e9 + path.queueing_ns as f64 / 1e9)
            .max(LEAST_ROUND_TRIP_S),
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::place::{Link, PortRef};
    use crate::policy::SubflowView;
    use crate::subflows::Flow;

    /// Paths by their rates (kbit/s) and delays (ms).
    fn views(paths: &[(u64, u64)]) -> Vec<PathView> {
        let view = |(index, (kilobits, delay_ms)): (usize, &(u64, u64))| PathView {
            links: vec![Link {
                from: PortRef::new(1, index as u32),
                to: PortRef::new(2, index as u32),
            }],
            bandwidth_bps: Some(kilobits * 1_000),
            delay_ns: Some(delay_ms * 1_000_000),
            queueing_ns: 0,
            load_bps: 0,
            subflows: 0,
            new_subflows: 0,
        };
        paths.iter().enumerate().map(view).collect()
    }

    fn flow() -> Flow {
        let address = IpAddr::from([10, 0, 0, 1]);
        Flow {
            source: address,
            destination: address,
            protocol: 6,
            source_port: 1,
            destination_port: 2,
        }
    }

    /// A request of the only subflow of a connection of TCP, of unknown size.
    fn of_tcp(views: &[PathView]) -> Request<'_> {
        Request {
            connection: flow(),
            flow: flow(),
            is_multipath: false,
            is_moved: false,
            bytes: None,
            carried_bytes: 0,
            subflows: &[],
            disjoint: views,
            equal_cost: views,
        }
    }

    /// The paths of the subflows of a connection that asks for as many as there are paths.
    fn chosen(bytes: u64, paths: &[(u64, u64)]) -> Vec<u32> {
        let views = views(paths);
        let flow = flow();
        let mut subflows: Vec<SubflowView> = Vec::new();
        for _ in paths {
            let request = Request {
                connection: flow,
                flow,
                is_multipath: true,
                is_moved: false,
                bytes: Some(bytes),
                carried_bytes: 0,
                subflows: &subflows,
                disjoint: &views,
                equal_cost: &views,
            };
            if let Some(path) = EarliestCompletion::default().choose(&request) {
                subflows.push(SubflowView {
                    flow,
                    opener_at: PortRef::new(1, 100),
                    links: path.links.clone(),
                });
            }
        }
        subflows.iter().map(|one| one.links[0].from.port).collect()
    }

    #[test]
    fn connections_that_begin_at_once_share_the_paths_before_their_load_is_measured() {
        let mut views = views(&[(10_000, 5), (100, 5), (6_000, 5)]);
        for _ in 0..4 {
            let chosen = EarliestCompletion::default()
                .choose(&of_tcp(&views))
                .cloned();
            let of_link =
                |path: &&mut PathView| Some(&path.links) == chosen.as_ref().map(|one| &one.links);
            let path = views.iter_mut().find(of_link).expect("a path");
            path.subflows += 1;
            path.new_subflows += 1;
        }
        assert_eq!([0, 1, 2].map(|index| views[index].subflows), [3, 0, 1]);
    }

    #[test]
    fn a_subflow_whose_path_failed_shares_one_rather_than_take_one_that_carries_nothing() {
        let mut views = views(&[(100, 5), (6_000, 5)]);
        (views[1].subflows, views[1].load_bps) = (1, 6_000_000);
        let other = SubflowView {
            flow: flow(),
            opener_at: PortRef::new(1, 100),
            links: views[1].links.clone(),
        };
        let moved = |views: &[PathView]| {
            let request = Request {
                is_multipath: true,
                is_moved: true,
                subflows: std::slice::from_ref(&other),
                ..of_tcp(views)
            };
            let path = EarliestCompletion::default().choose(&request);
            path.map(|path| path.links[0].from.port)
        };
        assert_eq!(moved(&views), Some(1));
        views[0].bandwidth_bps = Some(4_000_000);
        assert_eq!(moved(&views), Some(0));
    }

    #[test]
    fn small_transfers_take_the_best_path_alone_and_large_ones_all_that_help() {
        let document = [(10_000, 3), (100, 3), (6_000, 3)];
        assert_eq!(chosen(10_000, &document), [0]);
        for bytes in [200_000, 5_000_000] {
            let mut set = chosen(bytes, &document);
            set.sort_unstable();
            assert_eq!(set, [0, 2], "{bytes}");
        }
    }

    #[test]
    fn the_first_subflow_need_not_take_the_first_path() {
        assert_eq!(chosen(10_000, &[(100, 3), (10_000, 3)]), [1]);
        assert_eq!(chosen(5_000_000, &[(6_000, 3), (10_000, 3)])[0], 1);
        // Short transfers go by delay, long ones by bandwidth.
        assert_eq!(chosen(5_000, &[(20_000, 100), (10_000, 5)]), [1]);
        assert!(chosen(50_000_000, &[(20_000, 100), (10_000, 5)]).contains(&0));
    }
}
