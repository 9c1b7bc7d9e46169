//! A stream of any bytes: nothing panics, pieces of the stream make no difference, and messages
//! that are read are written and read again the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mptcplab_openflow::{Body, Frame, Framer, Message};

/// The messages of a stream in pieces, up to the error that breaks it.
fn frames<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Frame> {
    let mut framer = Framer::new(u16::MAX);
    let mut frames = Vec::new();
    for piece in pieces {
        framer.feed(piece);
        while let Ok(Some(frame)) = framer.next_frame() {
            frames.push(frame);
        }
    }
    frames
}

fuzz_target!(|bytes: &[u8]| {
    let whole = frames([bytes].into_iter());
    assert_eq!(whole, frames(bytes.chunks(7)));
    for frame in whole {
        match frame.message {
            Ok(message) => {
                if let Body::FlowMod(flow_mod) = &message.body {
                    let _ = flow_mod.fields.check();
                }
                let mut again = Vec::new();
                if message.encode(&mut again).is_ok() {
                    assert_eq!(Message::decode(&again), Ok(message));
                }
            }
            Err(error) => {
                let answer = error.answer(&frame.bytes);
                assert!(answer.encode(&mut Vec::new()).is_ok());
            }
        }
    }
});
