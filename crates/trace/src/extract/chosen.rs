//! Frames by file and number.

use std::iter::Peekable;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::vec;

use crate::input::{Merge, OpenError};

/// Frames between two calls of `progress`.
const FRAMES_BETWEEN_TELLINGS: u64 = 1 << 14;

/// Files, and the numbers of the frames of each that are wanted.
pub(super) struct Chosen {
    merge: Merge,
    numbers: Vec<Peekable<vec::IntoIter<u64>>>,
    /// Numbers that have not been met.
    wanted: usize,
}

impl Chosen {
    /// Opens files; of each the numbers grow.
    ///
    /// # Errors
    /// One of them cannot be opened, or is no capture.
    pub(super) fn open(files: &[PathBuf], numbers: Vec<Vec<u64>>) -> Result<Self, OpenError> {
        let wanted = numbers.iter().map(Vec::len).sum();
        let mut numbers: Vec<_> = numbers
            .into_iter()
            .map(|numbers| numbers.into_iter().peekable())
            .collect();
        numbers.resize_with(files.len(), || Vec::new().into_iter().peekable());
        Ok(Self {
            merge: Merge::open(files)?,
            numbers,
            wanted,
        })
    }

    /// Calls `take` for each chosen frame, [`Merge::current`] then, with the place of its file.
    /// Returns how many there were; it ends with the last of them, or where a call breaks.
    pub(super) fn each(
        &mut self,
        mut progress: impl FnMut(u64, Option<u64>) -> ControlFlow<()>,
        mut take: impl FnMut(&Merge, usize) -> ControlFlow<()>,
    ) -> u64 {
        let (mut frames, mut taken) = (0_u64, 0);
        while self.wanted > 0 {
            let Some(frame) = self.merge.next() else {
                break;
            };
            let (number, interface) = (frame.number, frame.interface);
            let file = self.merge.interfaces()[interface as usize].file;
            let numbers = &mut self.numbers[file];
            while numbers.next_if(|wanted| *wanted < number).is_some() {
                self.wanted -= 1;
            }
            if numbers.next_if_eq(&number).is_some() {
                self.wanted -= 1;
                if take(&self.merge, file).is_break() {
                    break;
                }
                taken += 1;
            }
            frames += 1;
            if frames.is_multiple_of(FRAMES_BETWEEN_TELLINGS) {
                let files = self.merge.files();
                let read = files.iter().map(|file| file.bytes_read).sum();
                let of = files.iter().map(|file| file.bytes_total).sum();
                if progress(read, of).is_break() {
                    break;
                }
            }
        }
        taken
    }
}
