//! The rate of a link as it is measured while the link is busy.
//!
//! Frames of discovery wait in the queue of the link with all others. Where each of them has waited,
//! from before one reading of the counters until after the next, the queue was never seen empty, and
//! what came out at the far end between the two is all that the link can carry. No rate that was
//! told is needed for that, and none is believed beside it if it is much higher. A time that the
//! control channels may have taken is no wait in the queue, nor is one that all frames share which a
//! switch has sent or taken at a time: the channel or the switch may have been slow then.

use std::collections::{BTreeMap, VecDeque};

use crate::controller::Controller;
use crate::place::Link;

const SECOND: u64 = 1_000_000_000;

/// Frames of discovery that are remembered.
const FRAMES: usize = 32;
/// Bits of a full frame: what a frame of discovery waits for at least where there is a queue.
const FULL_FRAME: u128 = 1514 * 8;
/// The part of the rate that was told below which a link is slower than told, in tenths: CUBIC's
/// window falls to it with each loss (RFC 9438, section 4.6), so that a link may look as slow now and
/// then without being so.
const SLOWER_TENTHS: u128 = 7;
/// The time for which a link counts as slow after it was seen so, ns: twice as long each time that it
/// is slow again when that is over, up to so many times.
const KEPT_NS: u64 = 30 * SECOND;
const MOST_KEPT: u64 = 16;

/// The rate of a link, in one direction, as measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Capacity {
    /// The last frames of discovery that have come.
    frames: VecDeque<Frame>,
    /// The time that frames take at least, as known beside them, ns.
    least_ns: Option<u64>,
    /// Measured, where it is much lower than told.
    slow: Option<Slow>,
    /// Whether the link was busy all the time between the last two readings.
    is_busy: bool,
    /// Whether it seemed so between them, and to be slow: many frames are to tell between the next two.
    is_suspect: bool,
    /// The time from which on readings count, as before other subflows had a path over the link.
    since_ns: u64,
}

/// A frame of discovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) sent_ns: u64,
    /// How long it took, ns.
    pub(super) took_ns: u64,
    /// How much longer than they do at least the control channels may have taken.
    pub(super) control_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slow {
    bps: u64,
    until_ns: u64,
    /// For how long it counts.
    kept_ns: u64,
}

/// The traffic of a link between two readings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    /// When the readings were asked for, ns.
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    /// Bits a second that came.
    pub(super) bps: u64,
}

impl Capacity {
    /// Takes a frame of discovery, and the time that frames take at least, as far as it is known.
    pub(super) fn add(&mut self, frame: Frame, least_ns: Option<u64>) {
        self.least_ns = least_ns;
        if self.frames.len() == FRAMES {
            self.frames.pop_front();
        }
        self.frames.push_back(frame);
    }

    /// Takes what came between two readings; `missing` are the times at which frames of discovery
    /// were sent that have not come, `shared_ns` is how long at least all frames have taken that were
    /// sent when one was and came to the same switch or from the same one, beyond what they take;
    /// `told_bps` is the rate that was told.
    pub(super) fn measure(
        &mut self,
        now_ns: u64,
        interval: Interval,
        missing: impl Iterator<Item = u64>,
        shared_ns: impl Fn(u64) -> u64,
        told_bps: Option<u64>,
    ) {
        let bps = interval.bps;
        let seems_busy =
            interval.from_ns >= self.since_ns && self.has_waited(interval, missing, shared_ns);
        let told = told_bps.map_or(u128::MAX, |told_bps| u128::from(told_bps) * SLOWER_TENTHS);
        let is_slow = 10 * u128::from(bps) < told;
        let was_suspect = std::mem::replace(&mut self.is_suspect, seems_busy && is_slow);
        self.is_busy = seems_busy && (was_suspect || !is_slow);
        if !is_slow {
            self.slow = None;
            return;
        }
        if !self.is_busy {
            if let Some(slow) = &mut self.slow {
                slow.bps = slow.bps.max(bps);
            }
            return;
        }
        let kept_ns = match self.slow {
            None => KEPT_NS,
            Some(slow) if slow.until_ns >= now_ns => slow.kept_ns,
            Some(slow) => (2 * slow.kept_ns).min(MOST_KEPT * KEPT_NS),
        };
        self.slow = Some(Slow {
            bps,
            until_ns: now_ns + kept_ns,
            kept_ns,
        });
    }

