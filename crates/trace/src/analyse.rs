//! Files in, tables out.

mod addresses;
mod bins;
mod bursts;
mod capture;
mod crew;
mod error;
mod finish;
mod mappings;
mod order;
mod reading;
mod rows;
mod worker;
mod writer;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::{fs, thread};

pub use capture::Capture;
use crew::Crew;
pub use error::AnalyseError;
use reading::Reading;
use writer::Writer;

/// What is to be analysed, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// Captures, together in the order of time; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// The folder that the tables go to, and `capture.json`.
    pub folder: PathBuf,
    /// With a row for each packet and each mapping.
    pub packets: bool,
    /// Checksums of data are verified.
    pub checksums: bool,
    /// Threads that analyse; with 1 all is done in the caller's.
    pub workers: usize,
}

/// Analyses captures and writes the tables. `progress` is told from time to time how many bytes of
/// the files are read, and of how many where that is known; where it breaks, what was read so far
/// is all.
///
/// # Errors
/// Where a file cannot be opened or is no capture, and where a table cannot be written. Damage in a
/// capture is no error: it ends the file, and [`Capture`] tells of it.
pub fn analyse(
    request: &Request,
    mut progress: impl FnMut(u64, Option<u64>) -> ControlFlow<()>,
) -> Result<Capture, AnalyseError> {
    let mut reading = Reading::open(&request.files, request.checksums)?;
    let writer = Writer::create(&request.folder, request.packets)?;
    let (analyses, writer) = thread::scope(|scope| {
        let mut crew = Crew::new(scope, request.workers, request.packets, writer);
        // Where the crew has stopped it tells why at its end.
        let _ = reading.read(&mut crew, &mut progress);
        crew.finish()
    })?;
    writer.finish()?;
    finish::write(&request.folder, reading.registry(), analyses)?;
    let capture = reading.capture();
    let path = request.folder.join("capture.json");
    fs::write(&path, capture.json()).map_err(|error| AnalyseError::Capture(path, error))?;
    Ok(capture)
}
