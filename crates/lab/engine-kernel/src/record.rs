//! Rows of the recording's tables, one JSON line each (`docs/recording.md`).

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mptcplab_link::Nanos;
use mptcplab_record::{Event, Row, Warning, write_line};
use mptcplab_segment::Decision;

use crate::run_clock::RunClock;

/// The time for which rows are gathered before they are written. The reader is woken up so seldom:
/// what it does takes a processor from the hosts for a tenth of a millisecond and more, and with
/// each row at once that would be in the moment in which the next connection begins.
const REST: Duration = Duration::from_millis(50);

/// The writer of rows, and the clock of their times. Cheap to clone.
///
/// A thread of its own writes the rows, so that a slow reader never holds up the traffic that is
/// measured; until they are written they are held in memory.
#[derive(Clone)]
pub struct Recorder {
    rows: Arc<Rows>,
    clock: RunClock,
}

/// The rows on the side of those who write them; with the last of them the thread ends.
struct Rows(Arc<Gathered>);

impl Drop for Rows {
    fn drop(&mut self) {
        self.0.lock().state = State::Ending;
        self.0.change.notify_all();
    }
}

/// The rows that have not been written.
struct Gathered {
    waiting: Mutex<Waiting>,
    change: Condvar,
}

struct Waiting {
    lines: Vec<u8>,
    /// They are to be written at once.
    is_urgent: bool,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// No recorder is left.
    Ending,
    /// The reader has gone.
    Broken,
}

impl Gathered {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorder {
    /// Rows go to `out`; time stands still at zero until [`Recorder::begin`].
    ///
    /// # Errors
    /// When the thread that writes them cannot be started.
    pub fn new(out: Box<dyn Write + Send>) -> io::Result<Self> {
        let gathered = Arc::new(Gathered {
            waiting: Mutex::new(Waiting {
                lines: Vec::new(),
                is_urgent: false,
                state: State::Open,
            }),
            change: Condvar::new(),
        });
        thread::Builder::new().name("recorder".into()).spawn({
            let gathered = Arc::clone(&gathered);
            move || write_rows(out, &gathered)
        })?;
        Ok(Self {
            rows: Arc::new(Rows(gathered)),
            clock: RunClock::default(),
        })
    }

    /// Begins the run: returns its zero, the moment of the first call.
    pub fn begin(&self) -> Instant {
        self.clock.begin_at(self.clock.instant())
    }

    /// The run's clock.
    pub fn clock(&self) -> &RunClock {
        &self.clock
    }

    /// Nanoseconds since the run's zero; 0 before it has begun.
    pub fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Writes a row of the table of events, with the present time.
    pub fn event(&self, kind: &str, subject: &str, label: &str) {
        // Without a reader the run is about to end by its closed standard input.
        self.write(Event {
            t_ns: self.now(),
            kind,
            subject,
            label,
        })
        .ok();
    }

    /// Writes a decision of the controller of the switches as an event, with its own time.
    pub fn decision(&self, decision: Decision) {
        // As for other events.
        self.write(Event {
            t_ns: decision.t_ns,
            kind: Decision::KIND,
            subject: &decision.subject,
            label: &decision.label,
        })
        .ok();
    }

    /// Writes a warning for the reader of the results.
    pub fn warn(&self, text: &str) {
        self.write(Warning { text }).ok();
    }

    /// Writes a row. Never waits for the reader.
    ///
    /// # Errors
    /// When an earlier row could not be written because the reader of the rows has gone; the run
    /// is of no use then.
    pub fn write(&self, row: impl Row) -> io::Result<()> {
        let mut line = Vec::new();
        write_line(&mut line, row)?;
        let mut waiting = self.rows.0.lock();
        if waiting.state == State::Broken {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        waiting.lines.extend_from_slice(&line);
        Ok(())
    }

    /// Waits until every row so far has been written. Must be called before the process ends.
    ///
    /// # Errors
    /// When a row could not be written because the reader of the rows has gone.
    pub fn finish(&self) -> io::Result<()> {
        let gathered = &self.rows.0;
        let mut waiting = gathered.lock();
        waiting.is_urgent = true;
        gathered.change.notify_all();
        while waiting.is_urgent && waiting.state != State::Broken {
            waiting = gathered
                .change
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        match waiting.state {
            State::Broken => Err(io::ErrorKind::BrokenPipe.into()),
            _ => Ok(()),
        }
    }
}

/// Writes rows in their order, until they cannot be written or no recorder is left.
fn write_rows(mut out: Box<dyn Write + Send>, gathered: &Gathered) {
    loop {
        let (mut waiting, _) = gathered
            .change
            .wait_timeout_while(gathered.lock(), REST, |waiting| {
                !waiting.is_urgent && waiting.state == State::Open
            })
            .unwrap_or_else(PoisonError::into_inner);
        let lines = std::mem::take(&mut waiting.lines);
        let (is_urgent, state) = (waiting.is_urgent, waiting.state);
        drop(waiting);
        let mut written = out.write_all(&lines);
        if is_urgent {
            written = written.and_then(|()| out.flush());
        }
        let mut waiting = gathered.lock();
        waiting.is_urgent &= !is_urgent;
        if written.is_err() {
            waiting.state = State::Broken;
        }
        gathered.change.notify_all();
        if written.is_err() || state == State::Ending {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, pipe};

    use serde::Serialize;

    use super::*;

    #[derive(Serialize)]
    struct Number {
        number: u32,
    }

    impl Row for Number {
        const TABLE: &'static str = "numbers";
    }

    #[test]
    fn a_reader_that_does_not_read_holds_nothing_up() {
        let (reader, writer) = pipe().unwrap();
        let recorder = Recorder::new(Box::new(writer)).unwrap();
        // More than any pipe holds, before the first is read.
        const ROWS: u32 = 100_000;
        for number in 0..ROWS {
            recorder.write(Number { number }).unwrap();
        }
        let mut lines = BufReader::new(reader).lines();
        for number in 0..ROWS {
            let expected = format!("{{\"record\":\"numbers\",\"number\":{number}}}");
            assert_eq!(lines.next().unwrap().unwrap(), expected);
        }
        recorder.finish().unwrap();
        drop(recorder);
        assert!(lines.next().is_none(), "the writer ends with its recorder");
    }

    /// Passes nothing on until it is flushed.
    struct Held {
        held: Vec<u8>,
        out: io::PipeWriter,
    }

    impl Write for Held {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.held.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.out.write_all(&std::mem::take(&mut self.held))
        }
    }

    #[test]
    fn what_is_finished_is_written() {
        let (reader, out) = pipe().unwrap();
        let held = Vec::new();
        let recorder = Recorder::new(Box::new(Held { held, out })).unwrap();
        recorder.write(Number { number: 1 }).unwrap();
        recorder.finish().unwrap();
        drop(recorder);
        let mut line = String::new();
        BufReader::new(reader).read_line(&mut line).unwrap();
        assert_eq!(line, "{\"record\":\"numbers\",\"number\":1}\n");
    }

    #[test]
    fn a_reader_that_has_gone_is_told() {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let recorder = Recorder::new(Box::new(writer)).unwrap();
        recorder.warn("no reader is left");
        let error = recorder.finish().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        let error = recorder.write(Number { number: 1 }).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
