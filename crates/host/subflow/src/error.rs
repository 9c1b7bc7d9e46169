//! Errors, with what to do about them.

use std::io;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// An error. Its text says what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Error {
    /// The socket is of another protocol.
    #[error(
        "not an MPTCP socket: open it with IPPROTO_MPTCP, or run the program under `mptcpize run`; \
         an accepted socket is plain TCP where the client does not speak MPTCP"
    )]
    NotMptcp,
    /// There is no connection.
    #[error("the socket is not connected: connect or accept first")]
    NotConnected,
    /// The peer has not shown yet that it has the keys: no subflow can join before. A caller that waits tries
    /// again at the event of the connection's establishment.
    #[error(
        "the peer has not confirmed the handshake of MPTCP yet: it does with its first \
         acknowledgement, once data went either way"
    )]
    NotEstablished,
    /// The connection is being closed by one of its ends.
    #[error("the connection is being closed by one of its ends: no subflow joins any more")]
    Closing,
    /// The connection goes on as plain TCP.
    #[error("the connection has fallen back to TCP: {reason}")]
    FellBack {
        /// Where MPTCP stopped.
        reason: String,
    },
    /// The connection was opened while the kernel's own path manager was in charge.
    #[error(
        "the connection was opened under the kernel's own path manager: set \
         net.mptcp.path_manager=userspace (net.mptcp.pm_type=1 before Linux 6.15) before it is \
         opened; a running `mptcplab broker` has done so"
    )]
    KernelPathManager,
    /// The connection has no such subflow, or no longer.
    #[error("the connection has no subflow {id}: ask for the ids of those that it has now")]
    NoSuchSubflow {
        /// The id that was asked for.
        id: u32,
    },
    /// The connection may not have more subflows.
    #[error(
        "the connection has {limit} subflows already, the most that is allowed: close one first"
    )]
    LimitReached {
        /// The most that it may have.
        limit: u32,
    },
    /// The address is not one of this host, or not any more.
    #[error("{address} is no address of this host, or its port is taken")]
    NotLocal {
        /// The address.
        address: SocketAddr,
    },
    /// There is no way to the peer.
    #[error("no route from {local} to {remote}: see `ip route get {} from {}`", remote.ip(), local.ip())]
    NoRoute {
        /// Address of the subflow.
        local: SocketAddr,
        /// The peer's.
        remote: SocketAddr,
    },
    /// Addresses of both families in one subflow.
    #[error("{local} and {remote} are of different families: name a remote address of the peer")]
    FamiliesDiffer {
        /// Address of the subflow.
        local: SocketAddr,
        /// The peer's.
        remote: SocketAddr,
    },
    /// There is no such interface.
    #[error("there is no interface {name}")]
    NoInterface {
        /// The name.
        name: String,
    },
    /// The peer did not let the subflow join.
    #[error("refused by the peer: {reason}")]
    Refused {
        /// Its reason.
        reason: String,
    },
    /// No answer came.
    #[error("no answer within {timeout_ms} ms: the path is down, or something on it drops MP_JOIN")]
    TimedOut {
        /// The time that was waited.
        timeout_ms: u64,
    },
    /// The waiting was ended; what was waited for is given up.
    #[error("interrupted")]
    Interrupted,
    /// The connection has no address of this id.
    #[error("the connection has announced no address with id {id}")]
    NoSuchAddress {
        /// The id.
        id: u8,
    },
    /// The peer has the address already, by an id that cannot be announced.
    #[error(
        "the peer knows {address} as that of the first subflow, and others were opened from it: \
         announce it before they are opened, or close one of them first"
    )]
    AlreadyKnown {
        /// The address.
        address: SocketAddr,
    },
    /// All ids of addresses are taken.
    #[error("all 255 ids of addresses of the connection are taken")]
    NoIdLeft,
    /// Neither privilege nor a broker.
    #[error(
        "commands to the path manager need CAP_NET_ADMIN, or a broker: start `mptcplab broker`, or \
         set MPTCPLAB_BROKER to its socket"
    )]
    NotPrivileged,
    /// The broker cannot be reached.
    #[error("no broker at {path}: {reason}")]
    NoBroker {
        /// Its socket.
        path: String,
        /// Error of connect(2), or how the session ended.
        reason: String,
    },
    /// The broker's policy forbids it.
    #[error("the broker's policy forbids it: {reason}")]
    Forbidden {
        /// Which rule, or that there is none.
        reason: String,
    },
    /// The broker has too much to do for this client.
    #[error("too many at once: {reason}")]
    TooMany {
        /// Of what.
        reason: String,
    },
    /// The socket belongs to another network namespace than the broker or process that should act
    /// on it.
    #[error(
        "the socket is in another network namespace than the broker or manager: start a broker \
         there, or make the manager there"
    )]
    ForeignNamespace,
    /// The kernel does not know the option, or does not set it on a subflow.
    #[error("option {option} of level {level} cannot be used on a subflow: {reason}")]
    OptionRefused {
        /// SOL_SOCKET, IPPROTO_TCP …
        level: i32,
        /// The option.
        option: i32,
        /// The kernel's reason.
        reason: String,
    },
    /// Options on one subflow need BPF.
    #[error("an option on one subflow needs BPF: {reason}")]
    NeedsBpf {
        /// The missing piece, and how to provide it.
        reason: String,
    },
    /// The kernel has no MPTCP.
    #[error("this kernel has no MPTCP: it needs CONFIG_MPTCP, and net.mptcp.enabled=1")]
    NoMptcp,
    /// One end of a session does not understand the other.
    #[error("not understood: {reason}")]
    Protocol {
        /// The violation.
        reason: String,
    },
    /// Any other error of the kernel.
    #[error("{doing}: {reason}")]
    Kernel {
        /// The operation that failed.
        doing: String,
        /// The kernel's reason.
        reason: String,
    },
}

impl Error {
    /// An error of the kernel, and what was tried.
    pub fn kernel(doing: &str, error: &io::Error) -> Self {
        Self::Kernel {
            doing: doing.to_owned(),
            reason: error.to_string(),
        }
    }
}

/// The reason where the peer gives none: so Linux refuses one subflow too many.
pub(crate) const NO_REASON: &str =
    "no reason given; its limit may be reached (`ip mptcp limits` there)";

/// The reasons of MP_TCPRST (RFC 8684, section 3.6).
pub fn reset_reason(reason: u8) -> &'static str {
    match reason {
        1 => "an error of MPTCP",
        2 => "lack of resources",
        3 => "administratively prohibited",
        4 => "too much outstanding data",
        5 => "unacceptable performance",
        6 => "a middlebox interferes",
        _ => NO_REASON,
    }
}
