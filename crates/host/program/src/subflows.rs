//! `subflows`: the MPTCP connections of the namespace, each with its subflows.

mod table;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use mptcplab_linux::MptcpInfo;
use mptcplab_linux::dump::Dumper;
use mptcplab_linux::sock_diag::{SubflowIdentity, TcpSocket, mptcp_sockets, tcp_sockets};
use serde::Serialize;

use crate::output;
use crate::ticks::{Ticks, parse_seconds, wall_clock_seconds};

/// The options of `subflows`.
#[derive(Args)]
pub(crate) struct Options {
    /// List them again every so many seconds, until Ctrl-C.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    every: Option<Duration>,
    /// Stop after so many lists; with --every.
    #[arg(long, value_name = "N", requires = "every", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Print each list as one line of JSON.
    #[arg(long)]
    json: bool,
}

/// One list: what there was at one moment.
#[derive(Debug, Serialize)]
struct Listing {
    /// Seconds since 1970 of the system's clock.
    time_s: f64,
    connections: Vec<Connection>,
    /// Subflows whose connection the kernel does not tell: tokens are for CAP_NET_ADMIN only.
    other_subflows: Vec<Subflow>,
}

/// An MPTCP connection.
#[derive(Debug, Default, Serialize)]
struct Connection {
    /// This host's token, eight hexadecimal digits.
    token: Option<String>,
    /// The peer's token. The kernel computes it for the join that it sends, so that a connection
    /// without one, and the end that accepts joins, have none.
    remote_token: Option<String>,
    #[serde(flatten)]
    info: MptcpInfoWithoutToken,
    subflows: Vec<Subflow>,
}

/// The kernel's account of the connection as a whole.
#[derive(Debug, Default, Serialize)]
struct MptcpInfoWithoutToken {
    /// The connection has become plain TCP.
    fallback: Option<bool>,
    /// Payload sent, without what was reinjected.
    bytes_sent: Option<u64>,
    /// Payload received in order.
    bytes_received: Option<u64>,
    /// Payload acknowledged at the level of the connection.
    bytes_acked: Option<u64>,
    /// Payload sent again on another subflow.
    bytes_retrans: Option<u64>,
    /// Data checksums are in use.
    checksum: Option<bool>,
}

/// A subflow of a connection.
#[derive(Debug, Serialize)]
struct Subflow {
    local: SocketAddr,
    remote: SocketAddr,
    local_id: Option<u8>,
    remote_id: Option<u8>,
    backup: Option<bool>,
    congestion_control: Option<String>,
    /// State, counters and times by the names of `subflow_samples`.
    #[serde(flatten)]
    info: mptcplab_linux::TcpInfo,
}

/// Prints the list, once or again and again.
///
/// # Errors
/// The kernel's, and those of standard output.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let Some(every) = options.every else {
        return show(&listing().context(CANNOT_ASK)?, options);
    };
    let mut ticks = Ticks::start(every, options.count)?;
    while ticks.wait()? {
        show(&listing().context(CANNOT_ASK)?, options)?;
    }
    Ok(())
}

const CANNOT_ASK: &str = "the kernel does not list its sockets (NETLINK_SOCK_DIAG)";

fn show(listing: &Listing, options: &Options) -> anyhow::Result<()> {
    if options.json {
        return output::print_json(listing);
    }
    let mut text = table::text(listing);
    if options.every.is_some() {
        text.push('\n');
    }
    output::print(&text)
}

/// Asks the kernel.
fn listing() -> io::Result<Listing> {
    let mut netlink = Dumper::open(libc::NETLINK_SOCK_DIAG)?;
    let mut infos = Vec::new();
    match mptcp_sockets(&mut netlink, |info| infos.push(info)) {
        // Such a kernel has no MPTCP, or does not list its sockets.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        asked => asked?,
    }
    let mut subflows = Vec::new();
    tcp_sockets(&mut netlink, |socket| {
        if let Some(identity) = socket.mptcp {
            subflows.push((identity, socket));
        }
    })?;
    Ok(joined(wall_clock_seconds(), infos, subflows))
}

