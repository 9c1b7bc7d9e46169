//! Bytes of data of connections, from the counters of rules, and the sizes that are learned from them.

use std::net::SocketAddr;

use mptcplab_openflow::multipart::FlowStats;
use mptcplab_openflow::{Field, Match};

use super::Flow;
use crate::controller::Controller;

/// Bytes of headers of a data segment as most have them: Ethernet, TCP with timestamps, DSS.
const HEADERS: u64 = 14 + 20 + 12 + 20;
const IPV4_HEADER: u64 = 20;
const IPV6_HEADER: u64 = 40;
/// The silence after which a transfer is over: longer than a segment that is sent again takes, as a
/// rule.
const SILENCE_NS: u64 = 500_000_000;

/// The direction of a rule of a flow: 0 from the opener, 1 to it.
pub(super) fn direction_of(fields: &Match, flow: &Flow) -> usize {
    let source = match flow.source.is_ipv4() {
        true => Field::Ipv4Src,
        false => Field::Ipv6Src,
    };
    let own = flow.fields(0);
    usize::from(fields.get(source) != own.get(source))
}

/// Bytes of data in packets of a flow.
pub(super) fn data_bytes(flow: &Flow, packets: u64, bytes: u64) -> u64 {
    let header = match flow.source.is_ipv4() {
        true => HEADERS + IPV4_HEADER,
        false => HEADERS + IPV6_HEADER,
    };
    bytes.saturating_sub(packets.saturating_mul(header))
}

impl Controller {
    /// Takes the counters of a subflow's rules in the switch of its opener, and returns the
    /// connection.
    pub(crate) fn count_subflow<'a>(
        &mut self,
        datapath: u64,
        number: u64,
        entries: impl Iterator<Item = &'a FlowStats>,
    ) -> Option<u64> {
        let subflow = self.table.subflow_mut(number)?;
        let [opener, _] = subflow.ends;
        if opener.datapath != datapath {
            return None;
        }
        let mut bytes = [0_u64; 2];
        let mut frames = [0_u64; 2];
        for entry in entries {
            let direction = direction_of(&entry.fields, &subflow.flow);
            // Packets from the opener that come back by a way round a link were counted before.
            let in_port = entry.fields.get(Field::InPort).map(|oxm| oxm.value);
            if direction == 1 || in_port == Some(opener.port.into()) {
                let more = data_bytes(&subflow.flow, entry.packet_count, entry.byte_count);
                bytes[direction] = bytes[direction].saturating_add(more);
                frames[direction] = frames[direction].saturating_add(entry.byte_count);
            }
        }
        (subflow.read_bytes, subflow.read_frames) = (bytes, frames);
        let least_ns = self.config.load_interval_ns / 2;
        subflow.pace.read(self.now_ns, least_ns, frames);
        Some(subflow.connection)
    }

    /// Bytes of data that a connection has carried in the direction that has more, as far as
    /// switches have told.
    pub(crate) fn carried_bytes(&self, number: u64) -> u64 {
        let Some(connection) = self.table.connection(number) else {
            return 0;
        };
        let mut bytes = connection.bytes;
        for subflow in &connection.subflows {
            let read = self.table.subflow(*subflow).map(|one| one.read_bytes);
            for (sum, more) in bytes.iter_mut().zip(read.unwrap_or_default()) {
                *sum = sum.saturating_add(more);
            }
        }
        bytes[0].max(bytes[1])
    }

    /// Looks whether the transfer is over of the connection that was opened before another one of a
    /// server, if nothing is known of the server's sizes.
    pub(crate) fn look_back(&mut self, server: SocketAddr, connection: u64, bytes: Option<u64>) {
        let before = self.sizes.opened(server, connection);
        let (Some(before), None) = (before, bytes) else {
            return;
        };
        let now_ns = self.now_ns;
        if let Some(known) = self.table.connection_mut(before)
            && !known.is_over
        {
            known.watched = Some((now_ns, 0));
            self.count_later(before);
        }
    }

    /// Learns the size of a transfer that has been silent for long enough. Says whether it is still
    /// watched.
    pub(crate) fn watch(&mut self, number: u64) -> bool {
        let now_ns = self.now_ns;
        let carried = self.carried_bytes(number);
        let Some(connection) = self.table.connection_mut(number) else {
            return false;
        };
        let Some((since_ns, bytes)) = connection.watched else {
            return false;
        };
        let server = connection.flow.server();
        if carried != bytes {
            connection.watched = Some((now_ns, carried));
        } else if carried > 0 && now_ns - since_ns >= SILENCE_NS {
            connection.watched = None;
            self.learn_size(number, server, carried);
            return false;
        }
        true
    }

    /// Learns the size of the transfer of a connection, unless it is known from its silence.
    pub(crate) fn learn_size(&mut self, number: u64, server: SocketAddr, bytes: u64) {
        let Some(connection) = self.table.connection_mut(number) else {
            return;
        };
        if bytes > connection.learned_bytes.unwrap_or(0) {
            connection.learned_bytes = Some(bytes);
            self.sizes.learn(server, bytes);
        }
    }
}
