use super::*;
use crate::policy::SubflowView;
use crate::policy::samples::{path, request, subflow};

/// Paths by their rates (kbit/s) and delays (ms).
fn views(paths: &[(u64, u64)]) -> Vec<PathView> {
    let paths = (0..).zip(paths);
    let view = |(port, (kilobits, delay_ms)): (u32, &(u64, u64))| {
        path(port, kilobits * 1_000, delay_ms * 1_000_000)
    };
    paths.map(view).collect()
}

/// The paths of the subflows of a connection that has carried nothing and asks for as many as
/// there are paths.
fn chosen(bytes: u64, paths: &[(u64, u64)]) -> Vec<u32> {
    placed(bytes, &views(paths)).0
}

/// The same, and how many times are remembered after each of the questions.
fn placed(bytes: u64, views: &[PathView]) -> (Vec<u32>, Vec<usize>) {
    let mut policy = EarliestCompletion::default();
    let mut views = views.to_vec();
    let mut subflows: Vec<SubflowView> = Vec::new();
    let mut known = Vec::new();
    for _ in 0..views.len() {
        let request = Request {
            bytes: Some(bytes),
            subflows: &subflows,
            ..request(&views)
        };
        let links = policy.choose(&request).map(|path| path.links.clone());
        known.push(policy.completions.known());
        let Some(links) = links else {
            continue;
        };
        let path = views.iter_mut().find(|path| path.links == links);
        let path = path.expect("one of them");
        path.subflows += 1;
        path.new_subflows += 1;
        subflows.push(subflow(path));
    }
    let ports = subflows.iter().map(|one| one.links[0].from.port);
    (ports.collect(), known)
}

