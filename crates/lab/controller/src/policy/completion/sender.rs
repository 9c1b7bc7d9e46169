//! A modelled connection that sends: the application writes as the send buffer lets it, and the
//! scheduler hands bursts to subflows.
//!
//! Source: net/mptcp/protocol.c of Linux 6.18 (`mptcp_subflow_get_send`, `mptcp_sendmsg`,
//! `__mptcp_sync_sndbuf`).

use std::collections::VecDeque;

use super::subflow::Subflow;
use super::{ModelPath, SEGMENT};

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
#[derive(Debug)]
struct Sender {
    subflows: Vec<Subflow>,
    /// Bytes of the transfer, of those that the application has written, and of those handed to
    /// subflows and acknowledged without a gap.
    bytes: f64,
    written: f64,
    handed: f64,
    acknowledged: f64,
    /// The application waits for room.
    is_full: bool,
    /// Ends of data not acknowledged, and when they are, with all before them.
    ends: VecDeque<(f64, f64)>,
    last_acknowledged_s: f64,
    arrived_s: f64,
}

/// Seconds from the first SYN to the last byte of a transfer over paths, the first of which has the
/// first subflow. The others are opened when it is established, all at once.
pub(super) fn transfer_s(bytes: f64, paths: &[ModelPath]) -> f64 {
    let Some((first, joining)) = paths.split_first() else {
        return f64::INFINITY;
    };
    // The request comes one and a half round trips after the SYN. A MP_JOIN is sent when its first
    // acknowledgement has come, and its subflow carries data after a handshake of its own.
    let open_s = |path: &ModelPath| 1.5 * path.round_trip_s + HANDSHAKE / path.rate;
    let start_s = open_s(first);
    let mut subflows = vec![Subflow::new(first, start_s)];
    subflows.extend(joining.iter().map(|path| {
        let asked_s = start_s + 0.5 * first.round_trip_s;
        Subflow::new(path, asked_s + open_s(path))
    }));
    let sender = Sender {
        subflows,
        bytes,
        written: 0.0,
        handed: 0.0,
        acknowledged: 0.0,
        is_full: false,
        ends: VecDeque::new(),
        last_acknowledged_s: 0.0,
        arrived_s: 0.0,
    };
    // The last segment, if it is not full, waits for the acknowledgement of the first one, which has
    // the header of the answer alone (Nagle's algorithm).
    sender.send(start_s).max(start_s + 1.5 * first.round_trip_s)
}

impl Sender {
    /// Sends everything, and gives when the last of it has arrived.
    fn send(mut self, start_s: f64) -> f64 {
        let mut now_s = start_s;
        while self.handed < self.bytes {
            self.see(now_s);
            self.write(now_s);
            if self.hand(now_s) {
                continue;
            }
            let subflows = self.subflows.iter();
            let times_s = subflows.flat_map(|subflow| [subflow.next_s(), subflow.start_s]);
            let data_s = self.ends.front().map(|(_, at_s)| *at_s);
            let later_s = times_s.chain(data_s).filter(|at_s| *at_s > now_s);
            now_s = later_s.fold(f64::INFINITY, f64::min);
            if now_s.is_infinite() {
                break;
            }
        }
        self.arrived_s
    }

    /// Sees what is acknowledged by a time.
    fn see(&mut self, now_s: f64) {
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
    fn write(&mut self, now_s: f64) {
        let usable = self.subflows.iter().filter(|one| one.start_s <= now_s);
        let buffer = OWN_BUFFER + usable.map(Subflow::buffer).sum::<f64>();
        let used = self.written - self.acknowledged;
        if self.written >= self.bytes || (self.is_full && used > (1.0 - FREE) * buffer) {
            return;
        }
        let room = ((self.acknowledged + buffer) / FRAGMENT).ceil() * FRAGMENT;
        self.written = room.max(self.written).min(self.bytes);
        self.is_full = true;
        if self.written >= self.bytes {
            // The application closes, and joins that come now are refused.
            self.subflows.retain(|subflow| subflow.start_s <= now_s);
        }
    }

    /// Hands a burst to the subflow that will have sent what it has the soonest, if its buffer has
    /// room and there is something to send.
    fn hand(&mut self, now_s: f64) -> bool {
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
            let bytes = SEGMENT.min(end - self.handed);
            let (arrived_s, acknowledged_s) = subflow.send(now_s, bytes);
            self.handed += bytes;
            self.arrived_s = self.arrived_s.max(arrived_s);
            self.last_acknowledged_s = self.last_acknowledged_s.max(acknowledged_s);
            self.ends.push_back((self.handed, self.last_acknowledged_s));
        }
        true
    }
}
