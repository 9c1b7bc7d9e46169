//! What happened: rows of the recording's tables, one JSON line each (`docs/recording.md`).

use mptcplab_record::{Event, Warning, write_line};
use serde::Serialize;

use crate::Nanos;

/// The lines that nobody has taken yet.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    lines: Vec<u8>,
}

impl Recorder {
    /// Writes one row of `table`.
    pub(crate) fn write(&mut self, table: &str, row: impl Serialize) {
        // A row is a flat record of numbers and text, which always can be written.
        write_line(&mut self.lines, table, row).ok();
    }

    /// Something happened: a row of the table of events.
    pub(crate) fn event(&mut self, t_ns: Nanos, kind: &str, subject: &str, label: &str) {
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
