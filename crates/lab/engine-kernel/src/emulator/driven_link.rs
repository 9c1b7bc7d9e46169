//! One link between its two ends.

use std::io;
use std::rc::Rc;

use mptcplab_link::{Delivery, Link, LinkConfig, Nanos};
use mptcplab_plan::InterfaceRef;

use super::clock::{Clock, LinkTime};
use super::middleboxes::Middleboxes;
use super::{DirectionState, EmulatedLink, LinkEnd};
use crate::capture::Tap;
use crate::frames::port::{Outgoing, Port};
use crate::frames::segments::{Frame, OffloadHeader, with_checksum};
use crate::lateness::Lateness;

/// Frames taken from one interface before the others have their turn.
const ARRIVALS_A_TURN: usize = 256;

/// A packet in the model: the frame that it came in, and its index there.
#[derive(Clone)]
pub(super) struct Packet {
    pub(super) frame: Rc<Frame>,
    pub(super) index: usize,
}

/// The frames that one turn took from the interfaces.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Arrivals {
    /// None had arrived.
    None,
    /// All that had arrived.
    All,
    /// There is more.
    More,
}

/// A link that the thread drives.
pub(super) struct DrivenLink {
    config: LinkConfig,
    seed: u64,
    pub(super) model: Link<Packet>,
    middleboxes: Middleboxes,
    pub(super) ends: [LinkEnd; 2],
    /// A switch is at one of them.
    pub(super) is_switched: bool,
    taps: [Option<Tap>; 2],
    overruns: [u64; 2],
    /// Frames that have arrived and are not offered yet, by their time.
    arrivals: Vec<(Nanos, usize, Frame)>,
    /// All frames that arrived until then have been offered.
    pub(super) horizon: Nanos,
    /// Packets of a link at a switch that are due at the hosts' ends.
    due: Vec<Delivery<Packet>>,
}

impl DrivenLink {
    pub(super) fn new(link: EmulatedLink) -> io::Result<Self> {
        Ok(Self {
            model: Link::new(&link.config, link.seed).map_err(io::Error::other)?,
            config: link.config,
            seed: link.seed,
            middleboxes: link.middleboxes,
            is_switched: link.ends.iter().any(|end| end.port().is_none()),
            ends: link.ends,
            due: Vec::new(),
            taps: link.taps,
            overruns: [0; 2],
            arrivals: Vec::new(),
            horizon: 0,
        })
    }

    /// Begins the run, at time 0, as a new link.
    pub(super) fn begin(&mut self, taps: [Option<Tap>; 2]) -> io::Result<()> {
        self.model = Link::new(&self.config, self.seed).map_err(io::Error::other)?;
        self.taps = taps;
        self.count_overruns()?;
        self.overruns = [0; 2];
        self.arrivals.clear();
        self.due.clear();
        self.horizon = 0;
        Ok(())
    }

    /// Offers each packet of a frame that arrived at end `direction`.
    fn offer(&mut self, at: Nanos, direction: usize, frame: Frame) {
        let frame = Rc::new(frame);
        for index in 0..frame.packets() {
            let packet = Packet {
                frame: Rc::clone(&frame),
                index,
            };
            self.offer_packet(at, direction, packet);
        }
    }

    /// Offers a packet at end `direction`.
    pub(super) fn offer_packet(&mut self, at: Nanos, direction: usize, packet: Packet) {
        let Packet { frame, index } = &packet;
        if let Some(tap) = &mut self.taps[direction] {
            tap.sent(at, frame, *index);
        }
        let ip_bytes = frame.ip_bytes(*index);
        // A packet that the link refuses is counted by the model.
        let _ = self.model.offer(direction, at, ip_bytes, packet);
    }

    /// Offers the model what has arrived, in the order of arrival, as far as nothing earlier can
    /// be left in a ring.
    pub(super) fn take_arrivals(&mut self, clock: &Clock<'_>) -> Arrivals {
        // The kernel stamps a frame before it stands in the ring: what is stamped up to here is
        // found by the reading that follows.
        let mut horizon = clock.now();
        let mut arrivals = Arrivals::None;
        for (direction, end) in self.ends.iter_mut().enumerate() {
            let (LinkEnd::Interface(port) | LinkEnd::Bridge(port)) = end else {
                continue;
            };
            let mut last = None;
            for _ in 0..ARRIVALS_A_TURN {
                let Some(arrival) = port.receive() else {
                    last = None;
                    break;
                };
                let at = clock.since_zero(arrival.realtime_ns);
                self.arrivals.push((at, direction, arrival.frame));
                arrivals = arrivals.max(Arrivals::All);
                last = Some(at);
            }
            if let Some(last) = last {
                horizon = horizon.min(last);
                arrivals = Arrivals::More;
            }
        }
        self.arrivals.sort_by_key(|(at, ..)| *at);
        let ready = self.arrivals.partition_point(|(at, ..)| *at <= horizon);
        let later = self.arrivals.split_off(ready);
        for (at, direction, frame) in std::mem::replace(&mut self.arrivals, later) {
            self.offer(at, direction, frame);
        }
        self.horizon = self.horizon.max(horizon);
        if self.arrivals.is_empty() {
            arrivals
        } else {
            Arrivals::More
        }
    }

    /// The interfaces at its ends.
    pub(super) fn ports(&self) -> impl Iterator<Item = &Port> {
        self.ends.iter().filter_map(LinkEnd::port)
    }

