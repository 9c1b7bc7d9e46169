//! Discovery of links by signed frames, the delay of links, and the end of what is too old.

use super::capacity::{Capacity, Frame};
use super::lldp::{self, Refusal};
use super::switch::{Peer, Samples, SentFrame};
use crate::controller::Controller;
use crate::events::Event;
use crate::forwarding::waiting::Cause;
use crate::messages;
use crate::place::{Link, PortRef};
use crate::timers::Timer;

const SECOND: u64 = 1_000_000_000;

/// The longest time between two echo requests to a switch, ns.
const ECHO_NS: u64 = SECOND;

/// Time without an answer to one after which a switch is taken for dead, ns.
const UNANSWERED_NS: u64 = 5 * SECOND;

/// Half intervals of discovery without a frame after which a link is gone: three frames are missed
/// then, and the fourth is not due.
const MISSED_HALVES: u64 = 7;

/// Frames of discovery between two rounds or readings, at most, where each has waited in a queue.
const MOST_BETWEEN: u64 = 10;

/// The part of a link's rate that they may take, as they are about so large. Its inverse.
const PART_OF_RATE: u64 = 100;
const FRAME_BITS: u64 = 100 * 8;
const LEAST_PAUSE_NS: u64 = SECOND / 100;

/// Intervals between two rounds, one long, after which the caller has been stopped.
const STOPPED: u64 = 2;

impl Controller {
    /// Sends frames of discovery by all ports.
    pub(crate) fn discover(&mut self) {
        let interval_ns = self.config.discovery_interval_ns;
        self.timers.set(self.now_ns + interval_ns, Timer::Discovery);
        let before_ns = std::mem::replace(&mut self.discovered_ns, self.now_ns);
        let datapaths: Vec<u64> = self.topology.switches.keys().copied().collect();
        for datapath in datapaths {
            self.probe_ports(datapath);
        }
        // A caller that was stopped has not taken frames: links have another round.
        if self.now_ns - before_ns <= STOPPED * interval_ns {
            self.remove_old();
        }
    }

    /// Asks all switches whether they are there.
    pub(crate) fn ask_echoes(&mut self) {
        let interval_ns = self.echo_interval_ns();
        self.timers.set(self.now_ns + interval_ns, Timer::Echo);
        let before_ns = std::mem::replace(&mut self.asked_ns, self.now_ns);
        // A caller that was stopped has not taken the answers of switches: they have another round.
        let was_stopped = self.now_ns - before_ns > STOPPED * interval_ns;
        let datapaths: Vec<u64> = self.topology.switches.keys().copied().collect();
        for datapath in datapaths {
            if was_stopped && let Some(switch) = self.topology.switches.get_mut(&datapath) {
                switch.echo = None;
            }
            self.ask_echo(datapath);
        }
    }

    /// The time between two echo requests: that between two frames of discovery, but bounded, so that
    /// switches that are silent are found soon however rarely links are looked for.
    pub(crate) fn echo_interval_ns(&self) -> u64 {
        self.config.discovery_interval_ns.min(ECHO_NS)
    }

    /// Sends a frame of discovery by all ports of a switch.
    pub(crate) fn probe_ports(&mut self, datapath: u64) {
        if !self.topology.is_connected(datapath) {
            return;
        }
        let Some(switch) = self.topology.switches.get(&datapath) else {
            return;
        };
        let up = switch.ports.iter().filter(|(_, port)| port.is_up);
        let up: Vec<u32> = up.map(|(number, _)| *number).collect();
        up.into_iter()
            .for_each(|port| self.probe_port(PortRef { datapath, port }));
    }

    /// Sends a frame of discovery by a port.
    pub(crate) fn probe_port(&mut self, at: PortRef) {
        self.send_lldp(at, false);
    }

    /// Sends a frame of discovery by a port between two rounds, unless one was sent just now.
    pub(crate) fn probe_between(&mut self, at: PortRef) {
        let (now_ns, pause_ns) = (self.now_ns, self.pause_ns(at));
        if let Some(port) = self.topology.port_mut(at) {
            port.sends_between = false;
            if port.is_up && port.sent_ns.saturating_add(pause_ns) <= now_ns {
                self.send_lldp(at, true);
            }
        }
    }

