//! Replaces TCP options by padding.

use mptcplab_link::Nanos;
use mptcplab_plan::SegmentKind;

use crate::fields::{OPTION_MPTCP, Tcp};
use crate::{Directed, Middlebox, concerns};

/// The box.
#[derive(Clone, Debug)]
pub(crate) struct StripOptions {
    pub(crate) kinds: Vec<u8>,
    /// MPTCP subtypes; all where empty.
    pub(crate) mptcp_subtypes: Vec<u8>,
    pub(crate) on: SegmentKind,
    pub(crate) direction: Option<usize>,
}

impl StripOptions {
    fn strips(&self, option: &[u8]) -> bool {
        self.kinds.contains(&option[0])
            && (option[0] != OPTION_MPTCP
                || self.mptcp_subtypes.is_empty()
                || option
                    .get(2)
                    .is_some_and(|byte| self.mptcp_subtypes.contains(&(byte >> 4))))
    }
}

impl Middlebox for StripOptions {
    fn pass(&mut self, _: Nanos, (direction, mut packet): Directed, out: &mut Vec<Directed>) {
        if concerns(self.direction, direction)
            && let Some(mut tcp) = Tcp::of(&mut packet)
            && tcp.is_of(self.on)
        {
            for (_, range) in tcp.options() {
                if self.strips(tcp.bytes(range.clone())) {
                    tcp.pad(range);
                }
            }
        }
        out.push((direction, packet));
    }
}
