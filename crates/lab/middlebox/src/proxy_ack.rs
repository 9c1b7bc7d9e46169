//! Acknowledges data in the receiver's name, and sends it again itself when it is lost behind the
//! box: a performance-enhancing proxy (RFC 3135, section 3.1.2) without connections of its own.
//!
//! Acknowledgements of the receiver are replaced by the box's later ones, with the part of the
//! receiver's window that is left beyond them and without its SACK blocks. The end of the data (FIN)
//! is the receiver's to acknowledge, and with that the box forgets the connection. Either end may
//! have opened it.

use std::collections::{BTreeMap, VecDeque};

use mptcplab_link::Nanos;
use mptcplab_wire::Packet;

use crate::fields::{OPTION_SACK, OPTION_WINDOW_SCALE, Tcp, set_ip_length};
use crate::flow::Flow;
use crate::{Directed, Middlebox};

/// Connections at once; data of others only passes.
const CONNECTIONS: usize = 4096;
/// Payload that is kept of a connection; what comes beyond it only passes.
const KEPT_BYTES: u32 = 4 << 20;
const FIRST_TIMEOUT_NS: Nanos = 1_000_000_000;
const LARGEST_TIMEOUT_NS: Nanos = 64_000_000_000;
const TRIES: u32 = 15;
const DUPLICATES: u32 = 3;
/// RFC 7323, section 2.3.
const LARGEST_WINDOW_SHIFT: u8 = 14;

/// The box.
#[derive(Clone, Debug)]
pub(crate) struct ProxyAck {
    /// Packets in this direction carry the data that is acknowledged.
    onwards: usize,
    /// By the flow of the data.
    connections: BTreeMap<Flow, Connection>,
    /// SYNs of the receiver that the sender has not answered.
    openings: BTreeMap<Flow, Packet>,
}

/// The state of a connection, once a SYN has been answered.
#[derive(Clone, Debug)]
struct Connection {
    /// Number of the first byte of data.
    first: u32,
    /// Everything before it has been acknowledged to the sender.
    next: u32,
    /// Latest acknowledgement by the receiver.
    acknowledged: u32,
    /// The number after the sender's FIN.
    end: Option<u32>,
    /// The number after the last that the receiver has sent.
    receiver_next: u32,
    /// End of the receiver's window.
    right_edge: u32,
    window_shift: u8,
    /// Segments that the receiver has not acknowledged, in order and without gap.
    kept: VecDeque<Packet>,
    kept_bytes: u32,
    duplicates: u32,
    /// The time at which the first one kept is sent again, and the present timeout.
    due: Option<Nanos>,
    timeout_ns: Nanos,
    tries: u32,
    /// The latest segment of the receiver, without payload and options: what an acknowledgement
    /// is made of.
    template: Packet,
}

impl ProxyAck {
    /// `sender` is the end of the link that sends the data.
    pub(crate) fn new(sender: usize) -> Self {
        Self {
            onwards: sender,
            connections: BTreeMap::new(),
            openings: BTreeMap::new(),
        }
    }

    /// A segment from the sender; what the box answers, if anything.
    fn take_data(&mut self, now: Nanos, packet: &mut Packet) -> Option<Packet> {
        let flow = Flow::of(packet)?;
        let tcp = Tcp::of(packet)?;
        if tcp.rst() {
            self.forget(flow);
            return None;
        }
        if tcp.syn() {
            self.take_syn_of_sender(flow, &tcp);
            return None;
        }
        let is_data = tcp.is_plain_data();
        let (sequence, bytes) = (tcp.sequence(), tcp.payload_bytes());
        let timestamp = tcp.timestamps().map(<[u8]>::to_vec);
        let end = sequence.wrapping_add(bytes + 1);
        let is_end = tcp.fin();
        let connection = self.connections.get_mut(&flow)?;
        if is_end {
            connection.end = Some(end);
        }
        if !is_data || after(sequence, connection.next) {
            return None;
        }
        if sequence == connection.next {
            if connection.kept_bytes + bytes > KEPT_BYTES {
                return None;
            }
            connection.next = sequence.wrapping_add(bytes);
            connection.kept_bytes += bytes;
            connection.kept.push_back(packet.clone());
            connection.due.get_or_insert(now + connection.timeout_ns);
        }
        Some(connection.acknowledgement(timestamp.as_deref()))
    }