/// Puts subflows to their connections by the token of this host.
fn joined(
    time_s: f64,
    infos: Vec<MptcpInfo>,
    subflows: Vec<(SubflowIdentity, TcpSocket)>,
) -> Listing {
    let mut connections: BTreeMap<u32, Connection> = infos
        .into_iter()
        .filter_map(|info| Some((info.token?, Connection::from(info))))
        .collect();
    let mut other_subflows = Vec::new();
    for (identity, socket) in subflows {
        let subflow = Subflow {
            local: socket.local,
            remote: socket.remote,
            local_id: identity.local_id,
            remote_id: identity.remote_id,
            backup: identity.backup,
            congestion_control: socket.congestion_control,
            info: socket.info,
        };
        let connection = identity.token.and_then(|token| connections.get_mut(&token));
        let Some(connection) = connection else {
            other_subflows.push(subflow);
            continue;
        };
        if let Some(token) = identity.remote_token {
            connection.remote_token = Some(hexadecimal(token));
        }
        connection.subflows.push(subflow);
    }
    let order = |subflow: &Subflow| (subflow.local_id, subflow.local, subflow.remote);
    for connection in connections.values_mut() {
        connection.subflows.sort_by_key(order);
    }
    other_subflows.sort_by_key(order);
    Listing {
        time_s,
        connections: connections.into_values().collect(),
        other_subflows,
    }
}

impl From<MptcpInfo> for Connection {
    fn from(info: MptcpInfo) -> Self {
        Self {
            token: info.token.map(hexadecimal),
            remote_token: None,
            info: MptcpInfoWithoutToken {
                fallback: info.fallback,
                bytes_sent: info.bytes_sent,
                bytes_received: info.bytes_received,
                bytes_acked: info.bytes_acked,
                bytes_retrans: info.bytes_retrans,
                checksum: info.checksum,
            },
            subflows: Vec::new(),
        }
    }
}

fn hexadecimal(token: u32) -> String {
    format!("{token:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(
        token: Option<u32>,
        local_id: u8,
        remote_token: Option<u32>,
    ) -> (SubflowIdentity, TcpSocket) {
        let identity = SubflowIdentity {
            token,
            remote_token,
            local_id: Some(local_id),
            ..SubflowIdentity::default()
        };
        let socket = TcpSocket {
            cookie: 0,
            local: "10.0.1.2:40000".parse().unwrap(),
            remote: "10.0.1.1:80".parse().unwrap(),
            info: mptcplab_linux::TcpInfo::default(),
            memory: mptcplab_linux::sock_diag::SocketMemory::default(),
            congestion_control: None,
            mptcp: Some(identity),
        };
        (identity, socket)
    }

    fn connection(token: u32) -> MptcpInfo {
        MptcpInfo {
            token: Some(token),
            ..MptcpInfo::default()
        }
    }

    #[test]
    fn subflows_come_to_their_connections_by_the_token() {
        let subflows = vec![
            socket(Some(2), 1, Some(0xab)),
            socket(Some(2), 0, None),
            socket(Some(1), 0, None),
            socket(None, 0, None),
            socket(Some(3), 0, None),
        ];
        let listing = joined(0.0, vec![connection(2), connection(1)], subflows);
        let ids = |one: &Connection| one.subflows.iter().map(|one| one.local_id).collect();
        let found: Vec<(_, _, Vec<_>)> = listing
            .connections
            .iter()
            .map(|one| (one.token.as_deref(), one.remote_token.as_deref(), ids(one)))
            .collect();
        assert_eq!(
            found,
            [
                (Some("00000001"), None, vec![Some(0)]),
                (Some("00000002"), Some("000000ab"), vec![Some(0), Some(1)]),
            ]
        );
        assert_eq!(listing.other_subflows.len(), 2);
    }
}
