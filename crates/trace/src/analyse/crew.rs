//! Workers that analyse side by side; their rows are written in the order of the packets.

use std::mem;
use std::panic;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use super::worker::{Analysis, Ended, Rows, Work, Worker};
use super::writer::Writer;
use crate::Event;
use crate::tables::TableError;

/// Pieces of work of a batch.
const BATCH: u32 = 1024;

/// Batches that may wait for a worker, and rows of batches that may wait to be written.
const WAITING: usize = 4;

/// Those who analyse and write.
pub(super) struct Crew<'scope> {
    hands: Hands<'scope>,
    /// The batch that is being gathered: what each worker has to do.
    work: Vec<Vec<(u32, Work)>>,
    /// Events that were told before that is done.
    told: Rows,
    /// Number of what comes next in the batch.
    number: u32,
}

enum Hands<'scope> {
    /// One worker, in the caller's thread.
    One {
        worker: Box<Worker>,
        writer: Box<Writer>,
        failure: Option<TableError>,
    },
    /// Some, each a thread, and one for the writer.
    Many {
        batches: Vec<SyncSender<Vec<(u32, Work)>>>,
        told: SyncSender<Rows>,
        workers: Vec<ScopedJoinHandle<'scope, Ended>>,
        writer: ScopedJoinHandle<'scope, Result<Writer, TableError>>,
    },
}

/// All analyses by the numbers of their connections, and the writer.
pub(super) type Finished = (Vec<(u32, Analysis)>, Box<Writer>);

/// The writer has failed: its error is told at the end.
#[derive(Debug)]
pub(super) struct Stopped;

impl<'scope> Crew<'scope> {
    /// A crew of `count` workers.
    pub(super) fn new(
        scope: &'scope Scope<'scope, '_>,
        count: usize,
        packets: bool,
        writer: Writer,
    ) -> Self {
        let hands = match count {
            1 => Hands::One {
                worker: Box::new(Worker::new(1, packets)),
                writer: Box::new(writer),
                failure: None,
            },
            _ => Hands::many(scope, count, packets, writer),
        };
        Self {
            hands,
            work: (0..count)
                .map(|_| Vec::with_capacity(BATCH as usize))
                .collect(),
            told: Rows::default(),
            number: 0,
        }
    }

    /// Takes something to analyse.
    ///
    /// # Errors
    /// The writer has failed.
    #[inline]
    pub(super) fn take(&mut self, work: Work) -> Result<(), Stopped> {
        let worker = work.connection() as usize % self.work.len();
        self.work[worker].push((self.number, work));
        self.number += 1;
        if self.number >= BATCH {
            self.hand_out()?;
        }
        Ok(())
    }

    /// Takes events that were told before the work that is taken next.
    pub(super) fn tell(&mut self, events: &mut Vec<Event>) {
        let events = events.drain(..).map(|event| (self.number, event.into()));
        self.told.events.extend(events);
    }

    /// Hands out the batch.
    fn hand_out(&mut self) -> Result<(), Stopped> {
        self.number = 0;
        match &mut self.hands {
            Hands::One {
                worker,
                writer,
                failure,
            } => {
                let mut rows = Rows::default();
                worker.take(&self.work[0], &mut rows);
                self.work[0].clear();
                self.told.merge(rows);
                writer.write(&mut self.told).map_err(|error| {
                    *failure = Some(error);
                    Stopped
                })
            }
            Hands::Many { batches, told, .. } => {
                for (batch, work) in batches.iter().zip(&mut self.work) {
                    let work = mem::replace(work, Vec::with_capacity(work.len()));
                    batch.send(work).map_err(|_| Stopped)?;
                }
                told.send(mem::take(&mut self.told)).map_err(|_| Stopped)
            }
        }
    }

    /// Ends the work: all analyses by the numbers of their connections, and the writer.
    ///
    /// # Errors
    /// Why the writer has failed, if it has.
    pub(super) fn finish(mut self) -> Result<Finished, TableError> {
        // Where the writer has failed its error is told below.
        let _ = self.hand_out();
        let (ended, mut writer) = self.hands.end()?;
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

impl<'scope> Hands<'scope> {
    fn many(scope: &'scope Scope<'scope, '_>, count: usize, packets: bool, writer: Writer) -> Self {
        let (told, told_of) = sync_channel(WAITING);
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
            told,
            workers,
            writer: scope.spawn(move || write(writer, &told_of, &rows_of)),
        }
    }

    /// What each worker has, and the writer.
    fn end(self) -> Result<(Vec<Ended>, Box<Writer>), TableError> {
        match self {
            Self::One {
                failure: Some(error),
                ..
            } => Err(error),
            Self::One { worker, writer, .. } => Ok((vec![worker.finish(0)], writer)),
            Self::Many {
                batches,
                told,
                workers,
                writer,
            } => {
                // Without these each thread comes to its end.
                drop((batches, told));
                let ended = workers.into_iter().map(join).collect();
                Ok((ended, Box::new(join(writer)?)))
            }
        }
    }
}

/// Waits for a thread. Its panic is the caller's.
fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|payload| panic::resume_unwind(payload))
}

/// The life of a worker.
fn work(
    number: usize,
    mut worker: Worker,
    batches: &Receiver<Vec<(u32, Work)>>,
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

/// The life of the writer.
fn write(
    mut writer: Writer,
    told: &Receiver<Rows>,
    workers: &[Receiver<Rows>],
) -> Result<Writer, TableError> {
    for mut rows in told {
        for worker in workers {
            // A worker that is gone has panicked: whoever joins it tells.
            rows.merge(worker.recv().unwrap_or_default());
        }
        writer.write(&mut rows)?;
    }
    Ok(writer)
}
