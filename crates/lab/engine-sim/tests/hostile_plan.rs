//! A plan with absurd values is refused or simulated: no panic, and no moment without end.

mod hostile;
#[path = "sim/support.rs"]
mod support;

use std::fs;
use std::path::Path as File;

use mptcplab_engine_sim::World;
use mptcplab_plan::{
    Action, InterfaceRef, Middlebox, Plan, Protocol, Requests, SegmentKind, Way, Workload,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Lab, MS, Path, SECOND};

/// Two paths, traffic of each kind, and something of everything else.
fn sound() -> Plan {
    let path = Path::new(10_000_000, 5 * MS);
    let mut lab = Lab::with_paths(1, &[path, path]);
    for (protocol, way) in [(Protocol::Mptcp, Way::Up), (Protocol::Tcp, Way::Both)] {
        lab.bulk_bytes(protocol, way, 50_000);
    }
    let workloads = [
        Workload::Http {
            bytes: 1000,
            count: 2,
        },
        Workload::Ftp {
            way: Way::Down,
            bytes: 1000,
            count: 1,
        },
        Workload::Ping {
            interval_ns: 100 * MS,
            count: 3,
            payload_bytes: 56,
        },
        Workload::Datagrams {
            way: Way::Up,
            rate_bps: 1_000_000,
            packet_bytes: 500,
            duration_ns: 100 * MS,
            on_off_ns: Some([20 * MS, 20 * MS]),
        },
        Workload::RequestResponse(Requests {
            request_bytes: 100,
            response_bytes: 100,
            interval_ns: 50 * MS,
            count: 3,
        }),
    ];
    for workload in workloads {
        lab.traffic(Protocol::Tcp, workload);
    }
    let middleboxes = [
        Middlebox::Split {
            payload_bytes: 700,
            direction: None,
        },
        Middlebox::Coalesce {
            payload_bytes: 2000,
            hold_ns: MS,
            direction: Some(0),
        },
        Middlebox::StripOptions {
            kinds: vec![8],
            mptcp_subtypes: vec![],
            on: SegmentKind::Data,
            direction: Some(1),
        },
        Middlebox::Corrupt {
            probability: 0.01,
            direction: None,
        },
    ];
    for middlebox in middleboxes {
        lab.middlebox(0, middlebox);
    }
    let interface = InterfaceRef {
        node: 0,
        interface: 1,
    };
    for (at_ns, up) in [(200 * MS, false), (400 * MS, true)] {
        lab.event(at_ns, Action::Interface { interface, up });
    }
    lab.plan.time_limit_ns = 5 * SECOND;
    lab.plan
}

/// The places of all values below one that hold no others.
fn leaves(value: &Value, place: String, found: &mut Vec<String>) {
    match value {
        Value::Array(values) if !values.is_empty() => {
            for (index, value) in values.iter().enumerate() {
                leaves(value, format!("{place}/{index}"), found);
            }
        }
        Value::Object(values) if !values.is_empty() => {
            for (key, value) in values {
                leaves(value, format!("{place}/{key}"), found);
            }
        }
        _ => found.push(place),
    }
}

fn absurd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(0)),
        Just(json!(1)),
        Just(json!(2)),
        Just(json!(255)),
        Just(json!(65_536)),
        Just(json!(u32::MAX)),
        Just(json!(i64::MAX)),
        Just(json!(u64::MAX)),
        Just(json!(-1)),
        Just(json!(0.5)),
        Just(json!(1e-300)),
        Just(json!(1e300)),
        Just(json!("")),
        Just(json!("10.0.0.1")),
        Just(json!("::")),
        Just(json!("reno")),
        Just(json!(null)),
        Just(json!(true)),
        Just(json!([])),
        Just(json!({})),
    ]
}

/// Runs what is left of a plan after these changes, where it is not refused.
fn play(changes: &[(u16, Value)]) {
    let mut json = serde_json::to_value(sound()).expect("a plan is JSON");
    for (choice, value) in changes {
        let mut places = Vec::new();
        leaves(&json, String::new(), &mut places);
        let place = &places[usize::from(*choice) % places.len()];
        *json.pointer_mut(place).expect("it was found there") = value.clone();
    }
    if let Ok(plan) = serde_json::from_value(json) {
        hostile::play(plan);
    }
}

/// The plans of a committed corpus of a fuzzer, with their names.
fn corpus(folder: &str) -> Vec<(String, Plan)> {
    let folder = File::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = fs::read_dir(folder).expect("the corpus is there");
    let read = |file: std::io::Result<fs::DirEntry>| {
        let path = file.expect("as above").path();
        let name = path.display().to_string();
        let bytes = fs::read(&path).expect("a file");
        let plan = serde_json::from_slice(&bytes).unwrap_or_else(|why| panic!("{name}: {why}"));
        (name, plan)
    };
    files.map(read).collect()
}

/// Why a plan with one change is refused.
fn refusal(place: &str, value: Value) -> String {
    let mut json = serde_json::to_value(sound()).expect("a plan is JSON");
    *json.pointer_mut(place).expect("a place of the plan") = value;
    let plan: Plan = serde_json::from_value(json).expect("the type is right");
    let refused = World::new(&plan).expect_err("no host can do that");
    refused.to_string()
}

#[test]
fn what_no_host_can_do_is_refused_by_name() {
    let families = refusal("/traffic/0/source", json!("::1"));
    assert!(
        families.ends_with("are addresses of two families"),
        "{families}"
    );
    assert_eq!(
        refusal("/traffic/0/workload/streams", json!(65_536)),
        format!(
            "traffic {}: a client has 65,535 ports for its streams",
            sound().traffic[0].name
        )
    );
    assert_eq!(
        refusal("/nodes/0/mptcp/subflows_per_pair", json!(65_536)),
        "node client: it has 65,535 ports for subflows_per_pair"
    );
}

#[test]
fn fuzzers_begin_with_plans_that_are_sound() {
    let simulated = corpus("fuzz/corpus/plan");
    assert!(simulated.len() > 1);
    for (name, plan) in simulated {
        assert!(hostile::play(plan), "{name}");
    }
    assert!(corpus("../engine-kernel/fuzz/corpus/plan").len() > 1);
}

#[test]
fn the_plan_is_sound_as_it_is() {
    let mut world = World::new(&sound()).expect("it can be simulated");
    let mut steps = 0;
    while !world.has_ended() && world.step() {
        steps += 1;
    }
    assert!(world.has_ended() && steps > 300, "{steps} steps");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases_or(300)))]
    #[test]
    fn a_plan_with_absurd_values_neither_panics_nor_spins(
        changes in proptest::collection::vec((any::<u16>(), absurd()), 1..4),
    ) {
        play(&changes);
    }
}

/// How many cases to try: as many as the environment says, for longer hunts.
fn cases_or(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(usual)
}
