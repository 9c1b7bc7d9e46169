//! Packets that are held back behind others or changed on their way, exactly again on replay.

#[path = "../../engine-sim/tests/sim/support.rs"]
mod support;

use mptcplab_debug::{Change, Happening, Session, StopOn, field_names};
use mptcplab_plan::{Protocol, Way};
use proptest::prelude::*;
use serde_json::{Value, json};

use support::{Lab, MS, Path, SECOND};

const OPTIONS: [&str; 14] = [
    "mss",
    "window_scale",
    "sack_permitted",
    "sack",
    "timestamps",
    "mp_capable",
    "mp_join",
    "dss",
    "add_addr",
    "remove_addr",
    "mp_prio",
    "mp_fail",
    "mp_fastclose",
    "mp_tcprst",
];

/// Two paths and two transfers over MPTCP, one each way.
fn lab(seed: u64) -> Lab {
    let paths = [Path::new(8_000_000, 10 * MS), Path::new(4_000_000, 30 * MS)];
    let mut lab = Lab::with_paths(seed, &paths);
    lab.bulk_for(Protocol::Mptcp, Way::Down, SECOND);
    lab.bulk_for(Protocol::Mptcp, Way::Up, SECOND);
    lab
}

fn session(seed: u64) -> Session {
    Session::new(&lab(seed).plan).unwrap()
}

/// All state that a session shows.
fn all(session: &Session) -> Value {
    json!({
        "step": session.position().step,
        "now_ns": session.position().now_ns,
        "connections": [session.connection(0), session.connection(1)],
        "links": [session.link(0), session.link(1)],
        "nodes": [session.node(0), session.node(1)],
    })
}

fn fate(link: &str, direction: usize, packets: u32, fate: &Value) -> Change {
    let told = json!({"link": link, "direction": direction, "packets": packets, "fate": fate});
    serde_json::from_value(json!({ "packets": told })).unwrap()
}

fn rewritten(link: &str, edits: Value) -> Change {
    fate(link, 1, 1, &json!({ "rewritten": edits }))
}

fn run_until(session: &mut Session, now_ns: u64) {
    let run = session.begin(&[], Some(now_ns)).unwrap();
    session.run(run);
}

/// The packets that come out of the link `p0` at the client, from now on.
fn received(session: &mut Session, packets: usize) -> Vec<String> {
    let stop = json!({"packet": {"link": "p0", "host": "client"}});
    let stop: StopOn = serde_json::from_value(stop).unwrap();
    let is_one = |one: &Happening| {
        one.kind == "packet" && one.link.as_deref() == Some("p0") && one.host == "client"
    };
    let mut found = Vec::new();
    while found.len() < packets {
        let run = session.begin(std::slice::from_ref(&stop), None).unwrap();
        let stop = session.run(run);
        let texts = stop.happenings.into_iter().filter(is_one);
        let texts = texts.filter_map(|one| Some(one.text.strip_prefix("receives ")?.to_owned()));
        found.extend(texts);
    }
    found.truncate(packets);
    found
}

#[test]
fn a_packet_comes_behind_as_many_others_as_were_asked_for() {
    let mut plain = session(1);
    run_until(&mut plain, 300 * MS);
    let mut reordered = plain.clone();
    let change = fate("p0", 1, 1, &json!({"behind": 3}));
    reordered.change(change).unwrap();
    let usual = received(&mut plain, 60);
    let changed = received(&mut reordered, 60);
    let mut both = changed.iter().zip(&usual);
    let place = both.position(|(a, b)| a != b).expect("another order");
    assert_eq!(changed[place..place + 3], usual[place + 1..place + 4]);
    assert_eq!(changed[place + 3], usual[place]);
}

#[test]
fn the_next_packet_has_the_fields_that_were_asked_for() {
    for (edits, words) in [
        (
            json!([{"set": {"field": "window", "value": 17}}]),
            " win 17 ",
        ),
        (json!([{"flags": {"set": 8, "clear": 16}}]), " PSH seq "),
        (
            json!([{"set": {"field": "dss.data_sequence", "value": 77}}]),
            " dseq 77 ",
        ),
        (
            json!([{"payload": {"at": null, "bytes": [1, 2, 3]}}]),
            " len 3 ",
        ),
    ] {
        let mut session = session(2);
        run_until(&mut session, 300 * MS);
        let mut plain = session.clone();
        session.change(rewritten("p0", edits)).unwrap();
        let [usual, changed] = [&mut plain, &mut session].map(|one| received(one, 60));
        assert!(!usual.iter().any(|text| format!("{text} ").contains(words)));
        let found = changed
            .iter()
            .filter(|text| format!("{text} ").contains(words));
        assert_eq!(found.count(), 1, "{words}: {changed:#?}");
    }
}

