//! Forwarding: packets that have no rule yet.

mod carried;
mod deserving;
mod failover;
mod fallback;
mod install;
mod neighbours;
mod place;
mod prepare;
mod reroute;
mod reset;
pub(crate) mod review;
pub(crate) mod rules;
pub(crate) mod waiting;

pub(crate) use install::{Departure, Install};

use std::net::IpAddr;

use mptcplab_openflow::packet::PacketOut;
use mptcplab_openflow::packet::{PacketIn, PacketInReason};
use mptcplab_openflow::{Action, Body, Field};
use mptcplab_wire::ethernet::ether_type;

use crate::controller::Controller;
use crate::events::Event;
use crate::frame::{Content, Frame, Ip, is_unicast};
use crate::messages;
use crate::place::PortRef;
use crate::subflows::{Flow, State};
use crate::timers::Timer;
use waiting::{Cause, Received};

/// Nanoseconds for which a port is blocked.
const BLOCKED_NS: u64 = messages::BLOCK_S as u64 * 1_000_000_000;

impl Controller {
    /// Takes a packet of a switch.
    pub(crate) fn receive_packet(&mut self, datapath: u64, packet: &PacketIn) {
        let in_port = packet.fields.get(Field::InPort).map(|oxm| oxm.value);
        let Some(in_port) = in_port.and_then(|port| u32::try_from(port).ok()) else {
            return;
        };
        let at = PortRef::new(datapath, in_port);
        // Rules of subflows copy packets, which have gone on already.
        if packet.cookie != 0 && packet.reason == PacketInReason::Action {
            return self.observe(packet.cookie, at, &packet.data);
        }
        if self.topology.port(at).is_none_or(|port| !port.is_up) {
            return;
        }
        if packet.data.get(12..14) == Some(&ether_type::LLDP.to_be_bytes()[..]) {
            return self.receive_lldp(at, &packet.data);
        }
        if self.admit(at) {
            self.receive_frame(Received {
                since_ns: self.now_ns,
                at,
                buffer: packet.buffer,
                data: packet.data.clone(),
            });
        }
    }

    /// Whether a port has not sent too much; if it has, it is blocked.
    pub(crate) fn admit(&mut self, at: PortRef) -> bool {
        let now_ns = self.now_ns;
        let Some(port) = self.topology.port_mut(at) else {
            return false;
        };
        let is_admitted = port.packet_ins.take(now_ns);
        if !is_admitted && port.blocked_until_ns <= now_ns {
            port.blocked_until_ns = now_ns + BLOCKED_NS;
            self.note(Event::PortBlocked(at));
            self.send(at.datapath, messages::block(at.port));
        }
        is_admitted
    }

    pub(crate) fn receive_frame(&mut self, packet: Received) {
        let at = packet.at;
        let Some(port) = self.topology.port(at) else {
            return;
        };
        let is_link = port.peer.is_some();
        if !is_link && self.now_ns < port.settled_ns {
            return self.hold(Cause::Port(at), packet);
        }
        let Some(frame) = Frame::read(&packet.data) else {
            return;
        };
        match frame.content {
            Content::Ip(ip) if is_link => self.receive_between(packet, &ip),
            _ if is_link => {}
            Content::Lldp => {}
            Content::Arp(arp) => self.receive_arp(packet, frame.source, arp),
            Content::Neighbour(neighbour) => {
                self.receive_neighbour(packet, frame.source, frame.destination, neighbour);
            }
            Content::Ip(ref ip) => self.receive_ip(packet, &frame, ip),
        }
    }

