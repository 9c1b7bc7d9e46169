//! Rows of the recording's tables, one JSON line each (`docs/recording.md`).

use mptcplab_record::{Event, Row, Warning, write_line};

use crate::Nanos;

/// Lines that wait to be taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    lines: Vec<u8>,
}

impl Recorder {
    /// Writes a row.
    pub(crate) fn write(&mut self, row: impl Row) {
        // A row is a flat record of numbers and text, which always can be written.
        write_line(&mut self.lines, row).ok();
    }

    /// Writes a row of the table of events.
    pub(crate) fn event(&mut self, t_ns: Nanos, kind: &str, subject: &str, label: &str) {
        self.write(Event {
            t_ns,
            kind,
            subject,
            label,
        });
    }

    /// Writes a warning for the reader of the results.
    pub(crate) fn warn(&mut self, text: &str) {
        self.write(Warning { text });
    }

    /// Bytes that wait to be taken.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.lines.len()
    }

    /// Takes all lines so far.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.lines)
    }
}
