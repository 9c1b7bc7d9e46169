//! ARP and neighbour discovery: answered by the controller from what it has learned, else asked for
//! by all ports that have no link, so that no question goes round in a loop.

use std::net::IpAddr;

use mptcplab_wire::ethernet::{Arp, MacAddress, Neighbour, NeighbourKind, Operation};

use super::waiting::Received;
use crate::controller::Controller;
use crate::messages;
use crate::place::PortRef;

impl Controller {
    /// Takes an ARP packet of a host.
    pub(super) fn receive_arp(&mut self, packet: Received, from: MacAddress, arp: Arp) {
        if arp.sender_mac != from {
            return;
        }
        let is_probe = arp.sender.is_unspecified();
        if !is_probe && !self.learn(packet.at, from, arp.sender.into()) {
            return;
        }
        match arp.operation {
            Operation::Request if arp.sender == arp.target => {}
            Operation::Request => {
                let known = self.hosts.get(arp.target.into()).copied();
                match known {
                    Some(host) if host.at == packet.at => {}
                    Some(host) => {
                        let answer = arp.answer(host.mac).frame();
                        self.answer_host(packet.at, answer);
                    }
                    None => self.ask_all(packet.at, packet.data),
                }
            }
            Operation::Reply => self.deliver(arp.target_mac, packet),
        }
    }

    /// Takes a message of neighbour discovery of a host.
    pub(super) fn receive_neighbour(
        &mut self,
        packet: Received,
        from: MacAddress,
        to: MacAddress,
        message: Neighbour,
    ) {
        // The address that the message speaks for: none while it is being tried out.
        let own = match message.kind {
            NeighbourKind::Solicitation => message.source,
            NeighbourKind::Advertisement => message.target,
        };
        if message.mac.is_some_and(|mac| mac != from) {
            return;
        }
        if !own.is_unspecified() && !self.learn(packet.at, from, own.into()) {
            return;
        }
        match message.kind {
            NeighbourKind::Solicitation => {
                let known = self.hosts.get(message.target.into()).copied();
                match known {
                    Some(host) if host.at == packet.at => {}
                    Some(host) => {
                        let answer = message.answer(host.mac).frame(host.mac, Some(from));
                        self.answer_host(packet.at, answer);
                    }
                    None => self.ask_all(packet.at, packet.data),
                }
            }
            NeighbourKind::Advertisement => self.deliver(to, packet),
        }
    }

    /// Asks for the port of an address in the name of the host that sends to it.
    pub(super) fn ask(&mut self, at: PortRef, mac: MacAddress, from: IpAddr, wanted: IpAddr) {
        let question = match (from, wanted) {
            (IpAddr::V4(from), IpAddr::V4(wanted)) => Arp::request(mac, from, wanted).frame(),
            (IpAddr::V6(from), IpAddr::V6(wanted)) => {
                Neighbour::solicitation(mac, from, wanted).frame(mac, None)
            }
            _ => return,
        };
        self.ask_all(at, question);
    }

    /// Sends a question by all ports without a link, but for the one that it came by.
    fn ask_all(&mut self, at: PortRef, question: Vec<u8>) {
        let ports: Vec<(u64, Vec<u32>)> = self.topology.host_ports().collect();
        for (datapath, mut ports) in ports {
            ports.retain(|port| PortRef::new(datapath, *port) != at);
            if !ports.is_empty() {
                self.send(datapath, messages::packet_out(&ports, question.clone()));
            }
        }
    }

    fn answer_host(&mut self, at: PortRef, answer: Vec<u8>) {
        self.send(at.datapath, messages::packet_out(&[at.port], answer));
    }

    /// Hands an answer to the interface that has asked, if that is known.
    fn deliver(&mut self, to: MacAddress, packet: Received) {
        if let Some(at) = self.hosts.port_of(to).filter(|at| *at != packet.at) {
            self.answer_host(at, packet.data);
        }
    }
}
