//! A modelled connection that sends: the application writes as the send buffer lets it, and the
//! scheduler hands bursts to subflows.
//!
//! Source: net/mptcp/protocol.c of Linux 6.18 (`mptcp_subflow_get_send`, `mptcp_sendmsg`,
//! `__mptcp_sync_sndbuf`).

use std::collections::VecDeque;

use super::ModelPath;
use super::subflow::{Free, Subflow};

/// Bytes that a subflow is handed at once (`MPTCP_SEND_BURST_SIZE` less headers).
const BURST: f64 = 65_428.0;
/// Bytes of a fragment: a burst ends with one.
const FRAGMENT: f64 = 32_728.0;
/// Bytes of the send buffer that a connection has beside those for its subflows.
const OWN_BUFFER: f64 = 4096.0;
/// The part of the buffer that must be free before the application writes on.
const FREE: f64 = 1.0 / 3.0;

/// Bytes of the frames of a handshake and a request.
const HANDSHAKE: f64 = 400.0;

/// A connection that sends.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    subflows: Vec<Subflow>,
    now_s: f64,
    /// Bytes that the application has written, and of those the ones handed to subflows and
    /// acknowledged without a gap.
    written: f64,
    handed: f64,
    acknowledged: f64,
    /// The application waits for room.
    is_full: bool,
    /// Ends of data not acknowledged, and when they are, with all before them.
    ends: VecDeque<(f64, f64)>,
    last_acknowledged_s: f64,
    arrived_s: f64,
    /// The time before which nothing is over.
    least_s: f64,
}

/// Bytes that must have arrived before a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    pub(super) bytes: f64,
    pub(super) time_s: f64,
}

impl Sender {
    /// One over paths, the first of which has the first subflow. The others are opened when it is
    /// established, all at once.
    pub(super) fn new(first: &ModelPath, joining: &[ModelPath]) -> Self {
        // The request comes one and a half round trips after the SYN. A MP_JOIN is sent when its
        // first acknowledgement has come, and its subflow carries data after a handshake of its own.
        let open_s = |path: &ModelPath| 1.5 * path.round_trip_s + HANDSHAKE / path.rate;
        let start_s = open_s(first);
        let mut subflows = vec![Subflow::new(first, start_s)];
        subflows.extend(joining.iter().map(|path| {
            let asked_s = start_s + 0.5 * first.round_trip_s;
            Subflow::new(path, asked_s + open_s(path))
        }));
        Self {
            subflows,
            now_s: start_s,
            written: 0.0,
            handed: 0.0,
            acknowledged: 0.0,
            is_full: false,
            ends: VecDeque::new(),
            last_acknowledged_s: 0.0,
            arrived_s: 0.0,
            // The last segment, if it is not full, waits for the acknowledgement of the first one,
            // which has the header of the answer alone (Nagle's algorithm).
            least_s: start_s + 1.5 * first.round_trip_s,
        }
    }

    /// One that sends by TCP over a path.
    pub(super) fn of_tcp(path: &ModelPath) -> Self {
        Self {
            // The FIN goes with the last segment, which therefore waits for nothing.
            least_s: 0.0,
            ..Self::new(path, &[])
        }
    }

    /// Seconds from the first SYN to the last byte of a transfer. It goes on from what was asked for
    /// before, so that what transfers have in common is reckoned once: sizes must not decrease.
    ///
    /// `None` where the limit cannot be kept.
    pub(super) fn time_s(&mut self, bytes: f64, limit: Limit) -> Option<f64> {
        self.begin(bytes, limit)?;
        Some(self.clone().end_s(bytes))
    }

    /// Sends until the application can write the last of so many bytes.
    fn begin(&mut self, bytes: f64, limit: Limit) -> Option<()> {
        loop {
            self.see();
            self.write();
            if self.written >= bytes || self.filled().is_some() {
                return Some(());
            }
            if self.hand() {
                if self.least_s(limit.bytes) >= limit.time_s {
                    return None;
                }
            } else if !self.wait() {
                return Some(());
            }
        }
    }

