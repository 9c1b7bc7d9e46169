//! The roles of the sender and the receiver of a stream of frames.

use mptcplab_traffic::{Failure, Frames, Offer, WRITE_BYTES};

use super::end::{End, Input, Progress, Role};
use super::payload::READ_BYTES;
use crate::Nanos;

/// Sends each frame as soon as it is made and there is room.
#[derive(Clone, Debug)]
pub(super) struct FrameSender {
    frames: Frames,
    began: Nanos,
    sent: u64,
    due: Option<Nanos>,
}

impl FrameSender {
    /// The sender of a stream that begins at this time, connected or not.
    pub(super) fn new(frames: Frames, began: Nanos) -> Self {
        Self {
            frames,
            began,
            sent: 0,
            due: None,
        }
    }
}

impl Role for FrameSender {
    fn advance(&mut self, end: &mut End<'_>) -> Result<Progress, Failure> {
        self.due = None;
        while self.sent < self.frames.bytes() {
            match self.frames.offer(end.now() - self.began, self.sent) {
                Offer::Wait(elapsed) => {
                    self.due = Some(self.began.saturating_add(elapsed));
                    return Ok(Progress::Waiting);
                }
                Offer::Bytes(bytes) => {
                    let part = end.content(self.sent, bytes.min(WRITE_BYTES));
                    let offered = part.len();
                    let taken = end.write(part);
                    self.sent += taken as u64;
                    if taken < offered {
                        return Ok(Progress::Waiting);
                    }
                }
            }
        }
        end.finish();
        Ok(Progress::Done)
    }

    fn deadline(&self) -> Option<Nanos> {
        self.due
    }

    fn operation(&self) -> &'static str {
        "send"
    }
}

/// Receives to the end of the stream, and writes a row for each frame that it has whole.
#[derive(Clone, Debug)]
pub(super) struct FrameReceiver {
    frames: Frames,
    began: Nanos,
    received: u64,
}

impl FrameReceiver {
    /// The receiver of a stream that begins at this time, connected or not.
    pub(super) fn new(frames: Frames, began: Nanos) -> Self {
        Self {
            frames,
            began,
            received: 0,
        }
    }
}

impl Role for FrameReceiver {
    fn advance(&mut self, end: &mut End<'_>) -> Result<Progress, Failure> {
        loop {
            let payload = match end.read(READ_BYTES) {
                None => return Ok(Progress::Waiting),
                Some(Input::End) => return Ok(Progress::Done),
                Some(Input::Bytes(payload)) => payload,
            };
            end.take(&payload)?;
            let before = self.received;
            self.received += payload.len() as u64;
            for number in self.frames.completed(before, self.received) {
                end.write_frame(number, self.began + self.frames.made_ns(number));
            }
        }
    }
}
