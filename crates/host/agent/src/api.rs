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

/// The version of the protocol, as each request tells it. A server takes its own and the one before
/// (`python/mptcplab/server/protocol_version.py`).
pub(crate) const VERSION: u64 = 1;
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

/// The fate of a result.
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

/// The state of an agent, as it tells it from time to time.
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
    /// All of these that are kept.
    pub quarantined_count: usize,
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
    /// A failure that is worth another try.
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
    /// A failure that is worth another try.
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
    /// A failure that is worth another try.
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

/// An enrolment that has failed.
pub enum NotEnrolled {
    /// It is worth another try, which changes nothing where the server has enrolled the agent.
    Yet(Trouble),
    /// It is refused; the text names the fix.
    Ever(Error),
}

/// Enrols an agent of this name by the secret that it has made for itself, and gives who it is.
///
/// # Errors
/// A server that cannot be reached, or refuses.
pub fn enrol(
    enrolment: &Enrolment,
    own_secret: &str,
    name: &str,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Identity, NotEnrolled> {
    let told = json!({
        "name": name, "version": PROGRAM, "kernel": kernel(), "own_secret": own_secret
    });
    let body = told.to_string();
    let request = Request {
        method: "POST",
        path: "/api/v1/enrol",
        secret: &enrolment.secret,
        headers: Vec::new(),
        body: Some(body.as_bytes()),
    };
    let client = Client::new(&enrolment.server);
    let answer = client.and_then(|mut client| client.send(&request, goes_on));
    match answer {
        Ok(answer) => enrolled(enrolment, &answer),
        Err(Error::Unreached(text)) => Err(NotEnrolled::Yet(passing(text))),
        Err(error) => Err(NotEnrolled::Ever(error)),
    }
}

fn enrolled(enrolment: &Enrolment, answer: &Answer) -> Result<Identity, NotEnrolled> {
    let url = &enrolment.server.url;
    let refused = |reason: &str| {
        let text = format!("{url}: {reason}");
        Err(NotEnrolled::Ever(Error::Refused(text)))
    };
    match answer.status {
        201 => {}
        429 | 500.. => {
            let Trouble { failure, text } = trouble(answer);
            let text = format!("{url}: {text}");
            return Err(NotEnrolled::Yet(Trouble { failure, text }));
        }
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
        // A proxy before the server may answer so, too: to a body that is too large for it, say.
        status @ (400 | 409 | 413 | 422) if value(answer)["error"].is_string() => {
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
            Failure::Revoked,
            format!("the server does not take this agent ({reason})"),
        ),
        400 if !speaks_ours(answer) => (
            Failure::Lasting,
            format!(
                "the server does not take version {VERSION} of the protocol, which this agent \
                 speaks ({reason}): update the {}",
                older(answer)
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

/// Whether an answer leaves it open that the server takes our version.
fn speaks_ours(answer: &Answer) -> bool {
    versions(answer).is_none_or(|versions| versions.contains(&VERSION))
}

/// The side whose version of the protocol is the older one.
fn older(answer: &Answer) -> &'static str {
    match versions(answer).unwrap_or_default().iter().max() {
        Some(newest) if *newest < VERSION => "server",
        _ => "agent",
    }
}

/// The versions that the server takes, where an answer tells them.
fn versions(answer: &Answer) -> Option<Vec<u64>> {
    let told = value(answer);
    let versions = told["versions"].as_array()?;
    Some(versions.iter().filter_map(Value::as_u64).collect())
}

/// The server's words, as far as they can be shown.
fn reason(answer: &Answer) -> String {
    sentence(
        value(answer)["error"]
            .as_str()
            .unwrap_or("without a reason"),
    )
}

/// A text as a sentence without its stop, of a length that a server takes.
pub(crate) fn sentence(text: &str) -> String {
    one_line(text).chars().take(LONGEST_REASON).collect()
}

fn value(answer: &Answer) -> Value {
    from_slice(&answer.body).unwrap_or_default()
}

#[cfg(test)]
mod tests;
