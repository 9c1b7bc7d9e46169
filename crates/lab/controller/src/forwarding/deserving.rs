//! Joins of connections of unknown size: they wait until the connection has carried enough, by the
//! counters of its rules.

use mptcplab_openflow::multipart::{FlowStats, FlowStatsRequest, Request};
use mptcplab_openflow::{Match, group, port};

use super::waiting::{Cause, Received};
use crate::controller::Controller;
use crate::events::Event;
use crate::frame::{Content, Frame};
use crate::messages;
use crate::place::PortRef;
use crate::subflows::{Flow, State};
use crate::timers::Timer;

/// The part of its age after which a connection is looked at again: the longer it has not deserved
/// another path, the less often. Its inverse.
const PARTS_OF_AGE: u64 = 4;
/// The longest time until then, nevertheless.
const LONGEST_PAUSE_NS: u64 = 16_000_000_000;
/// The time after which a host has given a join up that it has not sent again: twice the longest
/// pause of Linux between two SYNs of one.
const GIVEN_UP_NS: u64 = 64_000_000_000;
/// The part of all packets that wait which may be such joins, and of one port. Their inverses.
const PART: usize = 2;
const PART_OF_PORT: usize = 16;

impl Controller {
    /// Keeps a join until its connection has carried more; false where too many wait already.
    pub(super) fn wait_to_deserve(
        &mut self,
        packet: Received,
        flow: Flow,
        connection: u64,
        is_new: bool,
    ) -> bool {
        let cause = Cause::Bytes(connection);
        // One that was sent again takes the place of the one before.
        let same = |held: &Received| held.at == packet.at && flow_of(held) == Some(flow);
        let was_held = self.waiting.drop_if(cause, same);
        let limit = self.config.limits.held_packets;
        let of_port = self.waiting.joins_at(packet.at);
        if of_port >= limit.div_ceil(PART_OF_PORT) || !self.waiting.has_room(limit.div_ceil(PART)) {
            return false;
        }
        self.waiting.hold(cause, packet, limit);
        if is_new && !was_held {
            self.note(Event::Waits { connection, flow });
        }
        self.count_later(connection);
        true
    }

    /// Sets the time at which the counters of a connection are read.
    pub(crate) fn count_later(&mut self, number: u64) {
        let now_ns = self.now_ns;
        let least_ns = self.config.count_interval_ns;
        let Some(connection) = self.table.connection_mut(number) else {
            return;
        };
        if connection.count_ns.is_none() {
            let age_ns = now_ns - connection.opened_ns;
            let pause_ns = (age_ns / PARTS_OF_AGE).min(LONGEST_PAUSE_NS);
            let at_ns = now_ns + least_ns.max(pause_ns);
            connection.count_ns = Some(at_ns);
            self.timers.set(at_ns, Timer::Count(number));
        }
    }

    /// Asks for the counters of a connection whose joins wait, or whose transfer may be over.
    pub(crate) fn count(&mut self, number: u64) {
        let Some(connection) = self.table.connection_mut(number) else {
            return;
        };
        connection.count_ns = None;
        let now_ns = self.now_ns;
        let is_given_up = |held: &Received| now_ns - held.since_ns >= GIVEN_UP_NS;
        self.waiting.drop_if(Cause::Bytes(number), is_given_up);
        let is_watched = self.watch(number);
        if !is_watched && !self.waiting.has(Cause::Bytes(number)) {
            return;
        }
        match self.ask_counters(number) {
            true => self.count_later(number),
            false => self.waiting.forget(Cause::Bytes(number)),
        }
    }

    /// Asks for the counters of all subflows of a connection that have rules; false where none has.
    pub(super) fn ask_counters(&mut self, number: u64) -> bool {
        let mut is_asked = false;
        let known = self.table.connection(number);
        for subflow in known.map_or(Vec::new(), |known| known.subflows.clone()) {
            let Some(known) = self.table.subflow(subflow) else {
                continue;
            };
            if known.state != State::Idle {
                let datapath = known.ends[0].datapath;
                self.send(datapath, messages::request(counters(subflow)));
                is_asked = true;
            }
        }
        is_asked
    }

    /// Takes the counters of rules, and places joins that wait for them.
    pub(crate) fn take_counters(&mut self, datapath: u64, entries: &[FlowStats]) {
        let cookies = entries.iter().map(|entry| entry.cookie);
        let mut numbers: Vec<u64> = cookies.filter(|cookie| *cookie != 0).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            let own = entries.iter().filter(|entry| entry.cookie == number);
            if let Some(connection) = self.count_subflow(datapath, number, own) {
                self.look_whether_over(connection);
                for packet in self.waiting.take(Cause::Bytes(connection)) {
                    self.join_again(packet, connection);
                }
            }
        }
    }

    /// Lets a join ask again.
    fn join_again(&mut self, packet: Received, connection: u64) {
        let Some(frame) = Frame::read(&packet.data) else {
            return;
        };
        if let Content::Ip(ip) = &frame.content
            && let Some(to) = self.hosts.port_of(frame.destination)
            && self.table.find(&Flow::of(ip)).is_none()
        {
            let ends: [PortRef; 2] = [packet.at, to];
            self.join(packet, &frame, ip, connection, ends, false);
        }
    }
}

/// The request for the counters of a subflow's rules.
fn counters(number: u64) -> Request {
    Request::Flow(FlowStatsRequest {
        table: 0,
        out_port: port::number::ANY,
        out_group: group::number::ANY,
        cookie: number,
        cookie_mask: u64::MAX,
        fields: Match::default(),
    })
}

fn flow_of(packet: &Received) -> Option<Flow> {
    match Frame::read(&packet.data)?.content {
        Content::Ip(ip) => Some(Flow::of(&ip)),
        _ => None,
    }
}
