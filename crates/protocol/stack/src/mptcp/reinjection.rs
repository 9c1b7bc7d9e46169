//! Reinjection: data of a subflow that fails is sent again on others.

use alloc::vec::Vec;

use mptcplab_wire::option::DataNumber;

use super::connection::Connection;
use crate::tcp::{DataMapping, Tcp};

impl Connection {
    /// Follows a subflow's retransmission timeout: others send its data too, and it gets no new
    /// data before something is acknowledged on it.
    ///
    /// Source: C. Paasch, O. Bonaventure, "Multipath TCP", ACM Queue 12(2), 2014 ("potentially
    /// failed" in the multipath-tcp.org kernel). The upstream kernel waits for four timeouts at
    /// the level of data.
    pub(super) fn on_subflow_timeout(&mut self, index: usize) {
        if !self.handshake.is_multipath() || self.subflows[index].stalled {
            return;
        }
        let others = self
            .subflows
            .iter()
            .enumerate()
            .any(|(place, other)| place != index && other.may_send() && !other.stalled);
        if others {
            self.subflows[index].stalled = true;
            self.counters.stale += 1;
            self.reinject(index);
        }
    }

    /// Lets others send the data that a subflow was handed and has not delivered.
    pub(super) fn reinject(&mut self, index: usize) {
        let tcp = &self.subflows[index].tcp;
        let lost: Vec<_> = sent(tcp).chain(unsent(tcp)).collect();
        self.ask_again(&lost);
    }

    /// Where a subflow's path will not do for MPTCP, the peer may have thrown away what TCP has
    /// acknowledged: all data that the peer lacks and that no other subflow has on its way is to be
    /// sent again. What the peer does have it acknowledges with the first of it.
    pub(super) fn reinject_all(&mut self, index: usize) {
        let near = self.sender.acknowledged();
        let mut held = Vec::new();
        for (place, subflow) in self.subflows.iter().enumerate() {
            if place != index && !subflow.is_over() {
                let sent = sent(&subflow.tcp).chain(unsent(&subflow.tcp));
                let number = |mapping: DataMapping| DataNumber::Long(mapping.data_sequence);
                held.extend(sent.filter_map(|(mapping, bytes)| {
                    let start = self.sender.numbers().offset(number(mapping), near)?;
                    Some((start, start + bytes))
                }));
            }
        }
        held.sort_unstable();
        let mut from = near;
        for (start, end) in held {
            if from < start {
                self.sender.ask_again(from, start);
            }
            from = from.max(end);
        }
        self.sender.ask_again(from, self.sender.next());
        self.scheduling.request();
    }

    /// Lets others send the data that waits at a subflow and was never sent on it.
    pub(super) fn take_unsent(&mut self, index: usize) {
        let tcp = &mut self.subflows[index].tcp;
        let taken: Vec<_> = unsent(tcp).collect();
        tcp.drop_unsent();
        self.ask_again(&taken);
    }

    /// Lets others send data that a subflow was handed, and a DATA_FIN that went with it.
    fn ask_again(&mut self, handed: &[(DataMapping, u64)]) {
        let numbers = self.sender.numbers();
        let near = self.sender.acknowledged();
        for (mapping, bytes) in handed {
            let number = DataNumber::Long(mapping.data_sequence);
            if let Some(start) = numbers.offset(number, near) {
                self.sender.ask_again(start, start + bytes);
            }
        }
        if handed.iter().any(|(mapping, _)| mapping.data_fin) {
            self.signal_fin();
        }
        self.scheduling.request();
    }

    /// The subflows whose first unacknowledged segment holds the byte at `from`, or that were given
    /// it again, the one that was given it first in front, and how many bytes of the segment there
    /// are from there.
    pub(super) fn carriers_of(&self, from: u64) -> (Vec<u32>, u64) {
        let mut carriers = Vec::new();
        let mut bytes = 0;
        for subflow in self.subflows.iter() {
            if from < subflow.relieved_until {
                carriers.push(subflow.id);
                continue;
            }
            let oldest = subflow.tcp.unacknowledged().next();
            let Some((_, payload, Some(mapping))) = oldest else {
                continue;
            };
            let number = DataNumber::Long(mapping.data_sequence);
            let Some(start) = self.sender.numbers().offset(number, from) else {
                continue;
            };
            let end = start + payload.len() as u64;
            if start <= from && from < end {
                carriers.push(subflow.id);
                bytes = end - from;
            }
        }
        // The one that holds it up is the slowest.
        carriers.sort_by_key(|id| {
            let rtt = self
                .subflows
                .iter()
                .find(|subflow| subflow.id == *id)
                .map(|subflow| subflow.tcp.smoothed_rtt_ns());
            core::cmp::Reverse(rtt)
        });
        (carriers, bytes)
    }
}

/// Mappings and lengths of what a subflow has sent and TCP has not acknowledged.
fn sent(tcp: &Tcp) -> impl Iterator<Item = (DataMapping, u64)> {
    tcp.unacknowledged()
        .filter_map(|(_, payload, mapping)| Some((mapping?, payload.len() as u64)))
}

/// Mappings and lengths of what a subflow was handed and has not sent.
fn unsent(tcp: &Tcp) -> impl Iterator<Item = (DataMapping, u64)> {
    tcp.unsent()
        .filter_map(|(payload, mapping)| Some((mapping?, payload.len() as u64)))
}
