//! Changes a byte of the payload and corrects the TCP checksum, as an application-level gateway does.

use mptcplab_link::Nanos;
use mptcplab_random::Random;

use crate::fields::tcp_offset;
use crate::{Directed, Middlebox, concerns};

/// The box.
#[derive(Clone, Debug)]
pub(crate) struct ChangePayload {
    /// For each segment with payload.
    pub(crate) probability: f64,
    pub(crate) direction: Option<usize>,
    pub(crate) random: Random,
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
