//! A stream of frames over one connection: each is of use until its deadline.

use mptcplab_link::Nanos;
use mptcplab_record::Frame;
use mptcplab_traffic::{Content, Failure, Frames, Offer, WRITE_BYTES, delivered};
use socket2::Socket;

use super::conversation::{End, converse};
use super::flow::Flow;
use super::payload::{READ_LENGTH, Receiver, content};
use super::rendezvous::Rendezvous;
use super::socket::no_delay;
use crate::plan::Way;

/// Runs the flow. It ends with its last frame, or a deadline after no more frames are made.
pub(super) fn run(flow: &Flow, listener: &Socket, way: Way, frames: Frames, deadline_ns: Nanos) {
    let rendezvous = &Rendezvous::new(listener, flow.recorder.clock());
    flow.on_client(|| carry(flow, rendezvous, way, frames, deadline_ns));
}

fn carry(flow: &Flow, rendezvous: &Rendezvous<'_>, way: Way, frames: Frames, deadline_ns: Nanos) {
    let content = content(flow, 0);
    let mut transfer = flow.transfer("stream", 0, way);
    let began_ns = transfer.start_ns;
    let end_ns = began_ns
        .saturating_add(frames.duration_ns)
        .saturating_add(deadline_ns);
    let mut receiver = Receiver::new(&transfer, flow, Some(&content)).until(Some(end_ns));
    let send = |end: &End<'_>| send(end, &content, frames, began_ns);
    let receive = |end: &End<'_>| receive(end, &mut receiver, flow, way, frames, began_ns);
    let deadline = Some(flow.instant(end_ns));
    let result = match way {
        Way::Down => converse(flow, rendezvous, &mut transfer, deadline, receive, send),
        Way::Up | Way::Both => converse(flow, rendezvous, &mut transfer, deadline, send, receive),
    };
    let bytes = receiver.bytes();
    receiver.finish(&mut transfer);
    let result = match result {
        Err(Failure::Deadline) => {
            transfer.end_ns = Some(end_ns);
            delivered(bytes)
        }
        result => result,
    };
    flow.write_transfer(transfer, result);
}

/// Sends each frame as soon as it is made and there is room.
fn send(end: &End<'_>, content: &Content, frames: Frames, began_ns: Nanos) -> Result<(), Failure> {
    no_delay(end.socket())?;
    let mut sent = 0;
    while sent < frames.bytes() {
        match frames.offer(end.now_ns() - began_ns, sent) {
            Offer::Wait(elapsed_ns) => end.sleep_until(began_ns + elapsed_ns)?,
            Offer::Bytes(bytes) => {
                sent += end.write(&content.from(sent, bytes.min(WRITE_BYTES)))? as u64;
            }
        }
    }
    end.finish()
}

/// Receives to the end of the stream, and writes a row for each frame that it has whole.
fn receive(
    end: &End<'_>,
    receiver: &mut Receiver<'_>,
    flow: &Flow,
    way: Way,
    frames: Frames,
    began_ns: Nanos,
) -> Result<(), Failure> {
    let mut buffer = vec![0; READ_LENGTH];
    loop {
        let length = end.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        let before = receiver.bytes();
        receiver.take(&buffer[..length])?;
        let now_ns = flow.recorder.now();
        for sequence in frames.completed(before, receiver.bytes()) {
            let t_ns = began_ns + frames.made_ns(sequence);
            flow.write(Frame {
                traffic: &flow.traffic.name,
                way,
                sequence,
                t_ns,
                delay_ns: now_ns - t_ns,
            });
        }
    }
}
