//! Both ends' accounts, made up.

use super::*;
use crate::message::{Ended, SeenSubflow};
use crate::syn::SynOptions;

const WIFI: &str = "10.0.1.1:40000";
const LTE: &str = "10.0.2.1:40001";
const SHORT_MS: u32 = 60;
const LONG_MS: u32 = 220;

fn sources() -> [IpAddr; 2] {
    [[10, 0, 1, 1], [10, 0, 2, 1]].map(IpAddr::from)
}

fn paths() -> Vec<Path> {
    let path = |(number, source): (u32, IpAddr)| Path {
        interface: format!("eth{number}"),
        source,
        device: None,
        index: number,
    };
    (1..).zip(sources()).map(path).collect()
}

fn seen(mptcp: bool, subflows: impl Iterator<Item = SeenSubflow>) -> Seen {
    Seen {
        mptcp,
        subflows_allowed: Some(2),
        endpoints: Some(2),
        subflows: subflows.collect(),
        ..Seen::default()
    }
}

fn subflow(local: &str, remote: &str) -> SeenSubflow {
    SeenSubflow {
        local: local.to_owned(),
        remote: remote.to_owned(),
        sent_bytes: None,
        received_bytes: None,
        rtt_us: None,
    }
}

/// A step of survival with subflows from these addresses, of which the target sees those.
fn survival(mptcp: bool, ours: &[&str], theirs: &[&str]) -> Measured {
    let target = "10.0.9.1:5001";
    let syn = SynOptions {
        names: vec!["mss".to_owned(), MP_CAPABLE.to_owned()],
        ..SynOptions::default()
    };
    let witness = Outcome {
        target: Some(Ended {
            syn: Some(syn),
            ..Ended::default()
        }),
        ..Outcome::default()
    };
    let alone = Outcome {
        rtts_us: vec![1_000; 15],
        probe: Ended {
            seen: seen(mptcp, ours.iter().map(|one| subflow(one, target))),
            ..Ended::default()
        },
        target: Some(Ended {
            seen: seen(mptcp, theirs.iter().map(|one| subflow(target, one))),
            ..Ended::default()
        }),
        ..Outcome::default()
    };
    Measured {
        connections: vec![witness, alone],
        ..Measured::default()
    }
}

fn observed(path: usize, interval_ms: u32, result: &Measured) -> Observation<'_> {
    Observation::of(path, interval_ms, result).unwrap()
}

fn wants_second_look(path: usize, trials: &[Observation<'_>]) -> bool {
    is_second_look_wanted(path, &paths(), Some(&sources()), trials)
}

#[test]
fn a_second_look_is_for_a_path_of_which_one_short_trial_tells_too_little() {
    let alone = survival(true, &[WIFI], &[WIFI]);
    let first = observed(0, SHORT_MS, &alone);
    assert!(wants_second_look(0, &[first]));
    assert!(!wants_second_look(1, &[observed(0, SHORT_MS, &alone)]));
    let both = [observed(0, SHORT_MS, &alone), observed(0, LONG_MS, &alone)];
    assert!(!wants_second_look(0, &both));
    assert!(!wants_second_look(0, &[observed(0, LONG_MS, &alone)]));
}

#[test]
fn what_has_joined_or_cannot_be_told_needs_no_second_look() {
    let joined = survival(true, &[WIFI, LTE], &[WIFI, LTE]);
    assert!(!wants_second_look(0, &[observed(0, SHORT_MS, &joined)]));
    // Behind a NAT it is not known which one is missing.
    let unsure = survival(true, &[WIFI, LTE], &["192.0.2.1:1"]);
    assert!(!wants_second_look(0, &[observed(0, SHORT_MS, &unsure)]));
    // All are there under other addresses.
    let translated = survival(true, &[WIFI, LTE], &["192.0.2.1:1", "192.0.2.1:2"]);
    assert!(!wants_second_look(0, &[observed(0, SHORT_MS, &translated)]));
    // The target lacks a subflow that it would know by its address.
    let missing = survival(true, &[WIFI, LTE], &[WIFI]);
    assert!(wants_second_look(0, &[observed(0, SHORT_MS, &missing)]));
}

#[test]
fn a_path_without_an_endpoint_or_beyond_a_limit_has_no_second_look() {
    let mut alone = survival(true, &[WIFI], &[WIFI]);
    let of = |endpoints: Option<&[IpAddr]>, result: &Measured| {
        is_second_look_wanted(0, &paths(), endpoints, &[observed(0, SHORT_MS, result)])
    };
    assert!(of(Some(&sources()), &alone));
    assert!(!of(None, &alone));
    assert!(!of(Some(&sources()[..1]), &alone));
    for allowed in [Some(0), None] {
        let target = alone.connections[1].target.as_mut().unwrap();
        target.seen.subflows_allowed = allowed;
        assert!(!of(Some(&sources()), &alone));
    }
}

#[test]
fn paths_on_which_mptcp_survives_take_turns_to_be_the_first() {
    let (plain, mptcp) = (
        survival(false, &[WIFI], &[WIFI]),
        survival(true, &[LTE], &[LTE]),
    );
    assert!(capable(&[]).is_empty());
    assert!(capable(&[observed(0, SHORT_MS, &plain)]).is_empty());
    let all = [
        observed(2, SHORT_MS, &mptcp),
        observed(0, SHORT_MS, &plain),
        observed(1, SHORT_MS, &mptcp),
        observed(1, LONG_MS, &mptcp),
    ];
    assert_eq!(capable(&all), [1, 2]);
    assert_eq!(begin(&[], 7, 1), 0);
    for (seed, expected) in [(0, [1, 2, 1]), (3, [2, 1, 2])] {
        let begun = [0, 1, 2].map(|repetition| begin(&[1, 2], repetition, seed));
        assert_eq!(begun, expected, "{seed}");
    }
    assert_eq!(begin(&[1, 4, 6], u32::MAX, u64::MAX), 1);
}

#[test]
fn no_mptcp_at_all_is_told_with_its_reason() {
    let (plain, mptcp) = (
        survival(false, &[WIFI], &[WIFI]),
        survival(true, &[LTE], &[LTE]),
    );
    let told = |results: &[&Measured]| {
        let trials: Vec<_> = (0..)
            .zip(results)
            .map(|(path, result)| observed(path, SHORT_MS, result))
            .collect();
        no_mptcp(&trials)
    };
    assert_eq!(told(&[]), None);
    assert_eq!(told(&[&plain, &mptcp]), None);
    assert!(
        told(&[&plain])
            .unwrap()
            .contains("the target's kernel may have none")
    );
    let mut stripped = plain.clone();
    let witness = stripped.connections[0].target.as_mut().unwrap();
    witness.syn.as_mut().unwrap().names.pop();
    assert_eq!(
        told(&[&stripped]).unwrap(),
        "No connection was MPTCP at both ends"
    );
    let mut failed = plain;
    failed.connections[1].target = None;
    failed.connections[1].failure = Some("this kernel has no MPTCP".to_owned());
    assert_eq!(
        told(&[&failed]).unwrap(),
        "No connection by MPTCP came to be: this kernel has no MPTCP"
    );
}
