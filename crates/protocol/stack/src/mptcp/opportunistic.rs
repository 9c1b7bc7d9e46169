//! Opportunistic retransmission and penalisation (C. Raiciu et al., NSDI 2012): data that holds the
//! peer's window up goes again on a faster subflow.

use alloc::vec::Vec;

use mptcplab_wire::option::DataNumber;

use super::connection::Connection;
use crate::Nanos;
use crate::scheduler::{Choice, opportunistic_retransmission};

impl Connection {
    /// Where no subflow may send new data: what holds the peer's window up, on a faster subflow;
    /// the one that holds it up gets half its window.
    pub(super) fn retransmit_opportunistically(&mut self, now: Nanos) -> Option<Choice> {
        let from = self.sender.acknowledged();
        let (carriers, bytes) = self.carriers_of(from);
        let view = self.scheduling.view(now, &self.sender);
        let found = opportunistic_retransmission(&view, &carriers, bytes)?;
        let faster = self.scheduling.views[found.choice.subflow].id;
        if let Some(faster) = self
            .subflows
            .iter_mut()
            .find(|subflow| subflow.id == faster)
        {
            faster.relieved_until = from + bytes;
        }
        if self.config.penalisation {
            let id = self.scheduling.views[found.held_by].id;
            if let Some(slow) = self.subflows.iter_mut().find(|subflow| subflow.id == id)
                && slow.penalised_until <= now
            {
                slow.penalised_until = now + slow.tcp.smoothed_rtt_ns();
                slow.tcp
                    .shrink_window(slow.tcp.congestion_window().bytes / 2);
            }
        }
        Some(found.choice)
    }

    /// The subflows whose first unacknowledged segment holds the byte at `from`, or that were given
    /// it again, the one that was given it first in front, and how many bytes of the segment there
    /// are from there.
    fn carriers_of(&self, from: u64) -> (Vec<u32>, u64) {
        let mut carriers = Vec::new();
        let mut bytes = 0;
        for subflow in self.subflows.iter() {
            if from < subflow.relieved_until {
                carriers.push(subflow.id);
                continue;
            }
            let Some((payload_bytes, mapping)) = subflow.tcp.first_unacknowledged() else {
                continue;
            };
            let number = DataNumber::Long(mapping.data_sequence);
            let Some(start) = self.sender.numbers().offset(number, from) else {
                continue;
            };
            let end = start + u64::from(payload_bytes);
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