#[test]
fn connections_that_begin_at_once_share_the_paths_before_their_load_is_measured() {
    let mut views = views(&[(10_000, 5), (100, 5), (6_000, 5)]);
    for _ in 0..4 {
        let of_tcp = Request {
            is_multipath: false,
            ..request(&views)
        };
        let chosen = EarliestCompletion::default().choose(&of_tcp).cloned();
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
    let other = subflow(&views[1]);
    let moved = |views: &[PathView]| {
        let request = Request {
            is_moved: true,
            subflows: std::slice::from_ref(&other),
            ..request(views)
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
    assert_eq!(chosen(500_000, &[(2_000, 3), (10_000, 3)]), [1]);
    // Where the order changes less than the model can tell, it does.
    assert_eq!(chosen(5_000_000, &[(6_000, 3), (10_000, 3)]), [0, 1]);
    // Short transfers go by delay, long ones by bandwidth.
    assert_eq!(chosen(5_000, &[(20_000, 100), (10_000, 5)]), [1]);
    assert!(chosen(50_000_000, &[(20_000, 100), (10_000, 5)]).contains(&0));
}

#[test]
fn few_of_many_sets_are_tried() {
    let many: Vec<(u64, u64)> = (0..20)
        .map(|index| (9_000 - 150 * index, 5 + index))
        .collect();
    let views = views(&many);
    for bytes in [10_000, 300_000, 5_000_000, 50_000_000] {
        let (_, known) = placed(bytes, &views);
        let most = MOST_PATHS + MOST_TRIED * (MOST_PATHS + 1);
        assert!(known[0] <= most, "{bytes} {known:?}");
    }
}

#[test]
fn joins_to_a_connection_that_has_carried_nothing_ask_what_its_first_subflow_did() {
    let mut views = views(&[(10_000, 5), (7_000, 8), (9_000, 7)]);
    for view in &mut views {
        (view.load_bps, view.subflows) = (1_000_000, 2);
    }
    let (_, known) = placed(5_000_000, &views);
    assert!(known.len() == 3 && known[2] <= known[0] + 1, "{known:?}");
}

/// The path of TCP, where a transfer is one of that.
fn as_tcp(bytes: Option<u64>, paths: &[(u64, u64)]) -> Option<u32> {
    let views = views(paths);
    let request = Request {
        bytes,
        ..request(&views)
    };
    let path = EarliestCompletion::default().as_tcp(&request);
    path.map(|path| path.links[0].from.port)
}

#[test]
fn tcp_takes_the_place_of_mptcp_where_it_is_faster() {
    let paths = [(10_000, 5), (1_000, 5)];
    // The last segment of MPTCP waits for an acknowledgement.
    assert_eq!(as_tcp(Some(10_000), &paths), Some(0));
    assert_eq!(as_tcp(Some(10_000), &[paths[1], paths[0]]), Some(1));
    // One path is best, and segments of TCP have more data.
    assert_eq!(as_tcp(Some(300_000), &paths), Some(0));
    // A second path saves more.
    assert_eq!(as_tcp(Some(5_000_000), &[(10_000, 5), (10_000, 5)]), None);
    assert_eq!(as_tcp(None, &paths), None);
}

/// It takes 42 s over the only path, and MPTCP 2 % more.
#[test]
fn a_long_transfer_keeps_mptcp_for_little_more_time() {
    assert_eq!(as_tcp(Some(50_000_000), &[(10_000, 5)]), None);
    assert_eq!(as_tcp(Some(2_000_000), &[(10_000, 5)]), Some(0));
}

/// A policy that has prepared a transfer of so many bytes over paths.
fn prepared(bytes: u64, views: &[PathView]) -> EarliestCompletion {
    let mut policy = EarliestCompletion::default();
    policy.prepare(&told(bytes, views));
    policy
}

fn told(bytes: u64, views: &[PathView]) -> Request<'_> {
    Request {
        bytes: Some(bytes),
        ..request(views)
    }
}

#[test]
fn a_transfer_that_is_prepared_takes_the_paths_by_which_the_stack_is_the_fastest() {
    // The model has a path of a fifth of the rate hold the other up: its slow start ends too early.
    let views = views(&[(10_000, 15), (2_000, 5)]);
    assert_eq!(chosen(4_387_000, &[(10_000, 15), (2_000, 5)]), [0]);
    for bytes in [4_387_000, 14_810_000] {
        let mut policy = prepared(bytes, &views);
        let first = policy.choose(&told(bytes, &views)).cloned();
        assert_eq!(first.as_ref(), Some(&views[0]), "{bytes}");
        assert_eq!(policy.as_tcp(&told(bytes, &views)), None);
        let mut loaded = views.clone();
        (loaded[0].subflows, loaded[0].new_subflows) = (1, 1);
        let subflows = [subflow(&views[0])];
        let join = Request {
            subflows: &subflows,
            ..told(bytes, &loaded)
        };
        assert_eq!(policy.choose(&join), Some(&loaded[1]), "{bytes}");
        // A third subflow has no path in the set.
        let subflows = [subflow(&views[0]), subflow(&views[1])];
        (loaded[1].subflows, loaded[1].new_subflows) = (1, 1);
        let third = Request {
            subflows: &subflows,
            ..told(bytes, &loaded)
        };
        assert_eq!(policy.choose(&third), None, "{bytes}");
    }
}

#[test]
fn what_was_prepared_counts_only_where_nothing_else_uses_the_paths() {
    let views = views(&[(10_000, 15), (2_000, 5)]);
    let policy = prepared(14_810_000, &views);
    let of = |request: &Request<'_>| policy.transfers.of(request).is_some();
    assert!(of(&told(14_810_000, &views)));
    assert!(!of(&told(14_810_001, &views)));
    assert!(!of(&Request {
        carried_bytes: 14_000_000,
        ..told(14_810_000, &views)
    }));
    assert!(!of(&Request {
        is_moved: true,
        ..told(14_810_000, &views)
    }));
    let with = |change: fn(&mut PathView)| {
        let mut views = views.clone();
        change(&mut views[1]);
        of(&told(14_810_000, &views))
    };
    assert!(with(|_| ()));
    // Delays are measured, and differ a little.
    assert!(with(|path| path.delay_ns = Some(5_001_000)));
    assert!(!with(|path| path.delay_ns = Some(5_300_000)));
    assert!(!with(|path| path.bandwidth_bps = Some(2_000_001)));
    assert!(!with(|path| path.load_bps = 200_000));
    assert!(!with(|path| path.subflows = 1));
}

#[test]
fn what_was_prepared_long_ago_gives_way_and_what_takes_long_is_not_prepared() {
    let all = views(&[(10_000, 5)]);
    let mut policy = EarliestCompletion::default();
    for bytes in 1..=1_025 {
        policy.prepare(&told(bytes, &all));
    }
    let known =
        |policy: &EarliestCompletion, bytes| policy.transfers.of(&told(bytes, &all)).is_some();
    assert!(known(&policy, 1_025) && !known(&policy, 1_024));
    for paths in [&[(10_000, 5); 5][..], &[(10, 5)], &[(10_000, 1_001)]] {
        let views = views(paths);
        let policy = prepared(100_000, &views);
        assert!(policy.transfers.of(&told(100_000, &views)).is_none());
    }
}

#[test]
fn tcp_is_as_good_where_mptcp_has_one_path_and_the_transfer_is_short() {
    let views = views(&[(10_000, 5), (100, 5)]);
    let tcp = |bytes| {
        let path = prepared(bytes, &views)
            .as_tcp(&told(bytes, &views))
            .cloned();
        path.map(|path| path.links[0].from.port)
    };
    assert_eq!(tcp(114_000), Some(0));
    // It is not for a path that may fail meanwhile.
    assert_eq!(tcp(50_000_000), None);
}
