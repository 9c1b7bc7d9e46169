//! What happened: rows of the recording's tables, one JSON line each (`docs/recording.md`).

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use mptcplab_link::Nanos;
use mptcplab_record::{Event, Warning, write_line};
use serde::Serialize;

/// Where rows go, and the clock that they are stamped with. Cheap to clone.
///
/// A thread of its own writes the rows, so that a slow reader never holds up the traffic that is
/// measured; until they are written they are held in memory.
#[derive(Clone)]
pub struct Recorder {
    orders: Sender<Order>,
    zero: Arc<OnceLock<Instant>>,
}

/// What the writing thread is to do.
enum Order {
    /// Write these bytes.
    Row(Vec<u8>),
    /// Say that every row before has been written.
    Confirm(Sender<()>),
}

impl Recorder {
    /// Rows go to `out`; time stands still at zero until [`Recorder::begin`].
    ///
    /// # Errors
    /// When the thread that writes them cannot be started.
    pub fn new(out: Box<dyn Write + Send>) -> io::Result<Self> {
        let (orders, inbox) = channel();
        thread::Builder::new()
            .name("recorder".into())
            .spawn(move || obey(out, &inbox))?;
        let zero = Arc::default();
        Ok(Self { orders, zero })
    }

    /// The run begins: this moment, or that of the first call, is its zero, which it gives.
    pub fn begin(&self) -> Instant {
        *self.zero.get_or_init(Instant::now)
    }

    /// Nanoseconds since the run's zero; 0 before it has begun.
    pub fn now(&self) -> Nanos {
        let elapsed = self.zero.get().map_or(Duration::ZERO, Instant::elapsed);
        elapsed.as_nanos() as Nanos
    }

    /// The run's zero on the monotonic clock; waits until it has begun.
    pub fn zero(&self) -> Instant {
        *self.zero.wait()
    }

    /// Something happened now: a row of the table of events.
    pub fn event(&self, kind: &str, subject: &str, label: &str) {
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
        self.write("warning", Warning { text }).ok();
    }

    /// Writes one row of `table`. Never waits for the reader.
    ///
    /// # Errors
    /// When an earlier row could not be written because the reader of the rows has gone; the run
    /// is of no use then.
    pub fn write(&self, table: &str, row: impl Serialize) -> io::Result<()> {
        let mut line = Vec::new();
        write_line(&mut line, table, row)?;
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        self.orders.send(Order::Row(line)).map_err(gone)
    }

    /// Waits until every row so far has been written. Must be called before the process ends.
    ///
    /// # Errors
    /// When a row could not be written because the reader of the rows has gone.
    pub fn finish(&self) -> io::Result<()> {
        let (done, written) = channel();
        // A writer that has ended drops the order, and with it the other end of `written`.
        let _ = self.orders.send(Order::Confirm(done));
        written.recv().map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// Writes rows in their order, until one cannot be written or no recorder is left.
fn obey(mut out: Box<dyn Write + Send>, inbox: &Receiver<Order>) {
    for order in inbox {
        match order {
            Order::Row(line) => {
                if out.write_all(&line).is_err() {
                    return;
                }
            }
            Order::Confirm(done) => {
                if out.flush().is_err() {
                    return;
                }
                // Who asked may have gone.
                let _ = done.send(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, pipe};

    use super::*;

    #[derive(Serialize)]
    struct Number {
        number: u32,
    }

    #[test]
    fn a_reader_that_does_not_read_holds_nobody_up() {
        let (reader, writer) = pipe().unwrap();
        let recorder = Recorder::new(Box::new(writer)).unwrap();
        // More than any pipe holds, before the first is read.
        const ROWS: u32 = 100_000;
        for number in 0..ROWS {
            recorder.write("numbers", Number { number }).unwrap();
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
        recorder.write("numbers", Number { number: 1 }).unwrap();
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
        recorder.warn("nobody reads this");
        let error = recorder.finish().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        let error = recorder.write("numbers", Number { number: 1 }).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
