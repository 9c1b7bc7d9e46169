use super::*;
use crate::policy::SubflowView;
use crate::policy::samples::{path, request, subflow};

const RATES_BPS: [u64; 3] = [10_000_000, 100_000, 6_000_000];
const DELAY_NS: u64 = 5_000_000;
const LEFT: u64 = 5_000_000;
const ALL: u64 = 10_000_000;

/// Subflows on paths of 10, 0.1 and 6 Mbit/s, the first of which is looked at.
struct Case {
    /// Paths of the subflows, and what they carry, bit/s.
    subflows: Vec<(usize, u64)>,
    left: u64,
    waits_ms: u64,
    /// Load of others on the third path, bit/s.
    load_bps: u64,
    /// Rate of a transfer of others on the path of the first subflow, bit/s.
    beside_bps: u64,
}

/// The path to move to.
fn better(case: &Case) -> Option<usize> {
    let carried_bps = |index: usize| {
        let subflows = case.subflows.iter().filter(|(other, _)| *other == index);
        subflows.map(|(_, bps)| bps).sum::<u64>()
    };
    let view = |index: usize| PathView {
        load_bps: if index == 2 { case.load_bps } else { 0 },
        subflows: 1,
        is_busy: carried_bps(index) >= RATES_BPS[index],
        ..path(index as u32, RATES_BPS[index], DELAY_NS)
    };
    let views = [0, 1, 2].map(view);
    let ((path, rate_bps), others) = case.subflows.split_first()?;
    let siblings = others.iter().map(|(path, _)| subflow(&views[*path]));
    let siblings: Vec<SubflowView> = siblings.collect();
    let request = Request {
        is_moved: true,
        bytes: Some(ALL),
        carried_bytes: ALL - case.left,
        subflows: &siblings,
        ..request(&views)
    };
    let others_bps: Vec<u64> = others.iter().map(|(_, bps)| *bps).collect();
    let of_path = case.subflows.iter().filter(|(other, _)| other == path);
    let own_path = PathView {
        // A busy path carries its rate.
        bandwidth_bps: Some(of_path.clone().map(|(_, bps)| bps).sum::<u64>() + case.beside_bps),
        ..views[*path].clone()
    };
    let carrying = Carrying {
        path: &own_path,
        rate_bps: *rate_bps,
        waits_ns: case.waits_ms * 1_000_000,
        others_bps: &others_bps,
        sharing: of_path.count() + usize::from(case.beside_bps > 0),
    };
    let found = super::path(&mut Completions::default(), &request, &carrying);
    found.and_then(|path| views.iter().position(|view| view == path))
}

/// Two subflows, the first of which was strangled and holds up the other.
fn strangled() -> Case {
    Case {
        subflows: vec![(0, 500_000), (2, 2_000_000)],
        left: LEFT,
        waits_ms: 400,
        load_bps: 0,
        beside_bps: 0,
    }
}

#[test]
fn a_subflow_that_holds_up_the_transfer_shares_the_path_of_another() {
    assert_eq!(better(&strangled()), Some(2));
    // Alone, it takes the free path that is the best.
    let alone = Case {
        subflows: vec![(0, 500_000)],
        ..strangled()
    };
    assert_eq!(better(&alone), Some(2));
}

#[test]
fn one_that_carries_its_part_stays() {
    for own_bps in [3_000_000, 6_000_000, 10_000_000] {
        let case = Case {
            subflows: vec![(0, own_bps), (2, 6_000_000)],
            waits_ms: 20,
            ..strangled()
        };
        assert_eq!(better(&case), None, "{own_bps}");
    }
}

#[test]
fn one_that_holds_up_nothing_stays_whatever_the_model_says() {
    let case = Case {
        subflows: vec![(0, 500_000), (2, 6_000_000)],
        ..strangled()
    };
    assert_eq!(better(&case), None);
}

#[test]
fn a_path_that_is_not_much_better_is_not_worth_it() {
    let alone = |own_bps| Case {
        subflows: vec![(0, own_bps)],
        waits_ms: 20,
        ..strangled()
    };
    assert_eq!(better(&alone(5_000_000)), None);
    assert_eq!(better(&alone(4_500_000)), None);
    assert_eq!(better(&alone(3_000_000)), Some(2));
    // Others have most of it; a fair share is left.
    let loaded = |own_bps| Case {
        load_bps: 5_500_000,
        ..alone(own_bps)
    };
    assert_eq!(better(&loaded(3_000_000)), None);
    assert_eq!(better(&loaded(1_000_000)), Some(2));
}

#[test]
fn a_transfer_that_carries_all_it_has_stays() {
    let beside = |own_bps, beside_bps| Case {
        subflows: vec![(0, own_bps)],
        waits_ms: 20,
        beside_bps,
        ..strangled()
    };
    assert_eq!(better(&beside(2_000_000, 8_000_000)), None);
    assert_eq!(better(&beside(3_000_000, 7_000_000)), Some(2));
    assert_eq!(better(&beside(2_000_000, 1_500_000)), Some(2));
    // Of several subflows the others may have to wait for it.
    let one_of_two = Case {
        subflows: vec![(0, 500_000), (2, 2_000_000)],
        ..beside(500_000, 8_000_000)
    };
    assert_eq!(better(&one_of_two), Some(2));
}

#[test]
fn what_is_on_its_way_has_to_arrive_first() {
    let last = |left, waits_ms| Case {
        subflows: vec![(0, 500_000)],
        left,
        waits_ms,
        ..strangled()
    };
    assert_eq!(better(&last(5_000, 400)), None);
    assert_eq!(better(&last(300_000, 400)), Some(2));
    assert_eq!(better(&last(300_000, 4_000)), None);
    assert_eq!(better(&last(0, 0)), None);
}

#[test]
fn one_that_shares_a_path_goes_back_where_there_is_another() {
    let shared = Case {
        subflows: vec![(2, 3_000_000), (2, 3_000_000)],
        waits_ms: 20,
        ..strangled()
    };
    assert_eq!(better(&shared), Some(0));
}
