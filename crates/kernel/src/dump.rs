//! Dumps over netlink: one request, many messages, a closing one.

use std::io;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, NetlinkBuffer,
};
use netlink_packet_core::{NlaBuffer, NlasIterator};
use netlink_sys::{Socket, SocketAddr};

use crate::bytes::u32_at;

const HEADER_LENGTH: usize = 16;

/// Room for what one read of a dump returns at most (the kernel fills up to 32 KiB).
const READ_LENGTH: usize = 64 * 1024;

/// A netlink socket of the namespace in which it was opened, for dumps.
pub struct Dumper {
    socket: Socket,
    buffer: Vec<u8>,
    sequence: u32,
}

impl Dumper {
    /// Opens a socket of a netlink family (`NETLINK_SOCK_DIAG` …) in the thread's namespace.
    ///
    /// # Errors
    /// What socket(2) and bind(2) give.
    pub fn open(family: i32) -> io::Result<Self> {
        let mut socket = Socket::new(family as isize)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self {
            socket,
            buffer: vec![0; READ_LENGTH],
            sequence: 0,
        })
    }

    /// Asks for a dump and gives each message's payload to `each`.
    ///
    /// # Errors
    /// The kernel's, by its number.
    pub fn dump(
        &mut self,
        kind: u16,
        payload: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        self.exchange(kind, NLM_F_DUMP, payload, &mut each)
    }

    /// Asks for one thing and gives the payload of its message to `each`.
    ///
    /// # Errors
    /// The kernel's, by its number.
    pub fn ask(
        &mut self,
        kind: u16,
        payload: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        self.exchange(kind, NLM_F_ACK, payload, &mut each)
    }

    fn exchange(
        &mut self,
        kind: u16,
        flags: u16,
        payload: &[u8],
        each: &mut impl FnMut(&[u8]),
    ) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let request = request(kind, flags, self.sequence, payload);
        self.socket.send(&request, 0)?;
        loop {
            let length = self.socket.recv(&mut &mut self.buffer[..], 0)?;
            if read_messages(&self.buffer[..length], self.sequence, each)? {
                return Ok(());
            }
        }
    }
}

fn request(kind: u16, flags: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let length = HEADER_LENGTH + payload.len();
    let mut message = vec![0; length];
    let mut header = NetlinkBuffer::new(&mut message[..]);
    header.set_length(length as u32);
    header.set_message_type(kind);
    header.set_flags(NLM_F_REQUEST | flags);
    header.set_sequence_number(sequence);
    message[HEADER_LENGTH..].copy_from_slice(payload);
    message
}

/// Gives the payloads of the messages in `bytes` to `each`; true after the closing message.
fn read_messages(
    mut bytes: &[u8],
    sequence: u32,
    each: &mut impl FnMut(&[u8]),
) -> io::Result<bool> {
    while let Ok(message) = NetlinkBuffer::new_checked(bytes) {
        // An interrupted dump's rest may still be under way.
        if message.sequence_number() == sequence {
            match message.message_type() {
                NLMSG_DONE => return status(message.payload()).map(|()| true),
                NLMSG_ERROR => return status(message.payload()).map(|()| true),
                _ => each(message.payload()),
            }
        }
        let next = (message.length() as usize).next_multiple_of(4);
        bytes = bytes.get(next..).unwrap_or_default();
    }
    Ok(false)
}

/// The status that a closing message carries: zero or a negative error number.
fn status(payload: &[u8]) -> io::Result<()> {
    match u32_at(payload, 0).unwrap_or(0) as i32 {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error.saturating_neg())),
    }
}

/// The attributes in `bytes`: type (without its flag bits) and value; ends at the first broken one.
pub fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    NlasIterator::new(bytes)
        .map_while(Result::ok)
        .filter_map(|attribute: NlaBuffer<&[u8]>| {
            let kind = attribute.kind();
            let length = attribute.value_length();
            let bytes: &[u8] = attribute.into_inner();
            // The value keeps the lifetime of the message that it is part of.
            Some((kind, bytes.get(4..4 + length)?))
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(kind: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
        let mut bytes = request(kind, NLM_F_DUMP, sequence, payload);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn read(bytes: &[u8]) -> (io::Result<bool>, Vec<Vec<u8>>) {
        let mut seen = Vec::new();
        let end = read_messages(bytes, 7, &mut |payload: &[u8]| seen.push(payload.to_vec()));
        (end, seen)
    }

    #[test]
    fn messages_are_given_until_the_closing_one() {
        let bytes = [
            message(20, 7, b"one"),
            message(20, 6, b"of another request"),
            message(20, 7, b"two2"),
            message(NLMSG_DONE, 7, &0i32.to_ne_bytes()),
        ]
        .concat();
        let (end, seen) = read(&bytes);
        assert!(end.unwrap());
        assert_eq!(seen, [b"one".to_vec(), b"two2".to_vec()]);
    }

    #[test]
    fn an_error_is_an_error() {
        let (end, _) = read(&message(NLMSG_ERROR, 7, &(-libc::ENOENT).to_ne_bytes()));
        assert_eq!(end.unwrap_err().raw_os_error(), Some(libc::ENOENT));
    }

    #[test]
    fn attributes_have_type_and_value() {
        let bytes = [5, 0, 3, 0, 9, 0, 0, 0, 8, 0, 2, 0x80, 1, 2, 3, 4];
        let read: Vec<_> = attributes(&bytes).collect();
        assert_eq!(read, [(3, &[9][..]), (2, &[1, 2, 3, 4][..])]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let _ = read(&bytes);
            attributes(&bytes).count();
        }
    }
}
