//! Results, as the server gets them.

use mptcplab_measure::authorisation::random;
use mptcplab_measure::client::Path;
use mptcplab_measure::settings::Settings;
use mptcplab_measure::steps::Done;
use serde::Serialize;

use crate::host::Host;
use crate::spool::MOST_RESULT_BYTES;

/// The version of this form.
const FORMAT: u32 = 1;
/// Lists and objects that a server takes.
const MOST_CONTAINERS: usize = 100_000;
/// Steps of an experiment at most.
pub(crate) const MOST_STEPS: usize = 5_000;
const TOO_LARGE: &str = "Its record would be larger than a server takes";

/// How an experiment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// All of it was carried out.
    Complete,
    /// Some of it was.
    Partial,
    /// None of it could be.
    Failed,
    /// None of it was to be.
    Skipped,
}

/// The target of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Target {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) rate_limit_bps: Option<u64>,
}

/// Settings of both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct BothSettings {
    pub(crate) probe: Settings,
    pub(crate) target: Settings,
}

/// An experiment, measured.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Measured {
    pub(crate) outcome: Outcome,
    /// A sentence without its stop.
    pub(crate) reason: Option<String>,
    pub(crate) target: Target,
    pub(crate) paths: Vec<Path>,
    /// Paths that were not taken.
    pub(crate) left_out: Vec<Path>,
    pub(crate) sent_options: Vec<&'static str>,
    /// That decide what could be tried.
    pub(crate) settings: BothSettings,
    /// Addresses that are endpoints of the path manager; null: not known.
    pub(crate) endpoints: Option<Vec<String>>,
    pub(crate) steps: Vec<Done>,
    pub(crate) used_bytes: u64,
}

impl Measured {
    /// A sentence about an experiment that brought nothing.
    pub(crate) fn problem(&self, plan_id: &str) -> Option<String> {
        let is_problem = self.outcome == Outcome::Failed;
        let reason = self.reason.as_ref().filter(|_| is_problem)?;
        Some(format!("{plan_id}: {reason}"))
    }

    /// An experiment in a line.
    pub(crate) fn told(&self, plan_id: &str) -> String {
        let outcome = match self.outcome {
            Outcome::Complete => "complete",
            Outcome::Partial => "partial",
            Outcome::Failed => "failed",
            Outcome::Skipped => "skipped",
        };
        let reason = self.reason.as_ref();
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        let bytes = self.used_bytes;
        format!("{plan_id}: {outcome}, {bytes} bytes used{reason}")
    }
}

/// A result.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Record {
    pub(crate) format: u32,
    pub(crate) id: String,
    pub(crate) sequence: u64,
    pub(crate) agent: String,
    pub(crate) plan: String,
    pub(crate) seed: u64,
    /// That both ends were to use; null: that of each end's system.
    pub(crate) congestion_control: Option<String>,
    pub(crate) began_unix_ms: i64,
    pub(crate) took_ms: u64,
    pub(crate) boot: String,
    pub(crate) host: Host,
    #[serde(flatten)]
    pub(crate) measured: Measured,
}

impl Record {
    /// Its form and a new id, for a result of these.
    pub(crate) fn head() -> (u32, String) {
        (FORMAT, uuid4(random()))
    }

    /// It as bytes, of as many as a server takes: without samples where these are too many, and
    /// without its last steps where that does not suffice.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        let mut bytes = self.bytes();
        if self.is_too_large(&bytes) {
            for done in &mut self.measured.steps {
                for one in &mut done.result.connections {
                    one.probe.samples.clear();
                    one.target.iter_mut().for_each(|end| end.samples.clear());
                }
            }
            bytes = self.bytes();
        }
        if self.is_too_large(&bytes) {
            let mut steps = std::mem::take(&mut self.measured.steps);
            self.measured.outcome = Outcome::Partial;
            self.measured.reason = Some(TOO_LARGE.to_owned());
            steps.truncate(fitting(&self.bytes(), &steps));
            self.measured.steps = steps;
            bytes = self.bytes();
        }
        bytes
    }

    fn is_too_large(&self, bytes: &[u8]) -> bool {
        bytes.len() > MOST_RESULT_BYTES
            || containers(bytes) > MOST_CONTAINERS
            || self.measured.steps.len() > MOST_STEPS
    }

    fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("keys are strings")
    }
}

/// The number of steps, from the first one on, that fit into a record of these bytes without any.
fn fitting(without: &[u8], steps: &[Done]) -> usize {
    let mut total = (without.len(), containers(without));
    let fits = |step: &&Done| {
        let bytes = serde_json::to_vec(step).expect("keys are strings");
        // With a comma.
        total = (total.0 + bytes.len() + 1, total.1 + containers(&bytes));
        total.0 <= MOST_RESULT_BYTES && total.1 <= MOST_CONTAINERS
    };
    steps.iter().take(MOST_STEPS).take_while(fits).count()
}

/// Lists and objects of a text of JSON, and such letters in its strings.
fn containers(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| b"[{".contains(byte)).count()
}

/// A UUID of chance (RFC 9562).
fn uuid4(mut bytes: [u8; 16]) -> String {
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let digits = mptcplab_measure::token::hex(&bytes);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    parts.map(|part| &digits[part]).join("-")
}

