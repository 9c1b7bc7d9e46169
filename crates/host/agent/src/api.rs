//! The server's API, version 1: requests, and what its answers mean for an agent.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mptcplab_measure::steps::one_line;
use mptcplab_measure::token::hex;
use ring::digest::{Digest, SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::{Value, from_slice, json};

use crate::Error;
use crate::backoff::Failure;
use crate::enrolment::{Enrolment, is_secret};
use crate::host::kernel;
use crate::http::{Answer, Client, Request};
use crate::ledger::Dropped;
use crate::store::{Identity, KeptPlans};

/// The version of the protocol.
const VERSION: u64 = 1;
/// Letters of a reason that are kept.
const LONGEST_REASON: usize = 300;
const LONGEST_ID: usize = 200;

/// The program's version.
pub const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// A request that has to be made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Its kind.
    pub failure: Failure,
    /// A sentence without its stop.
    pub text: String,
}

/// What became of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// The server has it.
    Stored,
    /// The server does not want it, for this reason.
    Unwanted(String),
}

/// A result that the server has refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Quarantined {
    /// Its id.
    pub id: String,
    /// The server's reason.
    pub reason: String,
}

/// A path, as the server is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathName {
    /// Its interface.
    pub interface: String,
    /// Its address.
    pub source: String,
}

/// What an agent tells from time to time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contact {
    /// Of this program.
    pub version: &'static str,
    /// The kernel's release.
    pub kernel: String,
    /// Of the next result.
    pub next_sequence: u64,
    /// Results that wait to be sent.
    pub spooled: usize,
    /// Bytes of these.
    pub spooled_bytes: u64,
    /// Results that were never sent.
    pub dropped: Dropped,
    /// The latest results that the server has refused.
    pub quarantined: Vec<Quarantined>,
    /// `idle` or `measuring`.
    pub state: &'static str,
    /// A sentence about what does not work.
    pub problem: Option<String>,
    /// Paths of the latest experiment.
    pub paths: Vec<PathName>,
}

/// The API for one agent.
pub struct Api {
    client: Client,
    secret: String,
}

impl Api {
    /// For an agent that is enrolled.
    ///
    /// # Errors
    /// A server's address or fingerprint that is none.
    pub fn new(identity: &Identity) -> Result<Self, Error> {
        Ok(Self {
            client: Client::new(&identity.server)?,
            secret: identity.secret.clone(),
        })
    }

    /// Closes its connection.
    pub fn close(&mut self) {
        self.client.close();
    }

