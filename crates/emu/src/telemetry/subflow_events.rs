//! The path manager's events of a namespace (`mptcp_pm_events`, `linux/mptcp_pm.h`), from which
//! every join is counted, also of subflows that have gone since.

use std::collections::HashMap;
use std::io;

use netlink_packet_core::NetlinkBuffer;
use netlink_sys::Socket;
use nix::sys::socket::{setsockopt, sockopt};

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
/// Room for events between two reads; without privilege the kernel's limit may be lower.
const QUEUE_BYTES: usize = 4 * 1024 * 1024;

/// Counts the joins of the connections of one namespace from when it is opened.
pub(crate) struct SubflowEvents {
    socket: Socket,
    count: Count,
}

/// What has been read of the events so far.
#[derive(Default)]
struct Count {
    joins: HashMap<u32, u32>,
    /// Events are missing: no count is right from then on.
    lost: bool,
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
        setsockopt(&socket, sockopt::RcvBufForce, &QUEUE_BYTES)
            .or_else(|_| setsockopt(&socket, sockopt::RcvBuf, &QUEUE_BYTES))?;
        socket.add_membership(group)?;
        Ok(Self {
            socket,
            count: Count::default(),
        })
    }

    /// Additional subflows established so far on the connection with this local token.
    ///
    /// `None` when events were lost, now or at any time before.
    pub(crate) fn joins(&mut self, token: u32) -> Option<u32> {
        let socket = &self.socket;
        self.count
            .drain(|mut buffer| socket.recv(&mut buffer, 0))
            .of(token)
    }
}

impl Count {
    /// Takes the events that `receive` gives, up to its first error: `WouldBlock` where there are
    /// no more, `ENOBUFS` where the kernel had no room for one.
    fn drain(&mut self, mut receive: impl FnMut(&mut [u8]) -> io::Result<usize>) -> &Self {
        let mut buffer = [0; READ_LENGTH];
        loop {
            match receive(&mut buffer) {
                Ok(length) => {
                    if let Some(token) = joined(&buffer[..length]) {
                        *self.joins.entry(token).or_default() += 1;
                    }
                }
                Err(error) => {
                    self.lost |= error.kind() != io::ErrorKind::WouldBlock;
                    return self;
                }
            }
        }
    }

    fn of(&self, token: u32) -> Option<u32> {
        let joins = self.joins.get(&token).copied().unwrap_or(0);
        (!self.lost).then_some(joins)
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

    /// Receives `SUB_ESTABLISHED` so many times, then fails with `error`.
    fn receive(events: usize, error: i32) -> impl FnMut(&mut [u8]) -> io::Result<usize> {
        let mut left = events;
        move |buffer| {
            if left == 0 {
                return Err(io::Error::from_raw_os_error(error));
            }
            left -= 1;
            buffer[..SUB_ESTABLISHED.len()].copy_from_slice(SUB_ESTABLISHED);
            Ok(SUB_ESTABLISHED.len())
        }
    }

    #[test]
    fn joins_are_counted_by_connection() {
        let mut count = Count::default();
        assert_eq!(
            count.drain(receive(2, libc::EAGAIN)).of(0x0062_9ce3),
            Some(2)
        );
        assert_eq!(
            count.drain(receive(1, libc::EAGAIN)).of(0x0062_9ce3),
            Some(3)
        );
        assert_eq!(count.of(1), Some(0));
    }

    #[test]
    fn once_events_are_lost_no_count_is_known() {
        let mut count = Count::default();
        assert_eq!(count.drain(receive(2, libc::ENOBUFS)).of(0x0062_9ce3), None);
        assert_eq!(count.drain(receive(1, libc::EAGAIN)).of(0x0062_9ce3), None);
        assert_eq!(count.of(1), None);
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
