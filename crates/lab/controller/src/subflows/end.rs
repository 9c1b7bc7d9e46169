//! Ends of subflows and connections.

use mptcplab_openflow::Field;
use mptcplab_openflow::flow::{FlowRemoved, FlowRemovedReason};

use super::{Class, Kind, State};
use crate::controller::Controller;
use crate::events::Event;
use crate::timers::Timer;

/// Bytes of headers of a data segment as most have them: Ethernet, TCP with timestamps, DSS.
const HEADERS: u64 = 14 + 20 + 12 + 20;
const IPV4_HEADER: u64 = 20;
const IPV6_HEADER: u64 = 40;

impl Controller {
    /// Takes the end of a rule, which the switch of the subflow's opener tells of. When one
    /// direction is silent, so is the subflow: TCP has packets in both.
    pub(crate) fn take_flow_removed(&mut self, datapath: u64, removed: &FlowRemoved) {
        let number = removed.cookie;
        let Some(subflow) = self.table.subflow_mut(number) else {
            return;
        };
        if subflow.ends[0].datapath != datapath {
            return;
        }
        let source = match subflow.flow.source.is_ipv4() {
            true => Field::Ipv4Src,
            false => Field::Ipv6Src,
        };
        let own = subflow.flow.fields(subflow.ends[0].port);
        let direction = usize::from(removed.fields.get(source) != own.get(source));
        let header = match subflow.flow.source.is_ipv4() {
            true => HEADERS + IPV4_HEADER,
            false => HEADERS + IPV6_HEADER,
        };
        let is_tcp = subflow.flow.is_tcp();
        let connection = subflow.connection;
        let is_idle = removed.reason == FlowRemovedReason::IdleTimeout;
        let ends = is_idle && subflow.state == State::Active;
        if ends || subflow.state == State::Idle {
            subflow.counted[direction] = true;
            // One direction is all that others have.
            subflow.counted[1] |= !is_tcp;
        }
        let headers = removed.packet_count.saturating_mul(header);
        let bytes = removed.byte_count.saturating_sub(headers);
        if let Some(known) = self.table.connection_mut(connection) {
            known.bytes[direction] = known.bytes[direction].saturating_add(bytes);
        }
        if ends {
            self.end_subflow(number);
        }
        self.finish(connection);
    }

    /// Removes the rules of a subflow. It is remembered for a while, should it go on.
    pub(crate) fn end_subflow(&mut self, number: u64) {
        self.cancel_install(number);
        let Some(subflow) = self.table.subflow_mut(number) else {
            return;
        };
        if subflow.state == State::Idle {
            return;
        }
        subflow.state = State::Idle;
        subflow.copies = [0; 2];
        let subflow = subflow.clone();
        self.use_path(&subflow.path, false);
        self.delete_rules(number, &subflow);
        self.rest(subflow.connection);
    }

    /// Sets the time at which a connection without rules is forgotten.
    fn rest(&mut self, number: u64) {
        let Some(connection) = self.table.connection(number) else {
            return;
        };
        let mut subflows = connection.subflows.iter();
        let is_idle = |subflow: &u64| {
            let found = self.table.subflow(*subflow);
            found.is_none_or(|subflow| subflow.state == State::Idle)
        };
        if !subflows.all(is_idle) || connection.forget_ns.is_some() {
            return;
        }
        let at_ns = self.now_ns + self.config.connection_idle_ns;
        self.table.set_class(number, Class::Idle);
        if let Some(connection) = self.table.connection_mut(number) {
            connection.forget_ns = Some(at_ns);
        }
        self.timers.set(at_ns, Timer::Forget(number));
    }

    /// Tells of the end of a connection once all of its counters are there, and learns its size.
    fn finish(&mut self, number: u64) {
        let Some(connection) = self.table.connection(number) else {
            return;
        };
        let is_counted = |subflow: &u64| {
            let found = self.table.subflow(*subflow);
            found.is_none_or(|one| one.state == State::Idle && one.counted == [true; 2])
        };
        if connection.is_over || !connection.subflows.iter().all(is_counted) {
            return;
        }
        let (kind, server) = (connection.kind, connection.flow.server());
        let bytes = connection.bytes[0].max(connection.bytes[1]);
        if let Some(connection) = self.table.connection_mut(number) {
            connection.is_over = true;
        }
        if self.config.learn_sizes && kind != Kind::Other && bytes > 0 {
            self.sizes.learn(self.now_ns, server, bytes);
        }
        self.note(Event::Closed {
            connection: number,
            bytes,
        });
    }

    /// Forgets a subflow and removes its rules.
    pub(crate) fn remove(&mut self, number: u64) {
        self.end_subflow(number);
        self.drop_subflow(number);
    }

    /// Forgets a connection. Rules that it still has are left to their timeouts: it was given up
    /// for others, and may well go on. Those without one are deleted.
    pub(crate) fn forget(&mut self, number: u64) {
        let subflows = self
            .table
            .connection(number)
            .map(|one| one.subflows.clone());
        for subflow in subflows.unwrap_or_default() {
            self.cancel_install(subflow);
            let known = self.table.subflow(subflow);
            if let Some(path) = known
                .filter(|known| known.state != State::Idle)
                .map(|known| known.path.clone())
            {
                self.use_path(&path, false);
                self.delete_detours(subflow);
            }
            self.drop_subflow(subflow);
        }
    }

    /// Takes a subflow out of the table, and the timer of its connection with the last one.
    fn drop_subflow(&mut self, number: u64) {
        let Some(subflow) = self.table.subflow(number) else {
            return;
        };
        let connection = subflow.connection;
        let timer = self
            .table
            .connection(connection)
            .and_then(|known| known.forget_ns);
        self.table.remove_subflow(number);
        if let Some(at_ns) = timer.filter(|_| self.table.connection(connection).is_none()) {
            self.timers.clear(at_ns, Timer::Forget(connection));
        }
    }
}
