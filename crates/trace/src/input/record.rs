//! One record of a capture file: where its frame lies, and why it cannot be read.

use super::LinkType;
use super::window::Window;
use crate::Nanos;

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
    /// Where the options behind its bytes end, likewise; where there are none, at most where its
    /// bytes end.
    pub(super) options_end: usize,
    pub(super) original_bytes: u32,
}

/// Reason why a record cannot be read.
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

/// Describes a record of which only the window's bytes are there.
#[cold]
pub(super) fn cut(window: &Window, what: &str, bytes: usize) -> String {
    cut_of(window, what, window.bytes().len() as u64, bytes)
}

/// Describes a record of `bytes`, of which only `here` are there.
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
