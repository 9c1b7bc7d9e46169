//! Cuts large segments into several, as segmentation offload (TSO) does: each part has a copy of the
//! options.

use mptcplab_link::Nanos;
use mptcplab_wire::Packet;

use crate::fields::{Tcp, set_ip_length};
use crate::{Directed, Middlebox, concerns};

/// The box.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    /// Largest payload that passes.
    pub(crate) payload_bytes: u32,
    pub(crate) direction: Option<usize>,
}

impl Middlebox for Split {
    fn pass(&mut self, _: Nanos, (direction, mut packet): Directed, out: &mut Vec<Directed>) {
        let cuts = concerns(self.direction, direction)
            && Tcp::of(&mut packet)
                .is_some_and(|tcp| tcp.is_plain_data() && tcp.payload_bytes() > self.payload_bytes);
        if !cuts || self.payload_bytes == 0 {
            return out.push((direction, packet));
        }
        let size = self.payload_bytes as usize;
        let whole = packet.payload.len();
        for begin in (0..whole).step_by(size) {
            out.push((direction, part(&packet, begin, whole.min(begin + size))));
        }
    }
}

/// The part of a segment from `begin` to before `end` of its payload.
fn part(whole: &Packet, begin: usize, end: usize) -> Packet {
    let mut packet = Packet {
        header: whole.header.clone(),
        payload: whole.payload.slice(begin..end),
    };
    if let Some(mut tcp) = Tcp::of(&mut packet) {
        tcp.set_sequence(tcp.sequence().wrapping_add(begin as u32));
        if begin > 0 {
            tcp.clear_begin();
        }
        if end < whole.payload.len() {
            tcp.clear_end();
        }
    }
    set_ip_length(&mut packet);
    packet
}