#[cfg(test)]
pub(crate) mod tests {
    use mptcplab_measure::client::{Measured as Connections, Outcome as Connection};
    use mptcplab_measure::message::Ended;
    use mptcplab_measure::steps::{Direction, Order, Transfers, steps};
    use serde_json::{Value, from_slice};

    use super::*;
    use crate::host::Watch;

    /// So many steps of a connection with so many samples.
    pub(crate) fn record(repeat: u32, samples: usize) -> Record {
        let transfers = Transfers {
            sizes: vec![1_000],
            directions: vec![Direction::Up],
            repeat,
        };
        let ended = Ended {
            samples: vec![(1_000, 1_000_000_000); samples],
            ..Ended::default()
        };
        let connection = Connection {
            probe: ended.clone(),
            target: Some(ended),
            ..Connection::default()
        };
        let done = |step| Done {
            step,
            begin: None,
            result: Connections {
                connections: vec![connection.clone()],
                ..Connections::default()
            },
        };
        let planned = steps(1, &transfers, Order::Interleaved, 0, true);
        Record {
            format: FORMAT,
            id: uuid4([0; 16]),
            sequence: 17,
            agent: "a".to_owned(),
            plan: "lines@3".to_owned(),
            seed: 5,
            congestion_control: None,
            began_unix_ms: 1,
            took_ms: 2,
            boot: "b".to_owned(),
            host: Watch::begin().host(),
            measured: Measured {
                outcome: Outcome::Complete,
                reason: None,
                target: Target {
                    host: "t".to_owned(),
                    port: 1,
                    rate_limit_bps: None,
                },
                paths: Vec::new(),
                left_out: Vec::new(),
                sent_options: vec!["mss"],
                settings: BothSettings::default(),
                endpoints: None,
                steps: planned.into_iter().map(done).collect(),
                used_bytes: 9,
            },
        }
    }

    fn read(record: Record) -> (Value, usize) {
        let bytes = record.into_bytes();
        (from_slice(&bytes).unwrap(), bytes.len())
    }

    #[test]
    fn a_result_has_the_form_of_the_api() {
        let (value, _) = read(record(1, 1));
        let keys: Vec<_> = value
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let mut expected = [
            "format",
            "id",
            "sequence",
            "agent",
            "plan",
            "seed",
            "congestion_control",
            "outcome",
            "reason",
            "began_unix_ms",
            "took_ms",
            "boot",
            "host",
            "target",
            "paths",
            "left_out",
            "sent_options",
            "settings",
            "endpoints",
            "steps",
            "used_bytes",
        ];
        expected.sort_unstable();
        assert_eq!(keys, expected);
        assert_eq!(value["outcome"], "complete");
        assert_eq!(value["steps"][0]["kind"], "survival");
        assert_eq!(value["steps"][0]["direction"], Value::Null);
        assert_eq!(value["steps"][6]["direction"], "up");
        assert!(value["steps"][6]["result"]["connections"][0]["probe"].is_object());
    }

    #[test]
    fn a_result_is_no_larger_than_a_server_takes() {
        let (small, _) = read(record(10, 3));
        assert_ne!(
            small["steps"][1]["result"]["connections"][0]["probe"]["samples"],
            Value::from([0; 0])
        );
        for samples in [200, 600] {
            let (thinned, bytes) = read(record(100, samples));
            assert!(bytes <= MOST_RESULT_BYTES);
            let text = thinned.to_string();
            assert!(text.matches(['[', '{']).count() <= MOST_CONTAINERS);
            assert_eq!(thinned["outcome"], "complete");
        }
        let (thinned, bytes) = read(record(100, 600));
        assert!(bytes <= MOST_RESULT_BYTES);
        assert_eq!(
            (
                &thinned["outcome"],
                thinned["steps"].as_array().unwrap().len()
            ),
            (&Value::from("complete"), 305)
        );
        let (cut, bytes) = read(record(5_000, 0));
        assert!(bytes <= MOST_RESULT_BYTES);
        assert_eq!(
            (&cut["outcome"], &cut["reason"]),
            (&Value::from("partial"), &Value::from(TOO_LARGE))
        );
        let kept = cut["steps"].as_array().unwrap().len();
        let of_each = bytes / kept;
        let is_full = kept == MOST_STEPS || bytes + 2 * of_each > MOST_RESULT_BYTES;
        assert!(is_full, "{kept} steps, {bytes} bytes");
    }

    #[test]
    fn an_experiment_is_told_in_a_line() {
        let mut measured = record(1, 1).measured;
        measured.outcome = Outcome::Failed;
        measured.reason = Some("no route".to_owned());
        assert_eq!(
            measured.told("lines@3"),
            "lines@3: failed, 9 bytes used: no route"
        );
        assert_eq!(measured.problem("lines@3").unwrap(), "lines@3: no route");
        measured.outcome = Outcome::Skipped;
        assert_eq!(measured.problem("lines@3"), None);
    }

    #[test]
    fn an_id_is_a_uuid_of_version_4() {
        assert_eq!(uuid4([0; 16]), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid4([255; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_ne!(Record::head().1, Record::head().1);
    }
}
