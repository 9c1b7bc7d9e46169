//! Sending and receiving the payload of transfers.

use mptcplab_link::Nanos;
use mptcplab_record::Transfer;
use mptcplab_traffic::{Content, Deliveries, Offer, Pacing, WRITE_BYTES, splitmix64};

use super::conversation::End;
use super::flow::Flow;
use crate::plan::Way;
use mptcplab_traffic::Failure;

/// Read at most at once.
pub(super) const READ_LENGTH: usize = 256 * 1024;

/// Payload of the transfer with this number.
pub(super) fn content(flow: &Flow, index: u32) -> Content {
    Content::new(splitmix64(flow.seed, index.into()))
}

/// Sends the content: `amount` of it, or until the other end cancels; no more than `rate_bps`.
pub(super) fn send(
    end: &End<'_>,
    content: &Content,
    amount: Option<u64>,
    rate_bps: Option<u64>,
) -> Result<(), Failure> {
    let mut pacing = rate_bps.map(Pacing::new);
    let mut sent = 0;
    while amount.is_none_or(|amount| sent < amount) {
        let left = amount.map_or(u64::MAX, |amount| amount - sent);
        let allowed = match &mut pacing {
            None => left,
            Some(pacing) => match pacing.offer(end.now_ns(), sent, left) {
                Offer::Bytes(bytes) => bytes,
                Offer::Wait(due_ns) => {
                    end.sleep_until(due_ns)?;
                    continue;
                }
            },
        };
        sent += end.write(&content.from(sent, allowed.min(WRITE_BYTES)))? as u64;
    }
    end.finish()
}

/// The receiving application: accounts for received bytes, and compares them with the content.
pub(super) struct Receiver<'a> {
    flow: &'a Flow,
    index: u32,
    way: Way,
    /// The expected bytes, where they are compared.
    expected: Option<&'a Content>,
    /// Bytes received from then on do not count.
    until_ns: Option<Nanos>,
    deliveries: Deliveries,
    buffer: Vec<u8>,
}

impl<'a> Receiver<'a> {
    pub(super) fn new(
        transfer: &Transfer<'_>,
        flow: &'a Flow,
        expected: Option<&'a Content>,
    ) -> Self {
        let (index, way) = (transfer.index, transfer.way);
        Self {
            flow,
            index,
            way,
            expected,
            until_ns: None,
            deliveries: Deliveries::default(),
            buffer: vec![0; READ_LENGTH],
        }
    }

    /// Counts what comes before this moment of the run only.
    pub(super) fn until(self, until_ns: Option<Nanos>) -> Self {
        Self { until_ns, ..self }
    }

    /// Payload received so far.
    pub(super) fn bytes(&self) -> u64 {
        self.deliveries.bytes
    }

    /// Accounts for `bytes` that were received at `now_ns`.
    pub(super) fn account(&mut self, now_ns: Nanos, bytes: u64) {
        let bin = self.deliveries.record(now_ns, bytes);
        self.flow.write_bin(self.index, self.way, bin);
    }

    /// Takes payload that has just been received.
    pub(super) fn take(&mut self, payload: &[u8]) -> Result<(), Failure> {
        let (offset, now_ns) = (self.deliveries.bytes, self.flow.recorder.now());
        if self.until_ns.is_some_and(|until_ns| now_ns >= until_ns) {
            return Err(Failure::Deadline);
        }
        self.account(now_ns, payload.len() as u64);
        self.expected
            .map_or(Ok(()), |content| content.check(offset, payload))
    }

    /// Receives to the end of the stream.
    pub(super) fn take_all(&mut self, end: &End<'_>) -> Result<(), Failure> {
        let mut buffer = std::mem::take(&mut self.buffer);
        loop {
            match end.read(&mut buffer)? {
                0 => return Ok(()),
                length => self.take(&buffer[..length])?,
            }
        }
    }

    /// Writes what is left to write, and notes the account in the row of the transfer.
    pub(super) fn finish(self, transfer: &mut Transfer<'_>) {
        let Self { mut deliveries, .. } = self;
        transfer.bytes = deliveries.bytes;
        transfer.first_byte_ns = deliveries.first_ns;
        transfer.end_ns = deliveries.last_ns;
        transfer.longest_silence_ns = deliveries.silence.map(|silence| silence.length_ns);
        transfer.longest_silence_at_ns = deliveries.silence.map(|silence| silence.at_ns);
        self.flow
            .write_bin(self.index, self.way, deliveries.finish());
    }
}
