//! Chosen frames of captures: written as a capture of their own, or their data.

mod chosen;
mod error;
mod pcapng;

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use chosen::Chosen;
pub use error::ExtractError;
use pcapng::Pcapng;

use crate::dissect;

/// Writes the frames of `files` that are `chosen` as pcapng, in the order of time: for each file,
/// their numbers in growing order. The bytes are those that were captured; interfaces and packets
/// keep the options of pcapng that also hold in another file, such as names and comments. Returns
/// how many were written.
///
/// # Errors
/// A file cannot be opened or is no capture, or `to` cannot be written.
pub fn write_chosen(
    files: &[PathBuf],
    chosen: Vec<Vec<u64>>,
    to: impl Write,
    progress: impl FnMut(u64, Option<u64>) -> ControlFlow<()>,
) -> Result<u64, ExtractError> {
    let mut chosen = Chosen::open(files, chosen)?;
    let mut file = Pcapng::begin(to)?;
    let mut failure = None;
    let written = chosen.each(progress, |merge, _| {
        let Some((frame, options)) = merge.current() else {
            return ControlFlow::Break(());
        };
        let interface = &merge.interfaces()[frame.interface as usize];
        match file.frame(&frame, interface, &options) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    match failure {
        Some(error) => Err(error.into()),
        None => file.finish().map(|()| written).map_err(Into::into),
    }
}

/// Passes the captured data of chosen segments to `take`, with the place of the file and the number
/// of the frame, in the order of time; it ends where that breaks. A fragment has no data here.
///
/// # Errors
/// A file cannot be opened or is no capture.
pub fn payloads(
    files: &[PathBuf],
    chosen: Vec<Vec<u64>>,
    mut take: impl FnMut(usize, u64, &[u8]) -> ControlFlow<()>,
) -> Result<(), ExtractError> {
    let mut chosen = Chosen::open(files, chosen)?;
    let unheard = |_, _| ControlFlow::Continue(());
    chosen.each(unheard, |merge, file| {
        let Some((frame, _)) = merge.current() else {
            return ControlFlow::Break(());
        };
        take(
            file,
            frame.number,
            dissect::payload(&frame).unwrap_or_default(),
        )
    });
    Ok(())
}