    /// Whether every frame from the last one before the interval to the first one after it has
    /// waited for a full one. Those that are missing are still waiting, or had no room; one that has
    /// come there must be, as frames may also be lost elsewhere.
    fn has_waited(
        &self,
        interval: Interval,
        missing: impl Iterator<Item = u64>,
        shared_ns: impl Fn(u64) -> u64,
    ) -> bool {
        let waits = self.waits();
        let own_ns = |sent_ns, waited_ns: u64| waited_ns.saturating_sub(shared_ns(sent_ns));
        let waits = waits.map(|(sent_ns, waited_ns)| (sent_ns, Some(own_ns(sent_ns, waited_ns))));
        let mut frames: Vec<(u64, Option<u64>)> = waits.collect();
        frames.extend(missing.map(|sent_ns| (sent_ns, None)));
        let before = frames.iter().map(|(sent_ns, _)| *sent_ns);
        let first_ns = before.clone().filter(|at| *at <= interval.from_ns).max();
        let last_ns = before.filter(|at| *at >= interval.to_ns).min();
        let (Some(first_ns), Some(last_ns)) = (first_ns, last_ns) else {
            return false;
        };
        frames.retain(|(sent_ns, _)| (first_ns..=last_ns).contains(sent_ns));
        let waits = frames.iter().filter_map(|(_, waited_ns)| *waited_ns);
        let least_ns = waits.min();
        least_ns.is_some_and(|waited_ns| is_long(waited_ns, interval.bps))
    }

    /// When each frame was sent, and how long it has waited in the queue, as far as it has not in the
    /// control channels, ns.
    fn waits(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        let frames = self.frames.iter();
        let took_ns = frames.clone().map(|frame| frame.took_ns);
        let least_ns = took_ns.chain(self.least_ns).min().unwrap_or(0);
        frames.map(move |frame| {
            let waited_ns = frame.took_ns - least_ns;
            (frame.sent_ns, waited_ns.saturating_sub(frame.control_ns))
        })
    }

    /// Whether many frames of discovery are to tell whether it is busy, as the last one has waited.
    pub(super) fn asks_for_frames(&self, bps: u64) -> bool {
        self.is_suspect && self.last_has_waited(bps)
    }

    /// Whether the last frame has waited for a full one at a rate.
    fn last_has_waited(&self, bps: u64) -> bool {
        is_long(self.last_waited_ns(), bps)
    }

    /// The time that the last frame has waited in the queue, ns.
    pub(super) fn last_waited_ns(&self) -> u64 {
        self.waits()
            .next_back()
            .map_or(0, |(_, waited_ns)| waited_ns)
    }
}

/// The end of a link at a switch, and the time at which frames were sent by all links.
type Round = (u64, bool, u64);

/// The least waits of frames that one switch has sent at a time, or has taken. Where all of them have
/// waited, the switch or its control channel may be what was slow.
#[derive(Clone, Default)]
struct SharedWaits(BTreeMap<Round, (usize, u64)>);

impl SharedWaits {
    fn rounds(link: Link, sent_ns: u64) -> [Round; 2] {
        [
            (link.from.datapath, false, sent_ns),
            (link.to.datapath, true, sent_ns),
        ]
    }

    fn add(&mut self, link: Link, sent_ns: u64, waited_ns: u64) {
        for round in Self::rounds(link, sent_ns) {
            let (count, least_ns) = self.0.entry(round).or_insert((0, waited_ns));
            *count += 1;
            *least_ns = waited_ns.min(*least_ns);
        }
    }

    /// The longer one of a link's two; one that nothing else has is not shared.
    fn of(&self, link: Link, sent_ns: u64) -> u64 {
        let rounds = Self::rounds(link, sent_ns).into_iter();
        let known = rounds.filter_map(|round| self.0.get(&round));
        let shared = known.filter(|(count, _)| *count > 1);
        shared.map(|(_, least_ns)| *least_ns).max().unwrap_or(0)
    }
}

/// Whether a wait is that of a full frame at least, at a rate.
fn is_long(waited_ns: u64, bps: u64) -> bool {
    u128::from(waited_ns) * u128::from(bps) >= FULL_FRAME * u128::from(SECOND)
}

