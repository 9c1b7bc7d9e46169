//! Answers of a server, and what they mean.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::enrolment::Server;

fn answer(status: u16, body: Value) -> Answer {
    Answer {
        status,
        body: body.to_string().into_bytes(),
        ..Answer::default()
    }
}

fn hash() -> Digest {
    digest(&SHA256, b"{}")
}

#[test]
fn a_result_is_the_servers_once_it_has_told_its_hash() {
    let right = json!({"sha256": hex(hash().as_ref())});
    for status in [200, 201] {
        assert_eq!(put(&answer(status, right.clone()), hash()), Ok(Put::Stored));
    }
    for wrong in [json!({"sha256": "00"}), json!({}), json!(null)] {
        let told = put(&answer(201, wrong), hash()).unwrap_err();
        assert_eq!(told.failure, Failure::Passing);
    }
}

#[test]
fn what_the_server_refuses_is_laid_aside_and_all_else_tried_again() {
    let error = json!({"error": "No.\u{1b}[31m"});
    for status in [400, 409, 413, 422] {
        let told = put(&answer(status, error.clone()), hash());
        assert_eq!(told, Ok(Put::Unwanted(format!("{status}: No.[31m"))));
        let mut proxys = answer(status, json!(null));
        proxys.body = b"<html>413 Request Entity Too Large</html>".to_vec();
        let told = put(&proxys, hash()).unwrap_err();
        assert_eq!(told.failure, Failure::Passing, "{status}");
    }
    for (status, failure) in [
        (401, Failure::Revoked),
        (403, Failure::Revoked),
        (404, Failure::Passing),
        (429, Failure::Passing),
        (500, Failure::Passing),
        (503, Failure::Passing),
        (302, Failure::Passing),
    ] {
        let told = put(&answer(status, error.clone()), hash()).unwrap_err();
        assert_eq!(told.failure, failure, "{status}");
    }
    let mut busy = answer(503, error);
    busy.retry_after = Some(Duration::from_secs(7));
    let told = put(&busy, hash()).unwrap_err();
    assert_eq!(told.failure, Failure::Asked(Duration::from_secs(7)));
}

#[test]
fn a_server_of_another_version_gets_its_results_later() {
    let newer = json!({"error": "unknown version", "versions": [2, 3]});
    let told = put(&answer(400, newer), hash()).unwrap_err();
    assert_eq!(told.failure, Failure::Lasting);
    assert_eq!(
        told.text,
        "the server does not take version 1 of the protocol, which this agent speaks \
         (unknown version): update the agent"
    );
    for (versions, older) in [(json!([0]), "server"), (json!([]), "agent")] {
        let body = json!({"error": "unknown version", "versions": versions});
        let told = put(&answer(400, body), hash()).unwrap_err();
        let end = format!(": update the {older}");
        assert!(told.text.ends_with(&end), "{}", told.text);
    }
    let ours = json!({"error": "no result", "versions": [1]});
    assert!(put(&answer(400, ours), hash()).is_ok());
}

#[test]
fn an_agent_is_enrolled_by_a_whole_answer_only() {
    let enrolment = Enrolment {
        server: Server {
            url: "https://host".to_owned(),
            fingerprint: Some("00".repeat(32)),
        },
        secret: "x".repeat(43),
    };
    let secret = "s".repeat(43);
    let right = json!({"agent": "a1", "secret": secret});
    let identity = enrolled(&enrolment, &answer(201, right)).ok().unwrap();
    assert_eq!((&identity.agent[..], identity.secret), ("a1", secret));
    for wrong in [
        json!({"agent": "a1"}),
        json!({"agent": "", "secret": "s"}),
        json!([]),
    ] {
        assert!(enrolled(&enrolment, &answer(201, wrong)).is_err());
    }
    let used_up = answer(401, json!({"error": "used up"}));
    let Err(NotEnrolled::Ever(told)) = enrolled(&enrolment, &used_up) else {
        panic!("it is refused")
    };
    let told = told.to_string();
    assert!(
        told.contains("get another one from the server (used up)"),
        "{told}"
    );
    for status in [429, 500, 502, 503] {
        let mut busy = answer(status, json!({"error": "busy"}));
        busy.retry_after = Some(Duration::from_secs(7));
        let told = enrolled(&enrolment, &busy).err();
        assert!(matches!(told, Some(NotEnrolled::Yet(_))), "{status}");
    }
}

proptest! {
    #[test]
    fn any_answer_means_something(status in 100_u16..1_000, body: Vec<u8>, key: bool) {
        let mut one = answer(status, json!({"error": body.clone(), "plans": body.clone()}));
        if key {
            one.body = body;
        }
        let _ = put(&one, hash());
        let _ = plans(one.clone());
        prop_assert!(!trouble(&one).text.is_empty());
    }
}
