//! The last look at a socket, just before it is closed.

use std::io;

use socket2::Socket;

use super::NodeContext;
use super::rows::{ConnectionSample, SubflowSample};
use crate::record::Recorder;
use mptcplab_kernel::MptcpInfo;
use mptcplab_kernel::sock_diag::SubflowIdentity;
use mptcplab_kernel::socket::{connection, tcp_info};

/// What a connection turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FinalState {
    /// Token of this end; `None` for TCP.
    pub(crate) token: Option<u32>,
    /// It speaks MPTCP.
    pub(crate) multipath: bool,
}

impl FinalState {
    const TCP: Self = Self {
        token: None,
        multipath: false,
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
    let (t_ns, node) = (recorder.now(), &node.name);
    recorder.write(
        "connection_samples",
        ConnectionSample {
            t_ns,
            node,
            last: true,
            info: &info,
        },
    )?;
    Ok(FinalState {
        token: info.token,
        multipath: true,
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
    let write = |identity, addresses, info| {
        let row = SubflowSample::new(when, node, addresses, identity, congestion_control, info);
        recorder.write("subflow_samples", row)
    };
    let multipath = connection(socket).filter(|connection| connection.info.fallback != Some(true));
    if let Some(connection) = multipath {
        let info = &connection.info;
        let row = ConnectionSample {
            t_ns: when.0,
            node: &node.name,
            last: true,
            info,
        };
        recorder.write("connection_samples", row)?;
        let identity = SubflowIdentity {
            token: info.token,
            ..SubflowIdentity::default()
        };
        for subflow in &connection.subflows {
            write(identity, (subflow.local, subflow.remote), &subflow.info)?;
        }
        return Ok(FinalState {
            token: info.token,
            multipath: true,
        });
    }
    // A connection that was reset has no addresses any more, and nothing to tell.
    let addresses = socket
        .local_addr()
        .and_then(|local| Ok((local, socket.peer_addr()?)));
    if let (Ok((local, remote)), Ok(info)) = (addresses, tcp_info(socket))
        && let (Some(local), Some(remote)) = (local.as_socket(), remote.as_socket())
    {
        write(SubflowIdentity::default(), (local, remote), &info)?;
    }
    Ok(FinalState::TCP)
}
