//! Links that stand still: what is in them, and one packet after the other.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use mptcplab_link::{Nanos, Place};

use super::driven_link::{DrivenLink, Packet};
use super::driver::Driver;
use super::switched::Switched;
use crate::frames::segments::with_checksum;

/// A packet that has come out of a link by a step.
#[derive(Clone, Debug)]
pub struct Stepped {
    /// The number of the link.
    pub link: usize,
    /// Its direction.
    pub direction: usize,
    /// The time, since the run's zero.
    pub t_ns: Nanos,
    /// The frame, as a wire would carry it.
    pub frame: Bytes,
}

/// A packet in a link.
#[derive(Clone, Debug)]
pub struct HeldPacket {
    /// Where it is.
    pub place: Place,
    /// Size of the IP packet.
    pub ip_bytes: u32,
    /// The frame, as a wire would carry it.
    pub frame: Bytes,
}

impl Packet {
    /// The packet alone, with whole checksums.
    fn bytes(&self) -> Bytes {
        let (offload, bytes) = self.frame.carve(self.index..self.index + 1);
        with_checksum(&offload, bytes).into()
    }
}

impl Driver {
    /// Stops the clock. What is due by then leaves, and nothing after it.
    pub(super) fn pause(&mut self) -> io::Result<()> {
        if !self.time.stands() {
            self.time.clock.stop();
            self.take_arrivals()?;
            self.deliver()?;
            self.time.stood = self.time.now();
        }
        Ok(())
    }

    /// Lets the clock go on. What has come meanwhile is in the links before.
    pub(super) fn resume(&mut self) -> io::Result<Option<Duration>> {
        self.take_arrivals()?;
        Ok(self.time.clock.go_on())
    }

    /// Exchanges messages with controllers and switches outside.
    pub(super) fn talk(&mut self) -> io::Result<()> {
        let now = self.time.now();
        match &mut self.switched {
            Some(switched) => switched.talk(&mut self.links, now),
            None => Ok(()),
        }
    }

    /// Lets the next packet come out of a link, if the clock stands, and moves the clock there.
    pub(super) fn step(&mut self) -> io::Result<Vec<Stepped>> {
        while self.time.stands()
            && let Some((at, link)) = self.next_step()
        {
            self.time.advance_to(at);
            let stepped = match link {
                Some(link) => self.step_link(link)?,
                None => {
                    let now = self.time.now();
                    if let Some(switched) = &mut self.switched {
                        switched.advance(&mut self.links, now);
                    }
                    Vec::new()
                }
            };
            if !stepped.is_empty() {
                return Ok(stepped);
            }
        }
        Ok(Vec::new())
    }

    /// The next time at which something happens, and the link in which it does; no link where it is
    /// with the switches.
    fn next_step(&self) -> Option<(Nanos, Option<usize>)> {
        let links = self.links.iter().map(DrivenLink::next_deadline).enumerate();
        let links = links.filter_map(|(number, at)| Some((at?, Some(number))));
        let switched = self.switched.as_ref().and_then(Switched::next_message);
        let switched = switched.map(|at| (at, None));
        links.chain(switched).min()
    }

    fn step_link(&mut self, number: usize) -> io::Result<Vec<Stepped>> {
        let now = self.time.now();
        let mut due = std::mem::take(&mut self.due);
        let link = &mut self.links[number];
        link.take_one(now, &mut due);
        let mut stepped = Vec::with_capacity(due.len());
        for delivery in &due {
            self.lateness.add(now.saturating_sub(delivery.at));
            stepped.push(Stepped {
                link: number,
                direction: delivery.direction,
                t_ns: now,
                frame: delivery.packet.bytes(),
            });
            let at_switch = self.links[number].switch_at_end(delivery.direction);
            if let (Some(switched), Some(of)) = (&mut self.switched, at_switch) {
                switched.receive(&mut self.links, number, (delivery, of));
            }
        }
        self.links[number].send(&due)?;
        due.clear();
        self.due = due;
        Ok(stepped)
    }

    /// The packets in every link, at the present time.
    pub(super) fn packets(&self) -> Vec<[Vec<HeldPacket>; 2]> {
        let now = self.time.now();
        let of = |link: &DrivenLink| {
            let model = link.model.at(now);
            [0, 1].map(|direction| {
                let carried = model.carried(direction).into_iter();
                let held = carried.map(|one| HeldPacket {
                    place: one.place,
                    ip_bytes: one.ip_bytes,
                    frame: one.packet.bytes(),
                });
                held.collect()
            })
        };
        self.links.iter().map(of).collect()
    }
}