    /// Sends the last of so many bytes, and gives when it has arrived.
    fn end_s(mut self, bytes: f64) -> f64 {
        self.written = bytes;
        // The application closes, and joins that come now are refused.
        let now_s = self.now_s;
        self.subflows.retain(|subflow| subflow.start_s <= now_s);
        while self.handed < bytes {
            if let Some(path) = self.filled() {
                let free = path.free(self.now_s);
                let left = bytes - self.handed;
                self.arrived_s = free.at_s + left / free.rate + path.travel_s();
                break;
            }
            if !self.hand() && !self.wait() {
                break;
            }
            self.see();
        }
        self.arrived_s.max(self.least_s)
    }

    /// The only subflow, where it fills its path to the end.
    fn filled(&self) -> Option<&Subflow> {
        match &self.subflows[..] {
            [only] if only.is_full() => Some(only),
            _ => None,
        }
    }

    /// The time before which the last of so many bytes cannot arrive.
    fn least_s(&self, bytes: f64) -> f64 {
        let left = bytes - self.handed;
        let free = self.subflows.iter().map(|one| one.free(self.now_s));
        filled_s(left, free).max(self.least_s)
    }

    /// Lets time pass until something may change; `false`: nothing will.
    fn wait(&mut self) -> bool {
        let mut next_s = self.ends.front().map_or(f64::INFINITY, |(_, at_s)| *at_s);
        for subflow in &self.subflows {
            for at_s in [subflow.next_s(), subflow.start_s] {
                if at_s > self.now_s && at_s < next_s {
                    next_s = at_s;
                }
            }
        }
        self.now_s = next_s;
        self.now_s.is_finite()
    }

    /// Sees what is acknowledged by now.
    fn see(&mut self) {
        let now_s = self.now_s;
        for subflow in &mut self.subflows {
            subflow.see(now_s);
        }
        while let Some((end, at_s)) = self.ends.front()
            && *at_s <= now_s
        {
            self.acknowledged = *end;
            self.ends.pop_front();
        }
    }

    /// Lets the application write: whole fragments until the buffer is full.
    fn write(&mut self) {
        let now_s = self.now_s;
        let usable = self.subflows.iter().filter(|one| one.start_s <= now_s);
        let buffer = OWN_BUFFER + usable.map(Subflow::buffer).sum::<f64>();
        let used = self.written - self.acknowledged;
        if self.is_full && used > (1.0 - FREE) * buffer {
            return;
        }
        let room = ((self.acknowledged + buffer) / FRAGMENT).ceil() * FRAGMENT;
        self.written = room.max(self.written);
        self.is_full = true;
    }

    /// Hands a burst to the subflow that will have sent what it has the soonest, if its buffer has
    /// room and there is something to send.
    fn hand(&mut self) -> bool {
        let now_s = self.now_s;
        if self.handed >= self.written {
            return false;
        }
        let usable = self.subflows.iter_mut().filter(|one| one.start_s <= now_s);
        let best = usable.min_by(|one, other| one.linger_s().total_cmp(&other.linger_s()));
        let Some(subflow) = best.filter(|subflow| subflow.room() >= 1.0) else {
            return false;
        };
        let end = (self.handed + subflow.room().min(BURST)) / FRAGMENT;
        let end = (end.ceil() * FRAGMENT).min(self.written);
        subflow.weigh(BURST.min(self.written - self.handed));
        while self.handed < end {
            let bytes = subflow.group().min(end - self.handed);
            let (arrived_s, acknowledged_s) = subflow.send(now_s, bytes);
            self.handed += bytes;
            self.arrived_s = self.arrived_s.max(arrived_s);
            self.last_acknowledged_s = self.last_acknowledged_s.max(acknowledged_s);
            self.ends.push_back((self.handed, self.last_acknowledged_s));
        }
        true
    }
}

/// The time when so many bytes have left by all paths, as soon as each is free.
fn filled_s(bytes: f64, paths: impl Iterator<Item = Free> + Clone) -> f64 {
    let mut filled_s = f64::INFINITY;
    loop {
        let (mut rate, mut begun) = (0.0, 0.0);
        for path in paths.clone().filter(|path| path.at_s < filled_s) {
            rate += path.rate;
            begun += path.rate * path.at_s;
        }
        // Paths that are free later only have carried nothing by then.
        let sooner_s = (bytes + begun) / rate;
        if sooner_s >= filled_s || rate == 0.0 {
            return filled_s;
        }
        filled_s = sooner_s;
    }
}