    fn send(
        &mut self,
        (method, path): (&'static str, &str),
        headers: Vec<(&'static str, String)>,
        body: Option<&[u8]>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Answer, Trouble> {
        let request = Request {
            method,
            path,
            secret: &self.secret,
            headers,
            body,
        };
        self.client
            .send(&request, goes_on)
            .map_err(|error| passing(one_line(&error.to_string())))
    }

    /// The plans of this agent; none where they are those of `etag`.
    ///
    /// # Errors
    /// What makes it worth another try.
    pub fn plans(
        &mut self,
        etag: Option<&str>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<KeptPlans>, Trouble> {
        let condition = etag.map(|etag| ("If-None-Match", etag.to_owned()));
        let headers = condition.into_iter().collect();
        let answer = self.send(("GET", "/api/v1/agent/plans"), headers, None, goes_on)?;
        plans(answer)
    }

    /// Gives a result to the server. It may be given again and again.
    ///
    /// # Errors
    /// What makes it worth another try.
    pub fn put(
        &mut self,
        id: &str,
        bytes: &[u8],
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Put, Trouble> {
        let hash = digest(&SHA256, bytes);
        let told = format!("sha-256=:{}:", STANDARD.encode(hash));
        let path = format!("/api/v1/agent/results/{id}");
        let headers = vec![("Content-Digest", told)];
        let answer = self.send(("PUT", &path), headers, Some(bytes), goes_on)?;
        put(&answer, hash)
    }

    /// Tells how it is, and gives the server's time in milliseconds since 1970.
    ///
    /// # Errors
    /// What makes it worth another try.
    pub fn contact(
        &mut self,
        contact: &Contact,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<i64>, Trouble> {
        let body = serde_json::to_vec(contact).expect("keys are strings");
        let place = ("POST", "/api/v1/agent/contact");
        let answer = self.send(place, Vec::new(), Some(&body), goes_on)?;
        match answer.status {
            200 => Ok(value(&answer)["now_unix_ms"].as_i64()),
            _ => Err(trouble(&answer)),
        }
    }
}

/// Enrols an agent of this name, and gives who it is.
///
/// # Errors
/// A server that cannot be reached, or refuses; the text names the fix.
pub fn enrol(
    enrolment: &Enrolment,
    name: &str,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Identity, Error> {
    let told = json!({"name": name, "version": PROGRAM, "kernel": kernel()});
    let body = told.to_string();
    let request = Request {
        method: "POST",
        path: "/api/v1/enrol",
        secret: &enrolment.secret,
        headers: Vec::new(),
        body: Some(body.as_bytes()),
    };
    let answer = Client::new(&enrolment.server)?.send(&request, goes_on)?;
    enrolled(enrolment, &answer)
}

fn enrolled(enrolment: &Enrolment, answer: &Answer) -> Result<Identity, Error> {
    let url = &enrolment.server.url;
    let refused = |reason: &str| Err(Error::Refused(format!("{url}: {reason}")));
    match answer.status {
        201 => {}
        401 | 403 => {
            return refused(&format!(
                "the token is used up, expired or revoked: get another one from the server ({})",
                reason(answer)
            ));
        }
        _ => return refused(&trouble(answer).text),
    }
    #[derive(Deserialize)]
    struct Enrolled {
        agent: String,
        secret: String,
    }
    match from_slice::<Enrolled>(&answer.body) {
        Ok(Enrolled { agent, secret })
            if is_secret(&secret) && (1..=LONGEST_ID).contains(&agent.len()) =>
        {
            Ok(Identity {
                server: enrolment.server.clone(),
                agent,
                secret,
            })
        }
        _ => refused("its answer is none of a server of mptcplab"),
    }
}

fn plans(answer: Answer) -> Result<Option<KeptPlans>, Trouble> {
    match answer.status {
        304 => Ok(None),
        200 => match value(&answer)["plans"].take() {
            Value::Array(plans) => Ok(Some(KeptPlans {
                etag: answer.etag,
                plans,
            })),
            _ => Err(passing("the server's plans are none".to_owned())),
        },
        _ => Err(trouble(&answer)),
    }
}

fn put(answer: &Answer, hash: Digest) -> Result<Put, Trouble> {
    match answer.status {
        200 | 201 => {
            let stored = value(answer)["sha256"].as_str().map(str::to_owned);
            match stored == Some(hex(hash.as_ref())) {
                true => Ok(Put::Stored),
                false => Err(passing(
                    "the server has stored something else than what was sent".to_owned(),
                )),
            }
        }
        400 if !speaks_ours(answer) => Err(trouble(answer)),
        status @ (400 | 409 | 413 | 422) => {
            Ok(Put::Unwanted(format!("{status}: {}", reason(answer))))
        }
        _ => Err(trouble(answer)),
    }
}

/// The meaning of an answer that is no success.
fn trouble(answer: &Answer) -> Trouble {
    let reason = reason(answer);
    let (failure, text) = match answer.status {
        401 | 403 => (
            Failure::Lasting,
            format!("the server does not take this agent ({reason})"),
        ),
        400 if !speaks_ours(answer) => (
            Failure::Lasting,
            format!(
                "the server speaks another version of the protocol ({reason}): update the agent"
            ),
        ),
        status => {
            let asked = answer.retry_after.filter(|_| matches!(status, 429 | 503));
            let failure = asked.map_or(Failure::Passing, Failure::Asked);
            (failure, format!("the server answers {status} ({reason})"))
        }
    };
    Trouble { failure, text }
}

fn passing(text: String) -> Trouble {
    Trouble {
        failure: Failure::Passing,
        text,
    }
}

/// Whether an answer leaves it open that the server speaks our version.
fn speaks_ours(answer: &Answer) -> bool {
    let told = value(answer);
    let versions = told["versions"].as_array();
    versions.is_none_or(|versions| versions.iter().any(|one| one.as_u64() == Some(VERSION)))
}

/// The server's words, as far as they can be shown.
fn reason(answer: &Answer) -> String {
    let told = value(answer);
    let words = one_line(told["error"].as_str().unwrap_or("without a reason"));
    words.chars().take(LONGEST_REASON).collect()
}

fn value(answer: &Answer) -> Value {
    from_slice(&answer.body).unwrap_or_default()
}

#[cfg(test)]
mod tests {
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
        }
        for (status, failure) in [
            (401, Failure::Lasting),
            (403, Failure::Lasting),
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
        assert!(told.text.contains("update the agent"), "{}", told.text);
        let ours = json!({"error": "no result", "versions": [1]});
        assert!(put(&answer(400, ours), hash()).is_ok());
    }

    #[test]
    fn an_agent_is_enrolled_by_a_whole_answer_only() {
        let enrolment = Enrolment {
            server: Server {
                url: "https://host".to_owned(),
                fingerprint: "00".repeat(32),
            },
            secret: "x".repeat(43),
        };
        let secret = "s".repeat(43);
        let right = json!({"agent": "a1", "secret": secret});
        let identity = enrolled(&enrolment, &answer(201, right)).unwrap();
        assert_eq!((&identity.agent[..], identity.secret), ("a1", secret));
        for wrong in [
            json!({"agent": "a1"}),
            json!({"agent": "", "secret": "s"}),
            json!([]),
        ] {
            assert!(enrolled(&enrolment, &answer(201, wrong)).is_err());
        }
        let used_up = answer(401, json!({"error": "used up"}));
        let told = enrolled(&enrolment, &used_up).err().unwrap().to_string();
        assert!(
            told.contains("get another one from the server (used up)"),
            "{told}"
        );
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
}
