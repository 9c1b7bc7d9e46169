//! A link of the run with the boxes in it.

use mptcplab_link::{ConfigError, Link};
use mptcplab_plan as plan;
use mptcplab_plan::InterfaceRef;
use mptcplab_wire::Packet;

use crate::Nanos;
use crate::middlebox::Chain;
use crate::schedule::earlier;

/// A link, its ends, and what stands in it.
#[derive(Debug)]
pub(crate) struct Line {
    /// Packets are boxed: each is moved about ten times on its way through the stages.
    pub(crate) model: Link<Box<Packet>>,
    pub(crate) ends: [InterfaceRef; 2],
    boxes: Chain,
}

impl Line {
    /// Link number `index` of a run; its streams are those of the kernel engine's link.
    pub(crate) fn new(planned: &plan::Link, seed: u64, index: usize) -> Result<Self, ConfigError> {
        let link_seed = seed.wrapping_mul(1 << 16).wrapping_add(index as u64);
        Ok(Self {
            model: Link::new(&planned.config, link_seed)?,
            ends: planned.ends,
            boxes: Chain::new(&planned.middleboxes, seed, index),
        })
    }

    /// Takes a packet from an end; says whether the [deadline](Self::deadline) may come earlier
    /// than before. What the link does not take, it has counted.
    pub(crate) fn offer(&mut self, now: Nanos, end: usize, packet: Box<Packet>) -> bool {
        let is_busy = self.model.is_busy(end);
        let bytes = packet.ip_bytes() as u32;
        self.model.offer(end, now, bytes, packet).ok();
        !is_busy
    }

    /// When something may come out next.
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        let deadline = self.model.next_deadline();
        if self.boxes.is_empty() {
            return deadline;
        }
        earlier(deadline, self.boxes.deadline())
    }

    /// Appends what comes out by `now`, each packet with its direction.
    pub(crate) fn poll(&mut self, now: Nanos, out: &mut Vec<(usize, Box<Packet>)>) {
        if self.boxes.is_empty() {
            return self.model.poll_each(now, |delivery| {
                out.push((delivery.direction, delivery.packet));
            });
        }
        let mut passed = Vec::new();
        let boxes = &mut self.boxes;
        self.model.poll_each(now, |delivery| {
            boxes.pass(now, (delivery.direction, *delivery.packet), &mut passed);
        });
        self.boxes.act(now, &mut passed);
        let boxed = |(direction, packet)| (direction, Box::new(packet));
        out.extend(passed.into_iter().map(boxed));
    }
}
