//! Switches, links, hosts and control channels in virtual time.

use std::collections::BTreeMap;

use bytes::Bytes;
use mptcplab_controller::{Config, ConnectionId, Controller, Event, Link, Output, PortRef, policy};
use mptcplab_openflow::multipart::{FlowStats, FlowStatsRequest, Part, Reply, Request};
use mptcplab_openflow::{Body, Message};
use mptcplab_switch::{self as switch, ControllerId, PortSetup, Switch};
use mptcplab_wire::option::MptcpOption;

use crate::host::{Host, flags};
use crate::queues::Queues;

pub(crate) const MILLISECOND: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000 * MILLISECOND;
/// The delay of a link.
pub(crate) const LINK_NS: u64 = 2 * MILLISECOND;
const CONTROLLER: ControllerId = ControllerId(0);

/// Something on its way.
enum Happening {
    Switch(u64, Message),
    Controller(u64, Message),
    Port(PortRef, Bytes),
    Host(usize, Bytes),
}

pub(crate) struct Network {
    pub(crate) now_ns: u64,
    /// The delay of a control channel, one way.
    pub(crate) control_ns: u64,
    pub(crate) controller: Controller,
    pub(crate) switches: BTreeMap<u64, Switch>,
    pub(crate) hosts: Vec<Host>,
    links: BTreeMap<PortRef, PortRef>,
    pub(crate) queues: Queues,
    queue: BTreeMap<(u64, u64), Happening>,
    sequence: u64,
    /// Messages to switches, by what they are.
    pub(crate) sent: BTreeMap<u8, usize>,
    /// A switch that may refuse messages.
    pub(crate) refuses: Option<u64>,
    /// A switch that gets no rules and no barriers.
    pub(crate) deaf: Option<u64>,
    recorded_at: Option<PortRef>,
    /// Frames of discovery that went out by a port.
    pub(crate) recorded: Vec<Vec<u8>>,
}

impl Network {
    /// Switches with so many ports each, and links between them.
    pub(crate) fn new(
        config: Config,
        name: &str,
        switches: u64,
        ports: u32,
        links: &[[u64; 4]],
    ) -> Self {
        let policy = policy(name, config.seed).expect("a policy");
        let mut network = Self {
            now_ns: 0,
            control_ns: MILLISECOND,
            controller: Controller::new(config, policy),
            switches: BTreeMap::new(),
            hosts: Vec::new(),
            links: BTreeMap::new(),
            queues: Queues::default(),
            queue: BTreeMap::new(),
            sequence: 0,
            sent: BTreeMap::new(),
            refuses: None,
            deaf: None,
            recorded_at: None,
            recorded: Vec::new(),
        };
        for &[a, a_port, b, b_port] in links {
            let (a, b) = (
                PortRef::new(a, a_port as u32),
                PortRef::new(b, b_port as u32),
            );
            network.links.insert(a, b);
            network.links.insert(b, a);
        }
        for datapath in 1..=switches {
            let mut switch = Switch::new(switch::Config {
                datapath_id: datapath,
                ports: (1..=ports).map(PortSetup::new).collect(),
                ..switch::Config::default()
            });
            let mut out = Vec::new();
            switch.connect(CONTROLLER, &mut out);
            network.switches.insert(datapath, switch);
            network.take_switch(datapath, out);
            let mut out = Vec::new();
            let connection = ConnectionId(datapath as u32);
            network.controller.connect(0, connection, &mut out);
            network.take_controller(out);
        }
        network
    }

    /// The document's network: three paths of three links each between the switches 1 and 2, at
    /// 10, 0.1 and 6 Mbit/s; hosts at the ports from 11 on.
    pub(crate) fn birzeit(name: &str, config: Config) -> Self {
        let mut config = config;
        let links = [
            [1, 1, 3, 1],
            [3, 2, 4, 1],
            [4, 2, 2, 1],
            [1, 2, 5, 1],
            [5, 2, 6, 1],
            [6, 2, 2, 2],
            [1, 3, 7, 1],
            [7, 2, 8, 1],
            [8, 2, 2, 3],
        ];
        for (path, rate) in links.chunks(3).zip([10_000_000, 100_000, 6_000_000]) {
            for [datapath, port, ..] in path {
                let at = PortRef::new(*datapath, *port as u32);
                config.link_rates_bps.insert(at, rate);
            }
        }
        let mut network = Self::new(config, name, 8, 20, &links);
        for index in 0..3 {
            network.add_host(1, 11 + index, &format!("10.0.{index}.1"));
            network.add_host(2, 11 + index, &format!("10.0.{index}.2"));
        }
        network.run(SECOND);
        network
    }

    pub(crate) fn add_host(&mut self, datapath: u64, port: u32, ip: &str) -> usize {
        self.hosts.push(Host::new(PortRef::new(datapath, port), ip));
        self.hosts.len() - 1
    }

