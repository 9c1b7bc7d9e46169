//! Transfers that are over, by the counters of their rules, before the rules age: those whose sizes were
//! told. Their subflows count as load no more.

use std::collections::BTreeSet;

use mptcplab_openflow::Body;

use super::waiting::Cause;
use crate::controller::Controller;
use crate::policy::PathView;

/// The part of a transfer that may be missing from its counters: headers of segments have fewer options
/// than they are taken to have. Its inverse.
const PART: u64 = 50;
/// Connections that are asked about at once.
const MOST: usize = 16;

impl Controller {
    /// Asks the switch of an opener for the counters of all transfers on some paths, where each of them
    /// may be over and was not asked about lately. The answers have come when the cause is there.
    pub(super) fn ask_which_are_over(
        &mut self,
        datapath: u64,
        paths: &[PathView],
    ) -> Option<Cause> {
        let links = paths.iter().flat_map(|path| &path.links);
        let numbers = links.flat_map(|link| self.link_use.on(link));
        let mut connections = BTreeSet::new();
        for number in numbers {
            let subflow = self.table.subflow(number)?;
            let connection = subflow.connection;
            let can_be_asked = subflow.ends[0].datapath == datapath
                && self.may_be_over(connection)
                && !self.was_asked(connection);
            connections.insert(connection);
            if !can_be_asked || connections.len() > MOST {
                return None;
            }
        }
        if connections.is_empty() || !self.waiting.has_room(self.config.limits.held_packets) {
            return None;
        }
        for connection in &connections {
            self.ask_counters(*connection);
            if let Some(known) = self.table.connection_mut(*connection) {
                known.asked_ns = Some(self.now_ns);
            }
        }
        let xid = self.send(datapath, Body::BarrierRequest);
        Some(Cause::Barrier(datapath, xid))
    }

    /// Whether enough time has passed for a transfer of told size to be over of which that is not known
    /// yet.
    pub(super) fn may_be_over(&self, connection: u64) -> bool {
        let known = self.table.connection(connection);
        known.is_some_and(|known| {
            let is_time = known.over_from_ns.is_some_and(|ns| ns <= self.now_ns);
            is_time && !known.is_carried
        })
    }

    fn was_asked(&self, connection: u64) -> bool {
        let known = self.table.connection(connection);
        let asked_ns = known.and_then(|known| known.asked_ns);
        asked_ns.is_some_and(|ns| self.now_ns < ns.saturating_add(self.config.count_interval_ns))
    }

    /// Whether the transfer of a subflow is over.
    pub(super) fn is_carried(&self, subflow: u64) -> bool {
        let subflow = self.table.subflow(subflow);
        let known = subflow.and_then(|subflow| self.table.connection(subflow.connection));
        known.is_some_and(|known| known.is_carried)
    }

    /// Takes the subflows of a connection off their links if all of its transfer was carried.
    pub(super) fn look_whether_over(&mut self, connection: u64) {
        if !self.may_be_over(connection) {
            return;
        }
        let carried = self.carried_bytes(connection);
        let Some(known) = self.table.connection_mut(connection) else {
            return;
        };
        let bytes = known.expected_bytes.unwrap_or(u64::MAX);
        if carried < bytes - bytes / PART {
            return;
        }
        known.is_carried = true;
        let times_ns = [known.opened_ns, self.now_ns];
        for number in known.subflows.clone() {
            if let Some(subflow) = self.table.subflow(number) {
                self.link_use.remove(&subflow.path, number);
                self.past_traffic
                    .add(&subflow.path, times_ns, subflow.read_frames);
            }
        }
    }
}
