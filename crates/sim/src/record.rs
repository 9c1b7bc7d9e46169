//! What happened: rows of the recording's tables, one JSON line each (`docs/recording.md`).

use serde::Serialize;

use crate::Nanos;

/// The lines that nobody has taken yet.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    lines: Vec<u8>,
}

/// A row with the name of its table in front.
#[derive(Serialize)]
struct Line<'a, R> {
    record: &'a str,
    #[serde(flatten)]
    row: R,
}

impl Recorder {
    /// Writes one row of `table`.
    pub(crate) fn write(&mut self, table: &str, row: impl Serialize) {
        let length = self.lines.len();
        let line = Line { record: table, row };
        match serde_json::to_writer(&mut self.lines, &line) {
            Ok(()) => self.lines.push(b'\n'),
            // A row is a flat record of numbers and text, which always can be written.
            Err(_) => self.lines.truncate(length),
        }
    }

    /// Something happened: a row of the table of events.
    pub(crate) fn event(&mut self, t_ns: Nanos, kind: &str, subject: &str, label: &str) {
        #[derive(Serialize)]
        struct Event<'a> {
            t_ns: Nanos,
            kind: &'a str,
            subject: &'a str,
            label: &'a str,
        }
        self.write(
            "events",
            Event {
                t_ns,
                kind,
                subject,
                label,
            },
        );
    }

    /// What a reader of the results must know.
    pub(crate) fn warn(&mut self, text: &str) {
        #[derive(Serialize)]
        struct Warning<'a> {
            text: &'a str,
        }
        self.write("warning", Warning { text });
    }

    /// Bytes that nobody has taken yet.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.lines.len()
    }

    /// Takes all lines so far.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.lines)
    }
}
