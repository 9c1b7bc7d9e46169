//! A list as a table.

use std::fmt::Write;

use super::{Connection, Listing, Subflow};
use crate::units::{milliseconds, size};

const HEADINGS: [&str; 10] = [
    "local", "remote", "ids", "state", "backup", "control", "rtt", "cwnd", "sent", "received",
];
const UNKNOWN: &str = "-";

/// The whole list: a line for each connection, and below it a table of its subflows.
pub(super) fn text(listing: &Listing) -> String {
    let mut text = String::new();
    for connection in &listing.connections {
        text.push_str(&heading(connection));
        rows(&mut text, &connection.subflows);
    }
    if !listing.other_subflows.is_empty() {
        text.push_str("subflows whose connection is not told (CAP_NET_ADMIN sees it)\n");
        rows(&mut text, &listing.other_subflows);
    }
    if text.is_empty() {
        text.push_str("no MPTCP connection\n");
    }
    text
}

fn heading(connection: &Connection) -> String {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| UNKNOWN.to_owned());
    let bytes = |bytes: Option<u64>| bytes.map_or_else(|| UNKNOWN.to_owned(), size);
    let info = &connection.info;
    let kind = match info.fallback {
        Some(true) => "fallen back to TCP",
        _ => "MPTCP",
    };
    format!(
        "{}  {kind}, peer's token {}, sent {}, received {}, reinjected {}\n",
        known(&connection.token),
        known(&connection.remote_token),
        bytes(info.bytes_sent),
        bytes(info.bytes_received),
        bytes(info.bytes_retrans),
    )
}

fn rows(text: &mut String, subflows: &[Subflow]) {
    if subflows.is_empty() {
        return;
    }
    let mut table = vec![HEADINGS.map(str::to_owned)];
    table.extend(subflows.iter().map(cells));
    let mut widths = [0; HEADINGS.len()];
    for row in &table {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.len());
        }
    }
    for row in &table {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            write!(line, "  {cell:width$}").expect("a String takes all");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

fn cells(subflow: &Subflow) -> [String; HEADINGS.len()] {
    let known = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    let id = |id: Option<u8>| known(id.map(|id| id.to_string()));
    let info = &subflow.info;
    let backup = subflow
        .backup
        .map(|backup| if backup { "yes" } else { "no" });
    [
        subflow.local.to_string(),
        subflow.remote.to_string(),
        format!("{}/{}", id(subflow.local_id), id(subflow.remote_id)),
        known(info.state.map(str::to_owned)),
        known(backup.map(str::to_owned)),
        known(subflow.congestion_control.clone()),
        known(info.rtt_us.map(milliseconds)),
        known(info.cwnd.map(|segments| segments.to_string())),
        known(info.bytes_sent.map(size)),
        known(info.bytes_received.map(size)),
    ]
}
