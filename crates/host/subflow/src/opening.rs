//! A subflow that is being opened.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use mptcplab_linux::event::{self, Event};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::error::NO_REASON;
use crate::event::reason;
use crate::own::connection;

/// A subflow that is to be opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// Its address; port 0 takes any.
    pub local: SocketAddr,
    /// The peer's address, where it is not that to which the connection was opened; port 0 is the
    /// port of that.
    pub remote: Option<SocketAddr>,
    /// It is a backup: carries data only while no other subflow can.
    pub backup: bool,
    /// The interface that it is bound to, by its name.
    pub interface: Option<String>,
    /// Timeout of the peer's answer.
    pub timeout: Duration,
}

impl Open {
    /// From this address to where the connection was opened to; waits five seconds.
    pub fn from(local: SocketAddr) -> Self {
        Self {
            local,
            remote: None,
            backup: false,
            interface: None,
            timeout: Duration::from_secs(5),
        }
    }

    /// Both ends of the subflow, in a connection to this peer.
    pub(crate) fn ends(&self, peer: SocketAddr) -> Result<(SocketAddr, SocketAddr), Error> {
        let local = of_one_host(self.local)?;
        let remote = match self.remote {
            None => peer,
            Some(remote) if remote.port() == 0 => SocketAddr::new(remote.ip(), peer.port()),
            Some(remote) => remote,
        };
        let remote = SocketAddr::new(remote.ip().to_canonical(), remote.port());
        if remote.is_ipv4() != local.is_ipv4() {
            return Err(Error::FamiliesDiffer { local, remote });
        }
        Ok((local, remote))
    }
}

/// Checks that a single host can have the address, and maps IPv4 in IPv6 to IPv4. From any other
/// address the kernel would open a subflow all the same, from wherever its routes begin.
///
/// # Errors
/// [`Error::NotLocal`].
pub(crate) fn of_one_host(address: SocketAddr) -> Result<SocketAddr, Error> {
    let ip = address.ip().to_canonical();
    let is_broadcast = ip == IpAddr::from(Ipv4Addr::BROADCAST);
    if ip.is_unspecified() || ip.is_multicast() || is_broadcast {
        return Err(Error::NotLocal { address });
    }
    Ok(SocketAddr::new(ip, address.port()))
}

/// A subflow whose SYN has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Token of its connection.
    pub token: u32,
    /// Its id.
    pub id: u32,
    /// Its address and port.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
}

impl Opening {
    /// Takes the result from an event; `None` while there is none.
    pub fn decide(&self, event: &Event) -> Option<Result<u32, Error>> {
        if event.token != self.token {
            return None;
        }
        let closed = || Error::Refused {
            reason: reason(event).unwrap_or_else(|| NO_REASON.to_owned()),
        };
        if event.kind == event::EventKind::Closed {
            return Some(Err(Error::NotConnected));
        }
        if (event.local, event.remote) != (Some(self.local), Some(self.remote)) {
            return None;
        }
        match event.kind {
            event::EventKind::SubflowEstablished => Some(Ok(self.id)),
            event::EventKind::SubflowClosed => Some(Err(closed())),
            _ => None,
        }
    }

    /// Asks the socket itself for the result, where events were lost.
    pub fn result(&self, socket: BorrowedFd<'_>) -> Option<Result<u32, Error>> {
        let found = match connection(socket) {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        };
        match found.subflow(self.id) {
            Ok(subflow) => subflow.is_open().then_some(Ok(self.id)),
            Err(_) => Some(Err(Error::Refused {
                reason: NO_REASON.to_owned(),
            })),
        }
    }
}
