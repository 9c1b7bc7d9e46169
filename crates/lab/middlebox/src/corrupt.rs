//! Flips a bit of a packet and corrects no checksum.
//!
//! The checksums are verified here in place of the next node: a packet that it would refuse is
//! dropped.

use mptcplab_link::Nanos;
use mptcplab_random::Random;
use mptcplab_wire::Packet;

use crate::{Directed, Middlebox, concerns};

/// The box.
#[derive(Clone, Debug)]
pub(crate) struct Corrupt {
    /// For each packet.
    pub(crate) probability: f64,
    pub(crate) direction: Option<usize>,
    pub(crate) random: Random,
}

impl Middlebox for Corrupt {
    fn pass(&mut self, _: Nanos, (direction, packet): Directed, out: &mut Vec<Directed>) {
        if !concerns(self.direction, direction) || !self.random.chance(self.probability) {
            return out.push((direction, packet));
        }
        let mut bytes = Vec::with_capacity(packet.ip_bytes());
        packet.write_to(&mut bytes);
        let bit = self.random.below(8 * bytes.len() as u32);
        if let Some(byte) = bytes.get_mut(bit as usize / 8) {
            *byte ^= 1 << (bit % 8);
        }
        if let Ok(packet) = Packet::read(bytes.into()) {
            out.push((direction, packet));
        }
    }
}