    fn put(&mut self, delay_ns: u64, happening: Happening) {
        self.sequence += 1;
        self.queue
            .insert((self.now_ns + delay_ns, self.sequence), happening);
    }

    pub(crate) fn take_controller(&mut self, out: Vec<Output>) {
        for one in out {
            if let Output::Message {
                connection,
                message,
            } = one
            {
                *self.sent.entry(message.body.number()).or_default() += 1;
                let datapath = connection.0.into();
                let is_rule = matches!(message.body, Body::FlowMod(_) | Body::BarrierRequest);
                if is_rule && self.deaf == Some(datapath) {
                    continue;
                }
                self.put(self.control_ns, Happening::Switch(datapath, message));
            }
        }
    }

    fn take_switch(&mut self, datapath: u64, out: Vec<switch::Output>) {
        for one in out {
            match one {
                switch::Output::Packet { port, frame, .. } => {
                    let from = PortRef::new(datapath, port);
                    if self.recorded_at == Some(from) && frame[12..14] == [0x88, 0xcc] {
                        self.recorded.push(frame.to_vec());
                    }
                    if let Some(to) = self.links.get(&from).copied() {
                        let queued_ns = self.queues.pass_ns(self.now_ns, from, frame.len());
                        self.put(queued_ns + LINK_NS, Happening::Port(to, frame.clone()));
                    }
                    for index in 0..self.hosts.len() {
                        if self.hosts[index].at == from {
                            self.put(0, Happening::Host(index, frame.clone()));
                        }
                    }
                }
                switch::Output::Message { message, .. } => {
                    if let Body::Error(error) = &message.body
                        && self.refuses != Some(datapath)
                    {
                        panic!("switch {datapath} refuses: {error:?}");
                    }
                    self.put(self.control_ns, Happening::Controller(datapath, message));
                }
                switch::Output::Close(_) => panic!("switch {datapath} closes"),
            }
        }
    }

    /// Goes on for a time.
    pub(crate) fn run(&mut self, for_ns: u64) {
        let end_ns = self.now_ns + for_ns;
        loop {
            let queued = self.queue.first_key_value().map(|((at_ns, _), _)| *at_ns);
            let timers = self.switches.values().map(Switch::next_deadline);
            let timers = timers.chain([self.controller.next_deadline(), queued]);
            let Some(at_ns) = timers.flatten().min().filter(|at_ns| *at_ns <= end_ns) else {
                break;
            };
            self.now_ns = self.now_ns.max(at_ns);
            self.step();
        }
        self.now_ns = end_ns;
    }

