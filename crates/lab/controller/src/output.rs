//! Results of what a controller is given.

use mptcplab_openflow::Message;

/// A switch's connection to the controller, by a number of the caller's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u32);

/// Something that the controller wants done, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A message goes to a switch.
    Message {
        /// The switch's connection.
        connection: ConnectionId,
        /// The message.
        message: Message,
    },
    /// The connection of a switch is to be closed; the controller has forgotten it already.
    Close(ConnectionId),
}
