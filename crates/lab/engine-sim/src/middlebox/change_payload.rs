//! Changes a byte of the payload and corrects the TCP checksum, as an application-level gateway does.

use super::fields::tcp_offset;
use super::{Directed, Middlebox, concerns};
use crate::Nanos;
use crate::random::Random;

/// The box.
#[derive(Debug)]
pub(super) struct ChangePayload {
    /// For each segment with payload.
    pub(super) probability: f64,
    pub(super) direction: Option<usize>,
    pub(super) random: Random,
}

impl Middlebox for ChangePayload {
    fn pass(&mut self, _: Nanos, (direction, mut packet): Directed, out: &mut Vec<Directed>) {
        let is_data = tcp_offset(&packet).is_some() && !packet.payload.is_empty();
        if is_data && concerns(self.direction, direction) && self.random.chance(self.probability) {
            let mut payload = packet.payload.to_vec();
            let place = self.random.below(payload.len() as u32) as usize;
            payload[place] = payload[place].wrapping_add(1);
            packet.payload = payload.into();
        }
        out.push((direction, packet));
    }
}
