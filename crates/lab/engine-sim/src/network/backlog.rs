//! Packets that have reached a host and that it has not handled yet.

use std::collections::VecDeque;

use mptcplab_plan::Plan;
use mptcplab_random::{Purpose, Random};
use mptcplab_wire::Packet;

use crate::Nanos;
use crate::response_times::{AWAKE, AWAKE_NS, HOST, drawn};

/// The packets of one host: it wakes up for the first, and handles with it all that have come
/// since.
#[derive(Clone, Debug)]
pub(super) struct Backlog {
    packets: VecDeque<Box<Packet>>,
    /// When the host handles them.
    at: Nanos,
    /// When the last packet came.
    came: Option<Nanos>,
    random: Random,
}

impl Backlog {
    /// That of a host, which has its own times in each run.
    pub(super) fn new(plan: &Plan, node: usize) -> Self {
        Self {
            packets: VecDeque::new(),
            at: 0,
            came: None,
            random: Random::new(plan.seed, Purpose::Host, node),
        }
    }

    /// Takes a packet.
    pub(super) fn push(&mut self, now: Nanos, packet: Box<Packet>) {
        if self.packets.is_empty() {
            let is_awake = self.came.is_some_and(|came| now - came < AWAKE_NS);
            let times = if is_awake { &AWAKE } else { &HOST };
            self.at = now + drawn(times, self.random.bits());
        }
        self.came = Some(now);
        self.packets.push_back(packet);
    }

    /// When packets are to be handled, if any are there.
    pub(super) fn deadline(&self) -> Option<Nanos> {
        (!self.packets.is_empty()).then_some(self.at)
    }

    /// How many packets are there.
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// The next packet that is to be handled now.
    pub(super) fn take_due(&mut self, now: Nanos) -> Option<Box<Packet>> {
        match self.at <= now {
            true => self.packets.pop_front(),
            false => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use mptcplab_wire::EchoKind;

    use super::*;

    fn packet() -> Box<Packet> {
        let [from, to] = [1, 2].map(|last| IpAddr::from([10, 0, 0, last]));
        Box::new(Packet::echo(
            from,
            to,
            EchoKind::Reply,
            1,
            1,
            Default::default(),
        ))
    }

    fn backlog(seed: u64) -> Backlog {
        Backlog {
            packets: VecDeque::new(),
            at: 0,
            came: None,
            random: Random::new(seed, Purpose::Host, 0),
        }
    }

    #[test]
    fn what_has_come_since_is_handled_with_the_first() {
        let mut backlog = backlog(1);
        assert_eq!(backlog.deadline(), None);
        backlog.push(100, packet());
        let at = backlog.deadline().unwrap();
        assert!((100 + HOST[0]..=100 + HOST[19]).contains(&at));
        backlog.push(at - 1, packet());
        assert_eq!(backlog.deadline(), Some(at));
        assert!(backlog.take_due(at - 1).is_none());
        assert!(backlog.take_due(at).is_some());
        assert!(backlog.take_due(at).is_some());
        assert_eq!(backlog.deadline(), None);
        backlog.push(at, packet());
        assert!(backlog.deadline().unwrap() > at);
    }

    #[test]
    fn a_host_that_is_awake_handles_a_packet_sooner() {
        let handled_after = |pause_ns| {
            let taken = (0..200).map(|seed| {
                let mut backlog = backlog(seed);
                backlog.push(0, packet());
                assert!(backlog.take_due(HOST[19]).is_some());
                backlog.push(pause_ns, packet());
                backlog.deadline().unwrap() - pause_ns
            });
            taken.max()
        };
        assert_eq!(handled_after(AWAKE_NS - 1), Some(AWAKE[19]));
        assert_eq!(handled_after(AWAKE_NS), Some(HOST[19]));
    }
}
