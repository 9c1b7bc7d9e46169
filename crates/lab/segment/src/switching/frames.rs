//! Frames that come to the switches, and the carriers of their interfaces.

use bytes::Bytes;
use mptcplab_link::Nanos;
use mptcplab_plan::InterfaceRef;

use super::{Sent, Switching};
use crate::setup::number;

impl Switching {
    /// Passes a frame that has come by an interface to the switch there.
    pub fn receive_frame(
        &mut self,
        now: Nanos,
        by: InterfaceRef,
        frame: Bytes,
        sent: &mut Vec<Sent>,
    ) {
        self.with_switch(now, by.node, sent, |switch, now_ns, out| {
            switch.receive_packet(now_ns, number(by.interface), frame, out);
        });
    }

    /// Takes a frame like the last one that has come by an interface, of which only the length is needed:
    /// so many bytes. Gives the interface by which it leaves as it came; `None`: it is to be
    /// [received](Self::receive_frame).
    pub fn repeat_frame(
        &mut self,
        now: Nanos,
        by: InterfaceRef,
        bytes: u64,
    ) -> Option<InterfaceRef> {
        let now_ns = now.saturating_add(self.epoch_ns);
        let switch = self.switches[by.node].as_mut()?;
        let (port, _) = switch.repeat(now_ns, number(by.interface), bytes)?;
        Some(InterfaceRef {
            node: by.node,
            interface: port as usize - 1,
        })
    }

    /// Tells a switch, if the node is one, that the carrier of an interface has come or gone.
    pub fn set_link(&mut self, now: Nanos, of: InterfaceRef, up: bool, sent: &mut Vec<Sent>) {
        self.with_switch(now, of.node, sent, |switch, _, out| {
            switch.set_link(number(of.interface), up, out);
        });
    }
}
