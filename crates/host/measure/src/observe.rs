//! The kernel's account of a connection for its owner, which needs no privilege.

use std::net::TcpStream;

use mptcplab_linux::TcpInfo;
use mptcplab_linux::socket::{connection, tcp_info};

use crate::message::{Seen, SeenSubflow};

/// The state of a connection now.
pub(crate) fn seen(stream: &TcpStream) -> Seen {
    match connection(stream) {
        Some(connection) => Seen {
            mptcp: connection.info.fallback != Some(true),
            announced: connection.info.add_addr_signal.unwrap_or(0),
            accepted: connection.info.add_addr_accepted.unwrap_or(0),
            subflows_allowed: connection.info.subflows_max,
            endpoints: connection.info.local_addr_max,
            subflows: connection
                .subflows
                .iter()
                .filter(|subflow| is_established(&subflow.info))
                .map(|one| subflow(one.local.to_string(), one.remote.to_string(), &one.info))
                .collect(),
        },
        None => Seen {
            subflows: only(stream).into_iter().collect(),
            ..Seen::default()
        },
    }
}

/// The connection itself, of TCP.
fn only(stream: &TcpStream) -> Option<SeenSubflow> {
    let local = stream.local_addr().ok()?.to_string();
    let remote = stream.peer_addr().ok()?.to_string();
    Some(subflow(local, remote, &tcp_info(stream).ok()?))
}

/// Its handshake was completed: also where one end has closed since.
fn is_established(info: &TcpInfo) -> bool {
    !matches!(
        info.state,
        Some("SYN-SENT" | "SYN-RECEIVED" | "CLOSED") | None
    )
}

fn subflow(local: String, remote: String, info: &TcpInfo) -> SeenSubflow {
    let again = info.bytes_retrans.unwrap_or(0);
    SeenSubflow {
        local,
        remote,
        sent_bytes: info.bytes_sent.map(|sent| sent.saturating_sub(again)),
        received_bytes: info.bytes_received,
        rtt_us: info.rtt_us,
    }
}
