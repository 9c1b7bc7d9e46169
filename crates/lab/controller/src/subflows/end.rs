//! Ends of subflows and connections.

use mptcplab_openflow::flow::{FlowRemoved, FlowRemovedReason};

use super::bytes::{data_bytes, direction_of};
use super::{Class, Kind, State};
use crate::controller::Controller;
use crate::events::Event;
use crate::forwarding::rules;
use crate::forwarding::waiting::Cause;
use crate::timers::Timer;

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
        let direction = direction_of(&removed.fields, &subflow.flow);
        let bytes = data_bytes(&subflow.flow, removed.packet_count, removed.byte_count);
        // Another rule may count for this direction since.
        let read_bytes = &mut subflow.read_bytes[direction];
        *read_bytes = read_bytes.saturating_sub(bytes);
        let is_tcp = subflow.flow.is_tcp();
        let connection = subflow.connection;
        let is_idle = removed.reason == FlowRemovedReason::IdleTimeout;
        // Rules of a path that it was taken off are silent sooner.
        let ends =
            is_idle && subflow.state == State::Active && rules::has(subflow, &removed.fields);
        if ends || subflow.state == State::Idle {
            subflow.counted[direction] = true;
            // One direction is all that others have.
            subflow.counted[1] |= !is_tcp;
        }
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
        self.link_use.remove(&subflow.path, number);
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
        if self.config.learn_sizes && kind != Kind::Other {
            self.learn_size(number, server, bytes);
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
                self.link_use.remove(&path, subflow);
                self.delete_detours(subflow);
            }
            self.drop_subflow(subflow);
        }
    }

    /// Takes a subflow out of the table, and with the last one the timers of its connection and the
    /// joins that wait.
    fn drop_subflow(&mut self, number: u64) {
        let Some(subflow) = self.table.subflow(number) else {
            return;
        };
        let connection = subflow.connection;
        let known = self.table.connection(connection);
        let timers = known.map(|known| (known.forget_ns, known.count_ns));
        self.table.remove_subflow(number);
        let (forget_ns, count_ns) = match self.table.connection(connection) {
            Some(_) => return,
            None => timers.unwrap_or_default(),
        };
        if let Some(at_ns) = forget_ns {
            self.timers.clear(at_ns, Timer::Forget(connection));
        }
        if let Some(at_ns) = count_ns {
            self.timers.clear(at_ns, Timer::Count(connection));
        }
        self.waiting.forget(Cause::Bytes(connection));
    }
}
