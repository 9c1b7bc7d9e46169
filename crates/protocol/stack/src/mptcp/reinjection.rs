//! Reinjection: data of a subflow that fails is sent again on others.

use alloc::vec::Vec;

use mptcplab_wire::option::DataNumber;

use super::connection::Connection;

impl Connection {
    /// Lets the subflows that are left send all that the peer has not acknowledged, and a DATA_FIN
    /// that went with it. Which of them has some of it on its way does not count; what the peer has
    /// it acknowledges meanwhile.
    ///
    /// Source: `__mptcp_retransmit_pending_data` in Linux 6.18, net/mptcp/protocol.c.
    pub(super) fn reinject(&mut self) {
        let (from, next) = (self.sender.acknowledged(), self.sender.next());
        self.sender.ask_again(from, next);
        if from < next && self.sender.fin_went_with_data() {
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
