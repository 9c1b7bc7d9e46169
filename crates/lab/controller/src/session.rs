//! Connections of switches: the begin, and what switches say.

use std::collections::{BTreeMap, BTreeSet};

use mptcplab_openflow::error::{BadRequest, ErrorMessage, HelloFailed};
use mptcplab_openflow::multipart::{Reply, Request};
use mptcplab_openflow::port::{Port, PortReason, PortStatus};
use mptcplab_openflow::setup::Features;
use mptcplab_openflow::{Body, Hello, Message, port};

use crate::bucket::Bucket;
use crate::controller::Controller;
use crate::events::Event;
use crate::forwarding::waiting::Cause;
use crate::messages;
use crate::output::{ConnectionId, Output};
use crate::place::PortRef;
use crate::role::RoleRequest;
use crate::timers::Timer;
use crate::topology::{SwitchPort, SwitchState};

/// The state of a connection.
#[derive(Clone, Debug)]
pub(crate) enum Session {
    /// The switch's hello has not come yet.
    Hello,
    /// The switch's features have not come yet.
    Features,
    /// The switch's answer about roles has not come yet.
    Role(RoleRequest),
    /// The switch is known.
    Known {
        datapath: u64,
        /// The transaction of the meter and of the rule that uses it.
        meter_xid: u32,
        /// The transaction of the barrier behind the first rules, until that is answered.
        barrier_xid: Option<u32>,
        /// Ports that the switch has described so far; `None`: all are known.
        described: Option<BTreeSet<u32>>,
    },
}

impl Session {
    /// The switch, as soon as it has said its features.
    pub(crate) fn datapath(&self) -> Option<u64> {
        match self {
            Self::Hello | Self::Features => None,
            Self::Role(asked) => Some(asked.datapath),
            Self::Known { datapath, .. } => Some(*datapath),
        }
    }
}

impl Controller {
    pub(crate) fn begin(&mut self, connection: ConnectionId) {
        self.sessions.insert(connection, Session::Hello);
        self.say(connection, Body::Hello(Hello::ours()));
    }

    /// Ends a connection from this side.
    pub(crate) fn close(&mut self, connection: ConnectionId) {
        self.end(connection);
        self.outbox.push(Output::Close(connection));
    }

    /// Forgets a connection. Rules of the switch go on, so that its subflows are not moved.
    pub(crate) fn end(&mut self, connection: ConnectionId) {
        let ended = self.sessions.remove(&connection);
        let Some(datapath) = ended.as_ref().and_then(Session::datapath) else {
            return;
        };
        if let Some(switch) = self.topology.switches.get_mut(&datapath) {
            switch.connection = None;
            switch.is_ready = false;
            switch.echo = None;
        }
        if let Some(Session::Known { .. }) = ended {
            self.note(Event::SwitchDown(datapath));
        }
        self.fail_installs_of(datapath);
        self.topology_changed();
    }

    pub(crate) fn take_message(&mut self, connection: ConnectionId, message: &Message) {
        if let Body::EchoRequest(data) = &message.body {
            let reply = Message::new(message.xid, Body::EchoReply(data.clone()));
            self.outbox.push(Output::Message {
                connection,
                message: reply,
            });
        }
        match (self.sessions.get(&connection), &message.body) {
            (Some(Session::Hello), Body::Hello(hello)) if hello.agrees() => {
                self.sessions.insert(connection, Session::Features);
                self.say(connection, Body::FeaturesRequest);
            }
            (Some(Session::Hello), Body::Hello(_)) => {
                let error = ErrorMessage {
                    kind: HelloFailed::Incompatible.into(),
                    data: b"this controller speaks OpenFlow 1.3 alone".to_vec(),
                };
                self.say(connection, Body::Error(error));
                self.close(connection);
            }
            (Some(Session::Features), Body::FeaturesReply(features)) => {
                self.take_features(connection, features);
            }
            (Some(Session::Role(asked)), Body::EchoReply(_)) => {
                let datapath = asked.datapath;
                self.receive_echo(datapath, message.xid);
            }
            (Some(Session::Role(asked)), body) => {
                self.take_role(connection, *asked, message.xid, body);
            }
            (Some(Session::Known { datapath, .. }), body) => {
                let datapath = *datapath;
                if let Some(switch) = self.topology.switches.get_mut(&datapath) {
                    switch.heard_ns = self.now_ns;
                }
                self.take_body(connection, datapath, message.xid, body);
            }
            _ => {}
        }
    }

