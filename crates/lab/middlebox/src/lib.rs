//! Boxes in a link that interfere with packets ([`mptcplab_plan::Middlebox`]), one file each,
//! without I/O and without a clock: packets and the time go in, packets and the next deadline come
//! out. Both engines have them.
//!
//! A packet meets the boxes of its link after its propagation: those of direction 0 in the order
//! of the plan, those of direction 1 in the opposite order. A box may drop a packet, change it,
//! hold it back, make several of it, or send packets of its own either way.
//!
//! The bytes of packets may be anything: a box leaves alone what it cannot read, but a NAT lets
//! nothing pass that it cannot translate.

#![forbid(unsafe_code)]

mod change_payload;
mod coalesce;
mod corrupt;
mod drop_syn_data;
mod drop_unknown;
mod fields;
mod flow;
mod icmp_error;
mod nat;
mod proxy_ack;
mod split;
mod strip;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt::Debug;

use dyn_clone::DynClone;
use mptcplab_link::Nanos;
use mptcplab_plan::Middlebox as Planned;
use mptcplab_random::{Purpose, Random};
use mptcplab_wire::Packet;

/// A packet and the direction of the link in which it goes on.
pub type Directed = (usize, Packet);

/// A box.
trait Middlebox: Debug + DynClone + Send + Sync {
    /// Takes a packet that comes in a direction; what goes on is appended to `out`.
    fn pass(&mut self, now: Nanos, directed: Directed, out: &mut Vec<Directed>);

    /// Whether it lets pass what is no whole packet, such as a fragment.
    fn passes_unread(&self) -> bool {
        true
    }

    /// The time at which the box acts by itself.
    fn deadline(&self) -> Option<Nanos> {
        None
    }

    /// Does what is due.
    fn act(&mut self, now: Nanos, out: &mut Vec<Directed>) {
        let _ = (now, out);
    }
}

dyn_clone::clone_trait_object!(Middlebox);

/// The boxes of a link.
#[derive(Clone, Debug)]
pub struct Chain {
    boxes: Vec<Box<dyn Middlebox>>,
}

impl Chain {
    /// The boxes of link number `link` of a run with this seed.
    pub fn new(planned: &[Planned], seed: u64, link: usize) -> Self {
        let make = |(index, planned)| {
            // No link has so many boxes that the streams of two links meet.
            let random = || Random::new(seed, Purpose::Middlebox, link << 8 | index);
            make(planned, random)
        };
        Self {
            boxes: planned.iter().enumerate().map(make).collect(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// Takes a packet that comes out of the link; what leaves the boxes is appended to `out`.
    pub fn pass(&mut self, now: Nanos, directed: Directed, out: &mut Vec<Directed>) {
        let first = match directed.0 {
            0 => Some(0),
            _ => self.boxes.len().checked_sub(1),
        };
        self.carry(now, VecDeque::from([(first, directed)]), out);
    }

    /// Whether all boxes let pass what is no whole packet, such as a fragment.
    pub fn passes_unread(&self) -> bool {
        self.boxes.iter().all(|one| one.passes_unread())
    }

    /// The next time at which one of the boxes acts by itself.
    pub fn deadline(&self) -> Option<Nanos> {
        self.boxes.iter().filter_map(|one| one.deadline()).min()
    }

    /// Lets the boxes do what is due.
    pub fn act(&mut self, now: Nanos, out: &mut Vec<Directed>) {
        for index in 0..self.boxes.len() {
            if self.boxes[index].deadline().is_some_and(|due| due <= now) {
                let mut sent = Vec::new();
                self.boxes[index].act(now, &mut sent);
                let beyond = self.beyond(index, sent);
                self.carry(now, beyond, out);
            }
        }
    }

    /// Passes packets that have left a box to the next one.
    fn beyond(&self, index: usize, sent: Vec<Directed>) -> VecDeque<(Option<usize>, Directed)> {
        let next = |directed: Directed| match directed.0 {
            0 => (Some(index + 1), directed),
            _ => (index.checked_sub(1), directed),
        };
        sent.into_iter().map(next).collect()
    }

    /// Carries packets through the boxes that they have still to meet.
    fn carry(
        &mut self,
        now: Nanos,
        mut under_way: VecDeque<(Option<usize>, Directed)>,
        out: &mut Vec<Directed>,
    ) {
        while let Some((place, directed)) = under_way.pop_front() {
            match place.filter(|&index| index < self.boxes.len()) {
                None => out.push(directed),
                Some(index) => {
                    let mut sent = Vec::new();
                    self.boxes[index].pass(now, directed, &mut sent);
                    under_way.extend(self.beyond(index, sent));
                }
            }
        }
    }
}

fn make(planned: &Planned, random: impl FnOnce() -> Random) -> Box<dyn Middlebox> {
    match planned {
        &Planned::Nat { inside, address } => Box::new(nat::Nat::new(inside, address)),
        Planned::StripOptions {
            kinds,
            mptcp_subtypes,
            on,
            direction,
        } => Box::new(strip::StripOptions {
            kinds: kinds.clone(),
            mptcp_subtypes: mptcp_subtypes.clone(),
            on: *on,
            direction: *direction,
        }),
        &Planned::Split {
            payload_bytes,
            direction,
        } => Box::new(split::Split {
            payload_bytes,
            direction,
        }),
        &Planned::Coalesce {
            payload_bytes,
            hold_ns,
            direction,
        } => Box::new(coalesce::Coalesce::new(payload_bytes, hold_ns, direction)),
        &Planned::ProxyAck { sender } => Box::new(proxy_ack::ProxyAck::new(sender)),
        &Planned::DropUnknownOptions { on, direction } => {
            Box::new(drop_unknown::DropUnknownOptions { on, direction })
        }
        &Planned::DropSynData { segment, direction } => {
            Box::new(drop_syn_data::DropSynData { segment, direction })
        }
        &Planned::ChangePayload {
            probability,
            direction,
        } => Box::new(change_payload::ChangePayload {
            probability,
            direction,
            random: random(),
        }),
        &Planned::Corrupt {
            probability,
            direction,
        } => Box::new(corrupt::Corrupt {
            probability,
            direction,
            random: random(),
        }),
    }
}

/// Whether a box of a direction, or of both where `None`, applies.
fn concerns(wanted: Option<usize>, direction: usize) -> bool {
    wanted.is_none_or(|wanted| wanted == direction)
}
