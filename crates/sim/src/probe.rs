//! Telemetry: the rows that the kernel engine reads from the kernel (`docs/recording.md`).

use std::net::IpAddr;

use mptcplab_plan::Plan;
use mptcplab_record::{Counter, LinkSample};
use mptcplab_stack::endpoint::{ConnectionId, Endpoint};
use mptcplab_stack::endpoint::{ConnectionInfo, MultipathInfo, Protocol, SubflowInfo};
use serde::Serialize;

use crate::Nanos;
use crate::core::Core;
use crate::node::Node;

/// A row of `subflow_samples`.
#[derive(Serialize)]
struct SubflowSample<'a> {
    t_ns: Nanos,
    node: &'a str,
    token: Option<u32>,
    subflow: String,
    interface: Option<&'a str>,
    state: &'static str,
    backup: Option<bool>,
    local_id: Option<u8>,
    remote_id: Option<u8>,
    #[serde(rename = "final")]
    last: bool,
    bytes_sent: u64,
    bytes_acked: u64,
    bytes_received: u64,
    bytes_retrans: u64,
    segs_out: u64,
    segs_in: u64,
    retrans: u64,
    rtt_us: u64,
    rttvar_us: u64,
    min_rtt_us: Option<u64>,
    cwnd: u64,
    ssthresh: Option<u64>,
    unacked: u64,
    delivery_rate_bps: Option<u64>,
    pacing_rate_bps: Option<u64>,
    snd_wnd: u64,
    rcv_space: u64,
    congestion_control: &'static str,
    reord_seen: u64,
    dsack_dups: u64,
    rto_us: u64,
}

/// A row of `connection_samples`.
#[derive(Serialize)]
struct ConnectionSample<'a> {
    t_ns: Nanos,
    node: &'a str,
    token: Option<u32>,
    subflows: u32,
    subflows_total: u32,
    add_addr_signal: u32,
    add_addr_accepted: u32,
    fallback: bool,
    write_seq: u64,
    snd_una: u64,
    rcv_nxt: u64,
    bytes_sent: u64,
    bytes_received: u64,
    bytes_acked: u64,
    bytes_retrans: u64,
    retransmits: u32,
    checksum: bool,
    #[serde(rename = "final")]
    last: bool,
}

/// A row of `interface_samples`.
#[derive(Serialize)]
struct InterfaceSample<'a> {
    t_ns: Nanos,
    node: &'a str,
    interface: &'a str,
    rx_bytes: u64,
    tx_bytes: u64,
    rx_packets: u64,
    tx_packets: u64,
    rx_dropped: u64,
    tx_dropped: u64,
    up: bool,
}

/// What a connection turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FinalState {
    /// Token of this end; `None` for TCP.
    pub(crate) token: Option<u32>,
    /// It speaks MPTCP.
    pub(crate) is_multipath: bool,
}

/// Writes a row for everything that is sampled.
pub(crate) fn sample(core: &mut Core, plan: &Plan) {
    for node in 0..core.nodes.len() {
        sample_interfaces(core, node);
        let connections: Vec<ConnectionId> = core.endpoints[node]
            .as_ref()
            .map(|endpoint| endpoint.connections().collect())
            .unwrap_or_default();
        for &id in &connections {
            write_subflows(core, node, id, false);
        }
        for &id in &connections {
            write_connection(core, node, id, false);
        }
    }
    sample_links(core, plan);
}

fn sample_interfaces(core: &mut Core, node: usize) {
    let name = &core.nodes[node].name;
    for interface in &core.nodes[node].interfaces {
        let counters = interface.counters;
        let row = InterfaceSample {
            t_ns: core.now,
            node: name,
            interface: &interface.planned.name,
            rx_bytes: counters.rx_bytes,
            tx_bytes: counters.tx_bytes,
            rx_packets: counters.rx_packets,
            tx_packets: counters.tx_packets,
            rx_dropped: counters.rx_dropped,
            tx_dropped: counters.tx_dropped,
            up: interface.is_running(),
        };
        core.recorder.write("interface_samples", row);
    }
}

fn sample_links(core: &mut Core, plan: &Plan) {
    for (line, planned) in core.lines.iter().zip(&plan.links) {
        for direction in [0, 1] {
            let subject = |end: usize| {
                let of = line.ends[end];
                core.nodes[of.node].interfaces[of.interface]
                    .subject
                    .as_str()
            };
            let row = LinkSample {
                t_ns: core.now,
                link: &planned.name,
                from: subject(direction),
                to: subject(1 - direction),
                rate_bps: line.model.rate_bps(direction),
                counters: line.model.counters(direction),
                backlog: line.model.backlog(direction),
                // The simulator loses nothing itself.
                overruns: 0,
            };
            core.recorder.write("link_samples", row);
        }
    }
}

