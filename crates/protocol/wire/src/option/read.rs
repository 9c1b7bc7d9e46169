//! Options of MPTCP read from bytes.
//!
//! The version of a connection cannot be told from most of its options, for versions 0 and 1 share
//! their layouts. Three differ, and each says by itself which layout it has: MP_CAPABLE by its
//! version field, MP_PRIO by its length (with an address id: version 0), ADD_ADDR by its length and
//! low nibble (without HMAC it is version 1's where the echo bit is set, and version 0's where the
//! nibble is 4 or 6, the IP version, in which that bit is clear).

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{
    AddAddress, AddressIds, Capable, DataNumber, Dss, Join, Mapping, MptcpOption, Reset, bits,
    subtype,
};

/// The option whose bytes after kind and length are `body`; `None` where the length does not fit
/// the subtype or flags, or where the subtype is not defined.
#[inline]
pub(crate) fn read(body: &[u8]) -> Option<MptcpOption> {
    let (&first, rest) = body.split_first()?;
    match first >> 4 {
        // Nearly all options are of this kind.
        subtype::DSS => dss(rest).map(MptcpOption::Dss),
        subtype => read_rare(subtype, first & 0x0f, rest),
    }
}

/// An option that few segments have.
#[inline(never)]
fn read_rare(subtype: u8, flags: u8, rest: &[u8]) -> Option<MptcpOption> {
    Some(match subtype {
        subtype::CAPABLE => MptcpOption::Capable(capable(flags, rest)?),
        subtype::JOIN => MptcpOption::Join(join(flags, rest)?),
        subtype::ADD_ADDRESS => MptcpOption::AddAddress(add_address(flags, rest)?),
        subtype::REMOVE_ADDRESS => MptcpOption::RemoveAddress(AddressIds::new(rest)?),
        subtype::PRIORITY => MptcpOption::Priority {
            backup: flags & bits::BACKUP != 0,
            address_id: match *rest {
                [] => None,
                [id] => Some(id),
                _ => return None,
            },
        },
        subtype::FAIL => MptcpOption::Fail {
            data_sequence: number_after_reserved(rest)?,
        },
        subtype::FAST_CLOSE => MptcpOption::FastClose {
            receiver_key: number_after_reserved(rest)?,
        },
        subtype::RESET => {
            let &[reason] = rest else { return None };
            MptcpOption::Reset(Reset {
                transient: flags & bits::TRANSIENT != 0,
                reason,
            })
        }
        _ => return None,
    })
}

fn capable(version: u8, body: &[u8]) -> Option<Capable> {
    let (&flags, body) = body.split_first()?;
    let fields_allowed = match (version, body.len()) {
        (0, length) => matches!(length, 8 | 16),
        (_, length) => matches!(length, 0 | 8 | 16 | 18 | 20),
    };
    if !fields_allowed {
        return None;
    }
    let mut body = Fields(body);
    Some(Capable {
        version,
        checksum: flags & bits::CHECKSUM != 0,
        extension: flags & bits::EXTENSION != 0,
        no_initial_address: flags & bits::NO_INITIAL_ADDRESS != 0,
        hmac: flags & bits::HMAC != 0,
        sender_key: body.u64(),
        receiver_key: body.u64(),
        data_bytes: body.u16(),
        data_checksum: body.u16(),
    })
}

fn join(flags: u8, body: &[u8]) -> Option<Join> {
    let (&address_id, body) = body.split_first()?;
    let backup = flags & bits::BACKUP != 0;
    let length = body.len();
    let mut body = Fields(body);
    Some(match length {
        8 => Join::Syn {
            backup,
            address_id,
            token: body.u32()?,
            nonce: body.u32()?,
        },
        12 => Join::SynAck {
            backup,
            address_id,
            hmac: body.u64()?,
            nonce: body.u32()?,
        },
        20 => Join::Ack { hmac: body.take()? },
        _ => return None,
    })
}

fn dss(body: &[u8]) -> Option<Dss> {
    let (&flags, body) = body.split_first()?;
    let has = |bit| flags & bit != 0;
    let mut body = Fields(body);
    let acknowledgement = if has(bits::DATA_ACK) {
        Some(body.data_number(has(bits::LONG_DATA_ACK))?)
    } else {
        None
    };
    let mapping = if has(bits::MAPPING) {
        Some(Mapping {
            data_sequence: body.data_number(has(bits::LONG_DATA_SEQUENCE))?,
            subflow_sequence: body.u32()?,
            bytes: body.u16()?,
            checksum: body.u16(),
        })
    } else {
        None
    };
    body.0.is_empty().then_some(Dss {
        data_fin: has(bits::DATA_FIN),
        acknowledgement,
        mapping,
    })
}

fn add_address(flags: u8, body: &[u8]) -> Option<AddAddress> {
    let (&address_id, body) = body.split_first()?;
    let echo = flags & bits::ECHO != 0;
    let (address_bytes, has_port, has_hmac) = match (echo, body.len()) {
        (_, 4) => (4, false, false),
        (_, 6) => (4, true, false),
        (_, 16) => (16, false, false),
        (_, 18) => (16, true, false),
        (false, 12) => (4, false, true),
        (false, 14) => (4, true, true),
        (false, 24) => (16, false, true),
        (false, 26) => (16, true, true),
        _ => return None,
    };
    let version_0 = !echo && !has_hmac;
    if version_0 && flags != if address_bytes == 4 { 4 } else { 6 } {
        return None;
    }
    let mut body = Fields(body);
    let address = if address_bytes == 4 {
        IpAddr::V4(Ipv4Addr::from(body.take::<4>()?))
    } else {
        IpAddr::V6(Ipv6Addr::from(body.take::<16>()?))
    };
    Some(AddAddress {
        echo,
        address_id,
        address,
        port: if has_port { body.u16() } else { None },
        hmac: if has_hmac { body.u64() } else { None },
    })
}

/// The 8 bytes that follow a reserved one.
fn number_after_reserved(body: &[u8]) -> Option<u64> {
    let (_, number) = body.split_first()?;
    Some(u64::from_be_bytes(number.try_into().ok()?))
}

/// Bytes that are taken field by field; a field that is not there is `None`.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_be_bytes)
    }

    fn data_number(&mut self, long: bool) -> Option<DataNumber> {
        if long {
            self.u64().map(DataNumber::Long)
        } else {
            self.u32().map(DataNumber::Short)
        }
    }
}
