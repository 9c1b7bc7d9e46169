//! The state of a world: what it has, and the names of its values.

use mptcplab_engine_sim::{OpenedConnection, World};
use mptcplab_link::Place;
use mptcplab_plan::Way;
use mptcplab_stack::{
    ConnectionId, ConnectionInfo, DataDetail, HostStack, Protocol, SubflowDetail,
};
use serde_json::{Map, Value as Json, json};

use crate::field::{Field, Value, object};
use crate::packet;

/// The client's end of a connection, and the server's.
pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;

/// One end of a connection.
pub(crate) struct EndState {
    node: String,
    info: ConnectionInfo,
    data: Option<DataDetail>,
}

/// A direction of a link.
pub(crate) struct DirectionState {
    from: String,
    to: String,
    rate_bps: Option<u64>,
    queued: (u64, u64),
    in_flight: u64,
    counters: mptcplab_link::Counters,
}

/// A host or a router.
pub(crate) struct NodeState {
    name: String,
    waiting: usize,
    connections: usize,
}

macro_rules! fields {
    ($(#[$meta:meta])* $name:ident of $type:ty: $of:ident { $($field:ident = $value:expr,)* }) => {
        $(#[$meta])*
        pub(crate) const $name: &[Field<$type>] = &[
            $(Field { name: stringify!($field), get: |$of| Value::from($value) },)*
        ];
    };
}

fields!(
    /// A subflow at one end.
    SUBFLOW of SubflowDetail: s {
        id = s.info.id.0,
        state = s.info.tcp.state.name(),
        stage = s.stage,
        initiated_here = s.initiated_here,
        backup = s.info.backup,
        local = s.info.tcp.tuple.local,
        remote = s.info.tcp.tuple.remote,
        local_id = s.info.local_id,
        remote_id = s.info.remote_id,
        congestion_control = s.info.tcp.congestion_control,
        congestion_state = s.tcp.congestion_state,
        cwnd_bytes = s.info.tcp.window_bytes,
        ssthresh_bytes = s.info.tcp.slow_start_threshold_bytes,
        mss_bytes = s.info.tcp.mss,
        srtt_ns = s.info.tcp.smoothed_rtt_ns,
        rttvar_ns = s.info.tcp.rtt_variation_ns,
        min_rtt_ns = s.info.tcp.min_rtt_ns,
        rto_ns = s.info.tcp.rto_ns,
        in_flight_bytes = s.info.tcp.in_flight_bytes,
        unacked_segments = s.info.tcp.unacked_segments,
        lost_segments = s.tcp.lost_segments,
        sacked_segments = s.tcp.sacked_segments,
        unsent_bytes = s.info.tcp.unsent_bytes,
        snd_isn = s.tcp.initial_send_sequence,
        snd_una = s.tcp.unacknowledged,
        snd_nxt = s.tcp.next,
        snd_wnd_bytes = s.info.tcp.send_window_bytes,
        rcv_isn = s.tcp.initial_receive_sequence,
        rcv_nxt = s.tcp.receive_next,
        rcv_wnd_bytes = s.tcp.receive_window_bytes,
        ready_bytes = s.tcp.ready_bytes,
        reassembly_bytes = s.tcp.early_bytes,
        snd_buf_bytes = s.info.tcp.send_buffer_bytes,
        rcv_buf_bytes = s.info.tcp.receive_buffer_bytes,
        bytes_sent = s.info.tcp.bytes_sent,
        bytes_acked = s.info.tcp.bytes_acked,
        bytes_received = s.info.tcp.bytes_received,
        bytes_retransmitted = s.info.tcp.bytes_retransmitted,
        retransmissions = s.info.tcp.retransmissions,
        timeouts = s.tcp.timeouts,
        delivery_rate_bps = s.info.tcp.delivery_rate_bps,
        pacing_rate_bps = s.info.tcp.pacing_rate_bps,
    }
);

fields!(
    /// One end of a connection. Of TCP the numbers of data are those of its only subflow.
    END of EndState: e {
        node = e.node.as_str(),
        protocol = match e.info.protocol {
            Protocol::Tcp => "tcp",
            Protocol::Mptcp => "mptcp",
        },
        fallback = e.info.fallback,
        token = e.info.token,
        local = e.info.local,
        remote = e.info.remote,
        snd_una = e.data.map(|data| data.unacknowledged),
        snd_nxt = e.data.map(|data| data.next),
        write_seq = e.data.map(|data| data.end),
        snd_wnd_end = e.data.map(|data| data.window_end),
        rcv_nxt = e.data.map(|data| data.receive_next),
        rcv_wnd_bytes = e.data.map(|data| data.receive_window_bytes),
        reassembly_bytes = e.data.map(|data| data.reassembly_bytes),
        ready_bytes = e.info.receive_queue_bytes,
        send_queue_bytes = e.info.send_queue_bytes,
        snd_buf_bytes = e.info.multipath.map(|figures| figures.send_buffer_bytes),
        rcv_buf_bytes = e.info.multipath.map(|figures| figures.receive_buffer_bytes),
        bytes_sent = e.info.multipath.map(|figures| figures.bytes_sent),
        bytes_acked = e.info.multipath.map(|figures| figures.bytes_acked),
        bytes_received = e.info.multipath.map(|figures| figures.bytes_received),
        bytes_reinjected = e.data.map(|data| data.reinjected_bytes),
        retransmission_timer_ns = e.data.and_then(|data| data.retransmission_timer),
    }
);

fields!(
    /// A direction of a link.
    DIRECTION of DirectionState: d {
        from_interface = d.from.as_str(),
        to_interface = d.to.as_str(),
        rate_bps = d.rate_bps,
        queued_packets = d.queued.0,
        queued_bytes = d.queued.1,
        in_flight_packets = d.in_flight,
        offered_packets = d.counters.offered_packets,
        delivered_packets = d.counters.delivered_packets,
        lost_packets = d.counters.dropped_loss,
        dropped_queue_packets = d.counters.dropped_queue,
        dropped_down_packets = d.counters.dropped_down,
    }
);

fields!(
    /// A host or a router.
    NODE of NodeState: n {
        name = n.name.as_str(),
        waiting_packets = n.waiting as u64,
        open_connections = n.connections as u64,
    }
);

/// The end that sends the data of a connection; of one both ways the client.
pub(crate) fn sender(connection: &OpenedConnection) -> usize {
    match connection.way {
        Way::Down => SERVER,
        Way::Up | Way::Both => CLIENT,
    }
}

/// The stack and the connection of an end, while they are there.
pub(crate) fn stack_of<'a>(
    world: &'a World,
    connection: &OpenedConnection,
    end: usize,
) -> Option<(&'a HostStack, ConnectionId)> {
    let (node, id) = connection.ends[end];
    Some((world.stack(node)?, id?))
}

/// One end of a connection, while it is there.
pub(crate) fn end(world: &World, connection: &OpenedConnection, end: usize) -> Option<EndState> {
    let (stack, id) = stack_of(world, connection, end)?;
    Some(EndState {
        node: world.plan().nodes[connection.ends[end].0].name.clone(),
        info: stack.info(id)?,
        data: stack.data_detail(id),
    })
}

/// A direction of a link.
pub(crate) fn direction(world: &World, link: usize, direction: usize) -> DirectionState {
    let packets = world.link_packets(link, direction);
    let queued = packets
        .iter()
        .filter(|packet| matches!(packet.place, Place::Queued { .. }));
    let bytes = queued
        .clone()
        .map(|packet| u64::from(packet.ip_bytes))
        .sum();
    let queued = (queued.count() as u64, bytes);
    let subject = |end: usize| {
        let plan = world.plan();
        let of = plan.links[link].ends[end];
        let node = &plan.nodes[of.node];
        format!("{}.{}", node.name, node.interfaces[of.interface].name)
    };
    DirectionState {
        from: subject(direction),
        to: subject(1 - direction),
        rate_bps: world.link_rate_bps(link, direction),
        in_flight: packets.len() as u64 - queued.0,
        queued,
        counters: world.link_counters(link, direction),
    }
}

/// A host or a router.
pub(crate) fn node(world: &World, number: usize) -> NodeState {
    NodeState {
        name: world.plan().nodes[number].name.clone(),
        waiting: world.waiting_packets(number),
        connections: world
            .stack(number)
            .map_or(0, |stack| stack.connections().count()),
    }
}

/// All state of a connection as JSON.
pub(crate) fn connection_json(world: &World, number: usize) -> Option<Json> {
    let connection = world.opened_connection(number)?;
    let ends = [CLIENT, SERVER].map(|of| end_json(world, &connection, of));
    let [client, server] = ends;
    Some(json!({
        "number": number,
        "traffic": world.plan().traffic[connection.flow].name,
        "opened_ns": connection.at,
        "sender": if sender(&connection) == CLIENT { "client" } else { "server" },
        "client": client,
        "server": server,
    }))
}

fn end_json(world: &World, connection: &OpenedConnection, of: usize) -> Json {
    let Some(state) = end(world, connection, of) else {
        return Json::Null;
    };
    let mut fields = object(END, &state);
    if let Some((stack, id)) = stack_of(world, connection, of) {
        fields.insert("scheduler".to_owned(), stack.scheduler(id).into());
        let ids = stack.subflow_ids(id).into_iter();
        let subflows = ids.filter_map(|subflow| stack.subflow_detail(id, subflow));
        let subflows: Vec<_> = subflows.map(|one| subflow_json(&one)).collect();
        fields.insert("subflows".to_owned(), subflows.into());
    }
    fields.into()
}

fn subflow_json(subflow: &SubflowDetail) -> Json {
    let mut fields = object(SUBFLOW, subflow);
    let timers = subflow.tcp.timers.into_iter();
    let timers: Map<_, _> = timers
        .filter_map(|(name, at)| Some((name.to_owned(), at?.into())))
        .collect();
    fields.insert("timers_ns".to_owned(), timers.into());
    fields.into()
}

/// All state of a link as JSON, with its packets.
pub(crate) fn link_json(world: &World, link: usize) -> Json {
    let directions: Vec<Json> = [0, 1]
        .map(|of| {
            let mut fields = object(DIRECTION, &direction(world, link, of));
            let packets = world.link_packets(link, of);
            let packets: Vec<Json> = packets.iter().map(packet::in_link_json).collect();
            fields.insert("packets".to_owned(), packets.into());
            Json::from(fields)
        })
        .into();
    json!({ "name": world.plan().links[link].name, "directions": directions })
}

/// All state of a node as JSON, with its routing tables.
pub(crate) fn node_json(world: &World, number: usize) -> Json {
    let planned = &world.plan().nodes[number];
    let name = |interface: usize| planned.interfaces[interface].name.as_str();
    let routes = world.routes(number).into_iter().map(|entry| {
        let via: Vec<_> = entry.interfaces.iter().map(|&one| name(one)).collect();
        json!({
            "table": entry.table.map_or("main", name),
            "to": format!("{}/{}", entry.to.address, entry.to.length),
            "interfaces": via,
        })
    });
    let mut fields = object(NODE, &node(world, number));
    fields.insert("routes".to_owned(), routes.collect::<Vec<_>>().into());
    let addresses: Vec<_> = world
        .addresses(number)
        .iter()
        .map(ToString::to_string)
        .collect();
    fields.insert("addresses".to_owned(), addresses.into());
    fields.into()
}
