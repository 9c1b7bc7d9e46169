//! A firewall of 1999: drops segments with a TCP option that it does not know.

use mptcplab_link::Nanos;
use mptcplab_plan::SegmentKind;

use crate::fields::{OPTION_TIMESTAMPS, Tcp};
use crate::{Directed, Middlebox, concerns};

/// The options that were known: MSS, window scale, SACK permitted, SACK, timestamps.
const KNOWN: [u8; 5] = [2, 3, 4, 5, OPTION_TIMESTAMPS];

/// The box.
#[derive(Clone, Debug)]
pub(crate) struct DropUnknownOptions {
    pub(crate) on: SegmentKind,
    pub(crate) direction: Option<usize>,
}

impl Middlebox for DropUnknownOptions {
    fn pass(&mut self, _: Nanos, (direction, mut packet): Directed, out: &mut Vec<Directed>) {
        let drops = concerns(self.direction, direction)
            && Tcp::of(&mut packet).is_some_and(|tcp| {
                let unknown = |(kind, _): &(u8, _)| !KNOWN.contains(kind);
                tcp.is_of(self.on) && tcp.options().iter().any(unknown)
            });
        if !drops {
            out.push((direction, packet));
        }
    }
}
