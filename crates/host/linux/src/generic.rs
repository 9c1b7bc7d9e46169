//! Messages of generic netlink (`linux/genetlink.h`), and the family `mptcp_pm`.

use std::io;

use netlink_packet_core::{
    DecodeError, DefaultNla, Emitable, NLM_F_ACK, NetlinkDeserializable, NetlinkHeader,
    NetlinkSerializable,
};

use crate::dump::attributes;
use crate::netlink::Netlink;

/// The controller, which knows the other families.
pub const GENL_ID_CTRL: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const CTRL_ATTR_MCAST_GROUPS: u16 = 7;
const CTRL_ATTR_MCAST_GRP_NAME: u16 = 1;
const CTRL_ATTR_MCAST_GRP_ID: u16 = 2;

/// A message, its attributes as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenericMessage {
    /// The family's number.
    pub family: u16,
    /// The command, or the kind of an event.
    pub command: u8,
    /// The attributes, one behind the other.
    pub attributes: Vec<u8>,
}

impl GenericMessage {
    /// `struct genlmsghdr`: command, version, reserved.
    const HEADER_BYTES: usize = 4;

    /// A request.
    pub fn new(family: u16, command: u8, attributes: &[DefaultNla]) -> Self {
        Self {
            family,
            command,
            attributes: emit(attributes),
        }
    }
}

impl NetlinkSerializable for GenericMessage {
    fn message_type(&self) -> u16 {
        self.family
    }

    fn buffer_len(&self) -> usize {
        Self::HEADER_BYTES + self.attributes.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer[..Self::HEADER_BYTES].copy_from_slice(&[self.command, 1, 0, 0]);
        buffer[Self::HEADER_BYTES..].copy_from_slice(&self.attributes);
    }
}

impl NetlinkDeserializable for GenericMessage {
    type Error = DecodeError;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Self, DecodeError> {
        let command = payload.first().copied().unwrap_or_default();
        let attributes = payload
            .get(Self::HEADER_BYTES..)
            .unwrap_or_default()
            .to_vec();
        Ok(Self {
            family: header.message_type,
            command,
            attributes,
        })
    }
}

/// An attribute.
pub fn nla(kind: u16, value: &[u8]) -> DefaultNla {
    DefaultNla::new(kind, value.to_vec())
}

/// An attribute that holds others.
pub fn nested(kind: u16, attributes: &[DefaultNla]) -> DefaultNla {
    const NLA_F_NESTED: u16 = 1 << 15;
    DefaultNla::new(kind | NLA_F_NESTED, emit(attributes))
}

fn emit(attributes: &[DefaultNla]) -> Vec<u8> {
    let mut bytes = vec![0; attributes.buffer_len()];
    attributes.emit(&mut bytes);
    bytes
}

/// The numbers that the running kernel gave to the family `mptcp_pm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// The family's number.
    pub id: u16,
    /// Its group of events.
    pub event_group: u32,
}

impl Family {
    /// Asks the kernel.
    ///
    /// # Errors
    /// `NotFound` where the kernel has no MPTCP.
    pub fn ask(netlink: &mut Netlink) -> io::Result<Self> {
        let name = nla(CTRL_ATTR_FAMILY_NAME, b"mptcp_pm\0");
        let request = GenericMessage::new(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, &[name]);
        let mut family = None;
        netlink.exchange(request, NLM_F_ACK, |answer: GenericMessage| {
            family = family.or_else(|| Self::parse(&answer.attributes));
        })?;
        family.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the kernel has no MPTCP"))
    }

    /// Reads the controller's description of a family.
    pub fn parse(description: &[u8]) -> Option<Self> {
        let (mut id, mut event_group) = (None, None);
        for (kind, value) in attributes(description) {
            match kind {
                CTRL_ATTR_FAMILY_ID => id = number(value).map(u16::from_ne_bytes),
                CTRL_ATTR_MCAST_GROUPS => event_group = group_id(value, b"mptcp_pm_events\0"),
                _ => {}
            }
        }
        Some(Self {
            id: id?,
            event_group: event_group?,
        })
    }
}

/// A value of just this many bytes.
pub fn number<const N: usize>(value: &[u8]) -> Option<[u8; N]> {
    value.try_into().ok()
}

fn group_id(groups: &[u8], name: &[u8]) -> Option<u32> {
    attributes(groups).find_map(|(_, group)| {
        let of = |wanted| {
            attributes(group)
                .find(|(kind, _)| *kind == wanted)
                .map(|(_, value)| value)
        };
        (of(CTRL_ATTR_MCAST_GRP_NAME)? == name)
            .then(|| number(of(CTRL_ATTR_MCAST_GRP_ID)?).map(u32::from_ne_bytes))
            .flatten()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// From Linux 6.18: the description of the family `mptcp_pm`, behind its header.
    const FAMILY: &[u8] = include_bytes!("testdata/family.bin");

    #[test]
    fn the_family_and_its_group_of_events_are_found_by_name() {
        let family = Family::parse(&FAMILY[GenericMessage::HEADER_BYTES..]).unwrap();
        assert_eq!(family.event_group, 9);
        assert!(family.id > GENL_ID_CTRL);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            Family::parse(&bytes);
        }
    }
}
