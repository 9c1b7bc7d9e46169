//! Captures of every format, read frame by frame.

#[path = "../common/mod.rs"]
mod common;
mod compression;
mod files;
mod formats;

use std::io::Cursor;

use common::read::Owned;
use common::{Capture, Format, link};
use mptcplab_trace::input::{Input, Merge};

/// A moment, in nanoseconds, that microseconds can tell.
const T: i64 = 1_700_000_000_123_456_000;

/// Frames of every length up to some hundred bytes, a millisecond apart.
fn counting(format: Format, count: usize) -> (Vec<u8>, Vec<Owned>) {
    let mut capture = Capture::new(format, link::RAW);
    let frames = (0..count).map(|number| {
        let whole: Vec<u8> = (0..number % 700)
            .map(|byte| (byte + number) as u8)
            .collect();
        let at = T + number as i64 * 1_000_000;
        let captured = whole.len().min(600);
        capture.cut_frame(0, at as u64, &whole, captured);
        Owned {
            at,
            number: number as u64 + 1,
            interface: 0,
            link_type: link::RAW,
            captured: whole[..captured].to_vec(),
            original_bytes: whole.len() as u32,
        }
    });
    let frames = frames.collect();
    (capture.bytes, frames)
}

fn frames_or_refusal(file: Vec<u8>) -> Result<(), String> {
    let refusal = |error: mptcplab_trace::input::OpenError| error.to_string();
    Merge::new([Input::from(Cursor::new(file))])
        .map_err(refusal)
        .map(drop)
}
