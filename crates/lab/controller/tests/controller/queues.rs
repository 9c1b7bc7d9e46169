//! Queues of ports that send at a rate.

use std::collections::BTreeMap;

use mptcplab_controller::PortRef;

use crate::network::SECOND;

/// Ports with their rates, bit/s, and the times at which they have sent what they have.
#[derive(Default)]
pub(crate) struct Queues(BTreeMap<PortRef, (u64, u64)>);

impl Queues {
    /// A port sends at a rate from now on; what comes faster waits.
    pub(crate) fn set(&mut self, now_ns: u64, at: PortRef, bps: u64) {
        self.0.insert(at, (bps, now_ns));
    }

    /// The time until a port has sent a frame.
    pub(crate) fn pass_ns(&mut self, now_ns: u64, from: PortRef, bytes: usize) -> u64 {
        self.0.get_mut(&from).map_or(0, |(bps, free_ns)| {
            *free_ns = now_ns.max(*free_ns) + bytes as u64 * 8 * SECOND / *bps;
            *free_ns - now_ns
        })
    }
}