    /// A segment from the receiver: changed to what the box has acknowledged already.
    fn take_acknowledgement(&mut self, now: Nanos, packet: &mut Packet, out: &mut Vec<Packet>) {
        let Some(flow) = Flow::of(packet).map(Flow::reversed) else {
            return;
        };
        let Some(mut tcp) = Tcp::of(packet) else {
            return;
        };
        if tcp.rst() {
            return self.forget(flow);
        }
        if !tcp.ack() {
            if tcp.syn() && self.openings.len() < CONNECTIONS {
                self.openings.insert(flow, packet.clone());
            }
            return;
        }
        if tcp.syn() {
            let (first, shift) = (tcp.acknowledgement(), window_shift(&tcp));
            return self.open(flow, packet, first, shift.unwrap_or(0));
        }
        let Some(connection) = self.connections.get_mut(&flow) else {
            return;
        };
        connection.hear(now, &tcp, out);
        let acknowledgement = tcp.acknowledgement();
        if connection
            .end
            .is_some_and(|end| !after(end, acknowledgement))
        {
            return self.forget(flow);
        }
        let beyond = connection.next;
        if after(beyond, acknowledgement) {
            tcp.set_acknowledgement(beyond);
            tcp.set_window(connection.window());
            for (kind, range) in tcp.options() {
                if kind == OPTION_SACK {
                    tcp.pad(range);
                }
            }
        }
        connection.template = packet.clone();
    }

    /// A SYN of the sender: the first of a connection, or its answer to that of the receiver.
    fn take_syn_of_sender(&mut self, flow: Flow, tcp: &Tcp<'_>) {
        let first = tcp.sequence().wrapping_add(1);
        if !self.is_known(flow, first) {
            self.connections.remove(&flow);
        }
        let opening = self.openings.remove(&flow);
        if let Some(mut opening) = opening.filter(|_| tcp.ack()) {
            let own = Tcp::of(&mut opening).and_then(|tcp| window_shift(&tcp));
            // Windows are scaled where both have said so (RFC 7323, section 2.2).
            let shift = own.filter(|_| window_shift(tcp).is_some());
            self.open(flow, &mut opening, first, shift.unwrap_or(0));
        }
    }

    /// Begins a connection whose data begin at `first`, from the receiver's SYN. A handshake that
    /// comes again takes nothing from a sender that was acknowledged already.
    fn open(&mut self, flow: Flow, syn: &mut Packet, first: u32, window_shift: u8) {
        if !self.is_known(flow, first) && self.connections.len() < CONNECTIONS {
            let connection = Connection::new(syn, first, window_shift);
            self.connections.extend(Some(flow).zip(connection));
        }
    }

    /// Whether there is a connection of this flow whose data begin at `first`.
    fn is_known(&self, flow: Flow, first: u32) -> bool {
        let known = self.connections.get(&flow);
        known.is_some_and(|connection| connection.first == first)
    }

    fn forget(&mut self, flow: Flow) {
        self.connections.remove(&flow);
        self.openings.remove(&flow);
    }
}

impl Connection {
    /// A connection whose data begin at `first`, from the receiver's SYN.
    fn new(syn: &mut Packet, first: u32, window_shift: u8) -> Option<Self> {
        let template = syn.clone();
        let tcp = Tcp::of(syn)?;
        Some(Self {
            first,
            next: first,
            acknowledged: first,
            end: None,
            receiver_next: tcp.end(),
            // The window of a SYN is not scaled.
            right_edge: first.wrapping_add(tcp.window().into()),
            window_shift,
            kept: VecDeque::new(),
            kept_bytes: 0,
            duplicates: 0,
            due: None,
            timeout_ns: FIRST_TIMEOUT_NS,
            tries: 0,
            template,
        })
    }

