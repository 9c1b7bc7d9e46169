//! Options of Multipath TCP: kind 30, told apart by subtype (RFC 8684, section 3).

mod dss;
mod read;
#[cfg(test)]
mod tests;
mod write;

use core::net::IpAddr;

pub use dss::{DataNumber, Dss, Mapping, data_pseudo_header};
pub(crate) use read::read;
pub(crate) use write::{dss_begin, write};

/// Kind of every option of MPTCP (RFC 8684, section 3).
pub(crate) const KIND: u8 = 30;

/// Subtypes (RFC 8684, section 7.2).
mod subtype {
    pub(super) const CAPABLE: u8 = 0;
    pub(super) const JOIN: u8 = 1;
    pub(super) const DSS: u8 = 2;
    pub(super) const ADD_ADDRESS: u8 = 3;
    pub(super) const REMOVE_ADDRESS: u8 = 4;
    pub(super) const PRIORITY: u8 = 5;
    pub(super) const FAIL: u8 = 6;
    pub(super) const FAST_CLOSE: u8 = 7;
    pub(super) const RESET: u8 = 8;
}

/// Flags, each in the byte in which its option has them.
mod bits {
    /// A of MP_CAPABLE.
    pub(super) const CHECKSUM: u8 = 0x80;
    /// B of MP_CAPABLE.
    pub(super) const EXTENSION: u8 = 0x40;
    /// C of MP_CAPABLE.
    pub(super) const NO_INITIAL_ADDRESS: u8 = 0x20;
    /// H of MP_CAPABLE.
    pub(super) const HMAC: u8 = 0x01;
    /// B of MP_JOIN and MP_PRIO.
    pub(super) const BACKUP: u8 = 0x01;
    /// F of DSS.
    pub(super) const DATA_FIN: u8 = 0x10;
    /// m of DSS.
    pub(super) const LONG_DATA_SEQUENCE: u8 = 0x08;
    /// M of DSS.
    pub(super) const MAPPING: u8 = 0x04;
    /// a of DSS.
    pub(super) const LONG_DATA_ACK: u8 = 0x02;
    /// A of DSS.
    pub(super) const DATA_ACK: u8 = 0x01;
    /// E of ADD_ADDR.
    pub(super) const ECHO: u8 = 0x01;
    /// T of MP_TCPRST.
    pub(super) const TRANSIENT: u8 = 0x01;
}

/// An option of MPTCP. Fields that the peer may leave out are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MptcpOption {
    /// MP_CAPABLE (section 3.1).
    Capable(Capable),
    /// MP_JOIN (section 3.2).
    Join(Join),
    /// DSS: acknowledgement and mapping of data (section 3.3).
    Dss(Dss),
    /// ADD_ADDR (section 3.4.1).
    AddAddress(AddAddress),
    /// REMOVE_ADDR (section 3.4.2).
    RemoveAddress(AddressIds),
    /// MP_PRIO (section 3.3.8).
    Priority {
        /// B: use the subflow as a backup.
        backup: bool,
        /// Address id that it is about; version 0 only.
        address_id: Option<u8>,
    },
    /// MP_FAIL (section 3.7): data sequence number of the first byte with a wrong checksum.
    Fail {
        /// Data sequence number.
        data_sequence: u64,
    },
    /// MP_FASTCLOSE (section 3.5): the receiver's key.
    FastClose {
        /// Key of the receiver of the option.
        receiver_key: u64,
    },
    /// MP_TCPRST (section 3.6).
    Reset(Reset),
}

