//! The tables that are written at the end.

use std::path::Path;

use super::worker::Analysis;
use crate::identify::{ConnectionIdentity, Registry, SubflowIdentity};
use crate::tables::{
    AddressRow, ConnectionEndRow, ConnectionRow, SubflowEndRow, SubflowRow, Table, TableError,
};
use crate::{ConnectionSummary, DataEnd, SentData, SentSummary, Side, Subflow, TcpEnd};

/// Writes the tables of connections, subflows and addresses. `order` has the connections, as the
/// registry names them, in the order of their numbers; `analyses` are in that order too.
///
/// # Errors
/// The file system's.
pub(super) fn write(
    folder: &Path,
    registry: &Registry,
    order: &[u32],
    analyses: Vec<(u32, Analysis)>,
) -> Result<(), TableError> {
    let mut connections = Table::create(folder)?;
    let mut subflows = Table::create(folder)?;
    let mut addresses = Table::<AddressRow>::create(folder)?;
    let mut analyses = analyses.into_iter().peekable();
    for (number, &connection) in (0..).zip(order) {
        let identity = registry.connection_identity(connection);
        // One of which no segment was placed has no analysis.
        let of_this = analyses.next_if(|(of, _)| *of == connection);
        let analysis = of_this
            .map(|(_, analysis)| analysis)
            .unwrap_or_else(Analysis::new);
        let data = analysis.connection.summary();
        connections.put(connection_row(number, &identity, &analysis, &data))?;
        for (subflow, of) in (0..).zip(&identity.subflows) {
            subflows.put(subflow_row((number, subflow), of, &analysis, &data))?;
        }
        let mut rows = analysis.addresses.rows(number);
        rows.try_for_each(|row| addresses.put(row))?;
    }
    connections.finish()?;
    subflows.finish()?;
    addresses.finish()
}

fn connection_row(
    connection: u32,
    identity: &ConnectionIdentity,
    analysis: &Analysis,
    summary: &ConnectionSummary,
) -> ConnectionRow {
    let last = analysis.subflows.iter().map(|kept| kept.last).max();
    ConnectionRow {
        connection,
        protocol: if identity.mptcp { "mptcp" } else { "tcp" },
        version: identity.version,
        client_address: identity.ends.client.ip(),
        client_port: identity.ends.client.port(),
        server_address: identity.ends.server.ip(),
        server_port: identity.ends.server.port(),
        client_token: identity.tokens.client,
        server_token: identity.tokens.server,
        client_key: identity.keys.client,
        server_key: identity.keys.server,
        client_idsn: identity.initial_data_sequences.client,
        server_idsn: identity.initial_data_sequences.server,
        checksums: identity.checksums,
        inferred: identity.inferred,
        start_ns: identity.start,
        end_ns: last.map_or(identity.start, |last| last.max(identity.start)),
        end: match summary.end {
            DataEnd::DataFin => "data_fin",
            DataEnd::Fin => "fin",
            DataEnd::FastClose => "fast_close",
            DataEnd::Reset => "reset",
            DataEnd::Open => "open",
        },
        fallback: identity.fallback.map(|(reason, _)| reason.as_str()),
        fallback_ns: identity.fallback.map(|(_, at)| at),
        subflows: identity.subflows.len() as u32,
        packets: summary.client.packets + summary.server.packets,
        duplicates: analysis.duplicates,
        client: connection_end_row(&summary.client),
        server: connection_end_row(&summary.server),
    }
}

fn connection_end_row(sent: &SentData) -> ConnectionEndRow {
    let round_trip = sent.round_trip;
    ConnectionEndRow {
        bytes: sent.bytes,
        unmapped_bytes: sent.unmapped_bytes,
        packets: sent.packets,
        payload_bytes: sent.payload_bytes,
        reinjected_bytes: sent.reinjected_bytes,
        reinjected_won_bytes: sent.reinjected_won_bytes,
        late_bytes: sent.late_bytes,
        late_max_bytes: sent.late_extent_bytes,
        data_rtt_samples: round_trip.map_or(0, |spread| spread.samples),
        data_rtt_min_ns: round_trip.map(|spread| spread.min_ns),
        data_rtt_mean_ns: round_trip.map(|spread| spread.mean_ns),
        data_rtt_max_ns: round_trip.map(|spread| spread.max_ns),
        window_min_bytes: sent.window_bytes.map(|(least, _)| least),
        window_max_bytes: sent.window_bytes.map(|(_, most)| most),
        window_limited_ns: sent.window_limited_ns,
        data_fin_ns: sent.data_fin_ns,
        data_fin_acknowledged_ns: sent.data_fin_acknowledged_ns,
        first_data_ns: sent.first_data_ns,
        last_data_ns: sent.last_data_ns,
        silence_ns: sent.longest_gap.map(|gap| gap.ns),
        silence_at_ns: sent.longest_gap.map(|gap| gap.at_ns),
        recovery_ns: sent.recovery.map(|gap| gap.ns),
        recovery_at_ns: sent.recovery.map(|gap| gap.at_ns),
        checksums_verified: sent.checksums_verified,
        checksums_wrong: sent.checksums_wrong,
        moves: sent.path_switches,
    }
}

