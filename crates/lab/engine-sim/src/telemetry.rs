//! Telemetry: the rows that the kernel engine reads from the kernel (`docs/recording.md`).

use std::net::IpAddr;

use mptcplab_plan::Plan;
use mptcplab_record::{
    ConnectionSample, Counter, Done, InterfaceSample, LinkSample, Ready, SubflowSample,
};
use mptcplab_stack::{ConnectionId, ConnectionInfo, HostStack, Protocol, SubflowInfo};

use crate::Nanos;
use crate::network::Network;
use crate::node::Node;

/// The state of a connection at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FinalState {
    /// Token of this end; `None` for TCP.
    pub(crate) token: Option<u32>,
    /// Whether it speaks MPTCP.
    pub(crate) is_multipath: bool,
}

/// Writes the row that says that the network is up. Virtual hosts have no threads to enter.
pub(crate) fn write_ready(network: &mut Network) {
    let nodes = network.nodes.iter();
    network.recorder.write(Ready {
        setup_ns: None,
        nodes: nodes.map(|node| (node.name.as_str(), None)).collect(),
    });
}

/// Writes the last row. Virtual time is never late.
pub(crate) fn write_done(
    network: &mut Network,
    interrupted: bool,
    flow_entries_left_out: Option<u64>,
) {
    network.recorder.write(Done {
        interrupted,
        teardown_ns: None,
        realtime: None,
        packets: network.carried,
        overruns: 0,
        lateness_p50_ns: None,
        lateness_p99_ns: None,
        lateness_max_ns: None,
        flow_entries_left_out,
    });
}

/// Writes a row for each interface, subflow, connection and link.
pub(crate) fn sample(network: &mut Network, plan: &Plan) {
    for node in 0..network.nodes.len() {
        sample_interfaces(network, node);
        let connections: Vec<ConnectionId> = network.stacks[node]
            .as_ref()
            .map(|stack| stack.connections().collect())
            .unwrap_or_default();
        for &id in &connections {
            write_subflows(network, node, id, false);
        }
        for &id in &connections {
            write_connection(network, node, id, false);
        }
    }
    sample_links(network, plan);
}

fn sample_interfaces(network: &mut Network, node: usize) {
    let name = &network.nodes[node].name;
    for interface in &network.nodes[node].interfaces {
        let counters = interface.counters;
        let row = InterfaceSample {
            t_ns: network.now,
            node: name,
            interface: &interface.planned.name,
            rx_bytes: Some(counters.rx_bytes),
            tx_bytes: Some(counters.tx_bytes),
            rx_packets: Some(counters.rx_packets),
            tx_packets: Some(counters.tx_packets),
            rx_dropped: Some(counters.rx_dropped),
            tx_dropped: Some(counters.tx_dropped),
            up: interface.is_running(),
        };
        network.recorder.write(row);
    }
}

fn sample_links(network: &mut Network, plan: &Plan) {
    for (link, planned) in network.links.iter().zip(&plan.links) {
        for direction in [0, 1] {
            let subject = |end: usize| {
                let of = link.ends[end];
                network.nodes[of.node].interfaces[of.interface]
                    .subject
                    .as_str()
            };
            let row = LinkSample {
                t_ns: network.now,
                link: &planned.name,
                from: subject(direction),
                to: subject(1 - direction),
                rate_bps: link.model.rate_bps(direction),
                counters: link.model.counters(direction),
                backlog: link.model.backlog(direction),
                // The simulator loses nothing itself.
                overruns: 0,
            };
            network.recorder.write(row);
        }
    }
}

/// Writes the `final` rows of a connection that is about to be closed.
pub(crate) fn write_final_samples(
    network: &mut Network,
    node: usize,
    id: ConnectionId,
) -> FinalState {
    let info = stack(network, node).and_then(|stack| stack.info(id));
    let is_multipath = info.is_some_and(|info| info.protocol == Protocol::Mptcp);
    if is_multipath {
        write_connection(network, node, id, true);
    }
    write_subflows(network, node, id, true);
    FinalState {
        token: info.filter(|_| is_multipath).and_then(|info| info.token),
        is_multipath,
    }
}

/// Writes every counter of every node that is not zero.
pub(crate) fn write_counters(network: &mut Network) {
    for node in 0..network.nodes.len() {
        let name = &network.nodes[node].name;
        for (counter, &value) in network.mib(node).iter().filter(|&(_, &value)| value != 0) {
            let row = Counter {
                node: name,
                name: counter,
                value,
            };
            network.recorder.write(row);
        }
    }
}

