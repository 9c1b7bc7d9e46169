//! Events of one end of a conversation.

use mptcplab_stack::CloseReason;

/// An event of one end.
#[derive(Clone, Copy, Debug)]
pub(super) enum ConnectionEvent {
    /// The connection is established.
    Established,
    /// There is data to read or room to write, or the role is due.
    Ready,
    /// The other end sends no more.
    Finished,
    /// The connection has ended.
    Closed(CloseReason),
    /// An additional subflow is established.
    Joined,
}

/// The reason for which a connection ended, in the kernel's words.
pub(super) fn describe(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::Refused => "connection refused",
        CloseReason::TimedOut => "connection timed out",
        _ => "connection reset by peer",
    }
}
