//! A pool of workers; their rows are written in the order of the packets.

use std::mem;
use std::panic;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use super::batch::{Batch, Gathering};
use super::worker::{Analysis, Ended, Rows, Work, Worker};
use super::writer::Writer;
use crate::Event;
use crate::tables::TableError;

/// Least pieces of work of a batch.
const LEAST: u32 = 1024;

/// Pieces for each connection of a batch, which is larger where many connections take turns …
const EACH: u32 = 64;

/// … but has at most so many.
const MOST: u32 = 1 << 16;

/// Batches that may wait for a worker, and rows of batches that may wait to be written.
const WAITING: usize = 4;

/// The workers and the writer.
pub(super) struct WorkerPool<'scope> {
    threads: Threads<'scope>,
    /// The batch that is being gathered, by worker.
    work: Vec<Gathering>,
    /// Events of the stages before the workers, in this batch.
    earlier: Rows,
    /// Number of what comes next in the batch.
    number: u32,
    /// Connections in the batch.
    connections: u32,
}

enum Threads<'scope> {
    /// One worker, in the caller's thread.
    One {
        worker: Box<Worker>,
        /// Rows of the batch; empty between two, with the room that they had.
        rows: Rows,
        writer: Box<Writer>,
        failure: Option<TableError>,
    },
    /// Some, each a thread, and one for the writer.
    Many {
        batches: Vec<SyncSender<Batch>>,
        earlier: SyncSender<Rows>,
        workers: Vec<ScopedJoinHandle<'scope, Ended>>,
        writer: ScopedJoinHandle<'scope, Result<Writer, TableError>>,
    },
}

/// All analyses by the numbers of their connections, and the writer.
pub(super) type Finished = (Vec<(u32, Analysis)>, Box<Writer>);

/// The writer has failed; [`WorkerPool::finish`] returns its error.
#[derive(Debug)]
pub(super) struct Stopped;

impl<'scope> WorkerPool<'scope> {
    /// Creates a pool of `count` workers.
    pub(super) fn new(
        scope: &'scope Scope<'scope, '_>,
        count: usize,
        packets: bool,
        writer: Writer,
    ) -> Self {
        let threads = match count {
            1 => Threads::One {
                worker: Box::new(Worker::new(1, packets)),
                rows: Rows::default(),
                writer: Box::new(writer),
                failure: None,
            },
            _ => Threads::many(scope, count, packets, writer),
        };
        Self {
            threads,
            work: (0..count).map(|_| Gathering::default()).collect(),
            earlier: Rows::default(),
            number: 0,
            connections: 0,
        }
    }

    /// Takes something to analyse.
    ///
    /// # Errors
    /// The writer has failed.
    #[inline]
    pub(super) fn take(&mut self, work: Work) -> Result<(), Stopped> {
        let count = self.work.len();
        let connection = work.connection() as usize;
        let gathering = &mut self.work[connection % count];
        if gathering.put(self.number, connection / count, work) {
            self.connections += 1;
        }
        self.number += 1;
        let enough = (EACH * self.connections).clamp(LEAST, MOST);
        if self.number >= enough {
            self.dispatch()?;
        }
        Ok(())
    }

    /// Takes events of the earlier stages, which come before the work that is taken next.
    pub(super) fn take_events(&mut self, events: &mut Vec<Event>) {
        let events = events.drain(..).map(|event| (self.number, event.into()));
        self.earlier.events.extend(events);
    }

    /// Passes the batch to the workers.
    fn dispatch(&mut self) -> Result<(), Stopped> {
        self.number = 0;
        self.connections = 0;
        match &mut self.threads {
            Threads::One {
                worker,
                rows,
                writer,
                failure,
            } => {
                worker.take(self.work[0].batch(), rows);
                self.work[0].clear();
                self.earlier.merge(rows);
                writer.write(&mut self.earlier).map_err(|error| {
                    *failure = Some(error);
                    Stopped
                })
            }
            Threads::Many {
                batches, earlier, ..
            } => {
                for (batch, work) in batches.iter().zip(&mut self.work) {
                    batch.send(work.take()).map_err(|_| Stopped)?;
                }
                earlier
                    .send(mem::take(&mut self.earlier))
                    .map_err(|_| Stopped)
            }
        }
    }

    /// Ends the work. Returns all analyses by the numbers of their connections, and the writer.
    ///
    /// # Errors
    /// That of the writer, if it has failed.
    pub(super) fn finish(mut self) -> Result<Finished, TableError> {
        // The writer's error is returned below.
        let _ = self.dispatch();
        let (ended, mut writer) = self.threads.end()?;
        let (mut analyses, mut samples, mut events) = (Vec::new(), Vec::new(), Vec::new());
        for mut of_worker in ended {
            analyses.append(&mut of_worker.analyses);
            samples.append(&mut of_worker.samples);
            events.append(&mut of_worker.events);
        }
        // Those of a connection are of one worker, and in order.
        analyses.sort_by_key(|(connection, _)| *connection);
        samples.sort_by_key(|sample| sample.connection);
        events.sort_by_key(|event| event.connection);
        writer.write_last(samples, events)?;
        Ok((analyses, writer))
    }
}

impl<'scope> Threads<'scope> {
    fn many(scope: &'scope Scope<'scope, '_>, count: usize, packets: bool, writer: Writer) -> Self {
        let (earlier, earlier_of) = sync_channel(WAITING);
        let (mut batches, mut workers, mut rows_of) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..count {
            let (batch, batches_of) = sync_channel(WAITING);
            let (rows, rows_from) = sync_channel(WAITING);
            let worker = Worker::new(count, packets);
            workers.push(scope.spawn(move || work(number, worker, &batches_of, &rows)));
            batches.push(batch);
            rows_of.push(rows_from);
        }
        Self::Many {
            batches,
            earlier,
            workers,
            writer: scope.spawn(move || write(writer, &earlier_of, &rows_of)),
        }
    }

    /// Returns the results of each worker, and the writer.
    fn end(self) -> Result<(Vec<Ended>, Box<Writer>), TableError> {
        match self {
            Self::One {
                failure: Some(error),
                ..
            } => Err(error),
            Self::One { worker, writer, .. } => Ok((vec![worker.finish(0)], writer)),
            Self::Many {
                batches,
                earlier,
                workers,
                writer,
            } => {
                // Without these each thread comes to its end.
                drop((batches, earlier));
                let ended = workers.into_iter().map(join).collect();
                Ok((ended, Box::new(join(writer)?)))
            }
        }
    }
}

/// Waits for a thread, and goes on with its panic.
fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|payload| panic::resume_unwind(payload))
}

/// Runs a worker until there are no more batches.
fn work(
    number: usize,
    mut worker: Worker,
    batches: &Receiver<Batch>,
    rows: &SyncSender<Rows>,
) -> Ended {
    for batch in batches {
        let mut of_batch = Rows::default();
        worker.take(&batch, &mut of_batch);
        if rows.send(of_batch).is_err() {
            break;
        }
    }
    worker.finish(number)
}

/// Runs the writer until there are no more rows.
fn write(
    mut writer: Writer,
    earlier: &Receiver<Rows>,
    workers: &[Receiver<Rows>],
) -> Result<Writer, TableError> {
    for mut rows in earlier {
        for worker in workers {
            // A worker that is gone has panicked: joining it passes the panic on.
            rows.merge(&mut worker.recv().unwrap_or_default());
        }
        writer.write(&mut rows)?;
    }
    Ok(writer)
}
