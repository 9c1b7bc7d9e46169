//! The kernel's account of a connection for its owner, which needs no privilege.

use std::net::{IpAddr, TcpStream};

use mptcplab_linux::socket::{connection, tcp_info};
use mptcplab_linux::{self as linux, MptcpInfo, TcpInfo};

use crate::congestion::used;
use crate::message::{FastOpenFailure, Seen, SeenSubflow};

/// The state of a connection now.
pub(crate) fn seen(stream: &TcpStream) -> Seen {
    // That of the subflow with which an MPTCP connection began.
    let first = tcp_info(stream).ok();
    let failure = first.as_ref().and_then(|info| info.fast_open_failure);
    Seen {
        congestion_control: used(stream),
        syn_data_acked: first.as_ref().and_then(|info| info.syn_data_acked),
        fast_open_failure: failure.map(fast_open_failure),
        ..by_protocol(stream)
    }
}

fn by_protocol(stream: &TcpStream) -> Seen {
    match connection(stream) {
        Some(connection) => Seen {
            mptcp: is_mptcp(&connection.info),
            announced: connection.info.add_addr_signal.unwrap_or(0),
            accepted: connection.info.add_addr_accepted.unwrap_or(0),
            subflows_allowed: connection.info.subflows_max,
            endpoints: connection.info.local_addr_max,
            checksum: connection.info.checksum,
            subflows: connection
                .subflows
                .iter()
                .filter(|subflow| is_established(&subflow.info))
                .map(|one| subflow(one.local.to_string(), one.remote.to_string(), &one.info))
                .collect(),
            ..Seen::default()
        },
        None => Seen {
            subflows: only(stream).into_iter().collect(),
            ..Seen::default()
        },
    }
}

fn fast_open_failure(failure: linux::FastOpenFailure) -> FastOpenFailure {
    match failure {
        linux::FastOpenFailure::CookieUnavailable => FastOpenFailure::CookieUnavailable,
        linux::FastOpenFailure::DataNotAcked => FastOpenFailure::DataNotAcked,
        linux::FastOpenFailure::SynRetransmitted => FastOpenFailure::SynRetransmitted,
    }
}

/// Addresses here of the subflows that a connection has now; none of TCP.
pub(crate) fn sources(stream: &TcpStream) -> Vec<IpAddr> {
    let subflows = connection(stream).map(|known| known.subflows);
    let established = subflows.into_iter().flatten();
    let established = established.filter(|subflow| is_established(&subflow.info));
    established
        .map(|subflow| subflow.local.ip().to_canonical())
        .collect()
}

/// It is known to be MPTCP still. A kernel that does not tell gives no ground for it.
fn is_mptcp(info: &MptcpInfo) -> bool {
    info.fallback == Some(false)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_no_mptcp() {
        assert!(!is_mptcp(&MptcpInfo::parse(&[])));
        let of_flags = |flags: u32| {
            let mut bytes = [0; 16];
            bytes[8..12].copy_from_slice(&flags.to_ne_bytes());
            is_mptcp(&MptcpInfo::parse(&bytes))
        };
        assert!(of_flags(2) && !of_flags(3));
    }
}
