//! Fast failover: groups by which a switch that loses a link sends packets another way at once, and
//! the rules of that way.

use mptcplab_openflow::group::{Bucket, GroupCommand, GroupMod, GroupType, number};
use mptcplab_openflow::{Action, Body};

use super::rules::{self, Forward, Rule};
use crate::controller::Controller;
use crate::messages;
use crate::subflows::State;

/// Groups of a switch: all pairs of 64 ports.
const GROUPS: usize = 4096;

impl Controller {
    /// The action by which a rule forwards: to its port, or to a group where a link has another way.
    pub(super) fn forward_action(&mut self, rule: &Rule) -> Action {
        let Forward {
            in_port, out_port, ..
        } = rule.output;
        let group = self.failover_group(rule.datapath, rule.output);
        group.map_or_else(
            || messages::output(rules::send_by(in_port, out_port)),
            Action::Group,
        )
    }

    /// The group that forwards so, if the switch has groups; flows of the same ports share it.
    fn failover_group(&mut self, datapath: u64, output: Forward) -> Option<u32> {
        let Forward {
            in_port, out_port, ..
        } = output;
        let watched = output.instead.filter(|_| in_port != out_port)?;
        let instead = rules::send_by(in_port, watched);
        let switch = self.topology.switches.get_mut(&datapath)?;
        let (groups, xid) = (switch.groups.as_mut()?, switch.groups_xid);
        let key = (out_port, watched, instead);
        if let Some(group) = groups.get(&key) {
            return Some(*group);
        }
        if groups.len() >= GROUPS {
            return None;
        }
        let group = groups.len() as u32 + 1;
        groups.insert(key, group);
        let bucket = |watch_port, port| Bucket {
            weight: 0,
            watch_port,
            watch_group: number::ANY,
            actions: vec![messages::output(port)],
        };
        let request = GroupMod {
            command: GroupCommand::Add,
            group_type: GroupType::FastFailover,
            group,
            buckets: vec![bucket(out_port, out_port), bucket(watched, instead)],
        };
        self.send_as(datapath, xid, Body::GroupMod(request));
        // The group is there before rules that need it.
        self.send(datapath, Body::BarrierRequest);
        Some(group)
    }

    /// Takes note that a switch refuses groups: it gets no more of them.
    pub(crate) fn refuse_groups(&mut self, datapath: u64) {
        if let Some(switch) = self.topology.switches.get_mut(&datapath) {
            switch.groups = None;
        }
    }

    /// Sends the rules of the ways round the links of a subflow's path. Nothing waits for them.
    pub(super) fn install_detours(&mut self, number: u64) {
        let rules = self.table.subflow(number).map(rules::detours);
        for rule in rules.unwrap_or_default() {
            self.add_rule(number, &rule);
        }
    }

    /// Deletes the rules of the ways round the links of a subflow's path, which do not age.
    pub(crate) fn delete_detours(&mut self, number: u64) {
        let rules = self.table.subflow(number).map(rules::detours);
        self.delete(number, rules.unwrap_or_default());
    }

    /// Gives a subflow the ways round the links of its path that there are now.
    pub(super) fn choose_detours(&mut self, number: u64) {
        let Some(subflow) = self.table.subflow(number) else {
            return;
        };
        let old = subflow.clone();
        let detours = self.paths.detours(&old.path);
        if old.state == State::Idle || detours == old.detours {
            return;
        }
        let Some(subflow) = self.table.subflow_mut(number) else {
            return;
        };
        subflow.detours = detours;
        let new = subflow.clone();
        self.install_detours(number);
        for (rule, before) in rules::rules(&new).iter().zip(rules::rules(&old)) {
            if rule.output != before.output {
                let forward = self.forward_action(rule);
                let message = rule.modify(number, forward);
                self.send(rule.datapath, Body::FlowMod(message));
            }
        }
        let mut left = rules::detours(&old);
        let kept = rules::all(&new);
        left.retain(|rule| !kept.iter().any(|other| other.is_at(rule)));
        if let Some(install) = self.installs.get_mut(&number) {
            install.keep(&kept);
        }
        self.delete(number, left);
    }
}