fn stack(network: &Network, node: usize) -> Option<&HostStack> {
    network.stacks[node].as_ref()
}

fn write_subflows(network: &mut Network, node: usize, id: ConnectionId, last: bool) {
    let Some(stack) = &network.stacks[node] else {
        return;
    };
    let Some(info) = stack.info(id) else {
        return;
    };
    for subflow in stack.subflows(id) {
        let row = subflow_sample(network.now, &network.nodes[node], &info, &subflow, last);
        network.recorder.write(row);
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
        state: Some(tcp.state.name()),
        backup: subflow.backup.filter(|_| !last),
        local_id: subflow.local_id.filter(|_| !last),
        remote_id: subflow.remote_id.filter(|_| !last),
        last,
        bytes_sent: Some(tcp.bytes_sent),
        bytes_acked: Some(tcp.bytes_acked),
        bytes_received: Some(tcp.bytes_received),
        bytes_retrans: Some(tcp.bytes_retransmitted),
        segs_out: Some(tcp.segments_out),
        segs_in: Some(tcp.segments_in),
        retrans: Some(tcp.retransmissions),
        rtt_us: Some(micros(tcp.smoothed_rtt_ns)),
        rttvar_us: Some(micros(tcp.rtt_variation_ns)),
        min_rtt_us: tcp.min_rtt_ns.map(micros),
        cwnd: Some(tcp.window_bytes / mss),
        ssthresh: tcp.slow_start_threshold_bytes.map(|bytes| bytes / mss),
        unacked: Some(tcp.unacked_segments),
        delivery_rate_bps: tcp.delivery_rate_bps,
        pacing_rate_bps: tcp.pacing_rate_bps,
        snd_wnd: Some(tcp.send_window_bytes),
        rcv_space: Some(tcp.receive_space_bytes),
        congestion_control: Some(tcp.congestion_control),
        reord_seen: Some(tcp.reorderings),
        dsack_dups: Some(tcp.duplicate_sacks),
        rto_us: Some(micros(tcp.rto_ns)),
        busy_us: Some(micros(tcp.times.busy_ns(t_ns))),
        rwnd_limited_us: Some(micros(tcp.times.receive_window_limited_ns(t_ns))),
        sndbuf_limited_us: Some(micros(tcp.times.send_buffer_limited_ns(t_ns))),
        notsent_bytes: Some(tcp.unsent_bytes),
        snd_buf: Some(tcp.send_buffer_bytes),
        snd_queued: Some(tcp.send_memory_bytes),
        rcv_buf: Some(tcp.receive_buffer_bytes),
    }
}

fn interface_name(node: &Node, address: IpAddr) -> Option<&str> {
    let interface = node.interface_of(address)?;
    Some(&node.interfaces[interface].planned.name)
}

fn write_connection(network: &mut Network, node: usize, id: ConnectionId, last: bool) {
    let info = stack(network, node).and_then(|stack| stack.info(id));
    let Some((info, multipath)) = info.and_then(|info| Some((info, info.multipath?))) else {
        return;
    };
    let row = ConnectionSample {
        t_ns: network.now,
        node: &network.nodes[node].name,
        token: info.token,
        subflows: Some(multipath.subflows_additional),
        subflows_total: Some(multipath.subflows_total),
        add_addr_signal: Some(multipath.add_addr_signal),
        add_addr_accepted: Some(multipath.add_addr_accepted),
        fallback: Some(info.fallback),
        write_seq: Some(multipath.write_sequence),
        snd_una: Some(multipath.unacknowledged),
        rcv_nxt: Some(multipath.receive_next),
        bytes_sent: Some(multipath.bytes_sent),
        bytes_received: Some(multipath.bytes_received),
        bytes_acked: Some(multipath.bytes_acked),
        bytes_retrans: Some(multipath.bytes_retransmitted),
        retransmits: Some(multipath.retransmits),
        checksum: Some(multipath.checksum),
        last,
        snd_buf: Some(multipath.send_buffer_bytes),
        snd_queued: Some(multipath.send_memory_bytes),
        rcv_buf: Some(multipath.receive_buffer_bytes),
    };
    network.recorder.write(row);
}