    /// Has a frame of discovery follow soon by a port whose link seems to be busy and slow, where subflows
    /// may leave it.
    pub(super) fn probe_soon(&mut self, at: PortRef) {
        let pause_ns = self.pause_ns(at);
        let reviews = self.policy.reviews();
        let at_ns = match self.topology.port_mut(at) {
            Some(port) if reviews && !port.sends_between => {
                port.sends_between = true;
                self.now_ns.max(port.sent_ns.saturating_add(pause_ns))
            }
            _ => return,
        };
        self.timers.set(at_ns, Timer::Between(at));
    }

    /// The least time between two frames of discovery by a port, ns: few for the readings of counters,
    /// and for the rate of the link.
    fn pause_ns(&self, at: PortRef) -> u64 {
        let interval_ns = self.config.discovery_interval_ns;
        let interval_ns = interval_ns.max(self.config.load_interval_ns);
        let frame_ns = self
            .port_rate_bps(at)
            .map_or(0, |bps| FRAME_BITS * SECOND / bps);
        (interval_ns / MOST_BETWEEN)
            .max(frame_ns.saturating_mul(PART_OF_RATE))
            .max(LEAST_PAUSE_NS)
    }

    fn send_lldp(&mut self, at: PortRef, is_between: bool) {
        let (now_ns, number) = (self.now_ns, self.next_number);
        let Some(port) = self.topology.port_mut(at) else {
            return;
        };
        port.note_sent(SentFrame {
            number,
            at_ns: now_ns,
            is_between,
        });
        let mac = port.description.hw_addr;
        self.next_number += 1;
        let frame = lldp::write(&self.config.key, at, mac, number);
        self.send(at.datapath, messages::packet_out(&[at.port], frame));
    }

    fn ask_echo(&mut self, datapath: u64) {
        let now_ns = self.now_ns;
        let Some(switch) = self.topology.switches.get_mut(&datapath) else {
            return;
        };
        let Some(connection) = switch.connection else {
            return;
        };
        match switch.echo {
            Some((_, since_ns)) => {
                if now_ns - since_ns > UNANSWERED_NS {
                    self.close(connection);
                }
            }
            None => {
                let xid = self.send(datapath, messages::echo_request());
                if let Some(switch) = self.topology.switches.get_mut(&datapath) {
                    switch.echo = Some((xid, now_ns));
                }
            }
        }
    }

    /// Asks a switch for the round trip of its control channel as soon as it is there.
    pub(crate) fn measure_control(&mut self, datapath: u64) {
        self.ask_echo(datapath);
    }

    /// Takes an echo reply.
    pub(crate) fn receive_echo(&mut self, datapath: u64, xid: u32) {
        let now_ns = self.now_ns;
        if let Some(switch) = self.topology.switches.get_mut(&datapath)
            && let Some((_, since_ns)) = switch.echo.take_if(|(asked, _)| *asked == xid)
        {
            switch.round_trip.add(now_ns - since_ns);
        }
    }

    /// Takes a frame of LLDP that came by a port.
    pub(crate) fn receive_lldp(&mut self, at: PortRef, frame: &[u8]) {
        let (origin, number) = match lldp::read(&self.config.key, frame) {
            Ok(read) => read,
            Err(refusal) => return self.refuse_lldp(at, refusal),
        };
        let sent = self
            .topology
            .port_mut(origin)
            .and_then(|port| port.take_sent(number));
        let Some(sent) = sent else {
            return self.refuse_lldp(at, Refusal::Forged);
        };
        let sent_ns = sent.at_ns;
        // A host that passes frames on would be a link of its own; ports with hosts have none.
        let has_hosts = self.hosts.rule_out_link(at) || self.hosts.rule_out_link(origin);
        let other = self.topology.port(at).and_then(|port| port.peer.as_ref());
        let has_other = other.is_some_and(|peer| peer.at != origin);
        if origin == at || has_hosts || has_other {
            return self.refuse_lldp(at, Refusal::Forged);
        }
        let delay_ns = self.link_delay_ns(origin, at, sent_ns, frame.len());
        let now_ns = self.now_ns;
        let excess_ns = |at: PortRef| {
            let switch = self.topology.switches.get(&at.datapath);
            switch.map_or(0, |switch| switch.control_excess_ns(now_ns))
        };
        let control_ns = excess_ns(origin) + excess_ns(at);
        let told_bps = self.told_bps(&Link {
            from: origin,
            to: at,
        });
        let Some(port) = self.topology.port_mut(at) else {
            return;
        };
        let peer = port.peer.get_or_insert_with(|| Peer {
            at: origin,
            seen_ns: now_ns,
            delay: Samples::default(),
            capacity: Capacity::default(),
        });
        peer.seen_ns = now_ns;
        // There are many between two rounds where there is a queue: none is likely to be the least.
        if !sent.is_between {
            peer.delay.add(delay_ns);
        }
        let frame = Frame {
            sent_ns,
            took_ns: delay_ns,
            control_ns,
        };
        peer.capacity.add(frame, peer.delay.least());
        let is_new = !sent.is_between && peer.delay.is_first();
        let bps = told_bps.unwrap_or(port.load.received_bps);
        let asks_for_frames = peer.capacity.asks_for_frames(bps);
        if asks_for_frames {
            self.probe_soon(origin);
        }
        if !is_new {
            return;
        }
        self.waiting.forget(Cause::Port(at));
        self.hosts.remove_at(at);
        match self.topology.peer(at) {
            Some(_) => {
                let link = Link {
                    from: origin,
                    to: at,
                };
                self.note(Event::LinkUp(link));
                self.topology_changed();
            }
            // The other direction is not left to the next round.
            None => self.probe_port(at),
        }
    }

