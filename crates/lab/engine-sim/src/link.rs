//! A link of the run with the middleboxes in it.

use mptcplab_link::{ConfigError, Dropped, LinkChange, LinkConfig, Rate};
use mptcplab_middlebox::{Chain, Directed};
use mptcplab_plan as plan;
use mptcplab_plan::InterfaceRef;

use crate::Nanos;
use crate::in_flight::{InFlight, PacketInFlight};
use crate::interference::{Fate, Interference};
use crate::schedule::earlier;

/// The time that a link of limited rate takes for a packet at the least, and the shortest time
/// between two that its token bucket lets through at once, as in the kernel engine: in captures of
/// both ends a packet takes 13 to 15 µs over three links of no delay. Round trips of no time at all
/// would have rates without bound, of which a scheduler that averages them knows for long afterwards;
/// and a host would handle as one what comes one by one.
const LEAST_DELAY_NS: Nanos = 5_000;

/// A link, its ends and its middleboxes.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) model: mptcplab_link::Link<InFlight>,
    pub(crate) ends: [InterfaceRef; 2],
    least_delay_ns: Nanos,
    boxes: Chain,
    /// Where the next packets have a fate.
    interference: Option<Box<Interference>>,
}

impl Link {
    /// Link number `index` of a run; its streams are those of the kernel engine's link.
    pub(crate) fn new(planned: &plan::Link, seed: u64, index: usize) -> Result<Self, ConfigError> {
        Ok(Self {
            model: model(planned, seed, index)?,
            ends: planned.ends,
            least_delay_ns: least_delay_ns(&planned.config),
            boxes: Chain::new(&planned.middleboxes, seed, index),
            interference: None,
        })
    }

    /// Changes it from `now` on.
    pub(crate) fn change(&mut self, now: Nanos, change: &LinkChange) -> Result<(), ConfigError> {
        let mut change = change.clone();
        change.delay_ns = change
            .delay_ns
            .map(|delay_ns| delay_ns.max(self.least_delay_ns));
        self.model.change(now, &change)
    }

    /// Gives the next packets of an end a fate.
    pub(crate) fn interfere(&mut self, end: usize, fate: &Fate, packets: u32) {
        let interference = self.interference.get_or_insert_default();
        interference.add(end, fate, packets);
    }

    /// Takes a packet of `ip_bytes` from an end; says whether the [deadline](Self::deadline) may
    /// come earlier than before, or why it does not take it: counted, unless lost by a fate.
    pub(crate) fn offer(
        &mut self,
        now: Nanos,
        end: usize,
        ip_bytes: u32,
        in_flight: InFlight,
    ) -> Result<bool, Dropped> {
        if self.interference.is_some() {
            return self.offer_with_fate(now, end, ip_bytes, in_flight);
        }
        let is_busy = self.model.is_busy(end);
        self.model.offer(end, now, ip_bytes, in_flight)?;
        Ok(!is_busy)
    }

    /// The same where the next packets may have a fate.
    #[cold]
    fn offer_with_fate(
        &mut self,
        now: Nanos,
        end: usize,
        ip_bytes: u32,
        mut in_flight: InFlight,
    ) -> Result<bool, Dropped> {
        let interference = self.interference.get_or_insert_default();
        let fate = interference.take(end, &mut in_flight);
        let ip_bytes = match &fate {
            Some(Fate::Rewritten(_)) => in_flight.ip_bytes(),
            _ => ip_bytes,
        };
        match fate {
            None | Some(Fate::Rewritten(_)) => {}
            Some(Fate::Lost) => return Err(Dropped::Down),
            Some(Fate::Delayed(by)) => {
                interference.hold(now.saturating_add(by), end, ip_bytes, in_flight);
                return Ok(true);
            }
            Some(Fate::Behind(others)) => {
                interference.hold_behind(others, end, ip_bytes, in_flight);
                return Ok(true);
            }
            Some(Fate::Duplicated) => {
                let copy = in_flight.clone();
                self.model.offer(end, now, ip_bytes, copy).ok();
            }
        }
        let offered = self.model.offer(end, now, ip_bytes, in_flight);
        for held in interference.take_passed(end) {
            self.model
                .offer(end, now, held.ip_bytes, held.in_flight)
                .ok();
        }
        offered.map(|()| true)
    }

    /// Lets packets that were held back go on, once their time has come.
    #[cold]
    fn release_held(&mut self, now: Nanos) {
        let interference = self.interference.get_or_insert_default();
        while let Some(held) = interference.take_due(now) {
            let (end, ip_bytes) = (held.end, held.ip_bytes);
            self.model.offer(end, now, ip_bytes, held.in_flight).ok();
        }
    }

    /// The next time at which a packet may come out.
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        let mut deadline = self.model.next_deadline();
        if let Some(interference) = &self.interference {
            deadline = earlier(deadline, interference.deadline());
        }
        if self.boxes.is_empty() {
            return deadline;
        }
        earlier(deadline, self.boxes.deadline())
    }

    /// Appends what comes out by `now`.
    pub(crate) fn poll(&mut self, now: Nanos, out: &mut Vec<Arrived>) {
        if self.interference.is_some() {
            self.release_held(now);
        }
        if self.boxes.is_empty() {
            return self.model.poll_each(now, |delivery| {
                out.push(Arrived {
                    direction: delivery.direction,
                    ip_bytes: delivery.ip_bytes,
                    in_flight: delivery.packet,
                });
            });
        }
        let mut passed = Vec::new();
        let boxes = &mut self.boxes;
        self.model.poll_each(now, |delivery| {
            // A link at a switch has no middleboxes.
            if let InFlight::Packet(in_flight) = delivery.packet {
                let packet = *in_flight.into_packet();
                boxes.pass(now, (delivery.direction, packet), &mut passed);
            }
        });
        self.boxes.act(now, &mut passed);
        let arrived = |(direction, packet): Directed| Arrived {
            direction,
            ip_bytes: packet.ip_bytes() as u32,
            in_flight: InFlight::Packet(PacketInFlight::new(Box::new(packet))),
        };
        out.extend(passed.into_iter().map(arrived));
    }
}

/// The model of link number `index` of a run.
pub(crate) fn model<T: Clone>(
    planned: &plan::Link,
    seed: u64,
    index: usize,
) -> Result<mptcplab_link::Link<T>, ConfigError> {
    let link_seed = seed.wrapping_mul(1 << 16).wrapping_add(index as u64);
    let least_delay_ns = least_delay_ns(&planned.config);
    let mut config = planned.config.clone();
    for direction in &mut config.directions {
        direction.delay_ns = direction.delay_ns.max(least_delay_ns);
        direction.least_packet_ns = least_delay_ns;
    }
    mptcplab_link::Link::new(&config, link_seed)
}

/// The shortest delay of a link. One of unlimited rate may be a part of a host, in which packets
/// take no time.
fn least_delay_ns(config: &LinkConfig) -> Nanos {
    let mut directions = config.directions.iter();
    match directions.all(|direction| direction.rate == Rate::Unlimited) {
        true => 0,
        false => LEAST_DELAY_NS,
    }
}

/// A packet or a frame that has come out of a link.
#[derive(Clone, Debug)]
pub(crate) struct Arrived {
    pub(crate) direction: usize,
    pub(crate) ip_bytes: u32,
    pub(crate) in_flight: InFlight,
}
