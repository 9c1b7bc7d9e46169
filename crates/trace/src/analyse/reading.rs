//! Reading of the files, up to segments with their places.

use std::ops::ControlFlow;
use std::path::PathBuf;

use super::capture::Capture;
use super::worker::Work;
use super::worker_pool::{Stopped, WorkerPool};
use crate::dissect::Dissector;
use crate::identify::{Placed, Registry};
use crate::input::{Merge, OpenError};
use crate::{Event, Segment};

/// Frames between two calls of `progress`.
const FRAMES_BETWEEN_TELLINGS: u64 = 1 << 14;

/// The files, and the stages before the workers.
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
    /// The pool has stopped.
    pub(super) fn read(
        &mut self,
        pool: &mut WorkerPool<'_>,
        progress: &mut impl FnMut(u64, Option<u64>) -> ControlFlow<()>,
    ) -> Result<(), Stopped> {
        let mut events = Vec::new();
        while let Some(frame) = self.merge.next() {
            self.frames += 1;
            if let Some(segment) = self.dissector.take(&frame) {
                self.segments += 1;
                let placed = self.registry.place(&segment, &mut events);
                self.hand_over_events(pool, &mut events)?;
                if let Some(placed) = placed {
                    self.hand_over(segment, placed, pool)?;
                }
                self.hand_over_released(pool)?;
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
        self.hand_over_events(pool, &mut events)?;
        self.hand_over_released(pool)
    }

    /// Hands over the events and identity events of the last segment.
    #[inline]
    fn hand_over_events(
        &mut self,
        pool: &mut WorkerPool<'_>,
        events: &mut Vec<Event>,
    ) -> Result<(), Stopped> {
        if !events.is_empty() {
            pool.take_events(events);
        }
        while let Some((connection, event)) = self.registry.next_identity_event() {
            pool.take(Work::Identity(connection, event))?;
        }
        Ok(())
    }

    #[inline]
    fn hand_over(
        &mut self,
        segment: Segment,
        placed: Placed,
        pool: &mut WorkerPool<'_>,
    ) -> Result<(), Stopped> {
        self.duplicates += u64::from(placed.duplicate);
        pool.take(Work::Segment(segment, placed))
    }

    /// Hands over the segments whose place has become known.
    #[inline]
    fn hand_over_released(&mut self, pool: &mut WorkerPool<'_>) -> Result<(), Stopped> {
        while let Some((segment, placed)) = self.registry.released() {
            self.hand_over(segment, placed, pool)?;
        }
        Ok(())
    }

    /// Returns how many bytes of the files are read, and of how many where that is known.
    fn bytes(&mut self) -> (u64, Option<u64>) {
        let files = self.merge.files();
        let done = files.iter().map(|file| file.bytes_read).sum();
        (done, files.iter().map(|file| file.bytes_total).sum())
    }

    /// Returns the registry of connections.
    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Describes the files and counts their frames.
    pub(super) fn capture(&mut self) -> Capture {
        Capture {
            files: self.merge.files().to_vec(),
            interfaces: self.merge.interfaces().to_vec(),
            frames: self.frames,
            segments: self.segments,
            skipped: *self.dissector.skipped(),
            layered: self.dissector.layered().clone(),
            unknown_link_types: self.dissector.unknown_link_types().clone(),
            duplicates: self.duplicates,
            interrupted: self.interrupted,
        }
    }
}
