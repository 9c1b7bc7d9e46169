//! Lets no SYN with payload pass as it is, as firewalls do that expect none before a connection is
//! established.

use bytes::Bytes;
use mptcplab_link::Nanos;
use mptcplab_plan::SegmentKind;

use crate::fields::{Tcp, set_ip_length};
use crate::{Directed, Middlebox, concerns};

/// The box.
#[derive(Clone, Debug)]
pub(crate) struct DropSynData {
    /// The SYN is dropped, too.
    pub(crate) segment: bool,
    pub(crate) direction: Option<usize>,
}

impl Middlebox for DropSynData {
    fn pass(&mut self, _: Nanos, (direction, mut packet): Directed, out: &mut Vec<Directed>) {
        let drops = concerns(self.direction, direction)
            && Tcp::of(&mut packet)
                .is_some_and(|tcp| tcp.is_of(SegmentKind::Syn) && tcp.payload_bytes() > 0);
        if drops && self.segment {
            return;
        }
        if drops {
            packet.payload = Bytes::new();
            set_ip_length(&mut packet);
        }
        out.push((direction, packet));
    }
}
