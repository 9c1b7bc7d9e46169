//! Rules along a whole path before the packet goes on: each switch confirms its own by a barrier.

use std::collections::BTreeSet;

use mptcplab_openflow::Body;
use mptcplab_openflow::error::{BadAction, ErrorKind};

use super::rules::{self, Hop, Rule};
use super::waiting::Received;
use crate::controller::Controller;
use crate::events::Event;
use crate::paths::Path;
use crate::place::Link;
use crate::subflows::{Class, State, Subflow};
use crate::timers::Timer;

/// Packets of a subflow that wait for its rules.
const DEPARTURES: usize = 8;

/// A packet that goes on when the rules are there.
#[derive(Clone, Debug)]
pub(crate) struct Departure {
    pub(crate) packet: Received,
    pub(crate) out_port: u32,
}

impl Departure {
    pub(crate) fn new(packet: Received, out_port: u32) -> Self {
        Self { packet, out_port }
    }
}

/// Rules that are being installed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Install {
    /// Switches that have not answered the barrier: datapath and transaction.
    unconfirmed: BTreeSet<(u64, u32)>,
    departures: Vec<Departure>,
    until_ns: u64,
    /// Switches that were sent the rules again, without groups.
    without_groups: BTreeSet<u64>,
    /// Rules of the subflow's path before, which packets on their way may still need.
    pub(super) left: Vec<Rule>,
    /// The subflow's path before, if that is as good as ever, and it has only moved to a better one.
    pub(super) before: Option<Path>,
}

impl Install {
    /// Leaves rules alone that the subflow has again.
    pub(crate) fn keep(&mut self, rules: &[Rule]) {
        self.left
            .retain(|left| !rules.iter().any(|rule| rule.is_at(left)));
    }
}

impl Controller {
    /// The switches that packets of a subflow pass, in the direction from its opener or to it.
    pub(crate) fn hops(&self, number: u64, is_from_opener: bool) -> Vec<Hop> {
        let Some(subflow) = self.table.subflow(number) else {
            return Vec::new();
        };
        let mut hops = rules::hops(subflow.ends[0], &subflow.path, subflow.ends[1]);
        if !is_from_opener {
            hops.reverse();
            for hop in &mut hops {
                (hop.in_port, hop.out_port) = (hop.out_port, hop.in_port);
            }
        }
        hops
    }

    /// Installs the rules of a subflow; a packet goes on after that. While they are being installed
    /// packets only join the first one.
    pub(crate) fn install(&mut self, number: u64, departure: Option<Departure>) {
        let is_running = self.installs.contains_key(&number);
        let install = self.installs.entry(number).or_default();
        if install.departures.len() < DEPARTURES {
            install.departures.extend(departure);
        }
        if !is_running {
            self.start_install(number);
        }
    }

    fn start_install(&mut self, number: u64) {
        let path = self.table.subflow(number).map(|one| one.path.clone());
        let detours = path.map(|path| self.paths.detours(&path));
        let (Some(subflow), Some(detours)) = (self.table.subflow_mut(number), detours) else {
            self.installs.remove(&number);
            return;
        };
        subflow.detours = detours;
        let was_idle = subflow.state == State::Idle;
        subflow.state = State::Installing;
        subflow.counted = [false; 2];
        let (connection, path) = (subflow.connection, subflow.path.clone());
        let rules = rules::rules(subflow);
        if was_idle {
            self.take_path(number, &path, None);
            self.wake(connection);
        }
        let mut unconfirmed = BTreeSet::new();
        for own in rules.chunk_by(|one, other| one.datapath == other.datapath) {
            unconfirmed.extend(self.send_rules(number, own));
        }
        let until_ns = self.now_ns + self.config.wait_ns;
        self.timers.set(until_ns, Timer::Install(number));
        if let Some(install) = self.installs.get_mut(&number) {
            install.unconfirmed = unconfirmed;
            install.until_ns = until_ns;
        }
        self.install_detours(number);
    }

    /// Sends a rule of a subflow.
    pub(super) fn add_rule(&mut self, number: u64, rule: &Rule) {
        let forward = self.forward_action(rule);
        let message = rule.add(number, self.config.rule_idle_s, forward);
        self.send(rule.datapath, Body::FlowMod(message));
    }

    /// Ends an installation, and returns the packets that wait for it. Rules that were left are
    /// deleted.
    pub(crate) fn cancel_install(&mut self, number: u64) -> Vec<Departure> {
        let Some(install) = self.installs.remove(&number) else {
            return Vec::new();
        };
        for key in &install.unconfirmed {
            self.barriers.remove(key);
        }
        self.timers.clear(install.until_ns, Timer::Install(number));
        self.delete(number, install.left);
        install.departures
    }

    /// Takes the answer to a barrier.
    pub(crate) fn confirm_install(&mut self, datapath: u64, xid: u32) {
        let Some(number) = self.barriers.remove(&(datapath, xid)) else {
            return;
        };
        let Some(install) = self.installs.get_mut(&number) else {
            return;
        };
        install.unconfirmed.remove(&(datapath, xid));
        if !install.unconfirmed.is_empty() {
            return;
        }
        let departures = self.cancel_install(number);
        if let Some(subflow) = self.table.subflow_mut(number) {
            subflow.state = State::Active;
        }
        for departure in departures {
            self.depart(departure);
        }
    }

