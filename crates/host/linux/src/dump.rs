//! Dumps over netlink as bytes: one request, many messages, a closing one.

use std::io;

use netlink_packet_core::{NLM_F_ACK, NLM_F_DUMP, NlaBuffer, NlasIterator};

use crate::netlink::Netlink;

/// A netlink socket of the namespace in which it was opened, for dumps.
pub struct Dumper(Netlink);

impl Dumper {
    /// Opens a socket of a netlink family (`NETLINK_SOCK_DIAG` …) in the thread's namespace.
    ///
    /// # Errors
    /// Those of socket(2) and bind(2).
    pub fn open(family: i32) -> io::Result<Self> {
        Netlink::open(family as isize).map(Self)
    }

    /// Requests a dump and gives each message's payload to `each`.
    ///
    /// # Errors
    /// The kernel's, by its number.
    pub fn dump(&mut self, kind: u16, payload: &[u8], each: impl FnMut(&[u8])) -> io::Result<()> {
        self.exchange(kind, NLM_F_DUMP, payload, each)
    }

    /// Requests one message and gives its payload to `each`.
    ///
    /// # Errors
    /// The kernel's, by its number.
    pub fn ask(&mut self, kind: u16, payload: &[u8], each: impl FnMut(&[u8])) -> io::Result<()> {
        self.exchange(kind, NLM_F_ACK, payload, each)
    }

    fn exchange(
        &mut self,
        kind: u16,
        flags: u16,
        payload: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        self.0.exchange_raw(kind, flags, payload, |message| {
            each(message.payload());
            Ok(())
        })
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

    #[test]
    fn attributes_have_type_and_value() {
        let bytes = [5, 0, 3, 0, 9, 0, 0, 0, 8, 0, 2, 0x80, 1, 2, 3, 4];
        let read: Vec<_> = attributes(&bytes).collect();
        assert_eq!(read, [(3, &[9][..]), (2, &[1, 2, 3, 4][..])]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            attributes(&bytes).count();
        }
    }
}