    /// Notes what the receiver says, and sends again what it lacks.
    fn hear(&mut self, now: Nanos, tcp: &Tcp<'_>, out: &mut Vec<Packet>) {
        if after(tcp.end(), self.receiver_next) {
            self.receiver_next = tcp.end();
        }
        let acknowledgement = tcp.acknowledgement();
        let window = u32::from(tcp.window()) << self.window_shift;
        let right_edge = acknowledgement.wrapping_add(window);
        let is_new = after(acknowledgement, self.acknowledged);
        if is_new {
            self.acknowledged = acknowledgement;
            self.forget_until(acknowledgement);
            self.duplicates = 0;
            self.tries = 0;
            self.timeout_ns = FIRST_TIMEOUT_NS;
            self.due = (!self.kept.is_empty()).then_some(now + self.timeout_ns);
        } else if acknowledgement == self.acknowledged
            && right_edge == self.right_edge
            && tcp.payload_bytes() == 0
        {
            self.duplicates += 1;
            if self.duplicates == DUPLICATES {
                out.extend(self.kept.front().cloned());
            }
        }
        if is_new || after(right_edge, self.right_edge) {
            self.right_edge = right_edge;
        }
        if after(acknowledgement, self.next) {
            self.next = acknowledgement;
        }
    }

    fn forget_until(&mut self, acknowledgement: u32) {
        while let Some(first) = self.kept.front_mut() {
            let bytes = first.payload.len() as u32;
            let begins = Tcp::of(first).map_or(acknowledgement, |tcp| tcp.sequence());
            if after(begins.wrapping_add(bytes), acknowledgement) {
                break;
            }
            self.kept_bytes -= bytes;
            self.kept.pop_front();
        }
    }

    /// The part of the receiver's window beyond what the box has acknowledged, as in a header.
    fn window(&self) -> u16 {
        let left = if after(self.right_edge, self.next) {
            self.right_edge.wrapping_sub(self.next) >> self.window_shift
        } else {
            0
        };
        u16::try_from(left).unwrap_or(u16::MAX)
    }

    /// An acknowledgement in the receiver's name; `echoed` is the timestamps option of the data.
    fn acknowledgement(&self, echoed: Option<&[u8]>) -> Packet {
        let mut packet = self.template.clone();
        let mut timestamp = None;
        if let Some(tcp) = Tcp::of(&mut packet) {
            let own = tcp.timestamps();
            timestamp = own.zip(echoed).and_then(|(own, echoed)| {
                let mut option = own.to_vec();
                option.get_mut(6..10)?.copy_from_slice(echoed.get(2..6)?);
                Some(option)
            });
        }
        packet.payload = bytes::Bytes::new();
        if let Some(mut tcp) = Tcp::of(&mut packet) {
            tcp.make_acknowledgement(timestamp.as_deref());
            tcp.set_sequence(self.receiver_next);
            tcp.set_acknowledgement(self.next);
            tcp.set_window(self.window());
        }
        set_ip_length(&mut packet);
        packet
    }
}

impl Middlebox for ProxyAck {
    fn pass(&mut self, now: Nanos, (direction, mut packet): Directed, out: &mut Vec<Directed>) {
        if direction == self.onwards {
            let answer = self.take_data(now, &mut packet);
            out.push((direction, packet));
            out.extend(answer.map(|answer| (1 - direction, answer)));
        } else {
            let mut again = Vec::new();
            self.take_acknowledgement(now, &mut packet, &mut again);
            out.push((direction, packet));
            out.extend(again.into_iter().map(|packet| (self.onwards, packet)));
        }
    }

    fn deadline(&self) -> Option<Nanos> {
        self.connections.values().filter_map(|one| one.due).min()
    }

    fn act(&mut self, now: Nanos, out: &mut Vec<Directed>) {
        let onwards = self.onwards;
        self.connections.retain(|_, connection| {
            if connection.due.is_none_or(|due| due > now) {
                return true;
            }
            connection.tries += 1;
            connection.timeout_ns = (2 * connection.timeout_ns).min(LARGEST_TIMEOUT_NS);
            connection.due = Some(now + connection.timeout_ns);
            out.extend(
                connection
                    .kept
                    .front()
                    .map(|first| (onwards, first.clone())),
            );
            connection.tries < TRIES
        });
    }
}

/// The window shift that a SYN offers.
fn window_shift(syn: &Tcp<'_>) -> Option<u8> {
    let option = syn.option(OPTION_WINDOW_SCALE)?;
    option.get(2).map(|&shift| shift.min(LARGEST_WINDOW_SHIFT))
}

/// Whether sequence number `one` lies after `other` (RFC 9293, section 3.4).
fn after(one: u32, other: u32) -> bool {
    one.wrapping_sub(other) as i32 > 0
}