/// Writes the `final` rows of a connection that is about to be closed.
pub(crate) fn write_final_samples(core: &mut Core, node: usize, id: ConnectionId) -> FinalState {
    let info = endpoint(core, node).and_then(|endpoint| endpoint.info(id));
    let is_multipath = info.is_some_and(|info| info.protocol == Protocol::Mptcp);
    if is_multipath {
        write_connection(core, node, id, true);
    }
    write_subflows(core, node, id, true);
    FinalState {
        token: info.filter(|_| is_multipath).and_then(|info| info.token),
        is_multipath,
    }
}

/// Writes every counter of every node that is not zero.
pub(crate) fn write_counters(core: &mut Core) {
    for node in 0..core.nodes.len() {
        let name = &core.nodes[node].name;
        for (counter, &value) in core.mib(node).iter().filter(|&(_, &value)| value != 0) {
            let row = Counter {
                node: name,
                name: counter,
                value,
            };
            core.recorder.write("counters", row);
        }
    }
}

fn endpoint(core: &Core, node: usize) -> Option<&Endpoint> {
    core.endpoints[node].as_ref()
}

fn write_subflows(core: &mut Core, node: usize, id: ConnectionId, last: bool) {
    let Some(endpoint) = &core.endpoints[node] else {
        return;
    };
    let Some(info) = endpoint.info(id) else {
        return;
    };
    for subflow in endpoint.subflows(id) {
        let row = subflow_sample(core.now, &core.nodes[node], &info, &subflow, last);
        core.recorder.write("subflow_samples", row);
    }
}

fn subflow_sample<'a>(
    t_ns: Nanos,
    node: &'a Node,
    connection: &ConnectionInfo,
    subflow: &SubflowInfo,
    last: bool,
) -> SubflowSample<'a> {
    let tcp = &subflow.tcp;
    let mss = u64::from(tcp.mss.max(1));
    let micros = |ns: Nanos| ns / 1000;
    let (local, remote) = (tcp.tuple.local, tcp.tuple.remote);
    SubflowSample {
        t_ns,
        node: &node.name,
        token: connection
            .token
            .filter(|_| !last || connection.protocol == Protocol::Mptcp),
        subflow: format!("{local}-{remote}"),
        interface: interface_name(node, local.ip()),
        state: tcp.state.name(),
        backup: subflow.backup.filter(|_| !last),
        local_id: subflow.local_id.filter(|_| !last),
        remote_id: subflow.remote_id.filter(|_| !last),
        last,
        bytes_sent: tcp.bytes_sent,
        bytes_acked: tcp.bytes_acked,
        bytes_received: tcp.bytes_received,
        bytes_retrans: tcp.bytes_retransmitted,
        segs_out: tcp.segments_out,
        segs_in: tcp.segments_in,
        retrans: tcp.retransmissions,
        rtt_us: micros(tcp.smoothed_rtt_ns),
        rttvar_us: micros(tcp.rtt_variation_ns),
        min_rtt_us: tcp.min_rtt_ns.map(micros),
        cwnd: tcp.window_bytes / mss,
        ssthresh: tcp.slow_start_threshold_bytes.map(|bytes| bytes / mss),
        unacked: tcp.unacked_segments,
        delivery_rate_bps: tcp.delivery_rate_bps,
        pacing_rate_bps: tcp.pacing_rate_bps,
        snd_wnd: tcp.send_window_bytes,
        rcv_space: tcp.receive_space_bytes,
        congestion_control: tcp.congestion_control,
        reord_seen: tcp.reorderings,
        dsack_dups: tcp.duplicate_sacks,
        rto_us: micros(tcp.rto_ns),
    }
}

fn interface_name(node: &Node, address: IpAddr) -> Option<&str> {
    let interface = node.interface_of(address)?;
    Some(&node.interfaces[interface].planned.name)
}

fn write_connection(core: &mut Core, node: usize, id: ConnectionId, last: bool) {
    let info = endpoint(core, node).and_then(|endpoint| endpoint.info(id));
    let Some((info, multipath)) = info.and_then(|info| Some((info, info.multipath?))) else {
        return;
    };
    let MultipathInfo {
        subflows_additional,
        subflows_total,
        add_addr_signal,
        add_addr_accepted,
        checksum,
        write_sequence,
        unacknowledged,
        receive_next,
        bytes_sent,
        bytes_received,
        bytes_acked,
        bytes_retransmitted,
        retransmits,
    } = multipath;
    let row = ConnectionSample {
        t_ns: core.now,
        node: &core.nodes[node].name,
        token: info.token,
        subflows: subflows_additional,
        subflows_total,
        add_addr_signal,
        add_addr_accepted,
        fallback: info.fallback,
        write_seq: write_sequence,
        snd_una: unacknowledged,
        rcv_nxt: receive_next,
        bytes_sent,
        bytes_received,
        bytes_acked,
        bytes_retrans: bytes_retransmitted,
        retransmits,
        checksum,
        last,
    };
    core.recorder.write("connection_samples", row);
}
