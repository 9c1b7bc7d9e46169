//! Ports with their state and their counters.

use std::collections::BTreeMap;

use mptcplab_openflow::multipart::{PortStats, QueueStats};
use mptcplab_openflow::port::{Port, PortConfig, PortState};
use mptcplab_openflow::queue::{PacketQueue, QueueProperty};
use mptcplab_openflow::{Elapsed, Text};

use crate::account::DropReason;
use crate::config::PortSetup;
use crate::way::Way;

/// Counters of a queue.
#[derive(Clone, Copy, Debug, Default)]
struct QueueCounters {
    packets: u64,
    bytes: u64,
}

/// A port of the switch.
#[derive(Clone, Debug)]
pub(crate) struct SwitchPort {
    pub(crate) setup: PortSetup,
    pub(crate) config: PortConfig,
    since_ns: u64,
    counters: PortStats,
    queues: BTreeMap<u32, QueueCounters>,
    /// The way of the last packet that came in.
    pub(crate) way: Option<Way>,
}

impl SwitchPort {
    pub(crate) fn new(setup: PortSetup, now_ns: u64) -> Self {
        let queues = setup.queues.iter();
        Self {
            queues: queues
                .map(|one| (one.queue, QueueCounters::default()))
                .collect(),
            config: PortConfig::empty(),
            way: None,
            since_ns: now_ns,
            counters: PortStats {
                port: setup.port,
                ..PortStats::default()
            },
            setup,
        }
    }

    /// Whether it is neither down nor without a link (section 6.5: such a port is live).
    pub(crate) fn is_live(&self) -> bool {
        self.setup.link_up && !self.config.contains(PortConfig::PORT_DOWN)
    }

    pub(crate) fn has_queue(&self, queue: u32) -> bool {
        self.queues.contains_key(&queue)
    }

    /// Counts a packet that comes in, unless it is dropped.
    pub(crate) fn receive(&mut self, bytes: u64) -> Result<(), DropReason> {
        let refused = if !self.is_live() {
            Err(DropReason::PortDown)
        } else if self.config.contains(PortConfig::NO_RECV) {
            Err(DropReason::NoReceive)
        } else {
            Ok(())
        };
        match refused {
            Ok(()) => {
                self.counters.rx_packets += 1;
                self.counters.rx_bytes += bytes;
            }
            Err(_) => self.counters.rx_dropped += 1,
        }
        refused
    }

    /// Whether it takes packets to be sent.
    pub(crate) fn can_send(&self) -> Result<(), DropReason> {
        if !self.is_live() {
            Err(DropReason::PortDown)
        } else if self.config.contains(PortConfig::NO_FWD) {
            Err(DropReason::NoForward)
        } else {
            Ok(())
        }
    }

    /// Counts a packet that goes out by a queue, unless it is dropped.
    pub(crate) fn send(&mut self, queue: Option<u32>, bytes: u64) -> Result<(), DropReason> {
        if let Err(reason) = self.can_send() {
            self.counters.tx_dropped += 1;
            return Err(reason);
        }
        self.counters.tx_packets += 1;
        self.counters.tx_bytes += bytes;
        if let Some(counters) = queue.and_then(|queue| self.queues.get_mut(&queue)) {
            counters.packets += 1;
            counters.bytes += bytes;
        }
        Ok(())
    }

    pub(crate) fn description(&self) -> Port {
        let mut state = PortState::empty();
        state.set(PortState::LINK_DOWN, !self.setup.link_up);
        state.set(PortState::LIVE, self.is_live());
        Port {
            port: self.setup.port,
            hw_addr: self.setup.hw_addr,
            name: Text::new(&self.setup.name),
            config: self.config,
            state,
            curr_speed: self.setup.speed_kbps,
            max_speed: self.setup.speed_kbps,
            ..Port::default()
        }
    }

    pub(crate) fn statistics(&self, now_ns: u64) -> PortStats {
        PortStats {
            duration: Elapsed::from_nanos(now_ns - self.since_ns),
            ..self.counters
        }
    }

    /// Statistics of a queue.
    pub(crate) fn queue_statistics(&self, now_ns: u64, queue: u32) -> Option<QueueStats> {
        let counters = self.queues.get(&queue)?;
        Some(QueueStats {
            port: self.setup.port,
            queue,
            tx_bytes: counters.bytes,
            tx_packets: counters.packets,
            tx_errors: 0,
            duration: Elapsed::from_nanos(now_ns - self.since_ns),
        })
    }

    /// Numbers of the queues.
    pub(crate) fn queue_numbers(&self) -> impl Iterator<Item = u32> {
        self.queues.keys().copied()
    }

    /// Queues as they were set up.
    pub(crate) fn packet_queues(&self) -> impl Iterator<Item = PacketQueue> {
        let port = self.setup.port;
        self.setup.queues.iter().map(move |setup| PacketQueue {
            queue: setup.queue,
            port,
            properties: [
                setup.min_rate.map(QueueProperty::MinRate),
                setup.max_rate.map(QueueProperty::MaxRate),
            ]
            .into_iter()
            .flatten()
            .collect(),
        })
    }
}
