//! The last look at a socket, just before it is closed.

use std::io;
use std::net::SocketAddr;

use socket2::{SockAddr, Socket};

use super::NodeContext;
use super::accounts::{Pair, Reading};
use super::rows::{connection_sample, subflow_sample};
use crate::record::Recorder;
use mptcplab_linux::MptcpInfo;
use mptcplab_linux::sock_diag::{SocketMemory, SubflowIdentity};
use mptcplab_linux::socket::{connection, tcp_info};

/// The kernel tells of the buffers in its lists only.
const UNKNOWN: SocketMemory = SocketMemory {
    send_buffer_bytes: None,
    send_queued_bytes: None,
    receive_buffer_bytes: None,
};

/// The state of a connection at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FinalState {
    /// Token of this end; `None` for TCP.
    pub(crate) token: Option<u32>,
    /// It speaks MPTCP.
    pub(crate) multipath: bool,
    /// Of TCP: its addresses.
    pub(crate) pair: Option<Pair>,
}

impl FinalState {
    const TCP: Self = Self {
        token: None,
        multipath: false,
        pair: None,
    };
}

/// Writes the `final` row of a connection of which `MPTCP_INFO` was read (`None`: it is TCP).
pub(crate) fn write_final_connection(
    recorder: &Recorder,
    node: &NodeContext,
    info: Option<&[u8]>,
) -> io::Result<FinalState> {
    let info = info
        .map(MptcpInfo::parse)
        .filter(|info| info.fallback != Some(true));
    let Some(info) = info else {
        return Ok(FinalState::TCP);
    };
    recorder.write(connection_sample(
        (recorder.now(), true),
        node,
        (&info, UNKNOWN),
    ))?;
    Ok(FinalState {
        token: info.token,
        multipath: true,
        pair: None,
    })
}

/// Writes the `final` rows of a socket of `node` that is about to be closed.
pub(crate) fn write_final_samples(
    recorder: &Recorder,
    node: &NodeContext,
    socket: &Socket,
) -> io::Result<FinalState> {
    let when = (recorder.now(), true);
    let congestion_control = socket.tcp_congestion().ok();
    let congestion_control = congestion_control.as_deref().map(String::from_utf8_lossy);
    let congestion_control = congestion_control
        .as_deref()
        .map(|name| name.trim_end_matches('\0'));
    let write = |identity: SubflowIdentity, addresses, cookie, info| {
        node.accounts.take(Reading {
            t_ns: when.0,
            pair: addresses,
            cookie,
            token: identity.token,
            destroyed: false,
            info,
        });
        let row = subflow_sample(
            when,
            node,
            addresses,
            identity,
            congestion_control,
            (info, UNKNOWN),
        );
        recorder.write(row)
    };
    let multipath = connection(socket).filter(|connection| connection.info.fallback != Some(true));
    if let Some(connection) = multipath {
        let info = &connection.info;
        recorder.write(connection_sample(when, node, (info, UNKNOWN)))?;
        let identity = SubflowIdentity {
            token: info.token,
            ..SubflowIdentity::default()
        };
        for subflow in &connection.subflows {
            write(
                identity,
                (subflow.local, subflow.remote),
                None,
                &subflow.info,
            )?;
        }
        return Ok(FinalState {
            token: info.token,
            multipath: true,
            pair: None,
        });
    }
    // A connection that was reset has no addresses any more, and nothing to tell.
    let addresses = socket
        .local_addr()
        .and_then(|local| Ok((local, socket.peer_addr()?)));
    if let (Ok((local, remote)), Ok(info)) = (addresses, tcp_info(socket))
        && let (Some(local), Some(remote)) = (told_by_socket(&local), told_by_socket(&remote))
    {
        // The cookie of a connection of MPTCP that has fallen back is not that of its TCP socket.
        let plain = socket.protocol()? == Some(socket2::Protocol::TCP);
        let cookie = if plain { socket.cookie().ok() } else { None };
        write(SubflowIdentity::default(), (local, remote), cookie, &info)?;
        return Ok(FinalState {
            pair: Some((local, remote)),
            ..FinalState::TCP
        });
    }
    Ok(FinalState::TCP)
}

/// The address that a socket tells; of IPv4 also where the socket is of both families.
pub(crate) fn told_by_socket(address: &SockAddr) -> Option<SocketAddr> {
    let address = address.as_socket()?;
    let ip = address.ip().to_canonical();
    Some(SocketAddr::new(ip, address.port()))
}
