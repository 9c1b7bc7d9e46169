//! Files read, and their segments handed to those who analyse.

use std::ops::ControlFlow;
use std::path::PathBuf;

use super::capture::Capture;
use super::crew::{Crew, Stopped};
use super::worker::Work;
use crate::dissect::Dissector;
use crate::identify::{Placed, Registry};
use crate::input::{Merge, OpenError};
use crate::{Event, Segment};

/// Frames between two tellings of how far the reading is.
const FRAMES_BETWEEN_TELLINGS: u64 = 1 << 14;

/// Files that are read.
pub(super) struct Reading {
    merge: Merge,
    dissector: Dissector,
    registry: Registry,
    frames: u64,
    segments: u64,
    duplicates: u64,
    interrupted: bool,
}

impl Reading {
    /// Opens the files; with `checksums` the data's sums are kept.
    ///
    /// # Errors
    /// A file cannot be opened, or is no capture.
    pub(super) fn open(files: &[PathBuf], checksums: bool) -> Result<Self, OpenError> {
        let mut registry = Registry::new();
        if files.len() > 1 {
            registry.expect_interfaces();
        }
        Ok(Self {
            merge: Merge::open(files)?,
            dissector: Dissector::new(checksums),
            registry,
            frames: 0,
            segments: 0,
            duplicates: 0,
            interrupted: false,
        })
    }

    /// Reads to the end, or until `progress` breaks.
    ///
    /// # Errors
    /// The crew has stopped.
    pub(super) fn read(
        &mut self,
        crew: &mut Crew<'_>,
        progress: &mut impl FnMut(u64, Option<u64>) -> ControlFlow<()>,
    ) -> Result<(), Stopped> {
        let mut events = Vec::new();
        while let Some(frame) = self.merge.next() {
            self.frames += 1;
            if let Some(segment) = self.dissector.take(&frame) {
                self.segments += 1;
                let placed = self.registry.place(&segment, &mut events);
                self.tell(crew, &mut events)?;
                if let Some(placed) = placed {
                    self.hand_over(segment, placed, crew)?;
                }
                self.hand_over_released(crew)?;
            }
            if self.frames.is_multiple_of(FRAMES_BETWEEN_TELLINGS) {
                let (done, of) = self.bytes();
                if progress(done, of).is_break() {
                    self.interrupted = true;
                    break;
                }
            }
        }
        self.registry.finish(&mut events);
        self.tell(crew, &mut events)?;
        self.hand_over_released(crew)
    }

    /// Hands over what the last segment told.
    #[inline]
    fn tell(&mut self, crew: &mut Crew<'_>, events: &mut Vec<Event>) -> Result<(), Stopped> {
        if !events.is_empty() {
            crew.tell(events);
        }
        while let Some((connection, news)) = self.registry.news() {
            crew.take(Work::News(connection, news))?;
        }
        Ok(())
    }

    #[inline]
    fn hand_over(
        &mut self,
        segment: Segment,
        placed: Placed,
        crew: &mut Crew<'_>,
    ) -> Result<(), Stopped> {
        self.duplicates += u64::from(placed.duplicate);
        crew.take(Work::Segment(segment, placed))
    }

    /// Hands over the segments whose place has become known.
    #[inline]
    fn hand_over_released(&mut self, crew: &mut Crew<'_>) -> Result<(), Stopped> {
        while let Some((segment, placed)) = self.registry.released() {
            self.hand_over(segment, placed, crew)?;
        }
        Ok(())
    }

    /// Bytes of the files that are read, and of how many where that is known.
    fn bytes(&mut self) -> (u64, Option<u64>) {
        let files = self.merge.files();
        let done = files.iter().map(|file| file.bytes_read).sum();
        (done, files.iter().map(|file| file.bytes_total).sum())
    }

    /// Whose the segments were.
    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What was read.
    pub(super) fn capture(&mut self) -> Capture {
        Capture {
            files: self.merge.files().to_vec(),
            interfaces: self.merge.interfaces().to_vec(),
            frames: self.frames,
            segments: self.segments,
            skipped: *self.dissector.skipped(),
            duplicates: self.duplicates,
            interrupted: self.interrupted,
        }
    }
}
