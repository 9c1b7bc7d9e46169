//! An interface of a node: its state, its addresses and what it has carried.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use foldhash::fast::FixedState;
use mptcplab_plan as plan;
use mptcplab_plan::EndpointFlags;
use mptcplab_segment::ethernet::MacAddress;

use crate::Nanos;

/// Bytes of the Ethernet header, which an interface counts as the kernel's does.
const ETHERNET_HEADER_BYTES: u64 = 14;

/// Counters of an interface, as the kernel counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InterfaceCounters {
    /// Packets received.
    pub(crate) rx_packets: u64,
    /// Packets sent.
    pub(crate) tx_packets: u64,
    /// Their bytes, Ethernet headers included.
    pub(crate) rx_bytes: u64,
    /// Their bytes, Ethernet headers included.
    pub(crate) tx_bytes: u64,
    /// Packets that came while the interface was down.
    pub(crate) rx_dropped: u64,
    /// Packets that were to be sent while it was down, or were larger than its MTU.
    pub(crate) tx_dropped: u64,
}

/// Hardware addresses on a segment, by address.
pub(crate) type Neighbours = HashMap<IpAddr, MacAddress, FixedState>;

/// The place of an interface on a segment that switches join.
#[derive(Clone, Debug)]
pub(crate) struct Ethernet {
    /// Its own hardware address.
    pub(crate) address: MacAddress,
    /// Those of all interfaces on the segment.
    pub(crate) neighbours: Arc<Neighbours>,
}

/// One interface of a node.
#[derive(Clone, Debug)]
pub(crate) struct Interface {
    /// `node.interface`.
    pub(crate) subject: String,
    pub(crate) planned: plan::Interface,
    /// The link that it is an end of, and which end.
    pub(crate) link: Option<(usize, usize)>,
    /// Where switches join its link to others; `None` on a link that joins two nodes alone.
    pub(crate) ethernet: Option<Ethernet>,
    pub(super) set_up: bool,
    pub(super) carrier: bool,
    /// Whether its addresses are usable.
    pub(super) usable: bool,
    /// The time at which they come back.
    pub(super) due: Option<Nanos>,
    /// The backup flag of its endpoints, where an event has set it.
    pub(super) backup: Option<bool>,
    pub(crate) counters: InterfaceCounters,
}

impl Interface {
    /// Whether it is set up and has its carrier.
    pub(crate) fn is_running(&self) -> bool {
        self.set_up && self.carrier
    }

    /// Present flags of its MPTCP endpoints.
    pub(super) fn endpoint_flags(&self) -> Option<EndpointFlags> {
        let planned = self.planned.endpoint?;
        let backup = self.backup.unwrap_or(planned.backup);
        Some(EndpointFlags { backup, ..planned })
    }

    /// Counts an incoming packet; says whether the interface takes it.
    pub(crate) fn receives(&mut self, ip_bytes: u32) -> bool {
        if !self.is_running() {
            self.counters.rx_dropped += 1;
            return false;
        }
        self.counters.rx_packets += 1;
        self.counters.rx_bytes += u64::from(ip_bytes) + ETHERNET_HEADER_BYTES;
        true
    }

    /// Counts an outgoing packet; says whether the interface sends it.
    pub(crate) fn sends(&mut self, ip_bytes: u32) -> bool {
        if !self.is_running() || ip_bytes > self.planned.mtu {
            self.counters.tx_dropped += 1;
            return false;
        }
        self.counters.tx_packets += 1;
        self.counters.tx_bytes += u64::from(ip_bytes) + ETHERNET_HEADER_BYTES;
        true
    }
}

/// Addresses of an interface that have become usable, or are no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AddressChange {
    pub(crate) interface: usize,
    pub(crate) usable: bool,
}
