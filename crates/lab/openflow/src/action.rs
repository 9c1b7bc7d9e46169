//! Actions (section 7.2.5).

use alloc::vec::Vec;

use crate::error::{BadAction, BadMatch, ErrorKind};
use crate::matching::{self, Oxm, Read};
use crate::reader::Reader;
use crate::writer::Put;

/// Bytes of every action but a set-field, an output and an experimenter's.
const SHORT_BYTES: u16 = 8;

/// [`Action::Output`]'s `max_len` for a packet as a whole, without a buffer (OFPCML_NO_BUFFER).
pub const NO_BUFFER_LEN: u16 = 0xffff;

/// Numbers of the types of actions.
pub mod kind {
    /// Output.
    pub const OUTPUT: u16 = 0;
    /// Copy the TTL outwards.
    pub const COPY_TTL_OUT: u16 = 11;
    /// Copy the TTL inwards.
    pub const COPY_TTL_IN: u16 = 12;
    /// Set the MPLS TTL.
    pub const SET_MPLS_TTL: u16 = 15;
    /// Decrement the MPLS TTL.
    pub const DEC_MPLS_TTL: u16 = 16;
    /// Push a VLAN tag.
    pub const PUSH_VLAN: u16 = 17;
    /// Pop the outer VLAN tag.
    pub const POP_VLAN: u16 = 18;
    /// Push an MPLS shim.
    pub const PUSH_MPLS: u16 = 19;
    /// Pop the outer MPLS shim.
    pub const POP_MPLS: u16 = 20;
    /// Set the queue.
    pub const SET_QUEUE: u16 = 21;
    /// Apply a group.
    pub const GROUP: u16 = 22;
    /// Set the IP TTL.
    pub const SET_NW_TTL: u16 = 23;
    /// Decrement the IP TTL.
    pub const DEC_NW_TTL: u16 = 24;
    /// Set a field.
    pub const SET_FIELD: u16 = 25;
    /// Push a backbone tag.
    pub const PUSH_PBB: u16 = 26;
    /// Pop a backbone tag.
    pub const POP_PBB: u16 = 27;
    /// An experimenter's action.
    pub const EXPERIMENTER: u16 = 0xffff;
}

/// An action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Forwards the packet to a port.
    Output {
        /// The port, also a reserved one ([`port::number`](crate::port::number)).
        port: u32,
        /// Bytes of the packet that the controller gets at most, if it is the port.
        max_len: u16,
    },
    /// Copies the TTL from the second outermost header with one to the outermost.
    CopyTtlOut,
    /// Copies the TTL from the outermost header with one to the second outermost.
    CopyTtlIn,
    /// Sets the MPLS TTL.
    SetMplsTtl(u8),
    /// Decrements the MPLS TTL.
    DecMplsTtl,
    /// Pushes a VLAN tag of this EtherType.
    PushVlan(u16),
    /// Pops the outermost VLAN tag.
    PopVlan,
    /// Pushes an MPLS shim of this EtherType.
    PushMpls(u16),
    /// Pops the outermost MPLS shim; what is below has this EtherType.
    PopMpls(u16),
    /// Sets the queue for output to a port.
    SetQueue(u32),
    /// Processes the packet by a group.
    Group(u32),
    /// Sets the IPv4 TTL or the IPv6 hop limit.
    SetNwTtl(u8),
    /// Decrements the IPv4 TTL or the IPv6 hop limit.
    DecNwTtl,
    /// Sets a field; the field has no mask.
    SetField(Oxm),
    /// Pushes a backbone service tag of this EtherType.
    PushPbb(u16),
    /// Pops the backbone service tag.
    PopPbb,
    /// An experimenter's action.
    Experimenter {
        /// The experimenter id.
        experimenter: u32,
        /// The rest; a multiple of 8 bytes.
        data: Vec<u8>,
    },
}