    fn refuse_lldp(&mut self, at: PortRef, refusal: Refusal) {
        if refusal == Refusal::Forged {
            self.note(Event::LinkRefused(at));
        }
        if !self.admit(at) {
            self.send(at.datapath, messages::block_lldp(at.port));
        }
    }

    /// The delay of a link: the time since the frame was sent, less the control channels' and that
    /// of sending the frame itself.
    fn link_delay_ns(&self, from: PortRef, to: PortRef, sent_ns: u64, bytes: usize) -> u64 {
        let control = |at: PortRef| {
            let switch = self.topology.switches.get(&at.datapath);
            switch.map_or(0, |switch| switch.control_delay_ns())
        };
        let link = Link { from, to };
        // The rate as measured hangs on delays, so that it is not taken here.
        let sending_ns = match self.told_bps(&link) {
            Some(told_bps) => bytes as u64 * 8 * SECOND / told_bps,
            None => 0,
        };
        (self.now_ns - sent_ns)
            .saturating_sub(control(from) + control(to))
            .saturating_sub(sending_ns)
    }

    /// Takes the link of a port away, if it has one.
    pub(crate) fn remove_link(&mut self, at: PortRef) {
        if let Some(to) = self.topology.peer(at) {
            self.note(Event::LinkDown(Link { from: at, to }));
        }
        let peer = self.topology.port_mut(at).and_then(|port| port.peer.take());
        if let Some(peer) = peer
            && let Some(other) = self.topology.port_mut(peer.at)
        {
            other.peer.take_if(|back| back.at == at);
        }
    }

    /// Removes links of which no frame has come for long, and switches without a connection.
    fn remove_old(&mut self) {
        let missed_ns = MISSED_HALVES * self.config.discovery_interval_ns / 2;
        // A link that is full is known to be there by counters alone, which may be two readings old.
        let age_ns = missed_ns.max(5 * self.config.load_interval_ns / 2);
        let before_ns = self.now_ns.saturating_sub(age_ns);
        let heard_before_ns = self.now_ns.saturating_sub(self.config.switch_age_ns);
        let mut old = Vec::new();
        for (datapath, switch) in &self.topology.switches {
            for (number, port) in &switch.ports {
                if port
                    .peer
                    .as_ref()
                    .is_some_and(|peer| peer.seen_ns < before_ns)
                {
                    old.push(PortRef::new(*datapath, *number));
                }
            }
        }
        let switches = self.topology.switches.iter();
        let gone: Vec<u64> = switches
            .filter(|(_, switch)| switch.connection.is_none() && switch.heard_ns < heard_before_ns)
            .map(|(datapath, _)| *datapath)
            .collect();
        if old.is_empty() && gone.is_empty() {
            return;
        }
        old.into_iter().for_each(|at| self.remove_link(at));
        for datapath in gone {
            let switch = self.topology.switches.get(&datapath);
            let ports = switch.map(|switch| switch.ports.keys().copied().collect::<Vec<u32>>());
            for port in ports.unwrap_or_default() {
                self.remove_link(PortRef { datapath, port });
            }
            self.hosts.remove(|_, host| host.at.datapath == datapath);
            self.topology.switches.remove(&datapath);
        }
        self.topology_changed();
    }

    /// Takes the graph as it is now, and has subflows follow it.
    pub(crate) fn topology_changed(&mut self) {
        if self.paths.set_graph(self.topology.graph()) {
            self.follow_network();
        }
    }
}
