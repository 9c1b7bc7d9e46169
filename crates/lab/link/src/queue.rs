//! The queue before the serialiser: its limits and its discipline.

use alloc::boxed::Box;

use crate::Nanos;
use crate::codel::CoDel;
use crate::config::{Discipline, QueueConfig, QueueLimits};
use crate::fifo::{Fifo, Waiting};
use crate::packet::Packet;

/// A queue with its limits and its discipline.
#[derive(Clone, Debug)]
pub(crate) struct Queue<T> {
    pub(crate) limits: QueueLimits,
    /// Boxed, as is all that few links have: what every packet touches stays together.
    codel: Option<Box<CoDel>>,
    fifo: Fifo<T>,
}

impl<T> Queue<T> {
    pub(crate) fn new(config: &QueueConfig) -> Self {
        let limits = QueueLimits {
            limit_packets: config.limit_packets,
            limit_bytes: config.limit_bytes,
        };
        let codel = match config.discipline {
            Discipline::DropTail => None,
            Discipline::CoDel {
                target_ns,
                interval_ns,
            } => Some(Box::new(CoDel::new(target_ns, interval_ns))),
        };
        Self {
            limits,
            codel,
            fifo: Fifo::new(),
        }
    }

    /// Whether a packet of this size is within the limits.
    pub(crate) fn has_room(&self, ip_bytes: u32) -> bool {
        let QueueLimits {
            limit_packets,
            limit_bytes,
        } = self.limits;
        limit_packets.is_none_or(|limit| self.len() < limit as usize)
            && limit_bytes.is_none_or(|limit| self.bytes() + u64::from(ip_bytes) <= limit)
    }

    pub(crate) fn push(&mut self, arrived: Nanos, packet: Packet<T>) {
        self.fifo.push(arrived, packet);
    }

    /// Takes the packet to be serialised from `now` on; `dropped` counts those that the discipline
    /// drops before it.
    pub(crate) fn pop(&mut self, now: Nanos, dropped: &mut u64) -> Option<Waiting<T>> {
        match &mut self.codel {
            None => self.fifo.pop(),
            Some(codel) => codel.pop(now, &mut self.fifo, dropped),
        }
    }

    /// Drops everything and returns how many packets that were.
    pub(crate) fn clear(&mut self) -> u64 {
        let dropped = self.len() as u64;
        self.fifo.clear();
        if let Some(codel) = &mut self.codel {
            codel.reset();
        }
        dropped
    }

    /// When the packet at the head arrived.
    /// The packets, first to last.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Waiting<T>> {
        self.fifo.iter()
    }

    pub(crate) fn head_arrived(&self) -> Option<Nanos> {
        self.fifo.head().map(|head| head.arrived)
    }

    pub(crate) fn len(&self) -> usize {
        self.fifo.len()
    }

    /// Bytes that wait.
    pub(crate) fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }
}
