//! Reports as lines of an output that may be slow or end: the server never waits for it.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::thread;
use std::time::Duration;

use crate::report::Report;
use crate::row::Row;

/// Rows that wait until they are written; more are lost, and their number is told.
const WAITING: usize = 8192;
/// The time that the last rows have when the server ends.
const LAST_ROWS: Duration = Duration::from_secs(1);

/// The form of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Words and `key=value`.
    Text,
    /// An object of JSON.
    Json,
}

/// A writer of reports, with a thread of its own.
#[derive(Debug)]
pub struct Journal {
    rows: SyncSender<Row>,
    written: Receiver<io::Result<()>>,
    lost: u64,
}

impl Journal {
    /// Starts to write to an output.
    ///
    /// # Errors
    ///
    /// Those of starting a thread.
    pub fn start(form: Form, output: impl Write + Send + 'static) -> io::Result<Self> {
        let (rows, to_write) = mpsc::sync_channel(WAITING);
        let (done, written) = mpsc::sync_channel(1);
        thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || {
                let _ = done.send(write(form, output, &to_write));
            })?;
        Ok(Self {
            rows,
            written,
            lost: 0,
        })
    }

    /// Takes a report and its time. `Break`: the output has ended.
    pub fn take(&mut self, t_ns: u64, report: &Report) -> ControlFlow<()> {
        if self.lost > 0 {
            match self.rows.try_send(Row::lost(t_ns, self.lost)) {
                Ok(()) => self.lost = 0,
                Err(TrySendError::Full(_)) => {
                    self.lost += 1;
                    return ControlFlow::Continue(());
                }
                Err(TrySendError::Disconnected(_)) => return ControlFlow::Break(()),
            }
        }
        match self.rows.try_send(Row::new(t_ns, report)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(TrySendError::Full(_)) => {
                self.lost += 1;
                ControlFlow::Continue(())
            }
            Err(TrySendError::Disconnected(_)) => ControlFlow::Break(()),
        }
    }

    /// Ends when the last rows are written, or their reader does not take them for a second.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn end(self) -> io::Result<()> {
        drop(self.rows);
        match self.written.recv_timeout(LAST_ROWS) {
            Ok(written) => written,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(()),
        }
    }
}

/// Writes rows until there are no more.
fn write(form: Form, mut output: impl Write, rows: &Receiver<Row>) -> io::Result<()> {
    for row in rows {
        let mut line = match form {
            Form::Text => row.to_string(),
            Form::Json => serde_json::to_string(&row)?,
        };
        line.push('\n');
        output.write_all(line.as_bytes())?;
        output.flush()?;
    }
    Ok(())
}
