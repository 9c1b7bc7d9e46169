//! Copies of packets on their way out: by ports and to controllers (sections 4.5 and 7.4.1).

use mptcplab_openflow::action::NO_BUFFER_LEN;
use mptcplab_openflow::packet::{PacketIn, PacketInReason};
use mptcplab_openflow::port::PortConfig;
use mptcplab_openflow::port::number::{ALL, CONTROLLER, FLOOD, IN_PORT};
use mptcplab_openflow::{Body, Field, Match, Oxm};

use crate::account::DropReason;
use crate::controller::Event;
use crate::output::Output;
use crate::pipeline::{Packet, Walk};
use crate::switch::Switch;

/// Most bytes of a frame in a message, which has no more than 65,535 with what comes before.
const MAX_DATA_BYTES: usize = 65_400;

impl Switch {
    /// Sends a copy to a port, which may be a reserved one.
    pub(crate) fn output(
        &mut self,
        walk: &mut Walk,
        packet: &Packet,
        port: u32,
        max_len: u16,
        out: &mut Vec<Output>,
    ) {
        match port {
            CONTROLLER => {
                let result = self.packet_in(walk, packet, walk.reason, max_len, out);
                self.note(walk, result);
            }
            IN_PORT => {
                let result = self.send(packet, walk.in_port, out);
                self.note(walk, result);
            }
            // Ports that send no packets are none of these.
            ALL | FLOOD => {
                let others = self
                    .ports
                    .iter()
                    .filter(|(port, found)| **port != walk.in_port && found.can_send().is_ok());
                let others: Vec<u32> = others.map(|(port, _)| *port).collect();
                for port in others {
                    let result = self.send(packet, port, out);
                    self.note(walk, result);
                }
            }
            port if port == walk.in_port => self.note(walk, Err(DropReason::IngressPort)),
            port => {
                let result = self.send(packet, port, out);
                self.note(walk, result);
            }
        }
    }

    /// Tells controllers of a packet whose TTL is invalid, where any wants to know.
    pub(crate) fn tell_invalid_ttl(
        &mut self,
        walk: &mut Walk,
        packet: &Packet,
        out: &mut Vec<Output>,
    ) {
        let reason = PacketInReason::InvalidTtl;
        if !self.controllers.wanting(Event::PacketIn(reason)).is_empty() {
            let max_len = self.settings.miss_send_len;
            let result = self.packet_in(walk, packet, reason, max_len, out);
            self.note(walk, result);
        }
    }

    /// Takes the fate of a copy into the account.
    fn note(&mut self, walk: &mut Walk, result: Result<(), DropReason>) {
        self.account.attempts += 1;
        match result {
            Ok(()) => walk.is_forwarded = true,
            Err(reason) => {
                self.account.blocked.add(reason);
                walk.blocked = Some(reason);
            }
        }
    }

    fn send(
        &mut self,
        packet: &Packet,
        port: u32,
        out: &mut Vec<Output>,
    ) -> Result<(), DropReason> {
        let found = self.ports.get_mut(&port).ok_or(DropReason::UnknownPort)?;
        let queue = packet.queue.filter(|queue| found.has_queue(*queue));
        found.send(queue, packet.bytes())?;
        self.account.sent += 1;
        out.push(Output::Packet {
            port,
            queue,
            frame: packet.frame.clone(),
        });
        Ok(())
    }

    /// Sends a copy to the controllers that want it: its beginning, if the packet is in a buffer.
    fn packet_in(
        &mut self,
        walk: &Walk,
        packet: &Packet,
        reason: PacketInReason,
        max_len: u16,
        out: &mut Vec<Output>,
    ) -> Result<(), DropReason> {
        let port = self.ports.get(&walk.in_port);
        if port.is_some_and(|found| found.config.contains(PortConfig::NO_PACKET_IN)) {
            return Err(DropReason::NoPacketIn);
        }
        if self.controllers.wanting(Event::PacketIn(reason)).is_empty() {
            return Err(DropReason::NoController);
        }
        let buffer = if max_len == NO_BUFFER_LEN {
            None
        } else {
            self.buffer(walk, packet)
        };
        let limit = match buffer {
            Some(_) => max_len.into(),
            None => MAX_DATA_BYTES,
        };
        let data = &packet.frame[..packet.frame.len().min(limit)];
        let others = [
            Oxm::exact(Field::Metadata, packet.metadata),
            Oxm::exact(Field::TunnelId, packet.tunnel_id),
        ];
        let others = others.into_iter().filter(|oxm| oxm.value != 0);
        let in_port = Oxm::exact(Field::InPort, walk.in_port);
        let message = PacketIn {
            buffer,
            total_len: u16::try_from(packet.frame.len()).unwrap_or(u16::MAX),
            reason,
            table: walk.table,
            cookie: walk.cookie,
            fields: Match::new([in_port].into_iter().chain(others)),
            data: data.to_vec(),
        };
        self.account.packet_ins += 1;
        self.tell(Event::PacketIn(reason), &Body::PacketIn(message), out);
        Ok(())
    }

    fn buffer(&mut self, walk: &Walk, packet: &Packet) -> Option<u32> {
        let place = self.buffers.put(walk.now_ns, walk.in_port, &packet.frame)?;
        self.account.buffered += 1;
        self.account.expired += u64::from(place.expired);
        Some(place.number)
    }
}