impl Controller {
    /// Takes what came over each link between the last two readings of the counters.
    pub(crate) fn measure_links(&mut self) {
        let (now_ns, [from_ns, to_ns]) = (self.now_ns, self.read_ns);
        let links: Vec<Link> = self.topology.links().collect();
        let shared = self.shared_waits(&links);
        for link in links {
            let told_bps = self.told_bps(&link);
            let sent = self.topology.port(link.from).map(|port| &port.sent);
            let missing: Vec<u64> = sent.into_iter().flatten().map(|sent| sent.at_ns).collect();
            let Some(port) = self.topology.port_mut(link.to) else {
                continue;
            };
            let [before_ns, last_ns] = port.load.read_ns;
            let is_fresh =
                last_ns >= to_ns && (from_ns..to_ns).contains(&before_ns) && port.load.is_sound;
            let interval = Interval {
                from_ns,
                to_ns,
                bps: if is_fresh { port.load.received_bps } else { 0 },
            };
            if let Some(peer) = &mut port.peer {
                let missing = missing.into_iter();
                let shared_ns = |sent_ns| shared.of(link, sent_ns);
                let capacity = &mut peer.capacity;
                capacity.measure(now_ns, interval, missing, shared_ns, told_bps);
                if capacity.is_suspect {
                    self.probe_soon(link.from);
                }
            }
        }
    }

    /// The waits that all frames of a round share which a switch has sent, or has taken.
    fn shared_waits(&self, links: &[Link]) -> SharedWaits {
        let mut shared = SharedWaits::default();
        for link in links {
            let peer = self
                .topology
                .port(link.to)
                .and_then(|port| port.peer.as_ref());
            for (sent_ns, waited_ns) in peer.into_iter().flat_map(|peer| peer.capacity.waits()) {
                shared.add(*link, sent_ns, waited_ns);
            }
        }
        shared
    }

    /// Whether a link was busy all the time between the last two readings, in either direction.
    pub(crate) fn is_busy(&self, link: &Link) -> bool {
        let is_busy = |capacity: &Capacity| capacity.is_busy;
        self.capacities(link).any(is_busy)
    }

    /// Whether a link seems to have a queue, in either direction, from what is known of it.
    pub(crate) fn has_queue(&self, link: &Link) -> bool {
        [link.from, link.to].into_iter().any(|at| {
            let port = self.topology.port(at);
            port.is_some_and(|port| {
                let capacity = port.peer.as_ref().map(|peer| &peer.capacity);
                capacity
                    .is_some_and(|one| one.is_busy || one.last_has_waited(port.load.received_bps))
            })
        })
    }

    /// The time that frames wait in the queue of a link, ns, in the direction that has more.
    pub(crate) fn waits_ns(&self, link: &Link) -> u64 {
        let waits_ns = self.capacities(link).map(Capacity::last_waited_ns);
        waits_ns.max().unwrap_or(0)
    }

    /// The rate of a link as measured in the last time, in either direction, where it is much lower than
    /// told.
    pub(crate) fn slow_bps(&self, link: &Link) -> Option<u64> {
        let slow = self.capacities(link).filter_map(|capacity| capacity.slow);
        let slow = slow.filter(|slow| slow.until_ns >= self.now_ns);
        slow.map(|slow| slow.bps).min()
    }

    /// Has readings of the links of a path count from now on, as other subflows have it from now on.
    pub(crate) fn measure_anew(&mut self, path: &[Link]) {
        let now_ns = self.now_ns;
        for at in path.iter().flat_map(|link| [link.from, link.to]) {
            let port = self.topology.port_mut(at);
            if let Some(peer) = port.and_then(|port| port.peer.as_mut()) {
                (peer.capacity.since_ns, peer.capacity.is_busy) = (now_ns, false);
            }
        }
    }

    /// The measurements of a link, in both directions.
    fn capacities(&self, link: &Link) -> impl Iterator<Item = &Capacity> {
        let ends = [link.from, link.to].into_iter();
        let peers = ends.filter_map(|at| self.topology.port(at)?.peer.as_ref());
        peers.map(|peer| &peer.capacity)
    }
}

#[cfg(test)]
mod tests;
