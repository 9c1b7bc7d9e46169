//! State of a switch and of its ports.

use std::collections::{BTreeMap, VecDeque};

use mptcplab_openflow::port::{Port, PortConfig, PortState};

use super::capacity::Capacity;
use crate::bucket::Bucket;
use crate::load::Load;
use crate::output::ConnectionId;
use crate::place::PortRef;

/// Frames of discovery that may be on their way from a port.
const OUTSTANDING: usize = 32;

/// Measurements of which the least counts.
const SAMPLES: usize = 8;

/// The last measurements of a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(VecDeque<u64>);

impl Samples {
    pub(crate) fn add(&mut self, value: u64) {
        if self.0.len() == SAMPLES {
            self.0.pop_front();
        }
        self.0.push_back(value);
    }

    /// The least: the one with the least time in queues.
    pub(crate) fn least(&self) -> Option<u64> {
        self.0.iter().min().copied()
    }

    /// Whether there is one measurement.
    pub(crate) fn is_first(&self) -> bool {
        self.0.len() == 1
    }

    pub(crate) fn last(&self) -> Option<u64> {
        self.0.back().copied()
    }
}

/// A switch.
#[derive(Clone, Debug)]
pub(crate) struct SwitchState {
    /// Its connection, if it has one.
    pub(crate) connection: Option<ConnectionId>,
    /// The time at which it was last heard of.
    pub(crate) heard_ns: u64,
    pub(crate) ports: BTreeMap<u32, SwitchPort>,
    /// The echo request that has no answer yet: transaction and time.
    pub(crate) echo: Option<(u32, u64)>,
    /// Round trips of the control channel, ns.
    pub(crate) round_trip: Samples,
    /// Whether its meter limits packets to the controller.
    pub(crate) has_meter: bool,
    /// Groups of fast failover by the port that they watch, the other one, and the one that packets
    /// go out by then: the other one or "in port". `None`: the switch takes no such groups.
    pub(crate) groups: Option<BTreeMap<(u32, u32, u32), u32>>,
    /// The transaction of all that is sent about groups.
    pub(crate) groups_xid: u32,
    /// Whether all of the first rules are there, and ports are known.
    pub(crate) is_ready: bool,
    /// Whether it was told that the switch has another master.
    pub(crate) is_not_master: bool,
}

impl SwitchState {
    pub(crate) fn new(now_ns: u64) -> Self {
        Self {
            connection: None,
            heard_ns: now_ns,
            ports: BTreeMap::new(),
            echo: None,
            round_trip: Samples::default(),
            has_meter: true,
            groups: None,
            groups_xid: 0,
            is_ready: false,
            is_not_master: false,
        }
    }

    /// Whether rules can be sent to it.
    pub(crate) fn can_be_told(&self) -> bool {
        self.connection.is_some() && self.is_ready
    }

    /// The time of a message one way, ns.
    pub(crate) fn control_delay_ns(&self) -> u64 {
        self.round_trip.least().unwrap_or(0) / 2
    }

    /// How much longer than at least messages take now, ns, both ways: as the last answer has shown, or
    /// the one that is still to come.
    pub(crate) fn control_excess_ns(&self, now_ns: u64) -> u64 {
        let least_ns = self.round_trip.least().unwrap_or(0);
        let last_ns = self.round_trip.last().unwrap_or(0);
        let asked_ns = self.echo.map_or(0, |(_, since_ns)| now_ns - since_ns);
        last_ns.max(asked_ns).saturating_sub(least_ns)
    }
}

/// The other end of a link, as frames of discovery have told.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) at: PortRef,
    pub(crate) seen_ns: u64,
    /// Delays of the link towards this port, ns.
    pub(crate) delay: Samples,
    pub(crate) capacity: Capacity,
}

/// A frame of discovery that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentFrame {
    pub(crate) number: u64,
    pub(crate) at_ns: u64,
    /// Whether it is of no round: another one has waited in the queue of the link.
    pub(crate) is_between: bool,
}

/// A port.
#[derive(Clone, Debug)]
pub(crate) struct SwitchPort {
    pub(crate) description: Port,
    pub(crate) is_up: bool,
    pub(crate) peer: Option<Peer>,
    /// The time from which hosts are learned here, if the port has no link.
    pub(crate) settled_ns: u64,
    /// Frames of discovery that may come back once.
    pub(crate) sent: VecDeque<SentFrame>,
    /// When the last one was sent.
    pub(crate) sent_ns: u64,
    /// Whether one is to be sent between two rounds.
    pub(crate) sends_between: bool,
    /// Packets to the controller.
    pub(crate) packet_ins: Bucket,
    pub(crate) blocked_until_ns: u64,
    pub(crate) load: Load,
}

impl SwitchPort {
    pub(crate) fn new(description: Port, settled_ns: u64, packet_ins: Bucket) -> Self {
        Self {
            is_up: is_up(&description),
            description,
            peer: None,
            settled_ns,
            sent: VecDeque::new(),
            sent_ns: 0,
            sends_between: false,
            packet_ins,
            blocked_until_ns: 0,
            load: Load::default(),
        }
    }

    /// Takes a new description.
    pub(crate) fn describe(&mut self, description: &Port) {
        self.description = *description;
        self.is_up = is_up(description);
    }

    pub(crate) fn note_sent(&mut self, frame: SentFrame) {
        if self.sent.len() == OUTSTANDING {
            self.sent.pop_front();
        }
        self.sent_ns = frame.at_ns;
        self.sent.push_back(frame);
    }

    /// A frame of discovery that was sent; each is taken once.
    pub(crate) fn take_sent(&mut self, number: u64) -> Option<SentFrame> {
        let index = self.sent.iter().position(|sent| sent.number == number)?;
        self.sent.remove(index)
    }
}

/// Whether a port can send and receive.
fn is_up(port: &Port) -> bool {
    let unusable = PortConfig::PORT_DOWN | PortConfig::NO_RECV | PortConfig::NO_FWD;
    !port.config.intersects(unusable) && !port.state.contains(PortState::LINK_DOWN)
}
