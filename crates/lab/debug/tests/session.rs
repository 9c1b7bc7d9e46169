//! Sessions: every event comes again exactly as it was, wherever one has been meanwhile.

#[path = "../../engine-sim/tests/sim/support.rs"]
mod support;

use mptcplab_debug::{Change, Session, StopOn};
use mptcplab_link::LinkChange;
use mptcplab_plan::{Action, Protocol, Way};
use proptest::prelude::*;
use serde_json::{Value, json};

use support::{Lab, MS, Path, SECOND};

/// Two paths of which the second loses, and a download.
fn lab(seed: u64) -> Lab {
    let mut lab = Lab::with_paths(
        seed,
        &[
            Path::new(10_000_000, 10 * MS),
            Path::new(5_000_000, 40 * MS),
        ],
    );
    for direction in &mut lab.plan.links[1].config.directions {
        direction.loss = mptcplab_link::Loss::Random { probability: 0.02 };
    }
    lab.bulk_for(Protocol::Mptcp, Way::Down, 3 * SECOND);
    lab
}

fn session(seed: u64) -> Session {
    Session::new(&lab(seed).plan).unwrap()
}

/// All state that a session shows.
fn all(session: &Session) -> Value {
    let position = session.position();
    json!({
        "step": position.step,
        "now_ns": position.now_ns,
        "next": session.world().next_deadline(),
        "connections": [session.connection(0), session.connection(1)],
        "links": [session.link(0), session.link(1)],
        "nodes": [session.node(0), session.node(1)],
    })
}

fn stop(json: Value) -> StopOn {
    serde_json::from_value(json).unwrap()
}

fn decision(kind: &str) -> StopOn {
    stop(json!({"decision": {"kind": kind, "connection": null, "host": null}}))
}

fn run_until(session: &mut Session, now_ns: u64) {
    let run = session.begin(&[], Some(now_ns)).unwrap();
    session.run(run);
}

fn run_to(session: &mut Session, on: StopOn) -> mptcplab_debug::Stop {
    let run = session.begin(&[on], None).unwrap();
    session.run(run)
}

/// The next packets against a link's direction get a fate.
fn fate(link: &str, packets: u32, fate: Value) -> Change {
    let change = json!({"link": link, "direction": 1, "packets": packets, "fate": fate});
    serde_json::from_value(json!({ "packets": change })).unwrap()
}

