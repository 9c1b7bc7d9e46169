//! Duplicates: one packet seen on several interfaces, as in a router's capture of all of them, a
//! capture on `any`, or one file for each end of a hop.
//!
//! The k-th packet with a fingerprint on one interface is the same as the k-th on another: a second
//! occurrence on one interface is another packet, and where each interface has one direction only
//! nothing is a duplicate. The fingerprint is made of what a router leaves as it is: addresses and
//! ports, sequence and acknowledgement numbers, flags, window, length, identification of the IPv4
//! header, timestamps and the first SACK block. The hop limit and ECN change on the way. The
//! checksum is left out: where the sender's card completes it, the first capture differs from all
//! the rest; the other fields and the order suffice. Options of MPTCP
//! are left out because a middlebox that removes them must not hide that the packet is the same.
//!
//! Not recognised: packets whose addresses, ports or sequence numbers are rewritten on the way
//! (NAT), and segments that are cut or put together between two interfaces (offload).

use super::table::Secrets;
use crate::{Nanos, Segment};

/// Most packets that are remembered, over all flows.
const REMEMBERED: u32 = 1 << 17;
/// Longest time between copies of a packet.
const MAX_DELAY: u64 = 2_000_000_000;
/// Most occurrences of a fingerprint that are compared; beyond them a packet counts as a new one.
const OCCURRENCES: usize = 64;
/// Packets after which copies are no longer searched for, while all came by one interface.
const TRIAL: u32 = 4096;
/// Bits of a fingerprint that choose a chain.
const CHAIN_BITS: u32 = 17;

/// A packet that was seen.
#[derive(Clone, Copy, Debug)]
struct Packet {
    fingerprint: u64,
    at: Nanos,
    /// Interfaces that it was seen on: one bit each, by their numbers modulo 32. (Of 33 and more
    /// interfaces some count as one, and a copy on such a pair as another packet.)
    interfaces: u32,
    /// Number of the packet before it in its chain.
    before: u32,
}

/// The packets of the last seconds, by fingerprint.
#[derive(Debug)]
pub(super) struct Dedup {
    secrets: Secrets,
    interface: Option<u32>,
    state: State,
    /// A ring: packet number n stands at n modulo [`REMEMBERED`].
    packets: Vec<Packet>,
    /// Number of the packet that comes next; it wraps, and what stale numbers then seem to name
    /// has another fingerprint or is too old.
    count: u32,
    /// Number of the newest packet of each chain.
    chains: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// One interface so far; as many packets are still remembered.
    Trial(u32),
    /// One interface.
    Off,
    /// Several.
    On,
}

impl Dedup {
    pub(super) fn new(secrets: Secrets) -> Self {
        Self {
            secrets,
            interface: None,
            state: State::Trial(TRIAL),
            packets: Vec::new(),
            count: 0,
            chains: Vec::new(),
        }
    }

    /// Announces several interfaces.
    pub(super) fn expect_interfaces(&mut self) {
        self.state = State::On;
    }

    /// Returns whether packets of this interface need not be checked.
    #[inline]
    pub(super) fn is_off(&self, interface: u32) -> bool {
        self.state == State::Off && self.interface == Some(interface)
    }

    /// Returns whether the packet was seen on another interface, and remembers it. `flow` is the
    /// hash of its flow's key.
    pub(super) fn is_duplicate(&mut self, flow: u64, from_low: bool, segment: &Segment) -> bool {
        self.note_interface(segment.interface);
        if self.state == State::Off {
            return false;
        }
        if self.chains.is_empty() {
            self.chains = vec![u32::MAX; 1 << CHAIN_BITS];
        }
        let fingerprint = self.fingerprint(flow, from_low, segment);
        let chain = (fingerprint >> (64 - CHAIN_BITS)) as usize;
        let interface = 1 << (segment.interface % 32);
        if let Some(slot) = self.find_copy(fingerprint, self.chains[chain], interface, segment.at) {
            self.packets[slot].interfaces |= interface;
            return true;
        }
        let packet = Packet {
            fingerprint,
            at: segment.at,
            interfaces: interface,
            before: self.chains[chain],
        };
        let slot = (self.count % REMEMBERED) as usize;
        if slot < self.packets.len() {
            self.packets[slot] = packet;
        } else {
            self.packets.push(packet);
        }
        self.chains[chain] = self.count;
        self.count = self.count.wrapping_add(1);
        false
    }

    /// Switches on at a second interface, and off after a trial with one.
    fn note_interface(&mut self, interface: u32) {
        let first = *self.interface.get_or_insert(interface);
        self.state = match self.state {
            _ if interface != first => State::On,
            State::Trial(0) => {
                self.packets = Vec::new();
                self.chains = Vec::new();
                self.count = 0;
                State::Off
            }
            State::Trial(left) => State::Trial(left - 1),
            state => state,
        };
    }

    /// Finds the oldest packet with this fingerprint that this interface has not seen.
    fn find_copy(&self, fingerprint: u64, newest: u32, interface: u32, at: Nanos) -> Option<usize> {
        let mut found = None;
        let mut number = newest;
        for _ in 0..OCCURRENCES {
            let age = self.count.wrapping_sub(number);
            if age == 0 || age as usize > self.packets.len() {
                break;
            }
            let slot = (number % REMEMBERED) as usize;
            let packet = &self.packets[slot];
            if packet.at.abs_diff(at) > MAX_DELAY {
                break;
            }
            if packet.fingerprint == fingerprint && packet.interfaces & interface == 0 {
                found = Some(slot);
            }
            number = packet.before;
        }
        found
    }

    fn fingerprint(&self, flow: u64, from_low: bool, segment: &Segment) -> u64 {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let flags = segment.flags;
        let flags = [
            from_low, flags.cwr, flags.ece, flags.urg, flags.ack, flags.psh, flags.rst, flags.syn,
            flags.fin,
        ];
        let flags = flags
            .iter()
            .fold(0, |bits, &flag| bits << 1 | u32::from(flag));
        let identification = segment.identification.map_or(0, u32::from);
        let timestamps = segment.options.timestamps;
        let sack = segment.options.sack.first();
        let numbers = pair(segment.sequence, segment.acknowledgement);
        let header = pair(flags << 16 | identification, u32::from(segment.window));
        let times = timestamps.map_or(0, |times| pair(times.value, times.echo));
        let sack = sack.map_or(0, |block| pair(block.left, block.right));
        let first = self.secrets.mix(numbers, header);
        let second = self.secrets.mix(
            times ^ u64::from(segment.payload_bytes).rotate_left(24),
            sack,
        );
        self.secrets.mix(flow ^ first, second)
    }
}
