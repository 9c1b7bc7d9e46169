//! What an item does when its time has come, by its workload.

use mptcplab_plan::{Protocol, Traffic, Way, Workload};
use mptcplab_traffic::{Content, splitmix64};

use super::{Item, Stage, Work};
use crate::Nanos;
use crate::application::conversation::Outline;
use crate::application::datagrams::{self, Datagrams};
use crate::application::end::Role;
use crate::application::http;
use crate::application::payload::{Receive, Send};
use crate::application::ping::Ping;
use crate::application::request_response::{Answer, Ask};
use crate::application::verdict::Counters;
use crate::core::Core;
use crate::random::{Purpose, Random};

impl Item {
    /// The item's time has come.
    pub(super) fn begin(&mut self, core: &mut Core) {
        self.stage = Stage::Running;
        self.wake = None;
        let Traffic {
            client,
            server,
            protocol,
            expected_joins,
            ..
        } = self.traffic;
        if protocol == Protocol::Mptcp && expected_joins > 0 {
            self.before = Some(Counters::read(core, client, server));
        }
        core.traffic_event(&self.traffic.name, "started");
        match self.traffic.workload {
            Workload::Bulk {
                way,
                streams,
                duration_ns,
                bytes,
                rate_bps,
            } => {
                for way in ways(way) {
                    for index in 0..streams {
                        self.open_bulk(core, *way, index, (duration_ns, bytes), rate_bps);
                    }
                }
                self.end_if_idle(core);
            }
            Workload::Http { .. } => {
                self.work = Work::Downloads { next: 0 };
                self.download(core);
            }
            Workload::RequestResponse(requests) => {
                let roles: [Box<dyn Role>; 2] = [
                    Box::new(Ask::new(requests)),
                    Box::new(Answer::new(requests)),
                ];
                let outline = self.outline("request_response", 0, Way::Down, roles);
                self.open(core, outline, self.traffic.port);
            }
            Workload::Ftp { way, .. } => self.log_in(core, way),
            Workload::Ping {
                interval_ns,
                count,
                payload_bytes,
            } => {
                let identifier = self.seed as u16;
                let ping = Ping::new(core.now, identifier, interval_ns, count, payload_bytes);
                self.work = Work::Ping(ping);
            }
            Workload::Datagrams {
                way,
                rate_bps,
                packet_bytes,
                duration_ns,
                on_off_ns,
            } => {
                let pattern = datagrams::Pattern {
                    rate_bps,
                    packet_bytes,
                    duration_ns,
                    on_off_ns,
                };
                let target = self.traffic.target;
                let one = |(index, &way)| {
                    let random = Random::new(self.seed, Purpose::Datagrams, index);
                    Datagrams::new(core.now, way, target, pattern, random)
                };
                self.work = Work::Datagrams(ways(way).iter().enumerate().map(one).collect());
            }
            // Refused before the run begins.
            Workload::Command { .. } => self.end(core),
        }
    }

    pub(super) fn outline(
        &self,
        kind: &'static str,
        index: u32,
        way: Way,
        roles: [Box<dyn Role>; 2],
    ) -> Outline {
        Outline {
            kind,
            index,
            way,
            content: Content::new(splitmix64(self.seed, index.into())),
            is_compared: false,
            amount: None,
            until: None,
            roles,
        }
    }

    fn open_bulk(
        &mut self,
        core: &mut Core,
        way: Way,
        index: u32,
        (duration_ns, bytes): (Option<Nanos>, Option<u64>),
        rate_bps: Option<u64>,
    ) {
        let mut roles: [Box<dyn Role>; 2] =
            [Box::new(Send::new(bytes, rate_bps)), Box::new(Receive)];
        if way == Way::Down {
            roles.reverse();
        }
        let timed = bytes.is_none().then(|| core.now + duration_ns.unwrap_or(0));
        let outline = Outline {
            is_compared: bytes.is_some(),
            amount: bytes,
            until: timed,
            ..self.outline("bulk", index, way, roles)
        };
        self.open(core, outline, self.traffic.port);
    }

    /// Begins the next download, or ends.
    pub(super) fn download(&mut self, core: &mut Core) {
        let (Work::Downloads { next }, &Workload::Http { bytes, count }) =
            (&mut self.work, &self.traffic.workload)
        else {
            return;
        };
        if *next == count {
            return self.end(core);
        }
        let index = *next;
        *next += 1;
        let roles: [Box<dyn Role>; 2] = [
            Box::new(http::Client::new(bytes)),
            Box::new(http::Server::new()),
        ];
        let outline = Outline {
            is_compared: true,
            amount: Some(bytes),
            ..self.outline("http", index, Way::Down, roles)
        };
        self.open(core, outline, self.traffic.port);
    }
}

/// The ways of a traffic, one connection or stream of datagrams each.
fn ways(way: Way) -> &'static [Way] {
    match way {
        Way::Up => &[Way::Up],
        Way::Down => &[Way::Down],
        Way::Both => &[Way::Up, Way::Down],
    }
}