    /// The next time at which the model or a middlebox may have something to send.
    pub(super) fn next_deadline(&self) -> Option<Nanos> {
        let deadlines = [self.model.next_deadline(), self.middleboxes.deadline()];
        deadlines.into_iter().flatten().min()
    }

    /// Brings the model and the middleboxes to the link's horizon and sends what is due.
    pub(super) fn deliver(
        &mut self,
        time: &LinkTime,
        due: &mut Vec<Delivery<Packet>>,
        lateness: &mut Lateness,
    ) -> io::Result<()> {
        due.clear();
        self.model.poll(self.horizon, due);
        self.middleboxes.pass(self.horizon, due);
        let now = time.now();
        for delivery in &*due {
            lateness.add(now.saturating_sub(delivery.at));
        }
        self.send(due)
    }

    /// Brings the model of a link at a switch to a time, and passes on the packets that are due at
    /// switches. Those for hosts wait for [`send_due`](Self::send_due).
    pub(super) fn deliver_to_switches(
        &mut self,
        until: Nanos,
        mut late: impl FnMut(Nanos),
        mut pass: impl FnMut(Delivery<Packet>, InterfaceRef),
    ) {
        let Self {
            model,
            ends,
            taps,
            due,
            ..
        } = self;
        model.poll_each(until, |delivery| {
            late(delivery.at);
            let far = 1 - delivery.direction;
            match ends[far] {
                LinkEnd::Interface(_) | LinkEnd::Bridge(_) => due.push(delivery),
                LinkEnd::Switch(of) => {
                    if let Some(tap) = &mut taps[far] {
                        tap.received(delivery.at, &delivery.packet.frame, delivery.packet.index);
                    }
                    pass(delivery, of);
                }
            }
        });
    }

    /// Sends what has become due at hosts.
    pub(super) fn send_due(&mut self) -> io::Result<()> {
        let mut due = std::mem::take(&mut self.due);
        if !due.is_empty() {
            self.send(&due)?;
            due.clear();
        }
        self.due = due;
        Ok(())
    }

    /// Takes the first packet that is due by `until` out of the model; `due` is then what leaves the
    /// middleboxes.
    pub(super) fn take_one(&mut self, until: Nanos, due: &mut Vec<Delivery<Packet>>) {
        due.clear();
        due.extend(self.model.poll_one(until));
        self.middleboxes.pass(until, due);
    }

    /// The switch at the far end of a direction.
    pub(super) fn switch_at_end(&self, direction: usize) -> Option<InterfaceRef> {
        match self.ends[1 - direction] {
            LinkEnd::Switch(of) => Some(of),
            LinkEnd::Interface(_) | LinkEnd::Bridge(_) => None,
        }
    }

    /// Notes a packet that has come to a switch in the capture of its port.
    pub(super) fn note_received(&mut self, delivery: &Delivery<Packet>) {
        let Packet { frame, index } = &delivery.packet;
        if let Some(tap) = &mut self.taps[1 - delivery.direction] {
            tap.received(delivery.at, frame, *index);
        }
    }

    /// Sends deliveries to the far ends, runs of packets of one frame as one frame.
    pub(super) fn send(&mut self, due: &[Delivery<Packet>]) -> io::Result<()> {
        for direction in 0..2 {
            let far = 1 - direction;
            let (port, is_bridge) = match &mut self.ends[far] {
                LinkEnd::Interface(port) => (port, false),
                LinkEnd::Bridge(port) => (port, true),
                LinkEnd::Switch(_) => continue,
            };
            let mut batch: Vec<Outgoing<'_>> = Vec::new();
            let mut run: Option<(&Packet, usize)> = None;
            for delivery in due
                .iter()
                .filter(|delivery| delivery.direction == direction)
            {
                let packet = &delivery.packet;
                if let Some(tap) = &mut self.taps[far] {
                    tap.received(delivery.at, &packet.frame, packet.index);
                }
                if is_bridge {
                    let (offload, bytes) = packet.frame.carve(packet.index..packet.index + 1);
                    let bytes = with_checksum(&offload, bytes);
                    batch.push((OffloadHeader::default(), bytes.into()));
                    continue;
                }
                run = match run {
                    Some((first, count))
                        if Rc::ptr_eq(&first.frame, &packet.frame)
                            && first.index + count == packet.index =>
                    {
                        Some((first, count + 1))
                    }
                    Some((first, count)) => {
                        batch.push(first.frame.carve(first.index..first.index + count));
                        Some((packet, 1))
                    }
                    None => Some((packet, 1)),
                };
            }
            if let Some((first, count)) = run {
                batch.push(first.frame.carve(first.index..first.index + count));
            }
            port.send(&batch)?;
        }
        Ok(())
    }

    /// Frames lost on their way in, by direction, since the start.
    pub(super) fn count_overruns(&mut self) -> io::Result<[u64; 2]> {
        for (total, end) in self.overruns.iter_mut().zip(&mut self.ends) {
            if let LinkEnd::Interface(port) | LinkEnd::Bridge(port) = end {
                *total += port.overruns()?;
            }
        }
        Ok(self.overruns)
    }

    pub(super) fn state(&mut self) -> io::Result<[DirectionState; 2]> {
        let overruns = self.count_overruns()?;
        Ok([0, 1].map(|direction| DirectionState {
            rate_bps: self.model.rate_bps(direction),
            counters: self.model.counters(direction),
            backlog: self.model.backlog(direction),
            overruns: overruns[direction],
        }))
    }
}
