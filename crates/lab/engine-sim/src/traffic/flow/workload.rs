//! The start of a flow, by its workload.

use mptcplab_plan::{Protocol, Traffic, Way, Workload};
use mptcplab_random::{Purpose, Random};
use mptcplab_traffic::datagrams::Pattern;
use mptcplab_traffic::{Content, Frames, splitmix64};

use super::{Flow, Stage, Work};
use crate::Nanos;
use crate::network::Network;
use crate::response_times::{NEXT_DOWNLOAD, drawn};
use crate::schedule::earlier;
use crate::traffic::conversation::Outline;
use crate::traffic::datagrams::Datagrams;
use crate::traffic::end::Role;
use crate::traffic::http;
use crate::traffic::payload::{Receive, Send};
use crate::traffic::ping::Ping;
use crate::traffic::request_response::{Requester, Responder};
use crate::traffic::stream::{FrameReceiver, FrameSender};
use crate::traffic::verdict::Counters;
use crate::traffic::wake_up::WakeUps;

impl Flow {
    /// Starts the flow.
    pub(super) fn begin(&mut self, network: &mut Network) {
        self.stage = Stage::Running;
        self.wake = None;
        let Traffic {
            client,
            server,
            protocol,
            expected_joins,
            ..
        } = *self.traffic;
        if protocol == Protocol::Mptcp && expected_joins > 0 {
            self.before = Some(Counters::read(network, client, server));
        }
        network.traffic_event(&self.traffic.name, "started");
        match self.traffic.workload {
            Workload::Bulk {
                way,
                streams,
                duration_ns,
                bytes,
                rate_bps,
            } => {
                for way in way.each() {
                    for index in 0..streams {
                        self.open_bulk(network, *way, index, (duration_ns, bytes), rate_bps);
                    }
                }
                self.end_if_idle(network);
            }
            Workload::Http { .. } => {
                self.work = Work::Downloads { next: 0, at: None };
                self.download(network);
            }
            Workload::RequestResponse(requests) => {
                let roles: [Box<dyn Role>; 2] = [
                    Box::new(Requester::new(requests)),
                    Box::new(Responder::new(requests)),
                ];
                let outline = self.outline("request_response", 0, Way::Down, roles);
                self.open(network, outline, self.traffic.port);
            }
            Workload::Stream {
                way,
                rate_bps,
                frame_bytes,
                deadline_ns,
                duration_ns,
            } => {
                let frames = Frames {
                    rate_bps,
                    frame_bytes,
                    duration_ns,
                };
                self.open_stream(network, way, frames, deadline_ns);
            }
            Workload::Ftp { way, .. } => self.log_in(network, way),
            Workload::Ping {
                interval_ns,
                count,
                payload_bytes,
            } => {
                let identifier = self.seed as u16;
                let ping = Ping::new(network.now, identifier, interval_ns, count, payload_bytes);
                self.work = Work::Ping(ping);
            }
            Workload::Datagrams {
                way,
                rate_bps,
                packet_bytes,
                duration_ns,
                on_off_ns,
            } => {
                let pattern = Pattern {
                    rate_bps,
                    packet_bytes,
                    duration_ns,
                    on_off_ns,
                };
                let target = self.traffic.target;
                let one = |(index, &way)| {
                    let random = Random::new(self.seed, Purpose::Datagrams, index);
                    Datagrams::new(network.now, way, target, pattern, random)
                };
                self.work = Work::Datagrams(way.each().iter().enumerate().map(one).collect());
            }
            // Refused before the run begins.
            Workload::Command { .. } => self.end(network),
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
            wake_ups: WakeUps::new(splitmix64(!self.seed, self.opened.into())),
        }
    }

    fn open_bulk(
        &mut self,
        network: &mut Network,
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
        let timed = bytes
            .is_none()
            .then(|| network.now + duration_ns.unwrap_or(0));
        let outline = Outline {
            is_compared: bytes.is_some(),
            amount: bytes,
            until: timed,
            ..self.outline("bulk", index, way, roles)
        };
        self.open(network, outline, self.traffic.port);
    }

    fn open_stream(&mut self, network: &mut Network, way: Way, frames: Frames, deadline_ns: Nanos) {
        let now = network.now;
        let mut roles: [Box<dyn Role>; 2] = [
            Box::new(FrameSender::new(frames, now)),
            Box::new(FrameReceiver::new(frames, now)),
        ];
        if way == Way::Down {
            roles.reverse();
        }
        let lasting = frames.duration_ns.saturating_add(deadline_ns);
        let outline = Outline {
            is_compared: true,
            until: Some(now.saturating_add(lasting)),
            ..self.outline("stream", 0, way, roles)
        };
        self.open(network, outline, self.traffic.port);
    }

    /// Lets the client begin the next download in a while, or ends.
    pub(super) fn next_download(&mut self, network: &mut Network) {
        let (Work::Downloads { next, at }, &Workload::Http { count, .. }) =
            (&mut self.work, &self.traffic.workload)
        else {
            return;
        };
        if *next == count {
            return self.end(network);
        }
        let bits = splitmix64(!self.seed, (*next).into());
        *at = Some(network.now + drawn(&NEXT_DOWNLOAD, bits));
        self.wake = earlier(self.wake, *at);
    }

    /// Begins the next download.
    pub(super) fn download(&mut self, network: &mut Network) {
        let (Work::Downloads { next, at }, &Workload::Http { bytes, .. }) =
            (&mut self.work, &self.traffic.workload)
        else {
            return;
        };
        let index = *next;
        *next += 1;
        *at = None;
        let roles: [Box<dyn Role>; 2] = [
            Box::new(http::Client::new(bytes)),
            Box::new(http::Server::new()),
        ];
        let outline = Outline {
            is_compared: true,
            amount: Some(bytes),
            ..self.outline("http", index, Way::Down, roles)
        };
        self.open(network, outline, self.traffic.port);
    }
}
