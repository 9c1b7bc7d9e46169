//! State and counters of a connection.

use super::connection::Connection;
use super::counters::MptcpCounters;
use super::subflow::Subflow;
use crate::event::SubflowId;
use crate::info::{ConnectionInfo, MultipathInfo, SubflowInfo};
use crate::protocol::Protocol;
use crate::tcp::{CloseReason, TcpCounters};

impl Connection {
    /// State of the connection.
    pub(crate) fn info(&self) -> ConnectionInfo {
        let fallback = self.handshake.is_fallback();
        let plain = self.subflows.iter().find(|subflow| subflow.is_first());
        let in_tcp = plain.filter(|_| fallback).map_or(0, |subflow| {
            subflow
                .tcp
                .info()
                .bytes_received
                .saturating_sub(self.fallback.plain_read())
        });
        ConnectionInfo {
            protocol: if fallback {
                Protocol::Tcp
            } else {
                Protocol::Mptcp
            },
            fallback,
            local: self.tuple.local,
            remote: self.tuple.remote,
            initiated_here: self.initiated_here,
            token: self.handshake.remote_key().map(|_| self.token()),
            multipath: (!fallback).then(|| self.multipath_info()),
            send_queue_bytes: self.sender.end() - self.sender.acknowledged(),
            receive_queue_bytes: self.receiver.ready_bytes() + in_tcp,
        }
    }

    fn multipath_info(&self) -> MultipathInfo {
        let open = self.subflows.iter().filter(|subflow| !subflow.is_over());
        let (sender, receiver) = (&self.sender, &self.receiver);
        MultipathInfo {
            subflows_additional: self.subflows.additional(),
            subflows_total: open.count() as u32,
            add_addr_signal: self.addresses.announcements.announced().len() as u32,
            add_addr_accepted: self.addresses.accepted(),
            checksum: self.handshake.checksum(),
            write_sequence: sender.numbers().wire(sender.end()),
            unacknowledged: sender.numbers().wire(sender.acknowledged()),
            receive_next: receiver.acknowledgement(),
            send_buffer_bytes: self.send_buffer.bytes(),
            send_memory_bytes: sender.memory_bytes(),
            receive_buffer_bytes: receiver.buffer_bytes(),
            bytes_sent: sender.next(),
            bytes_received: receiver.next(),
            bytes_acked: sender.acknowledged(),
            bytes_retransmitted: sender.bytes_again,
            retransmits: sender.timer.retransmits(),
        }
    }

    /// State of its subflows.
    pub(crate) fn subflows(&self) -> impl Iterator<Item = SubflowInfo> {
        self.subflows.iter().map(|one| self.subflow_info(one))
    }

    /// State of one subflow.
    pub(super) fn subflow_info(&self, subflow: &Subflow) -> SubflowInfo {
        let multipath = !self.handshake.is_fallback();
        SubflowInfo {
            id: SubflowId(subflow.id),
            backup: multipath.then_some(subflow.is_backup()),
            local_id: multipath.then_some(subflow.local.address_id),
            remote_id: multipath.then_some(subflow.remote.address_id),
            tcp: subflow.tcp.info(),
        }
    }

    /// Why it ended.
    pub(crate) fn close_reason(&self) -> Option<CloseReason> {
        self.lifetime.close_reason()
    }

    /// Counters of MPTCP.
    pub(crate) fn counters(&self) -> &MptcpCounters {
        &self.counters
    }

    /// Adds the counters of its subflows, those that are gone included.
    pub(crate) fn add_tcp_counters(&self, sum: &mut TcpCounters<u64>) {
        self.subflows.add_tcp_counters(sum);
    }
}
