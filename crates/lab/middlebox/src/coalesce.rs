//! Joins consecutive segments of a connection, as a box that normalises traffic does.

use bytes::{BufMut, BytesMut};
use mptcplab_link::Nanos;
use mptcplab_wire::Packet;

use crate::fields::{Tcp, set_ip_length};
use crate::flow::Flow;
use crate::{Directed, Middlebox, concerns};

/// Connections of which a segment is held at once; of more, the oldest goes on.
const HELD: usize = 1024;
/// The length of the largest packet of IPv4; IPv6 would let it have its header beside that.
const MOST_IP_BYTES: u32 = 65_535;

/// A segment that waits for the next one.
#[derive(Clone, Debug)]
struct Held {
    flow: Flow,
    direction: usize,
    packet: Packet,
    due: Nanos,
}

/// The box.
#[derive(Clone, Debug)]
pub(crate) struct Coalesce {
    payload_bytes: u32,
    hold_ns: Nanos,
    direction: Option<usize>,
    /// In the order of their times, which is that of their arrival.
    held: Vec<Held>,
}

impl Coalesce {
    pub(crate) fn new(payload_bytes: u32, hold_ns: Nanos, direction: Option<usize>) -> Self {
        Self {
            payload_bytes,
            hold_ns,
            direction,
            held: Vec::new(),
        }
    }
}

impl Middlebox for Coalesce {
    fn pass(&mut self, now: Nanos, (direction, mut packet): Directed, out: &mut Vec<Directed>) {
        let flow = Flow::of(&packet);
        let (Some(flow), Some(tcp), true) = (
            flow,
            Tcp::of(&mut packet),
            concerns(self.direction, direction),
        ) else {
            return out.push((direction, packet));
        };
        let can_wait = tcp.is_plain_data() && !tcp.fin();
        let mut whole = None;
        if let Some(place) = self.held.iter().position(|held| held.flow == flow) {
            let mut before = self.held.remove(place);
            if joins(&mut before.packet, &mut packet, self.payload_bytes) {
                whole = Some((before.packet, before.due));
            } else {
                out.push((before.direction, before.packet));
            }
        }
        // The joined segment waits no longer than its first part would have.
        let (packet, due) = whole.unwrap_or((packet, now.saturating_add(self.hold_ns)));
        if !can_wait || packet.payload.len() as u32 >= self.payload_bytes {
            return out.push((direction, packet));
        }
        if self.held.len() == HELD {
            let oldest = self.held.remove(0);
            out.push((oldest.direction, oldest.packet));
        }
        let place = self.held.partition_point(|held| held.due <= due);
        self.held.insert(
            place,
            Held {
                flow,
                direction,
                packet,
                due,
            },
        );
    }

    fn deadline(&self) -> Option<Nanos> {
        self.held.first().map(|held| held.due)
    }

    fn act(&mut self, now: Nanos, out: &mut Vec<Directed>) {
        let due = self.held.partition_point(|held| held.due <= now);
        let due = self.held.drain(..due);
        out.extend(due.map(|held| (held.direction, held.packet)));
    }
}

/// Appends `next` to `first` where it follows and both have room; says whether it did.
fn joins(first: &mut Packet, next: &mut Packet, payload_bytes: u32) -> bool {
    let (Some(mut tcp), Some(next_tcp)) = (Tcp::of(first), Tcp::of(next)) else {
        return false;
    };
    let follows = next_tcp.is_plain_data()
        && tcp.sequence().wrapping_add(tcp.payload_bytes()) == next_tcp.sequence();
    let whole_bytes = tcp.payload_bytes() + next_tcp.payload_bytes();
    if !follows || whole_bytes > payload_bytes || tcp.header_bytes() + whole_bytes > MOST_IP_BYTES {
        return false;
    }
    tcp.set_acknowledgement(next_tcp.acknowledgement());
    tcp.set_window(next_tcp.window());
    tcp.take_end(&next_tcp);
    let mut payload = BytesMut::with_capacity(first.payload.len() + next.payload.len());
    payload.put_slice(&first.payload);
    payload.put_slice(&next.payload);
    first.payload = payload.freeze();
    set_ip_length(first);
    true
}
