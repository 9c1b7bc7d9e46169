//! The data of a segment.

use super::{Layers, ip, link, tcp, tunnel, whole};
use crate::input::Frame;

/// Returns the captured data of the segment in a frame, the innermost that there is. There is none
/// where the frame holds no segment, or a fragment of one.
pub fn payload<'a>(frame: &Frame<'a>) -> Option<&'a [u8]> {
    let mut layers = Layers::NONE;
    let (mut begin, mut content) = link::begin(frame.link_type, whole(frame)).ok()?;
    // Each round but the last adds one to the layers, of which there may only be few.
    loop {
        let packet = link::packet(begin, content, &mut layers).ok()?;
        let mut datagram = ip::read(packet).ok()?;
        ip::extensions(&mut datagram).ok()?;
        if datagram.fragment.is_some() {
            return None;
        }
        if datagram.has_tcp() {
            return Some(tcp::read(datagram.content).ok()?.payload());
        }
        (begin, content) = tunnel::content(&datagram, &mut layers).ok()?;
    }
}
