//! The frames of one file.

use super::open::{Input, Reason};
use super::pcap::{Magic, Pcap};
use super::pcapng::{self, Pcapng};
use super::stream::Stream;
use super::window::Window;
use super::{Damage, FileState, Format, Frame, Interface, LinkType};
use crate::Nanos;

/// Bytes by which a file that is no capture is told to people.
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

/// What was given of a file.
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

/// A frame whose bytes stand in the window; before the first, number 0.
#[derive(Clone, Copy, Default)]
pub(super) struct Head {
    pub(super) at: Nanos,
    pub(super) number: u64,
    pub(super) interface: u32,
    pub(super) link_type: LinkType,
    /// Where its bytes begin, for [`Window::at`].
    pub(super) from: usize,
    pub(super) bytes: usize,
    pub(super) original_bytes: u32,
}

/// Why a record cannot be read.
pub(super) struct Fault {
    /// Where the record began, if not where the window begins.
    pub(super) offset: Option<u64>,
    pub(super) message: String,
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self {
            offset: None,
            message,
        }
    }
}

/// Begins to read `input`, as the file at place `file` of `files`: finds out what it is by its first
/// bytes.
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
        let interface = |link_type| register(interfaces, file, link_type, None);
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
    /// Goes on to the next frame; whether there is one.
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
                pcapng.next(&mut self.window, &mut self.head, |link_type, name| {
                    register(interfaces, file, link_type, name)
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

    /// Time of the frame.
    #[inline]
    pub(super) fn at(&self) -> Nanos {
        self.head.at
    }

    /// The frame, which is counted.
    #[inline]
    pub(super) fn frame(&mut self) -> Frame<'_> {
        let head = &self.head;
        self.given.frames = head.number;
        self.given.first = self.given.first.min(head.at);
        self.given.last = self.given.last.max(head.at);
        Frame {
            at: head.at,
            number: head.number,
            interface: head.interface,
            link_type: head.link_type,
            captured: self.window.at(head.from, head.bytes),
            original_bytes: head.original_bytes,
        }
    }

    /// Tells what was read and given so far.
    pub(super) fn tell(&self, state: &mut FileState) {
        state.bytes_read = self.window.bytes_read();
        state.frames = self.given.frames;
        if self.given.first <= self.given.last {
            state.first = Some(self.given.first);
            state.last = Some(self.given.last);
        }
    }
}

fn register(
    interfaces: &mut Vec<Interface>,
    file: usize,
    link_type: LinkType,
    name: Option<&str>,
) -> u32 {
    interfaces.push(Interface {
        file,
        name: name.map(str::to_owned),
        link_type,
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

/// What is to be said of a record of which only what the window has is there.
#[cold]
pub(super) fn cut(window: &Window, what: &str, bytes: usize) -> String {
    cut_of(window, what, window.bytes().len() as u64, bytes)
}

/// What is to be said of a record of `bytes`, of which only `here` are there.
#[cold]
pub(super) fn cut_of(window: &Window, what: &str, here: u64, bytes: usize) -> String {
    match (window.failure(), window.stream().compression()) {
        (None, _) => format!("the file ends within {what}: {here} of {bytes} bytes are there"),
        (Some(error), None) => format!("{what} cannot be read: {error}"),
        (Some(error), Some(compression)) => {
            let name = compression.name();
            format!("{what} cannot be decompressed: {name}: {error}")
        }
    }
}