    /// Takes an IP packet of a host. A source that is another's is a forgery.
    fn receive_ip(&mut self, packet: Received, frame: &Frame, ip: &Ip) {
        let at = packet.at;
        if !self.learn(at, frame.source, ip.source)
            || !is_unicast(frame.destination)
            || ip.destination.is_multicast()
        {
            return;
        }
        let by_mac = self.hosts.port_of(frame.destination);
        let to = by_mac.or_else(|| self.hosts.get(ip.destination).map(|host| host.at));
        match to {
            // Both are beyond the same port, and the packet has reached the other one.
            Some(to) if to == at => {}
            Some(to) => self.forward(packet, frame, ip, to),
            None => {
                let asks = !self.waiting.has(Cause::Host(ip.destination));
                self.hold(Cause::Host(ip.destination), packet);
                if asks {
                    self.ask(at, frame.source, ip.source, ip.destination);
                }
            }
        }
    }

    /// Takes a packet on its way between two switches, one of which has lost its rule.
    fn receive_between(&mut self, packet: Received, ip: &Ip) {
        let Some((number, is_from_opener)) = self.table.find(&Flow::of(ip)) else {
            return;
        };
        let hops = self.hops(number, is_from_opener);
        let hop = hops
            .iter()
            .find(|hop| (hop.datapath, hop.in_port) == (packet.at.datapath, packet.at.port));
        if let Some(hop) = hop {
            let departure = Departure::new(packet, hop.out_port);
            self.install(number, Some(departure));
        }
    }

    /// Takes a packet of a subflow that has rules, or had some.
    fn receive_known(&mut self, packet: Received, number: u64, is_from_opener: bool) {
        let Some(subflow) = self.table.subflow(number) else {
            return;
        };
        let own_end = usize::from(!is_from_opener);
        if subflow.ends[own_end] != packet.at {
            // The host has moved: its address was taken for the port's before.
            let addresses = [subflow.flow.source, subflow.flow.destination];
            self.move_host(addresses[own_end]);
        }
        let Some(subflow) = self.table.subflow(number) else {
            return;
        };
        if subflow.ends[own_end] != packet.at {
            return;
        }
        if subflow.state == State::Idle && !subflow.path.iter().all(|link| self.topology.has(link))
        {
            self.choose_again(number);
        }
        let packet = self.as_sent_on(number, packet);
        if let Some(hop) = self.hops(number, is_from_opener).first() {
            let departure = Departure::new(packet, hop.out_port);
            self.install(number, Some(departure));
        }
    }

    /// Keeps a packet until something is known.
    pub(crate) fn hold(&mut self, cause: Cause, packet: Received) {
        let limit = self.config.limits.held_packets;
        if self.waiting.hold(cause, packet, limit) {
            let at_ns = match cause {
                Cause::Port(at) => self.topology.port(at).map_or(0, |port| port.settled_ns),
                Cause::Host(_) | Cause::Token(_) | Cause::Bytes(_) => {
                    self.now_ns + self.config.wait_ns
                }
                Cause::Barrier(..) => self.now_ns + self.config.count_interval_ns,
            };
            self.timers.set(at_ns, Timer::Waiting(cause));
        }
    }

    /// Lets packets go on that waited for something which is known now, after what is being done.
    pub(crate) fn release(&mut self, cause: Cause) {
        self.released.extend(self.waiting.take(cause));
    }

    /// Lets packets go on that waited for a host.
    pub(crate) fn host_found(&mut self, ip: IpAddr) {
        self.release(Cause::Host(ip));
    }

    /// Sends a packet by a port of the switch that it came to.
    pub(crate) fn depart(&mut self, departure: Departure) {
        let Departure { packet, out_port } = departure;
        let out_port = match out_port == packet.at.port {
            true => mptcplab_openflow::port::number::IN_PORT,
            false => out_port,
        };
        let data = match packet.buffer {
            Some(_) => Vec::new(),
            None => packet.data,
        };
        let message = Body::PacketOut(PacketOut {
            buffer: packet.buffer,
            in_port: packet.at.port,
            actions: vec![Action::Output {
                port: out_port,
                max_len: 0,
            }],
            data,
        });
        self.send(packet.at.datapath, message);
    }
}
