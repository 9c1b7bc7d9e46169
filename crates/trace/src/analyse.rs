//! Files in, tables out.

mod addresses;
mod batch;
mod bins;
mod bursts;
mod capture;
mod error;
mod finish;
mod mappings;
mod order;
mod reading;
mod renumber;
mod rows;
mod worker;
mod worker_pool;
mod writer;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::{fs, thread};

pub use capture::Capture;
pub use error::AnalyseError;
use reading::Reading;
use worker_pool::WorkerPool;
use writer::Writer;

/// Parameters of an analysis.
#[derive(Clone, Debug)]
pub struct Request {
    /// Captures, merged in the order of time; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// The folder that the tables go to, and `capture.json`.
    pub folder: PathBuf,
    /// Write a row for each packet and each mapping.
    pub packets: bool,
    /// Verify checksums of data.
    pub checksums: bool,
    /// Worker threads; with 1 all is done in the caller's.
    pub workers: usize,
}

/// Analyses captures and writes the tables. Calls `progress` from time to time with the number of
/// bytes that are read, and of how many where that is known; where it breaks, the analysis ends
/// with what was read so far.
///
/// # Errors
/// Where a file cannot be opened or is no capture, and where a table cannot be written. Damage in a
/// capture is no error: it ends the file, and [`Capture`] describes it.
pub fn analyse(
    request: &Request,
    mut progress: impl FnMut(u64, Option<u64>) -> ControlFlow<()>,
) -> Result<Capture, AnalyseError> {
    let mut reading = Reading::open(&request.files, request.checksums)?;
    let writer = Writer::create(&request.folder, request.packets)?;
    let (mut analyses, writer) = thread::scope(|scope| {
        let mut pool = WorkerPool::new(scope, request.workers, request.packets, writer);
        // A pool that has stopped returns its error at the end.
        let _ = reading.read(&mut pool, &mut progress);
        pool.finish()
    })?;
    writer.finish()?;
    let order = reading.registry().order();
    if !order.is_sorted() {
        renumber::by_first_packets(&order, &request.folder, request.packets, &mut analyses)?;
    }
    finish::write(&request.folder, reading.registry(), &order, analyses)?;
    let capture = reading.capture();
    let path = request.folder.join("capture.json");
    fs::write(&path, capture.json()).map_err(|error| AnalyseError::Capture(path, error))?;
    Ok(capture)
}
