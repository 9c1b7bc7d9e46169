//! Claims of ports on addresses, and the questions to their holders.

use std::net::{IpAddr, Ipv4Addr};

use mptcplab_wire::ethernet::{Arp, MacAddress, Neighbour};

use super::hosts::{Claim, Host};
use crate::controller::Controller;
use crate::events::Event;
use crate::frame::is_unicast;
use crate::messages;
use crate::place::PortRef;
use crate::timers::Timer;

/// The controller's own hardware address, of the local kind, by which hosts answer it.
pub(crate) const OWN_MAC: MacAddress = [0x02, b'm', b'p', b't', b'c', b'p'];

impl Controller {
    /// Takes the addresses of a frame's sender, and says whether they belong to the port.
    pub(crate) fn learn(&mut self, at: PortRef, mac: MacAddress, ip: IpAddr) -> bool {
        if !is_unicast(mac) || mac == OWN_MAC || !is_host(ip) {
            return false;
        }
        let limit = self.config.limits.hosts_by_port;
        match self.hosts.claim(self.now_ns, at, mac, ip, limit) {
            Claim::Known => true,
            Claim::New => {
                self.note(Event::HostAt(ip, at));
                if self.hosts.was_displaced(ip) {
                    self.move_host(ip);
                }
                self.host_found(ip);
                true
            }
            Claim::Ask(holder_ip, holder) => {
                if self.is_usable(holder.at) {
                    self.ask_holder(holder_ip, &holder);
                    false
                } else {
                    self.hosts.settle(holder_ip);
                    self.learn(at, mac, ip)
                }
            }
            Claim::Refused => {
                self.note(Event::HostRefused(ip, at));
                false
            }
        }
    }

    /// Whether a host at a port could answer, or may do so again soon.
    fn is_usable(&self, at: PortRef) -> bool {
        self.topology.port(at).is_some_and(|port| port.is_up)
    }

    fn ask_holder(&mut self, ip: IpAddr, holder: &Host) {
        let frame = match ip {
            IpAddr::V4(v4) => Arp::request(OWN_MAC, Ipv4Addr::UNSPECIFIED, v4).frame(),
            IpAddr::V6(v6) => {
                let asking = Neighbour::solicitation(OWN_MAC, messages::OWN_IPV6, v6);
                asking.frame(OWN_MAC, None)
            }
        };
        self.send(
            holder.at.datapath,
            messages::packet_out(&[holder.at.port], frame),
        );
        let at_ns = self.now_ns + self.config.probe_ns;
        self.timers.set(at_ns, Timer::Probe(ip));
    }

    /// Gives an address that its host has not defended to the port that claims it. A host cannot
    /// answer while its switch has no connection: it keeps its address.
    pub(crate) fn end_probe(&mut self, ip: IpAddr) {
        let holder = self.hosts.get(ip).map(|host| host.at);
        if holder.is_some_and(|at| self.is_usable(at) && !self.topology.is_connected(at.datapath)) {
            self.hosts.withdraw(ip);
            return;
        }
        if let Some((at, mac, claimed)) = self.hosts.settle(ip)
            && self.learn(at, mac, claimed)
        {
            self.move_host(claimed);
        }
    }
}

/// Whether an address is one that a host may have.
fn is_host(ip: IpAddr) -> bool {
    let is_broadcast = ip == IpAddr::V4(Ipv4Addr::BROADCAST);
    !(ip.is_unspecified() || ip.is_multicast() || ip.is_loopback() || is_broadcast)
}