    fn step(&mut self) {
        let now_ns = self.now_ns;
        let mut out = Vec::new();
        self.controller.advance(now_ns, &mut out);
        self.take_controller(out);
        let datapaths: Vec<u64> = self.switches.keys().copied().collect();
        for datapath in datapaths {
            let mut out = Vec::new();
            let switch = self.switches.get_mut(&datapath).expect("a switch");
            switch.advance(now_ns, &mut out);
            self.take_switch(datapath, out);
        }
        let is_due = |(at_ns, _): &(u64, u64)| *at_ns <= now_ns;
        while self.queue.keys().next().is_some_and(is_due) {
            let (_, happening) = self.queue.pop_first().expect("one is due");
            self.happen(happening);
        }
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Switch(datapath, message) => {
                let mut out = Vec::new();
                if let Some(switch) = self.switches.get_mut(&datapath) {
                    switch.receive_message(self.now_ns, CONTROLLER, &message, &mut out);
                }
                self.take_switch(datapath, out);
            }
            Happening::Controller(datapath, message) => {
                let mut out = Vec::new();
                let connection = ConnectionId(datapath as u32);
                self.controller
                    .receive_message(self.now_ns, connection, &message, &mut out);
                self.take_controller(out);
            }
            Happening::Port(at, frame) => {
                let mut out = Vec::new();
                if let Some(switch) = self.switches.get_mut(&at.datapath) {
                    switch.receive_packet(self.now_ns, at.port, frame, &mut out);
                }
                self.take_switch(at.datapath, out);
            }
            Happening::Host(index, frame) => {
                if let Some(answer) = self.hosts[index].receive(&frame) {
                    self.send(index, answer);
                }
            }
        }
    }

    /// A frame of a host goes out.
    pub(crate) fn send(&mut self, host: usize, frame: Vec<u8>) {
        let at = self.hosts[host].at;
        self.put(0, Happening::Port(at, frame.into()));
    }

    /// A frame comes by any port.
    pub(crate) fn inject(&mut self, at: PortRef, frame: Vec<u8>) {
        self.put(0, Happening::Port(at, frame.into()));
    }

    /// A SYN of a host to another one.
    pub(crate) fn syn(&mut self, from: usize, port: u16, to: usize, options: Vec<MptcpOption>) {
        let destination = (self.hosts[to].ip, 80).into();
        let segment = self.hosts[from].segment(destination, port, flags(true, false), options);
        let frame = self.hosts[from].frame(self.hosts[to].mac, segment);
        self.send(from, frame);
    }

    /// A segment of data of a host to another one.
    pub(crate) fn data(&mut self, from: usize, ports: [u16; 2], to: usize) {
        let destination = (self.hosts[to].ip, ports[1]).into();
        let mut segment =
            self.hosts[from].segment(destination, ports[0], flags(false, true), Vec::new());
        segment.payload = Bytes::from_static(&[7; 1000]);
        let frame = self.hosts[from].frame(self.hosts[to].mac, segment);
        self.send(from, frame);
    }

    /// The link at a port comes or goes, at both ends.
    pub(crate) fn set_link(&mut self, at: PortRef, up: bool) {
        let ends = [Some(at), self.links.get(&at).copied()];
        for end in ends.into_iter().flatten() {
            let mut out = Vec::new();
            if let Some(switch) = self.switches.get_mut(&end.datapath) {
                switch.set_link(end.port, up, &mut out);
            }
            self.take_switch(end.datapath, out);
        }
    }

    /// The link at a port loses all from now on, and its ends do not know.
    pub(crate) fn cut(&mut self, at: PortRef) {
        if let Some(other) = self.links.remove(&at) {
            self.links.remove(&other);
        }
    }

    /// A wire between two ports.
    pub(crate) fn join_ports(&mut self, one: PortRef, other: PortRef) {
        self.links.insert(one, other);
        self.links.insert(other, one);
    }

    /// Keeps the frames of discovery that go out by a port.
    pub(crate) fn record_lldp(&mut self, at: PortRef) {
        self.recorded_at = Some(at);
    }

    /// A switch connects again.
    pub(crate) fn begin_anew(&mut self, datapath: u64) {
        let mut out = Vec::new();
        if let Some(switch) = self.switches.get_mut(&datapath) {
            switch.connect(CONTROLLER, &mut out);
        }
        self.take_switch(datapath, out);
        let mut out = Vec::new();
        let connection = ConnectionId(datapath as u32);
        self.controller.connect(self.now_ns, connection, &mut out);
        self.take_controller(out);
    }

    /// Switches that the links of each subflow's path lead to, of a connection by its place.
    pub(crate) fn paths(&self, connection: usize) -> Vec<Vec<u64>> {
        let connections = self.controller.connections();
        let subflows = connections[connection].subflows.iter();
        subflows.map(|subflow| switches(&subflow.path)).collect()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        let events = self.controller.events_since(0);
        events.map(|(_, _, event)| event.clone()).collect()
    }

    /// Rules of the paths of subflows in all switches.
    pub(crate) fn rules(&mut self) -> usize {
        let datapaths: Vec<u64> = self.switches.keys().copied().collect();
        datapaths.into_iter().map(|one| self.rules_of(one)).sum()
    }

    /// Rules of the paths of subflows in a switch.
    pub(crate) fn rules_of(&mut self, datapath: u64) -> usize {
        let entries = self.entries(datapath);
        entries.iter().filter(|one| one.idle_timeout > 0).count()
    }

    /// Rules of the ways round the links of paths in all switches.
    pub(crate) fn detours(&mut self) -> usize {
        let datapaths: Vec<u64> = self.switches.keys().copied().collect();
        let entries = datapaths.into_iter().flat_map(|one| self.entries(one));
        entries.filter(|one| one.idle_timeout == 0).count()
    }

    /// Entries of subflows in the tables of a switch.
    fn entries(&mut self, datapath: u64) -> Vec<FlowStats> {
        let request = Request::Flow(FlowStatsRequest {
            table: mptcplab_openflow::flow::ALL_TABLES,
            out_port: mptcplab_openflow::port::number::ANY,
            out_group: mptcplab_openflow::group::number::ANY,
            cookie: 0,
            cookie_mask: 0,
            fields: Default::default(),
        });
        let content = Part {
            more: false,
            content: request,
        };
        let message = Message::new(1, Body::MultipartRequest(content));
        let mut out = Vec::new();
        let switch = self.switches.get_mut(&datapath).expect("a switch");
        switch.receive_message(self.now_ns, CONTROLLER, &message, &mut out);
        let mut entries = Vec::new();
        for one in out {
            if let switch::Output::Message { message, .. } = one
                && let Body::MultipartReply(part) = message.body
                && let Reply::Flow(found) = part.content
            {
                entries.extend(found.into_iter().filter(|entry| entry.cookie != 0));
            }
        }
        entries
    }
}

pub(crate) fn switches(path: &[Link]) -> Vec<u64> {
    path.iter().map(|link| link.to.datapath).collect()
}
