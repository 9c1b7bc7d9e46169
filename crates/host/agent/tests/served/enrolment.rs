//! Agents that are taken in, or not.

use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::server::{Asked, Running, SECRET, answer, config, run_once, takes};

fn enrols(asked: &Asked) -> Option<Vec<u8>> {
    match asked.place.as_str() {
        "POST /api/v1/enrol" => answer(201, &json!({"agent": "a7", "secret": SECRET})),
        _ => takes(asked, &json!([])),
    }
}

#[test]
fn an_agent_is_enrolled_once_and_needs_no_token_later() {
    let running = Running::start(enrols);
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path());
    let without = run_once(&config).unwrap_err().to_string();
    let expected = "this agent is not enrolled: give it a token";
    assert!(without.ends_with(expected), "{without}");
    config.enrolment = Some(running.token(None));
    run_once(&config).unwrap();
    let mut moved = running.token(None);
    moved.server.url += "/";
    config.enrolment = Some(moved);
    run_once(&config).unwrap();
    config.enrolment = None;
    run_once(&config).unwrap();

    let enrolled = running.asked("POST /api/v1/enrol");
    assert_eq!(enrolled.len(), 1);
    let told: Value = serde_json::from_slice(&enrolled[0].body).unwrap();
    assert_eq!(told["name"], "lab");
    assert!(told["kernel"].is_string() && told["version"].is_string());
    let contacts = running.asked("POST /api/v1/agent/contact");
    // Each start asks for the time before it asks for plans.
    assert_eq!(contacts.len(), 6);
    let authorisation = format!("Authorization: Bearer {SECRET}\r\n");
    for one in contacts {
        assert!(one.head.contains(&authorisation));
        assert!(one.head.contains("Mptcplab-Protocol: 1\r\n"));
    }
    let told = running.contact();
    assert_eq!(
        (&told["state"], &told["next_sequence"]),
        (&json!("idle"), &json!(0))
    );
    let kept = folder.path().join("agent.json").metadata().unwrap();
    assert_eq!(kept.permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_enrolment_whose_answer_was_lost_is_asked_for_again() {
    let count = AtomicU32::new(0);
    let running = Running::start(move |asked| {
        let is_lost = asked.place.ends_with("/enrol") && count.fetch_add(1, Relaxed) == 0;
        (!is_lost).then(|| enrols(asked))?
    });
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path());
    config.enrolment = Some(running.token(None));
    run_once(&config).unwrap();
    let enrolled = running.asked("POST /api/v1/enrol");
    assert_eq!(enrolled.len(), 2);
    assert_eq!(enrolled[0].body, enrolled[1].body);
    let told: Value = serde_json::from_slice(&enrolled[0].body).unwrap();
    let secret = URL_SAFE_NO_PAD.decode(told["own_secret"].as_str().unwrap());
    assert_eq!(secret.unwrap().len(), 32);
}

#[test]
fn a_server_with_another_certificate_gets_nothing() {
    let running = Running::start(enrols);
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path());
    config.enrolment = Some(running.token(Some(&"00".repeat(32))));
    let told = run_once(&config).unwrap_err().to_string();
    assert!(told.contains("its certificate is another one"), "{told}");
    assert!(running.asked("").is_empty());
}

#[test]
fn a_token_that_is_used_up_and_one_of_another_server_are_told() {
    let running = Running::start(|_| answer(401, &json!({"error": "it is used up"})));
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path());
    config.enrolment = Some(running.token(None));
    let told = run_once(&config).unwrap_err().to_string();
    let expected = "get another one from the server (it is used up)";
    assert!(told.contains(expected), "{told}");

    let known = Running::start(enrols);
    config.enrolment = Some(known.token(None));
    run_once(&config).unwrap();
    config.enrolment = Some(running.token(None));
    let told = run_once(&config).unwrap_err().to_string();
    assert!(told.contains("to enrol it anew"), "{told}");
}
