//! What can be seen of a connection.

use super::connection::{Connection, Mode};
use super::counters::MptcpCounters;
use crate::endpoint::{ConnectionInfo, MultipathInfo, Protocol, SubflowId, SubflowInfo};
use crate::tcp::{CloseReason, TcpCounters};

impl Connection {
    /// State of the connection.
    pub fn info(&self) -> ConnectionInfo {
        let fallback = self.mode == Mode::Fallback;
        let plain = self.subflows.iter().find(|subflow| subflow.is_first());
        let in_tcp = plain.filter(|_| fallback).map_or(0, |subflow| {
            subflow
                .tcp
                .info()
                .bytes_received
                .saturating_sub(self.plain_read)
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
            token: self.remote_key.map(|_| self.token()),
            multipath: (!fallback).then(|| self.multipath_info()),
            send_queue_bytes: self.queued_bytes(),
            receive_queue_bytes: self.receiver.ready_bytes() + in_tcp,
        }
    }

    fn multipath_info(&self) -> MultipathInfo {
        let open = self.subflows.iter().filter(|subflow| !subflow.is_over());
        let (sender, receiver) = (&self.sender, &self.receiver);
        MultipathInfo {
            subflows_additional: self.additional(),
            subflows_total: open.count() as u32,
            add_addr_signal: self.addresses.announced().len() as u32,
            add_addr_accepted: self.addresses.accepted,
            checksum: self.checksum,
            write_sequence: sender.numbers().wire(sender.end()),
            unacknowledged: sender.numbers().wire(sender.acknowledged()),
            receive_next: receiver.acknowledgement(),
            bytes_sent: sender.next(),
            bytes_received: receiver.next(),
            bytes_acked: sender.acknowledged(),
            bytes_retransmitted: sender.bytes_again,
            retransmits: sender.timeouts,
        }
    }

    /// State of its subflows.
    pub fn subflows(&self) -> impl Iterator<Item = SubflowInfo> {
        let multipath = self.mode != Mode::Fallback;
        self.subflows.iter().map(move |subflow| SubflowInfo {
            id: SubflowId(subflow.id),
            backup: multipath.then_some(subflow.backup || subflow.backup_for_peer),
            local_id: multipath.then_some(subflow.local_id),
            remote_id: multipath.then_some(subflow.remote_id),
            tcp: subflow.tcp.info(),
        })
    }

    /// Why it ended.
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.closed
    }

    /// What MPTCP counted.
    pub fn counters(&self) -> &MptcpCounters {
        &self.counters
    }

    /// What its subflows counted, those that are gone included.
    pub fn tcp_counters(&self) -> TcpCounters {
        let mut sum = self.tcp_counters;
        for subflow in &self.subflows {
            sum.add(subflow.tcp.counters());
        }
        sum
    }
}
