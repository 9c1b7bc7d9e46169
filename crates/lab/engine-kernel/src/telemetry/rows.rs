//! Rows from the structures of the kernel (`docs/recording.md`).

use std::net::SocketAddr;

use mptcplab_link::Nanos;
use mptcplab_linux::MptcpInfo;
use mptcplab_linux::TcpInfo;
use mptcplab_linux::sock_diag::{SocketMemory, SubflowIdentity};
use mptcplab_record::{ConnectionSample, SubflowSample};

use super::NodeContext;

/// A row of a subflow or of a TCP connection.
pub(super) fn subflow_sample<'a>(
    (t_ns, last): (Nanos, bool),
    node: &'a NodeContext,
    (local, remote): (SocketAddr, SocketAddr),
    identity: SubflowIdentity,
    congestion_control: Option<&'a str>,
    (info, memory): (&TcpInfo, SocketMemory),
) -> SubflowSample<'a> {
    let wide = |value: Option<u32>| value.map(u64::from);
    SubflowSample {
        t_ns,
        node: &node.name,
        token: identity.token,
        subflow: format!("{local}-{remote}"),
        interface: node.interface_of(local.ip()),
        state: info.state,
        backup: identity.backup,
        local_id: identity.local_id,
        remote_id: identity.remote_id,
        last,
        bytes_sent: info.bytes_sent,
        bytes_acked: info.bytes_acked,
        bytes_received: info.bytes_received,
        bytes_retrans: info.bytes_retrans,
        segs_out: wide(info.segs_out),
        segs_in: wide(info.segs_in),
        retrans: wide(info.retrans),
        rtt_us: wide(info.rtt_us),
        rttvar_us: wide(info.rttvar_us),
        min_rtt_us: wide(info.min_rtt_us),
        cwnd: wide(info.cwnd),
        ssthresh: wide(info.ssthresh),
        unacked: wide(info.unacked),
        delivery_rate_bps: info.delivery_rate_bps,
        pacing_rate_bps: info.pacing_rate_bps,
        snd_wnd: wide(info.snd_wnd),
        rcv_space: wide(info.rcv_space),
        congestion_control,
        reord_seen: wide(info.reord_seen),
        dsack_dups: wide(info.dsack_dups),
        rto_us: wide(info.rto_us),
        busy_us: info.busy_us,
        rwnd_limited_us: info.rwnd_limited_us,
        sndbuf_limited_us: info.sndbuf_limited_us,
        notsent_bytes: wide(info.notsent_bytes),
        snd_buf: wide(memory.send_buffer_bytes),
        snd_queued: wide(memory.send_queued_bytes),
        rcv_buf: wide(memory.receive_buffer_bytes),
    }
}

/// A row of an MPTCP connection.
pub(super) fn connection_sample<'a>(
    (t_ns, last): (Nanos, bool),
    node: &'a NodeContext,
    (info, memory): (&MptcpInfo, SocketMemory),
) -> ConnectionSample<'a> {
    ConnectionSample {
        t_ns,
        node: &node.name,
        token: info.token,
        subflows: info.subflows.map(u32::from),
        subflows_total: info.subflows_total.map(u32::from),
        add_addr_signal: info.add_addr_signal.map(u32::from),
        add_addr_accepted: info.add_addr_accepted.map(u32::from),
        fallback: info.fallback,
        write_seq: info.write_seq,
        snd_una: info.snd_una,
        rcv_nxt: info.rcv_nxt,
        bytes_sent: info.bytes_sent,
        bytes_received: info.bytes_received,
        bytes_acked: info.bytes_acked,
        bytes_retrans: info.bytes_retrans,
        retransmits: info.retransmits,
        checksum: info.checksum,
        last,
        snd_buf: memory.send_buffer_bytes.map(u64::from),
        snd_queued: memory.send_queued_bytes.map(u64::from),
        rcv_buf: memory.receive_buffer_bytes.map(u64::from),
    }
}
