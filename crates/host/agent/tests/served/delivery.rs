//! Results on their way to the server.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::thread;

use mptcplab_agent::run;
use serde_json::json;

use crate::server::{
    Running, answer, answer_with, config, files, run_once, spooled, takes, wait_until,
};

#[test]
fn a_result_whose_answer_was_lost_is_sent_again() {
    let seen = Mutex::new(BTreeMap::new());
    let running = Running::start(move |asked| {
        let mut seen = seen.lock().unwrap();
        let count: &mut u32 = seen.entry(asked.place.clone()).or_default();
        *count += 1;
        // The server has the second of them, and its answer does not come.
        let is_lost = asked.place.ends_with('1') && *count < 3;
        (!is_lost).then(|| takes(asked, &json!([])))?
    });
    let folder = running.enrolled();
    let ids = spooled(folder.path(), 3);
    // One that was being written when the agent was killed, and a file of another program.
    fs::write(folder.path().join("spool/000000000003-x.new"), "{").unwrap();
    fs::write(folder.path().join("spool/readme"), "x").unwrap();
    run_once(&config(folder.path())).unwrap();

    assert_eq!(files(folder.path(), "spool"), ["readme"]);
    for (id, times) in ids.iter().zip([1, 3, 1]) {
        let puts = running.asked(&format!("PUT /api/v1/agent/results/{id}"));
        assert_eq!(puts.len(), times);
        for one in puts {
            assert_eq!(one.body, json!({"id": id}).to_string().into_bytes());
            assert!(one.head.contains("Content-Digest: sha-256=:"));
        }
    }
    assert_eq!(running.asked("PUT ").len(), 5);
}

#[test]
fn what_the_server_refuses_goes_into_quarantine_and_holds_up_nothing() {
    let running = Running::start(|asked| match asked.place.rsplit_once("-00000000000") {
        Some((_, "0")) => answer(409, &json!({"error": "another content has this id"})),
        Some((_, "1")) => answer(422, &json!({"error": "no result"})),
        _ => takes(asked, &json!([])),
    });
    let folder = running.enrolled();
    let ids = spooled(folder.path(), 3);
    run_once(&config(folder.path())).unwrap();
    assert!(files(folder.path(), "spool").is_empty());
    let quarantine = files(folder.path(), "quarantine");
    assert_eq!(quarantine.len(), 4, "{quarantine:?}");
    let told = running.contact();
    let expected = json!([
        {"id": ids[1], "reason": "422: no result"},
        {"id": ids[0], "reason": "409: another content has this id"},
    ]);
    assert_eq!(told["quarantined"], expected);
    assert_eq!(told["quarantined_count"], 2);
    assert_eq!(told["next_sequence"], 3);
    // They are not sent again.
    let before = running.asked("PUT ").len();
    run_once(&config(folder.path())).unwrap();
    assert_eq!(running.asked("PUT ").len(), before);
}

#[test]
fn a_busy_server_is_asked_again_and_nothing_is_lost() {
    let busy = Mutex::new(2);
    let running = Running::start(move |asked| {
        let mut left = busy.lock().unwrap();
        if asked.place.starts_with("PUT") && *left > 0 {
            *left -= 1;
            return match *left {
                1 => answer_with(503, "Retry-After: 1\r\n", &json!({"error": "busy"})),
                _ => answer(500, &json!({"error": "broken"})),
            };
        }
        takes(asked, &json!([]))
    });
    let folder = running.enrolled();
    spooled(folder.path(), 2);
    run_once(&config(folder.path())).unwrap();
    assert!(files(folder.path(), "spool").is_empty());
    assert!(files(folder.path(), "quarantine").is_empty());
    let told = running.contact();
    assert_eq!(told["spooled"], 0);
    assert_eq!(told["dropped"], json!({"size": 0, "age": 0}));
}

#[test]
fn a_result_stays_until_the_server_has_told_its_hash() {
    for (status, body) in [
        (201, json!({"sha256": "00"})),
        (401, json!({"error": "revoked"})),
        (400, json!({"error": "unknown version", "versions": [2]})),
    ] {
        let running = Running::start(move |asked| match asked.place.starts_with("PUT") {
            true => answer(status, &body),
            false => takes(asked, &json!([])),
        });
        let folder = running.enrolled();
        spooled(folder.path(), 1);
        let (stop, stopped) = UnixStream::pair().unwrap();
        let mut config = config(folder.path());
        config.is_once = false;
        let agent = thread::spawn(move || run(&config, stopped));
        wait_until("a result", || !running.asked("PUT").is_empty());
        drop(stop);
        agent.join().unwrap().unwrap();
        assert_eq!(files(folder.path(), "spool").len(), 1, "{status}");
        assert!(files(folder.path(), "quarantine").is_empty());
    }
}
