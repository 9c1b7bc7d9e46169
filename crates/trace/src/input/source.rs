//! The frames of one file.

use super::open::{Input, Reason};
use super::options;
use super::pcap::{Magic, Pcap};
use super::pcapng::{self, Described, Pcapng};
use super::record::{Fault, Head};
use super::stream::Stream;
use super::window::Window;
use super::{Damage, FileState, Format, Frame, Interface};
use crate::Nanos;

/// Most bytes of a file that is no capture that are compared with other formats.
const TOLD_BYTES: usize = 24;

/// A file that is read frame by frame.
pub(super) struct Source {
    /// Place of the file among all.
    file: usize,
    window: Window,
    /// `None` once the file has ended.
    reader: Option<Reader>,
    head: Head,
    given: Given,
}

/// Frames of a file that were given.
#[derive(Clone, Copy)]
struct Given {
    frames: u64,
    first: Nanos,
    last: Nanos,
}

enum Reader {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

/// Opens `input` as the file at place `file` of `files`, in the format of its first bytes.
pub(super) fn open(
    file: usize,
    files: usize,
    input: Input,
    interfaces: &mut Vec<Interface>,
) -> Result<(Source, FileState), Reason> {
    let Input {
        path,
        bytes_total,
        read,
    } = input;
    let stream = Stream::new(read).map_err(|error| Reason::of_failure(None, &error))?;
    let compression = stream.compression();
    let mut window = Window::new(stream, files);
    window.has(TOLD_BYTES);
    let Some(&begin) = window.bytes().first_chunk::<4>() else {
        return Err(match window.failure() {
            Some(error) => Reason::of_failure(compression, error),
            None => Reason::of_begin(compression, window.bytes()),
        });
    };
    let (format, reader) = if begin == pcapng::BEGIN {
        (Format::Pcapng, Ok(Reader::Pcapng(Pcapng::default())))
    } else if let Some(magic) = Magic::new(begin) {
        let interface = |link_type| {
            interfaces.push(Interface {
                file,
                name: None,
                link_type,
                options: Vec::new(),
            });
            interfaces.len() as u32 - 1
        };
        let pcap = Pcap::begin(magic, &mut window, interface);
        (Format::Pcap, pcap.map(Reader::Pcap))
    } else {
        let bytes = window.bytes();
        let bytes = &bytes[..bytes.len().min(TOLD_BYTES)];
        return Err(Reason::of_begin(compression, bytes));
    };
    let mut state = FileState {
        path,
        format,
        compression,
        bytes_read: window.bytes_read(),
        bytes_total,
        frames: 0,
        first: None,
        last: None,
        damage: None,
    };
    if let Err(message) = &reader {
        state.damage = Some(damage(&window, message.clone().into()));
    }
    let source = Source {
        file,
        window,
        reader: reader.ok(),
        head: Head::default(),
        given: Given {
            frames: 0,
            first: Nanos::MAX,
            last: Nanos::MIN,
        },
    };
    Ok((source, state))
}

impl Source {
    /// Goes on to the next frame. Returns whether there is one.
    #[inline]
    pub(super) fn advance(
        &mut self,
        state: &mut FileState,
        interfaces: &mut Vec<Interface>,
    ) -> bool {
        let file = self.file;
        let next = match &mut self.reader {
            Some(Reader::Pcap(pcap)) => pcap.next(&mut self.window, &mut self.head),
            Some(Reader::Pcapng(pcapng)) => {
                pcapng.next(&mut self.window, &mut self.head, |described| {
                    register(interfaces, file, described)
                })
            }
            None => return false,
        };
        if let Ok(true) = next {
            return true;
        }
        self.end(next.err(), state);
        false
    }

    #[cold]
    fn end(&mut self, fault: Option<Fault>, state: &mut FileState) {
        self.reader = None;
        state.damage = fault.map(|fault| damage(&self.window, fault));
    }

    /// Returns the time of the frame.
    #[inline]
    pub(super) fn at(&self) -> Nanos {
        self.head.at
    }

    /// Returns the frame, and counts it.
    #[inline]
    pub(super) fn frame(&mut self) -> Frame<'_> {
        let head = &self.head;
        self.given.frames = head.number;
        self.given.first = self.given.first.min(head.at);
        self.given.last = self.given.last.max(head.at);
        self.same_frame()
    }

    /// Returns the known options of the frame in pcapng, little-endian.
    pub(super) fn frame_options(&self) -> Vec<u8> {
        let (head, from) = (
            &self.head,
            self.head.from + self.head.bytes.next_multiple_of(4),
        );
        match (&self.reader, head.options_end.checked_sub(from)) {
            (Some(Reader::Pcapng(pcapng)), Some(bytes)) => {
                options::packet(pcapng.order(), self.window.at(from, bytes))
            }
            _ => Vec::new(),
        }
    }

    /// Returns the frame once more.
    #[inline]
    pub(super) fn same_frame(&self) -> Frame<'_> {
        let head = &self.head;
        Frame {
            at: head.at,
            number: head.number,
            interface: head.interface,
            link_type: head.link_type,
            captured: self.window.at(head.from, head.bytes),
            original_bytes: head.original_bytes,
        }
    }

    /// Updates `state` with the bytes and frames so far.
    pub(super) fn update(&self, state: &mut FileState) {
        state.bytes_read = self.window.bytes_read();
        state.frames = self.given.frames;
        if self.given.first <= self.given.last {
            state.first = Some(self.given.first);
            state.last = Some(self.given.last);
        }
    }
}

fn register(interfaces: &mut Vec<Interface>, file: usize, described: &Described) -> u32 {
    interfaces.push(Interface {
        file,
        name: described.name.clone(),
        link_type: described.link_type,
        options: described.options.clone(),
    });
    interfaces.len() as u32 - 1
}

fn damage(window: &Window, fault: Fault) -> Damage {
    Damage {
        offset: fault.offset.unwrap_or(window.offset()),
        decompressed: window.stream().compression().is_some(),
        message: fault.message,
    }
}