fn subflow_row(
    (connection, subflow): (u32, u32),
    identity: &SubflowIdentity,
    analysis: &Analysis,
    data: &ConnectionSummary,
) -> SubflowRow {
    let tcp = match analysis.connection.subflow(subflow) {
        Some(tcp) => tcp.summary(),
        // No segment of it was placed.
        None => Subflow::new().summary(),
    };
    let last = analysis
        .subflows
        .get(subflow as usize)
        .map(|kept| kept.last);
    let end = |by: Side| {
        let of_all = data.sent(by).payload_bytes;
        let reinjected_bytes = analysis.connection.reinjected_bytes(subflow, by);
        subflow_end_row(tcp.sent(by), of_all, reinjected_bytes)
    };
    let resets = [tcp.client.reset_ns, tcp.server.reset_ns];
    let reset = resets.into_iter().flatten().min();
    let fast_closed = data.fast_close_ns.is_some_and(|at| reset >= Some(at));
    SubflowRow {
        connection,
        subflow,
        origin: if identity.join { "join" } else { "initial" },
        opener: identity.opener,
        announced: identity.announced,
        inferred: identity.inferred,
        client_address: identity.ends.client.ip(),
        client_port: identity.ends.client.port(),
        server_address: identity.ends.server.ip(),
        server_port: identity.ends.server.port(),
        client_address_id: identity.address_ids.client,
        server_address_id: identity.address_ids.server,
        client_backup: identity.backup.client,
        server_backup: identity.backup.server,
        priority_changes: identity.priority_changes,
        hmac_valid: identity.hmac_valid,
        start_ns: identity.start,
        established_ns: identity.established,
        handshake_rtt_ns: identity.handshake_rtt,
        end_ns: last.unwrap_or(identity.start).max(identity.start),
        end: match (tcp.end, data.end) {
            (TcpEnd::Fin, _) => "fin",
            (TcpEnd::Reset, _) if fast_closed => "fast_close",
            (TcpEnd::Reset, _) => "reset",
            (TcpEnd::Open, DataEnd::Open) => "open",
            (TcpEnd::Open, _) => "silent",
        },
        reset_reason: identity.reset_reason,
        client: end(Side::Client),
        server: end(Side::Server),
    }
}

/// `of_all`: bytes of data, with all that was sent again, of this end on all subflows.
fn subflow_end_row(sent: &SentSummary, of_all: u64, reinjected_bytes: u64) -> SubflowEndRow {
    SubflowEndRow {
        mss: sent.mss,
        window_shift: sent.window_shift,
        packets: sent.packets,
        wire_packets: sent.wire_packets,
        payload_bytes: sent.payload_bytes,
        bytes: sent.bytes,
        share: (of_all > 0).then(|| sent.payload_bytes as f64 / of_all as f64),
        retransmissions: sent.retransmissions,
        retransmitted_packets: sent.retransmitted_packets,
        retransmitted_bytes: sent.retransmitted_bytes,
        retransmitted_unseen_bytes: sent.retransmitted_unseen_bytes,
        probe_bytes: sent.probe_bytes,
        fast_retransmissions: sent.fast_retransmissions,
        timeout_retransmissions: sent.timeout_retransmissions,
        spurious_retransmissions: sent.spurious_retransmissions,
        out_of_order: sent.out_of_order,
        keep_alives: sent.keep_alives,
        window_probes: sent.window_probes,
        sack_blocks: sent.sack_blocks,
        dsack_blocks: sent.dsack_blocks,
        duplicate_acknowledgements: sent.duplicate_acknowledgements,
        zero_windows: sent.zero_windows,
        ecn_marked: sent.ecn_marked,
        rtt_samples: sent.rtt_samples,
        rtt_min_ns: sent.rtt_min_ns,
        rtt_mean_ns: sent.rtt_mean_ns,
        rtt_max_ns: sent.rtt_max_ns,
        rtt_deviation_ns: sent.rtt_deviation_ns,
        in_flight_max_bytes: sent.in_flight_max_bytes,
        pipe_max_bytes: sent.pipe_max_bytes,
        window_max_bytes: sent.window_max_bytes,
        idle_max_ns: sent.idle_max_ns,
        idle_at_ns: sent.idle_at_ns,
        first_data_ns: sent.first_data_ns,
        last_data_ns: sent.last_data_ns,
        reinjected_bytes,
    }
}