    /// Takes a switch, unless another connection has it or there are too many.
    fn take_features(&mut self, connection: ConnectionId, features: &Features) {
        let datapath = features.datapath_id;
        let now_ns = self.now_ns;
        let known = self.topology.switches.get(&datapath);
        let is_full =
            known.is_none() && self.topology.switches.len() >= self.config.limits.switches;
        let is_taken = known.is_some_and(|switch| switch.connection.is_some());
        if is_full || is_taken || features.auxiliary_id != 0 {
            return self.close(connection);
        }
        let switches = &mut self.topology.switches;
        let switch = switches
            .entry(datapath)
            .or_insert_with(|| SwitchState::new(now_ns));
        switch.connection = Some(connection);
        switch.heard_ns = now_ns;
        match self.config.is_master {
            true => self.ask_role(connection, datapath),
            false => self.set_up(connection, datapath),
        }
    }

    /// Gives a switch its first rules, and asks for its ports.
    pub(crate) fn set_up(&mut self, connection: ConnectionId, datapath: u64) {
        self.say(connection, messages::set_config());
        self.say(connection, messages::delete_all());
        let groups_xid = self.say(connection, messages::delete_groups());
        self.say_as(connection, groups_xid, messages::try_failover());
        if let Some(switch) = self.topology.switches.get_mut(&datapath) {
            switch.groups = Some(BTreeMap::new());
            switch.groups_xid = groups_xid;
        }
        self.say(connection, messages::delete_meters());
        let rate = self.config.limits.packet_ins_by_switch;
        let meter_xid = self.say(connection, messages::meter(rate));
        self.say_as(connection, meter_xid, messages::miss(true));
        self.say(connection, messages::lldp());
        self.say(connection, messages::request(Request::PortDesc));
        let barrier_xid = self.say(connection, Body::BarrierRequest);
        self.sessions.insert(
            connection,
            Session::Known {
                datapath,
                meter_xid,
                barrier_xid: Some(barrier_xid),
                described: Some(BTreeSet::new()),
            },
        );
    }

