//! Results of what a switch is given.

use bytes::Bytes;
use mptcplab_openflow::Message;

use crate::controller::ControllerId;

/// Something that the switch wants done, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A frame goes out by a port.
    Packet {
        /// The port.
        port: u32,
        /// The queue of the port, where an action has set one that the port has.
        queue: Option<u32>,
        /// The frame, without its check sequence.
        frame: Bytes,
    },
    /// A message goes to a controller.
    Message {
        /// The controller's connection.
        controller: ControllerId,
        /// The message.
        message: Message,
    },
    /// A connection to a controller is to be closed.
    Close(ControllerId),
}