impl MptcpOption {
    /// Length of the option as written, kind and length included, without padding.
    #[inline]
    pub fn encoded_bytes(&self) -> usize {
        match self {
            Self::Capable(capable) => {
                let keys = [capable.sender_key, capable.receiver_key];
                let fields = [capable.data_bytes, capable.data_checksum];
                4 + 8 * keys.iter().flatten().count() + 2 * fields.iter().flatten().count()
            }
            Self::Join(Join::Syn { .. }) => 12,
            Self::Join(Join::SynAck { .. }) => 16,
            Self::Join(Join::Ack { .. }) => 24,
            Self::Dss(dss) => {
                let mapping = dss.mapping.map_or(0, |mapping| {
                    let checksum = if mapping.checksum.is_some() { 2 } else { 0 };
                    mapping.data_sequence.bytes() + 6 + checksum
                });
                4 + dss.acknowledgement.map_or(0, DataNumber::bytes) + mapping
            }
            Self::AddAddress(add) => {
                let address = if add.address.is_ipv4() { 4 } else { 16 };
                let port = if add.port.is_some() { 2 } else { 0 };
                let hmac = if add.hmac.is_some() { 8 } else { 0 };
                4 + address + port + hmac
            }
            Self::RemoveAddress(ids) => 3 + ids.as_slice().len(),
            Self::Priority { address_id, .. } => 3 + usize::from(address_id.is_some()),
            Self::Fail { .. } | Self::FastClose { .. } => 12,
            Self::Reset(_) => 4,
        }
    }
}

/// MP_CAPABLE. Its fields of variable presence stand in the order of this structure: one that is
/// there needs those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capable {
    /// 0 or 1; others are read too, for the receiver to answer.
    pub version: u8,
    /// A: checksums required.
    pub checksum: bool,
    /// B: an extension that is not defined; the option is ignored by its receiver where set.
    pub extension: bool,
    /// C: the sender takes no further subflows to the source address and port of this packet.
    pub no_initial_address: bool,
    /// H: HMAC-SHA256 (version 1), HMAC-SHA1 (version 0).
    pub hmac: bool,
    /// Key of the sender: not in version 1's SYN.
    pub sender_key: Option<u64>,
    /// Key of the receiver: third ACK and first data.
    pub receiver_key: Option<u64>,
    /// Length of the data in this segment, with data in version 1 only; the mapping begins at the
    /// initial data sequence number + 1 and subflow sequence number 1.
    pub data_bytes: Option<u16>,
    /// Checksum of the data, where checksums are used.
    pub data_checksum: Option<u16>,
}

/// MP_JOIN, by the segment it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// In the SYN.
    Syn {
        /// B: a backup subflow.
        backup: bool,
        /// Id of the source address.
        address_id: u8,
        /// Token of the receiver.
        token: u32,
        /// Random number of the sender.
        nonce: u32,
    },
    /// In the SYN/ACK.
    SynAck {
        /// B: a backup subflow.
        backup: bool,
        /// Id of the source address.
        address_id: u8,
        /// Leftmost 64 bits of the HMAC.
        hmac: u64,
        /// Random number of the sender.
        nonce: u32,
    },
    /// In the third ACK: leftmost 160 bits of the HMAC.
    Ack {
        /// HMAC.
        hmac: [u8; 20],
    },
}

/// ADD_ADDR. With neither `echo` nor `hmac` it is that of version 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddAddress {
    /// E: this is the echo of an option; without HMAC. Version 1.
    pub echo: bool,
    /// Id of the address.
    pub address_id: u8,
    /// The address.
    pub address: IpAddr,
    /// Its port, where it is not that of the connection.
    pub port: Option<u16>,
    /// Rightmost 64 bits of the HMAC. Version 1, without `echo`.
    pub hmac: Option<u64>,
}

/// Ids of addresses that are withdrawn.
///
/// The list is as short as an option allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressIds {
    ids: [u8; AddressIds::MAX],
    len: u8,
}

impl AddressIds {
    /// Most ids of one option: 40 bytes of options without the 3 of kind, length and subtype.
    pub const MAX: usize = 37;

    /// A list of ids; `None` where it is empty or longer than [`AddressIds::MAX`].
    pub fn new(list: &[u8]) -> Option<Self> {
        if list.is_empty() || list.len() > Self::MAX {
            return None;
        }
        let mut ids = [0; Self::MAX];
        ids[..list.len()].copy_from_slice(list);
        Some(Self {
            ids,
            len: list.len() as u8,
        })
    }

    /// The ids.
    pub fn as_slice(&self) -> &[u8] {
        &self.ids[..usize::from(self.len)]
    }
}

/// MP_TCPRST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reset {
    /// T: the reason may pass; another try may succeed.
    pub transient: bool,
    /// Why; the codes of section 3.6.
    pub reason: u8,
}