    fn take_body(&mut self, connection: ConnectionId, datapath: u64, xid: u32, body: &Body) {
        match body {
            Body::EchoReply(_) => self.receive_echo(datapath, xid),
            Body::Error(error) => self.take_error(connection, datapath, xid, error),
            Body::BarrierReply => self.take_barrier(connection, datapath, xid),
            Body::PacketIn(packet) => self.receive_packet(datapath, packet),
            Body::FlowRemoved(removed) => self.take_flow_removed(datapath, removed),
            Body::PortStatus(status) => self.take_port_status(datapath, status),
            Body::MultipartReply(part) => match &part.content {
                Reply::PortDesc(ports) => {
                    self.take_ports(connection, datapath, ports, part.more);
                }
                Reply::Flow(entries) => self.take_counters(datapath, entries),
                Reply::PortStats(statistics) => {
                    let now_ns = self.now_ns;
                    for one in statistics {
                        if let Some(port) = self.topology.port_mut(PortRef::new(datapath, one.port))
                        {
                            port.load.read(now_ns, one);
                            // A link that is full loses frames of discovery, but it is there.
                            if let Some(at_ns) = port.load.received_after(now_ns, one)
                                && let Some(peer) = &mut port.peer
                            {
                                peer.seen_ns = peer.seen_ns.max(at_ns);
                            }
                        }
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn take_error(
        &mut self,
        connection: ConnectionId,
        datapath: u64,
        xid: u32,
        error: &ErrorMessage,
    ) {
        if error.kind == BadRequest::IsSlave.into() {
            self.note_not_master(datapath);
        }
        if let Some(Session::Known { meter_xid, .. }) = self.sessions.get(&connection)
            && *meter_xid == xid
        {
            let switch = self.topology.switches.get_mut(&datapath);
            let had_meter = switch.is_some_and(|switch| std::mem::take(&mut switch.has_meter));
            if had_meter {
                self.say(connection, messages::miss(false));
            }
            return;
        }
        let switch = self.topology.switches.get(&datapath);
        if switch.is_some_and(|switch| switch.groups_xid == xid) {
            return self.refuse_groups(datapath);
        }
        self.fail_install(datapath, xid, error.kind);
    }

    fn take_barrier(&mut self, connection: ConnectionId, datapath: u64, xid: u32) {
        if let Some(Session::Known { barrier_xid, .. }) = self.sessions.get_mut(&connection)
            && barrier_xid.take_if(|waited| *waited == xid).is_some()
        {
            if let Some(switch) = self.topology.switches.get_mut(&datapath) {
                switch.is_ready = true;
            }
            self.note(Event::SwitchUp(datapath));
            self.measure_control(datapath);
            self.settle_ports(datapath);
            self.probe_ports(datapath);
            self.topology_changed();
            self.install_again(datapath);
            return;
        }
        self.confirm_install(datapath, xid);
        self.release(Cause::Barrier(datapath, xid));
    }

    /// Starts the time after which ports without a link are ports of hosts.
    fn settle_ports(&mut self, datapath: u64) {
        let settled_ns = self.now_ns + self.config.settle_ns;
        if let Some(switch) = self.topology.switches.get_mut(&datapath) {
            for (number, port) in &mut switch.ports {
                port.settled_ns = settled_ns;
                let at = PortRef::new(datapath, *number);
                self.timers.set(settled_ns, Timer::Settled(at));
            }
        }
    }

    fn take_ports(&mut self, connection: ConnectionId, datapath: u64, ports: &[Port], more: bool) {
        ports.iter().for_each(|port| self.put_port(datapath, port));
        let Some(Session::Known { described, .. }) = self.sessions.get_mut(&connection) else {
            return;
        };
        let Some(so_far) = described else {
            return;
        };
        let room = self.config.limits.ports.saturating_sub(so_far.len());
        so_far.extend(ports.iter().take(room).map(|port| port.port));
        if more {
            return;
        }
        let described = described.take().unwrap_or_default();
        let switch = self.topology.switches.get(&datapath);
        let known = switch.map(|switch| switch.ports.keys().copied().collect::<Vec<u32>>());
        for port in known.unwrap_or_default() {
            if !described.contains(&port) {
                self.port_down(PortRef { datapath, port });
                self.remove_port(PortRef { datapath, port });
            }
        }
    }

    fn take_port_status(&mut self, datapath: u64, status: &PortStatus) {
        let at = PortRef::new(datapath, status.port.port);
        match status.reason {
            PortReason::Delete => {
                self.port_down(at);
                self.remove_port(at);
            }
            PortReason::Add | PortReason::Modify => self.put_port(datapath, &status.port),
        }
        self.topology_changed();
    }

    /// Takes a port's description.
    fn put_port(&mut self, datapath: u64, description: &Port) {
        let at = PortRef::new(datapath, description.port);
        let settled_ns = self.now_ns + self.config.settle_ns;
        let limits = self.config.limits;
        let bucket = Bucket::new(limits.packet_ins_by_port, self.now_ns);
        let Some(switch) = self.topology.switches.get_mut(&datapath) else {
            return;
        };
        let is_ready = switch.is_ready;
        let was_up = switch.ports.get(&at.port).map(|port| port.is_up);
        let is_physical = (1..=port::number::MAX).contains(&at.port);
        if !is_physical || was_up.is_none() && switch.ports.len() >= limits.ports {
            return;
        }
        let found = switch
            .ports
            .entry(at.port)
            .or_insert_with(|| SwitchPort::new(*description, settled_ns, bucket));
        found.describe(description);
        match (was_up.unwrap_or(false), found.is_up) {
            (true, false) => self.port_down(at),
            (false, true) if is_ready => {
                found.settled_ns = settled_ns;
                self.timers.set(settled_ns, Timer::Settled(at));
                self.probe_port(at);
            }
            _ => {}
        }
    }

    /// Forgets all that was beyond a port.
    fn port_down(&mut self, at: PortRef) {
        self.remove_link(at);
        self.hosts.remove_at(at);
    }

    fn remove_port(&mut self, at: PortRef) {
        if let Some(switch) = self.topology.switches.get_mut(&at.datapath) {
            switch.ports.remove(&at.port);
        }
    }
}
