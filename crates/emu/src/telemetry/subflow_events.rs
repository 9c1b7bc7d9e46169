//! The path manager's events of a namespace (`mptcp_pm_events`, `linux/mptcp_pm.h`), from which
//! every join is counted, also of subflows that have gone since.

use std::collections::HashMap;
use std::io;

use netlink_packet_core::NetlinkBuffer;
use netlink_sys::Socket;

use super::bytes::{u8_at, u32_at};
use super::dump::{Dumper, attributes};

const GENL_ID_CTRL: u16 = 0x10;
/// `struct genlmsghdr`: command, version, reserved.
const GENL_HEADER_LENGTH: usize = 4;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const CTRL_ATTR_MCAST_GROUPS: u16 = 7;
const CTRL_ATTR_MCAST_GRP_NAME: u16 = 1;
const CTRL_ATTR_MCAST_GRP_ID: u16 = 2;

const MPTCP_EVENT_SUB_ESTABLISHED: u8 = 10;
const MPTCP_ATTR_TOKEN: u16 = 1;

/// Room for one event.
const READ_LENGTH: usize = 8 * 1024;
/// Room for events between two reads; the kernel's limit may be lower.
const QUEUE_BYTES: usize = 4 * 1024 * 1024;

/// Counts the joins of the connections of one namespace from when it is opened.
pub(crate) struct SubflowEvents {
    socket: Socket,
    joins: HashMap<u32, u32>,
}

impl SubflowEvents {
    /// Subscribes to the events of the calling thread's namespace.
    pub(crate) fn open() -> io::Result<Self> {
        let mut group = None;
        let request = [CTRL_CMD_GETFAMILY, 1, 0, 0];
        Dumper::open(libc::NETLINK_GENERIC)?.dump(GENL_ID_CTRL, &request, |family| {
            group = group.or_else(|| event_group(family));
        })?;
        let group = group.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::Unsupported,
                "the kernel has no MPTCP path manager",
            )
        })?;
        let mut socket = Socket::new(libc::NETLINK_GENERIC as isize)?;
        socket.bind_auto()?;
        socket.set_non_blocking(true)?;
        socket.set_rx_buf_sz(QUEUE_BYTES as libc::c_int)?;
        socket.add_membership(group)?;
        Ok(Self {
            socket,
            joins: HashMap::new(),
        })
    }

    /// Additional subflows established so far on the connection with this local token.
    ///
    /// # Errors
    /// When events were lost.
    pub(crate) fn joins(&mut self, token: u32) -> io::Result<u32> {
        let mut buffer = [0; READ_LENGTH];
        loop {
            match self.socket.recv(&mut &mut buffer[..], 0) {
                Ok(length) => {
                    if let Some(token) = joined(&buffer[..length]) {
                        *self.joins.entry(token).or_default() += 1;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(self.joins.get(&token).copied().unwrap_or(0))
    }
}

/// The id of the group of events, if this is the family that has it.
fn event_group(family: &[u8]) -> Option<u32> {
    let family = family.get(GENL_HEADER_LENGTH..)?;
    let find = |bytes, wanted| attributes(bytes).find(|&(kind, _)| kind == wanted);
    if find(family, CTRL_ATTR_FAMILY_NAME)?.1 != b"mptcp_pm\0" {
        return None;
    }
    let (_, groups) = find(family, CTRL_ATTR_MCAST_GROUPS)?;
    attributes(groups).find_map(|(_, group)| {
        let named = find(group, CTRL_ATTR_MCAST_GRP_NAME)?.1 == b"mptcp_pm_events\0";
        named.then(|| u32_at(find(group, CTRL_ATTR_MCAST_GRP_ID)?.1, 0))?
    })
}

/// The token of the connection that a subflow has joined, if that is the event.
fn joined(message: &[u8]) -> Option<u32> {
    let message = NetlinkBuffer::new_checked(message).ok()?;
    // Types below are control messages.
    if message.message_type() < GENL_ID_CTRL {
        return None;
    }
    if u8_at(message.payload(), 0)? != MPTCP_EVENT_SUB_ESTABLISHED {
        return None;
    }
    let (_, token) = attributes(message.payload().get(GENL_HEADER_LENGTH..)?)
        .find(|&(kind, _)| kind == MPTCP_ATTR_TOKEN)?;
    u32_at(token, 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// From Linux 6.18: the description of the family `mptcp_pm`, and an event.
    const FAMILY: &[u8] = include_bytes!("testdata/family.bin");
    const SUB_ESTABLISHED: &[u8] = include_bytes!("testdata/sub_established.bin");

    #[test]
    fn the_group_of_events_is_found_by_name() {
        assert_eq!(event_group(FAMILY), Some(9));
    }

    #[test]
    fn a_join_names_its_connection() {
        assert_eq!(joined(SUB_ESTABLISHED), Some(0x0062_9ce3));
    }

    #[test]
    fn other_events_are_no_joins() {
        let mut closed = SUB_ESTABLISHED.to_vec();
        closed[16] = 11;
        assert_eq!(joined(&closed), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            event_group(&bytes);
            joined(&bytes);
        }
    }
}