#[test]
fn a_change_waits_for_a_packet_that_has_all_that_it_names() {
    let mut session = session(3);
    // Neither a SYN nor an acknowledgement of nothing has a mapping of data.
    let edits =
        json!([{"add": {"field": "dss.data_sequence", "value": 5}}, {"without": "timestamps"}]);
    session.change(rewritten("p0", edits)).unwrap();
    let plain = Session::new(&lab(3).plan).unwrap();
    let [changed, usual] = [session, plain].map(|mut one| received(&mut one, 12));
    let both = changed.iter().zip(&usual);
    let apart: Vec<_> = both.filter(|(a, b)| a != b).take(1).collect();
    assert!(apart[0].1.contains(" dseq "), "{apart:?}");
}

#[test]
fn changed_packets_are_changed_again_on_the_way_forward() {
    let mut session = session(4);
    run_until(&mut session, 200 * MS);
    let mut branch = session.clone();
    let edits = json!([{"add": {"field": "seq", "value": 1400}}]);
    session
        .change(fate("p0", 1, 5, &json!({ "rewritten": edits })))
        .unwrap();
    session
        .change(fate("p1", 1, 2, &json!({"behind": 4})))
        .unwrap();
    run_until(&mut session, 600 * MS);
    let after = all(&session);
    run_until(&mut branch, 600 * MS);
    assert!(after != all(&branch), "the changes change something");
    for time in [0, 200 * MS - 1, 300 * MS] {
        session.go_to_time(time);
        session.go_to_time(600 * MS);
        assert!(all(&session) == after);
    }
    session.step();
    session.back(1).unwrap();
    assert!(all(&session) == after);
}

#[test]
fn a_change_that_cannot_be_made_is_refused_in_a_line() {
    let mut session = session(5);
    for (edits, why) in [
        (json!([]), "nothing is to be changed"),
        (
            json!([{"set": {"field": "window", "value": 65536}}]),
            "65536 does not fit into 16 bits",
        ),
        (
            json!([{"set": {"field": "mp_prio.backup", "value": 2}}]),
            "does not fit into 1 bits",
        ),
        (
            json!([{"add": {"field": "sequence", "value": 1}}]),
            "there is no field \"sequence\"; there are seq, ack",
        ),
        (
            json!([{"payload": {"at": null, "bytes": vec![0; 9001]}}]),
            "9001 bytes of payload: 9000 at most",
        ),
    ] {
        let problem = session
            .change(rewritten("p0", edits))
            .unwrap_err()
            .to_string();
        assert!(
            problem.contains(why) && problem.lines().count() == 1,
            "{problem}"
        );
    }
    let change = fate("p0", 1, 1, &json!({"behind": 0}));
    assert!(
        session
            .change(change)
            .unwrap_err()
            .to_string()
            .contains("behind 0 others")
    );
}

/// Any change of a packet.
fn edit() -> impl Strategy<Value = Value> {
    let names: Vec<_> = field_names().collect();
    let field = prop::sample::select(names);
    let small = prop_oneof![0..3_u64, any::<u64>(), 1..3000_u64];
    prop_oneof![
        4 => (field.clone(), small.clone(), prop::bool::ANY).prop_map(|(field, value, is_less)| {
            let how = if is_less { "subtract" } else { "add" };
            json!({ how: {"field": field, "value": value} })
        }),
        // One bit fits into every field.
        1 => (field, 0..2_u64).prop_map(|(field, value)| json!({"set": {"field": field, "value": value}})),
        2 => (any::<u8>(), any::<u8>()).prop_map(|(set, clear)| json!({"flags": {"set": set, "clear": clear}})),
        2 => prop::sample::select(OPTIONS.to_vec()).prop_map(|option| json!({ "without": option })),
        1 => (prop::option::of(0..1500_usize), prop::collection::vec(any::<u8>(), 1..2000))
            .prop_map(|(at, bytes)| json!({"payload": {"at": at, "bytes": bytes}})),
        1 => prop::sample::select(vec!["10.0.1.2", "10.9.9.9", "127.0.0.1", "0.0.0.0", "::1"])
            .prop_map(|address| json!({ "address": address })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_changed_packet_lets_the_stack_panic_and_all_come_again(
        seed in any::<u32>(),
        changes in prop::collection::vec(
            (
                prop_oneof![0..200 * MS, 0..SECOND],
                prop::sample::select(vec!["p0", "p1"]),
                0..2_usize,
                1..20_u32,
                prop_oneof![
                    6 => prop::collection::vec(edit(), 1..3).prop_map(|edits| json!({ "rewritten": edits })),
                    1 => (1..5_u32).prop_map(|others| json!({ "behind": others })),
                ],
            ),
            1..8,
        ),
    ) {
        let mut changes = changes;
        changes.sort_by_key(|(at, ..)| *at);
        let mut session = session(seed.into());
        for (at, link, direction, packets, told) in &changes {
            run_until(&mut session, *at);
            session.change(fate(link, *direction, *packets, told)).unwrap();
        }
        // Beyond the end of the traffic, where a run would stop.
        session.go_to_time(2 * SECOND);
        let after = all(&session);
        session.go_to_time(changes[0].0);
        session.go_to_time(2 * SECOND);
        prop_assert!(all(&session) == after);
        // Retransmissions and timeouts of what was broken.
        session.go_to_time(30 * SECOND);
    }
}