fn lost(link: &str, packets: u32) -> Change {
    fate(link, packets, json!("lost"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn a_jump_finds_everything_as_it_was(
        seed in 1..100_u64,
        mut times in prop::collection::vec(0..3 * SECOND, 2..6),
        jumps in prop::collection::vec((any::<prop::sample::Index>(), 1..50_u64), 1..12),
    ) {
        times.sort_unstable();
        times.dedup();
        let mut session = session(seed);
        let mut seen = Vec::new();
        for &time in &times {
            run_until(&mut session, time);
            prop_assert_eq!(session.world().now(), time);
            seen.push((session.position(), all(&session)));
        }
        for (index, steps) in jumps {
            let (position, state) = index.get(&seen);
            session.go_to_time(position.now_ns);
            prop_assert!(all(&session) == *state);
            for _ in 0..steps {
                session.step();
            }
            session.back(steps).unwrap();
            prop_assert_eq!(session.position().step, position.step);
            session.go_to(*position);
            prop_assert!(all(&session) == *state);
        }
    }
}

#[test]
fn a_change_is_made_again_on_the_way_forward_and_not_on_the_way_back() {
    let mut session = session(1);
    run_until(&mut session, SECOND);
    let before = all(&session);
    let mut unchanged = session.clone();
    run_until(&mut unchanged, 2 * SECOND);
    let change = LinkChange {
        up: Some(false),
        ..LinkChange::default()
    };
    let down = Action::Link {
        link: 0,
        change,
        carrier: Some(false),
    };
    session.change(Change::Action(down)).unwrap();
    run_until(&mut session, 2 * SECOND);
    let after = all(&session);
    assert!(after != all(&unchanged), "the change changes something");
    session.go_to_time(SECOND - 1);
    session.go_to_time(2 * SECOND);
    assert!(all(&session) == after);
    session.go_to_time(500 * MS);
    run_until(&mut session, SECOND - 1);
    session.go_to_time(2 * SECOND);
    assert!(all(&session) == after);
    // A change in the past makes another future.
    session.go_to_time(900 * MS);
    let drop = lost("p1", 1);
    session.change(drop).unwrap();
    session.go_to_time(SECOND);
    assert!(all(&session) != before);
}

#[test]
fn a_branch_goes_its_own_way() {
    let mut session = session(2);
    run_until(&mut session, SECOND);
    let mut branch = session.clone();
    let state = all(&session);
    let drop = lost("p0", 20);
    branch.change(drop).unwrap();
    run_until(&mut branch, 2 * SECOND);
    assert!(all(&session) == state);
    run_until(&mut session, 2 * SECOND);
    assert!(all(&session) != all(&branch));
}

#[test]
fn it_stops_where_a_path_manager_opens_a_subflow() {
    let mut session = session(1);
    let first = run_to(&mut session, decision("subflow opened"));
    let kinds: Vec<_> = first.happenings.iter().map(|one| one.kind).collect();
    assert_eq!(kinds[..2], ["connection opened", "subflow opened"]);
    assert_eq!(first.happenings[1].subflow, Some(0));
    // The server's end of the first one.
    run_to(&mut session, decision("subflow opened"));
    let join = run_to(&mut session, decision("subflow opened"));
    let opened = join
        .happenings
        .iter()
        .find(|one| one.kind == "subflow opened")
        .unwrap();
    assert_eq!((opened.subflow, opened.connection), (Some(1), Some(0)));
    assert_eq!(opened.host, "client");
    let packet = join
        .happenings
        .iter()
        .find(|one| one.kind == "packet")
        .unwrap();
    assert!(
        packet.text.contains("SYN") && packet.text.contains("MP_JOIN"),
        "{}",
        packet.text
    );
    let accepted = run_to(&mut session, decision("join accepted"));
    assert_eq!(accepted.actor.as_deref(), Some("host server"));
}

#[test]
fn a_condition_stops_where_it_comes_to_hold() {
    let mut session = session(1);
    let path = ["connections", "0", "subflows", "1", "cwnd_bytes"].map(|part| {
        part.parse::<u64>()
            .map_or(json!(part), |number| json!(number))
    });
    let condition = stop(json!({"condition": {"compare": [{"path": path}, "<", {"value": 6000}]}}));
    let stopped = run_to(&mut session, condition.clone());
    assert_eq!(stopped.reason, "condition");
    let cwnd = |session: &Session| {
        let connection = session.connection(0).unwrap();
        connection["server"]["subflows"][1]["cwnd_bytes"]
            .as_u64()
            .unwrap()
    };
    assert!(cwnd(&session) < 6000);
    let here = session.position();
    session.back(1).unwrap();
    assert!(cwnd(&session) >= 6000);
    run_until(&mut session, 3 * SECOND);
    // The last of all such places is found from the end, the first one from there.
    let mut earlier = 0;
    while session
        .back_until(std::slice::from_ref(&condition), 1)
        .is_ok()
    {
        earlier += 1;
        assert!(cwnd(&session) < 6000 && earlier < 1000);
    }
    assert_eq!(session.position(), here);
}

#[test]
fn going_back_by_packets_finds_what_going_forward_has_seen() {
    let mut session = session(3);
    run_until(&mut session, SECOND);
    let packet = || stop(json!({"packet": {"link": "p1", "host": null}}));
    let mut places = Vec::new();
    for _ in 0..10 {
        let stop = run_to(&mut session, packet());
        assert_eq!(stop.reason, "packet");
        places.push((session.position(), stop));
    }
    for (count, (position, seen)) in (1..).zip(places.iter().rev().skip(1)) {
        session.go_to(places[9].0);
        let stop = session.back_until(&[packet()], count).unwrap();
        assert_eq!((session.position(), &stop), (*position, seen));
    }
}

#[test]
fn an_unknown_name_is_refused_with_those_that_there_are() {
    let mut session = session(1);
    let path = json!(["connections", 0, "cwnd"]);
    let on = stop(json!({"condition": {"compare": [{"path": path}, "<", {"value": 1}]}}));
    let problem = session.begin(&[on], None).err().unwrap().to_string();
    assert!(
        problem.contains("no \"cwnd\"") && problem.contains("snd_una"),
        "{problem}"
    );
    let problem = session
        .begin(&[decision("x")], None)
        .err()
        .unwrap()
        .to_string();
    assert!(problem.contains("subflow opened"), "{problem}");
    assert!(session.back(1_000_000).is_err());
}

#[test]
fn a_scheduler_s_choice_tells_what_it_saw() {
    let mut session = session(1);
    let here = run_to(
        &mut session,
        stop(json!({"condition": {"compare": [
        {"path": ["connections", 0, "subflows", 1, "bytes_acked"]}, ">", {"value": 20_000}]}})),
    );
    assert_eq!(here.reason, "condition");
    let mut unwatched = session.clone();
    let stop = run_to(&mut session, decision("scheduler choice"));
    let choice = stop
        .happenings
        .iter()
        .find(|one| one.kind == "scheduler choice")
        .unwrap();
    assert_eq!(
        (choice.host.as_str(), choice.connection),
        ("server", Some(0))
    );
    for number in [0, 1] {
        assert!(
            choice.text.contains(&format!("; subflow {number} ")),
            "{}",
            choice.text
        );
    }
    let chosen = format!("; subflow {} chosen", choice.subflow.unwrap());
    assert!(choice.text.contains(&chosen), "{}", choice.text);
    // Watching changes nothing.
    run_until(&mut session, 2 * SECOND);
    run_until(&mut unwatched, 2 * SECOND);
    assert!(all(&session) == all(&unwatched));
}

#[test]
fn a_scheduler_is_exchanged_from_here_on() {
    let mut session = session(1);
    run_until(&mut session, SECOND);
    let mut unchanged = session.clone();
    let change = |host: &str, name: &str| -> Change {
        serde_json::from_value(json!({"scheduler": {"host": host, "name": name}})).unwrap()
    };
    session.change(change("server", "redundant")).unwrap();
    let name = |session: &Session, end: &str| {
        let connection = session.connection(0).unwrap();
        connection[end]["scheduler"].as_str().unwrap().to_owned()
    };
    assert_eq!(name(&session, "server"), "Redundant");
    assert!(name(&session, "client").starts_with("Default"));
    run_until(&mut session, 2 * SECOND);
    let after = all(&session);
    run_until(&mut unchanged, 2 * SECOND);
    assert!(after != all(&unchanged));
    session.go_to_time(500 * MS);
    assert!(name(&session, "server").starts_with("Default"));
    session.go_to_time(2 * SECOND);
    assert!(all(&session) == after);
    for (host, scheduler) in [("server", "fastest"), ("servr", "redundant")] {
        assert!(session.change(change(host, scheduler)).is_err());
    }
}

#[test]
fn the_next_packets_are_lost_delayed_or_sent_twice() {
    let mut session = session(4);
    run_until(&mut session, 500 * MS);
    let offered = |session: &Session| {
        let link = session.link(0);
        link["directions"][1]["offered_packets"].as_u64().unwrap()
    };
    let mut unchanged = session.clone();
    let sends = |happening: &mptcplab_debug::Happening| {
        happening.text.starts_with("sends") && happening.link.as_deref() == Some("p0")
    };
    let here = offered(&unchanged);
    while !unchanged.step().happenings.iter().any(sends) || offered(&unchanged) == here {}
    let at = unchanged.position();
    let changed = |fate: Change| {
        let mut branch = session.clone();
        branch.change(fate).unwrap();
        branch.go_to(at);
        branch
    };
    assert_eq!(offered(&changed(lost("p1", 1))), offered(&unchanged));
    assert_eq!(offered(&changed(lost("p0", 1))), offered(&unchanged) - 1);
    let twice = changed(fate("p0", 1, json!("duplicated")));
    assert_eq!(offered(&twice), offered(&unchanged) + 1);
    let mut delayed = changed(fate("p0", 1, json!({"delayed_ns": 3 * MS})));
    assert_eq!(offered(&delayed), offered(&unchanged) - 1);
    run_until(&mut delayed, at.now_ns + 3 * MS - 1);
    let before = offered(&delayed);
    run_until(&mut delayed, at.now_ns + 3 * MS);
    assert!(offered(&delayed) > before);
}