    /// Takes an error about a rule. One that names a group which the switch has refused is sent again
    /// without a group, once.
    pub(crate) fn fail_install(&mut self, datapath: u64, xid: u32, error: ErrorKind) {
        let Some(number) = self.barriers.get(&(datapath, xid)).copied() else {
            return;
        };
        let is_of_group = error == BadAction::BadOutGroup.into();
        let install = self.installs.get_mut(&number);
        if is_of_group && install.is_some_and(|one| one.without_groups.insert(datapath)) {
            self.barriers.remove(&(datapath, xid));
            self.refuse_groups(datapath);
            let rules = self.table.subflow(number).map(rules::rules);
            let mut rules = rules.unwrap_or_default();
            rules.retain(|rule| rule.datapath == datapath);
            let again = self.send_rules(number, &rules);
            if let Some(install) = self.installs.get_mut(&number) {
                install.unconfirmed.remove(&(datapath, xid));
                install.unconfirmed.extend(again);
            }
            return;
        }
        self.give_up_install(number);
    }

    /// Sends rules of a subflow to their switch, which confirms them by a barrier; gives the key of
    /// that.
    fn send_rules(&mut self, number: u64, rules: &[Rule]) -> Option<(u64, u32)> {
        let datapath = rules.first()?.datapath;
        let xid = self.new_xid();
        for rule in rules {
            let forward = self.forward_action(rule);
            let message = rule.add(number, self.config.rule_idle_s, forward);
            self.send_as(datapath, xid, Body::FlowMod(message));
        }
        self.send_as(datapath, xid, Body::BarrierRequest);
        self.barriers.insert((datapath, xid), number);
        Some((datapath, xid))
    }

    /// Ends installations that wait for a switch which is gone.
    pub(crate) fn fail_installs_of(&mut self, datapath: u64) {
        let waiting = self.barriers.range((datapath, 0)..=(datapath, u32::MAX));
        let waiting: BTreeSet<u64> = waiting.map(|(_, number)| *number).collect();
        waiting
            .into_iter()
            .for_each(|number| self.give_up_install(number));
    }

    /// Takes away the rules of a subflow that not all switches have taken: it goes back to the path that
    /// it was taken off, or its opener tries again.
    pub(crate) fn give_up_install(&mut self, number: u64) {
        let Some(subflow) = self.table.subflow(number) else {
            self.cancel_install(number);
            return;
        };
        self.note(Event::NotInstalled {
            connection: subflow.connection,
            flow: subflow.flow,
        });
        let install = self.installs.get_mut(&number);
        match install.and_then(|install| install.before.take()) {
            Some(path) if path.iter().all(|link| self.topology.has(link)) => {
                self.put_back(number, path);
            }
            _ => self.remove(number),
        }
    }

    /// Sends the rules of all subflows to a switch that has none.
    pub(crate) fn install_again(&mut self, datapath: u64) {
        for number in self.table.subflow_numbers() {
            let Some(subflow) = self.table.subflow(number) else {
                continue;
            };
            if subflow.state == State::Idle {
                continue;
            }
            let rules = rules::all(subflow).into_iter();
            let own: Vec<Rule> = rules.filter(|rule| rule.datapath == datapath).collect();
            own.iter().for_each(|rule| self.add_rule(number, rule));
        }
    }

    /// Has the first switch of a direction copy packets no more.
    pub(crate) fn stop_copies(&mut self, number: u64, direction: usize) {
        let Some(subflow) = self.table.subflow_mut(number) else {
            return;
        };
        if std::mem::take(&mut subflow.copies[direction]) == 0 {
            return;
        }
        let hops = rules::hops(subflow.ends[0], &subflow.path, subflow.ends[1]);
        let (hop, flow) = match direction {
            0 => (hops.first(), subflow.flow),
            _ => (hops.last(), subflow.flow.reversed()),
        };
        let Some(hop) = hop else {
            return;
        };
        let in_port = if direction == 0 {
            hop.in_port
        } else {
            hop.out_port
        };
        let fields = flow.fields(in_port);
        let changed = rules::rules(subflow).into_iter();
        let changed = changed.filter(|rule| rule.datapath == hop.datapath && rule.fields == fields);
        for rule in changed.collect::<Vec<Rule>>() {
            let forward = self.forward_action(&rule);
            let message = rule.modify(number, forward);
            self.send(rule.datapath, Body::FlowMod(message));
        }
    }

    /// Deletes all rules of a subflow.
    pub(crate) fn delete_rules(&mut self, number: u64, subflow: &Subflow) {
        self.delete(number, rules::all(subflow));
    }

    /// Deletes rules of a subflow.
    pub(super) fn delete(&mut self, number: u64, rules: Vec<Rule>) {
        for rule in rules {
            self.send(rule.datapath, Body::FlowMod(rule.delete(number)));
        }
    }

    /// Counts a subflow on the links of a path, unless its transfer is over. It is new until the load was
    /// read twice, or its transfer may be over.
    pub(crate) fn take_path(&mut self, number: u64, path: &[Link], transfer_ns: Option<u64>) {
        if self.is_carried(number) {
            return;
        }
        self.link_use.add(path, number);
        let readings_ns = self.config.load_interval_ns.saturating_mul(2);
        let new_ns = transfer_ns.map_or(readings_ns, |transfer_ns| transfer_ns.min(readings_ns));
        let until_ns = self.now_ns.saturating_add(new_ns);
        self.new_subflows.add(self.now_ns, path, until_ns);
    }

    /// Notes that a connection has rules again.
    fn wake(&mut self, number: u64) {
        if let Some(connection) = self.table.connection_mut(number) {
            if let Some(at_ns) = connection.forget_ns.take() {
                self.timers.clear(at_ns, Timer::Forget(number));
            }
            if connection.class == Class::Idle {
                self.table.set_class(number, Class::Open);
            }
        }
    }
}