impl Action {
    /// The number of the type.
    pub fn kind(&self) -> u16 {
        match self {
            Self::Output { .. } => kind::OUTPUT,
            Self::CopyTtlOut => kind::COPY_TTL_OUT,
            Self::CopyTtlIn => kind::COPY_TTL_IN,
            Self::SetMplsTtl(_) => kind::SET_MPLS_TTL,
            Self::DecMplsTtl => kind::DEC_MPLS_TTL,
            Self::PushVlan(_) => kind::PUSH_VLAN,
            Self::PopVlan => kind::POP_VLAN,
            Self::PushMpls(_) => kind::PUSH_MPLS,
            Self::PopMpls(_) => kind::POP_MPLS,
            Self::SetQueue(_) => kind::SET_QUEUE,
            Self::Group(_) => kind::GROUP,
            Self::SetNwTtl(_) => kind::SET_NW_TTL,
            Self::DecNwTtl => kind::DEC_NW_TTL,
            Self::SetField(_) => kind::SET_FIELD,
            Self::PushPbb(_) => kind::PUSH_PBB,
            Self::PopPbb => kind::POP_PBB,
            Self::Experimenter { .. } => kind::EXPERIMENTER,
        }
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let number = reader.u16()?;
        let length: usize = reader.u16()?.into();
        if length < SHORT_BYTES.into() || !length.is_multiple_of(8) {
            return Err(BadAction::BadLen.into());
        }
        let mut body = reader.part(length - 4, BadAction::BadLen)?;
        let action = match number {
            kind::OUTPUT => Self::Output {
                port: body.u32()?,
                max_len: read_max_len(&mut body)?,
            },
            kind::COPY_TTL_OUT => Self::CopyTtlOut,
            kind::COPY_TTL_IN => Self::CopyTtlIn,
            kind::SET_MPLS_TTL => Self::SetMplsTtl(body.u8()?),
            kind::DEC_MPLS_TTL => Self::DecMplsTtl,
            kind::PUSH_VLAN => Self::PushVlan(body.u16()?),
            kind::POP_VLAN => Self::PopVlan,
            kind::PUSH_MPLS => Self::PushMpls(body.u16()?),
            kind::POP_MPLS => Self::PopMpls(body.u16()?),
            kind::SET_QUEUE => Self::SetQueue(body.u32()?),
            kind::GROUP => Self::Group(body.u32()?),
            kind::SET_NW_TTL => Self::SetNwTtl(body.u8()?),
            kind::DEC_NW_TTL => Self::DecNwTtl,
            kind::SET_FIELD => return read_set_field(body),
            kind::PUSH_PBB => Self::PushPbb(body.u16()?),
            kind::POP_PBB => Self::PopPbb,
            kind::EXPERIMENTER => Self::Experimenter {
                experimenter: body.u32()?,
                data: body.take_rest().to_vec(),
            },
            _ => return Err(BadAction::BadType.into()),
        };
        // The rest of the 8 bytes of a short action is padding.
        if body.len() >= SHORT_BYTES.into() {
            return Err(BadAction::BadLen.into());
        }
        Ok(action)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u16(self.kind());
        out.put_u16(0);
        match self {
            Self::Output { port, max_len } => {
                out.put_u32(*port);
                out.put_u16(*max_len);
            }
            Self::SetMplsTtl(ttl) | Self::SetNwTtl(ttl) => out.put_u8(*ttl),
            Self::PushVlan(ether_type)
            | Self::PushMpls(ether_type)
            | Self::PopMpls(ether_type)
            | Self::PushPbb(ether_type) => out.put_u16(*ether_type),
            Self::SetQueue(number) | Self::Group(number) => out.put_u32(*number),
            Self::SetField(oxm) => oxm.encode(out),
            Self::Experimenter { experimenter, data } => {
                out.put_u32(*experimenter);
                out.extend(data);
            }
            Self::CopyTtlOut
            | Self::CopyTtlIn
            | Self::DecMplsTtl
            | Self::PopVlan
            | Self::DecNwTtl
            | Self::PopPbb => out.put_zeros(4),
        }
        out.pad8(start);
        out.put_length(start + 2, start);
    }
}

fn read_max_len(body: &mut Reader<'_>) -> Result<u16, ErrorKind> {
    let max_len = body.u16()?;
    body.skip(6)?;
    Ok(max_len)
}

fn read_set_field(mut body: Reader<'_>) -> Result<Action, ErrorKind> {
    let length = body.len();
    let read = matching::read(&mut body).map_err(|kind| match kind {
        ErrorKind::BadMatch(BadMatch::BadLen) => BadAction::BadSetLen.into(),
        ErrorKind::BadMatch(_) => BadAction::BadSetArgument.into(),
        kind => kind,
    })?;
    match read {
        Read::Unknown(_) => Err(BadAction::BadSetType.into()),
        Read::Known(Oxm { mask: Some(_), .. }) => Err(BadAction::BadSetArgument.into()),
        Read::Known(oxm) if 4 + length != (4 + oxm.encoded_len()).next_multiple_of(8) => {
            Err(BadAction::BadSetLen.into())
        }
        Read::Known(oxm) => Ok(Action::SetField(oxm)),
    }
}

/// Reads all actions of a list.
pub(crate) fn decode_list(reader: Reader<'_>) -> Result<Vec<Action>, ErrorKind> {
    reader.all(Action::decode)
}

pub(crate) fn encode_list(actions: &[Action], out: &mut Vec<u8>) {
    actions.iter().for_each(|action| action.encode(out));
}
