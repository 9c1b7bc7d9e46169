//! Announcements of addresses that have come back, on segments: switches and their controller have
//! forgotten them.

use std::io;

use mptcplab_segment::ethernet::neighbour;

use super::manager::Manager;
use crate::frames::raw::RawSender;

impl Manager<'_> {
    /// Makes the addresses of an interface known on its segment, if it is on one.
    pub(super) fn announce(&self, interface: usize) -> io::Result<()> {
        let Some(segment) = &self.segments[interface] else {
            return Ok(());
        };
        let sender = RawSender::open(self.managed[interface].index)?;
        for prefix in &self.interface(interface).addresses {
            sender.send(&neighbour::announcement(segment.hardware, prefix.address))?;
        }
        Ok(())
    }
}
