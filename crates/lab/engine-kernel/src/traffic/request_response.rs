//! Requests and responses over one connection, one outstanding: latency as an application has it.

use socket2::Socket;

use super::conversation::{End, converse};
use super::flow::Flow;
use super::payload::Receiver;
use super::rendezvous::Rendezvous;
use super::socket::no_delay;
use crate::plan::{Requests, Way};
use mptcplab_traffic::Failure;

/// Runs the flow, and returns when the last response has come.
pub(super) fn run(flow: &Flow, listener: &Socket, requests: Requests) {
    let rendezvous = &Rendezvous::new(listener, flow.recorder.clock());
    flow.on_client(|| exchange(flow, rendezvous, requests));
}

fn exchange(flow: &Flow, rendezvous: &Rendezvous<'_>, requests: Requests) {
    let mut transfer = flow.transfer("request_response", 0, Way::Down);
    let mut receiver = Receiver::new(&transfer, flow, None);
    let client = |end: &End<'_>| {
        no_delay(end.socket())?;
        ask(end, flow, requests, &mut receiver)?;
        end.finish()
    };
    let server = |end: &End<'_>| {
        no_delay(end.socket())?;
        answer(end, requests)
    };
    let result = converse(flow, rendezvous, &mut transfer, None, client, server);
    receiver.finish(&mut transfer);
    flow.write_transfer(transfer, result);
}

fn ask(
    end: &End<'_>,
    flow: &Flow,
    requests: Requests,
    receiver: &mut Receiver<'_>,
) -> Result<(), Failure> {
    let request = vec![0; requests.request_bytes as usize];
    let mut response = vec![0; requests.response_bytes as usize];
    let mut due_ns = flow.recorder.now();
    for sequence in 0..requests.count {
        end.sleep_until(due_ns)?;
        let t_ns = flow.recorder.now();
        let result = end
            .write_all(&request)
            .and_then(|()| read_exact(end, &mut response, |part| receiver.take(part)));
        let rtt_ns = result.is_ok().then(|| flow.recorder.now() - t_ns);
        flow.write_latency("request_response", sequence, t_ns, rtt_ns);
        result?;
        // A late response does not make the next requests come in a burst.
        due_ns = (due_ns + requests.interval_ns).max(flow.recorder.now());
    }
    Ok(())
}

fn answer(end: &End<'_>, requests: Requests) -> Result<(), Failure> {
    let mut request = vec![0; requests.request_bytes as usize];
    let response = vec![0; requests.response_bytes as usize];
    loop {
        match end.read(&mut request)? {
            0 => return end.finish(),
            length => read_exact(end, &mut request[length..], |_| Ok(()))?,
        }
        end.write_all(&response)?;
    }
}

/// Fills `buffer`, and gives each part to `taken` as it comes.
fn read_exact(
    end: &End<'_>,
    mut buffer: &mut [u8],
    mut taken: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    while !buffer.is_empty() {
        let length = end.read(buffer)?;
        if length == 0 {
            return Err(Failure::closed());
        }
        taken(&buffer[..length])?;
        buffer = &mut buffer[length..];
    }
    Ok(())
}
