//! What happened: rows of the recording's tables, one JSON line each (`docs/recording.md`).

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use mptcplab_link::Nanos;
use serde::Serialize;

/// Where rows go, and the clock that they are stamped with. Cheap to clone.
#[derive(Clone)]
pub struct Recorder {
    out: Arc<Mutex<Box<dyn Write + Send>>>,
    zero: Instant,
}

/// A row with the name of its table in front.
#[derive(Serialize)]
struct Line<'a, R> {
    record: &'a str,
    #[serde(flatten)]
    row: R,
}

impl Recorder {
    /// Rows go to `out`; time zero is `zero`.
    pub fn new(out: Box<dyn Write + Send>, zero: Instant) -> Self {
        Self {
            out: Arc::new(Mutex::new(out)),
            zero,
        }
    }

    /// Nanoseconds since the run's zero.
    pub fn now(&self) -> Nanos {
        self.zero.elapsed().as_nanos() as Nanos
    }

    /// The run's zero on the monotonic clock.
    pub fn zero(&self) -> Instant {
        self.zero
    }

    /// Something happened now: a row of the table of events.
    pub fn event(&self, kind: &str, subject: &str, label: &str) {
        #[derive(Serialize)]
        struct Event<'a> {
            t_ns: Nanos,
            kind: &'a str,
            subject: &'a str,
            label: &'a str,
        }
        // Without a reader the run is about to end by its closed standard input.
        self.write(
            "events",
            Event {
                t_ns: self.now(),
                kind,
                subject,
                label,
            },
        )
        .ok();
    }

    /// What a reader of the results must know.
    pub fn warn(&self, text: &str) {
        #[derive(Serialize)]
        struct Warning<'a> {
            text: &'a str,
        }
        self.write("warning", Warning { text }).ok();
    }

    /// Writes one row of `table`.
    ///
    /// # Errors
    /// When the reader of the rows has gone; the run is of no use then.
    pub fn write(&self, table: &str, row: impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(&Line { record: table, row })?;
        line.push(b'\n');
        let mut out = self
            .out
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        out.write_all(&line)
    }
}
