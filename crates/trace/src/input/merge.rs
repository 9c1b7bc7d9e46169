//! The frames of several files, in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;

use super::source::{self, Source};
use super::{FileState, Frame, Input, Interface, OpenError};
use crate::Nanos;

/// The frames of files, the earliest first; at the same time those of the file that was named
/// first. Frames of one file keep their order, also where their times do not.
///
/// A file that is damaged ends there; the others go on.
pub struct Merge {
    sources: Vec<Source>,
    files: Vec<FileState>,
    interfaces: Vec<Interface>,
    /// The file whose frame was given last.
    current: Option<usize>,
    /// The other files that have a frame, with its time.
    others: BinaryHeap<Reverse<(Nanos, usize)>>,
    begun: bool,
}

impl Merge {
    /// Opens files; `-` is standard input.
    ///
    /// # Errors
    /// One of them does not exist, cannot be read, or is no capture.
    pub fn open(paths: &[PathBuf]) -> Result<Self, OpenError> {
        let inputs: Result<Vec<_>, _> = paths.iter().map(|path| Input::open(path)).collect();
        Self::new(inputs?)
    }

    /// Begins to read what is open already.
    ///
    /// # Errors
    /// One of them cannot be read, or is no capture.
    pub fn new(inputs: impl IntoIterator<Item = Input>) -> Result<Self, OpenError> {
        let mut merge = Self {
            sources: Vec::new(),
            files: Vec::new(),
            interfaces: Vec::new(),
            current: None,
            others: BinaryHeap::new(),
            begun: false,
        };
        let inputs: Vec<Input> = inputs.into_iter().collect();
        let files = inputs.len();
        for (file, input) in inputs.into_iter().enumerate() {
            let path = input.path.clone();
            let (source, state) = source::open(file, files, input, &mut merge.interfaces)
                .map_err(|reason| OpenError { path, reason })?;
            merge.sources.push(source);
            merge.files.push(state);
        }
        Ok(merge)
    }

    /// Returns the next frame; `None` once all files have ended.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    pub fn next(&mut self) -> Option<Frame<'_>> {
        match self.current {
            Some(file) => self.go_on(file),
            None if self.begun => return None,
            None => self.begin(),
        }
        let file = self.current?;
        Some(self.sources[file].frame())
    }

    /// Returns the frame that was given last, once more, with its options where it is of pcapng:
    /// comment, flags, hash, drop count, packet id, queue and verdict, little-endian, each padded.
    pub fn current(&self) -> Option<(Frame<'_>, Vec<u8>)> {
        let source = &self.sources[self.current?];
        Some((source.same_frame(), source.frame_options()))
    }

    /// Returns the states of the files so far, in the order in which they were named.
    pub fn files(&mut self) -> &[FileState] {
        for (source, state) in self.sources.iter().zip(&mut self.files) {
            source.update(state);
        }
        &self.files
    }

    /// Returns the interfaces of the frames so far.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// Finds the first frame of each file.
    #[cold]
    fn begin(&mut self) {
        self.begun = true;
        for file in 0..self.sources.len() {
            if self.advance(file) {
                self.others.push(Reverse((self.sources[file].at(), file)));
            }
        }
        self.current = self.others.pop().map(|Reverse((_, file))| file);
    }

    /// Finds the frame that follows one of `file`.
    #[inline]
    fn go_on(&mut self, file: usize) {
        if !self.advance(file) {
            self.current = self.others.pop().map(|Reverse((_, file))| file);
            return;
        }
        let here = Reverse((self.sources[file].at(), file));
        if let Some(mut other) = self.others.peek_mut()
            && *other > here
        {
            let Reverse((_, file)) = std::mem::replace(&mut *other, here);
            self.current = Some(file);
        }
    }

    #[inline]
    fn advance(&mut self, file: usize) -> bool {
        self.sources[file].advance(&mut self.files[file], &mut self.interfaces)
    }
}
