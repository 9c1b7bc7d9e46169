//! Packets between switch and controller (sections 7.3.7 and 7.4.1).

use alloc::vec::Vec;

use crate::action::{self, Action};
use crate::error::{BadAction, BadRequest, ErrorKind};
use crate::matching::Match;
use crate::number::numbers;
use crate::reader::Reader;
use crate::writer::Put;

/// The number that says that there is no buffer.
const NO_BUFFER: u32 = u32::MAX;

/// The buffer of a number on the wire.
pub(crate) fn buffer_of(number: u32) -> Option<u32> {
    Some(number).filter(|&number| number != NO_BUFFER)
}

pub(crate) fn put_buffer(buffer: Option<u32>, out: &mut Vec<u8>) {
    out.put_u32(buffer.unwrap_or(NO_BUFFER));
}

numbers! {
    /// The reason why a packet is sent to the controller.
    PacketInReason: u8 {
        /// No entry matched but the one for table misses.
        NoMatch = 0,
        /// An action said so.
        Action = 1,
        /// The packet has an invalid TTL.
        InvalidTtl = 2,
    }
}

/// A packet that the switch sends to the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketIn {
    /// The buffer that holds the packet; `None`: none does. Never 2³² − 1.
    pub buffer: Option<u32>,
    /// Bytes of the whole frame.
    pub total_len: u16,
    /// The reason.
    pub reason: PacketInReason,
    /// The table whose entry sent the packet.
    pub table: u8,
    /// The cookie of the entry; all ones: none.
    pub cookie: u64,
    /// Ingress port and metadata, as fields.
    pub fields: Match,
    /// The beginning of the frame, or all of it.
    pub data: Vec<u8>,
}

impl PacketIn {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let buffer = buffer_of(reader.u32()?);
        let total_len = reader.u16()?;
        let reason = PacketInReason::of(reader.u8()?).ok_or(BadRequest::BadType)?;
        let table = reader.u8()?;
        let cookie = reader.u64()?;
        let fields = Match::decode(&mut reader)?;
        reader.skip(2)?;
        Ok(Self {
            buffer,
            total_len,
            reason,
            table,
            cookie,
            fields,
            data: reader.take_rest().to_vec(),
        })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_buffer(self.buffer, out);
        out.put_u16(self.total_len);
        out.put_u8(self.reason.number());
        out.put_u8(self.table);
        out.put_u64(self.cookie);
        self.fields.encode(out);
        out.put_zeros(2);
        out.extend(&self.data);
    }
}

/// A packet that the controller sends by the switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketOut {
    /// The buffer that has the packet; `None`: [`data`](Self::data) is the packet. Never 2³² − 1.
    pub buffer: Option<u32>,
    /// The ingress port that the packet is given, or CONTROLLER.
    pub in_port: u32,
    /// Actions; none: the packet is dropped.
    pub actions: Vec<Action>,
    /// The frame, where no buffer has it.
    pub data: Vec<u8>,
}

impl PacketOut {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let buffer = buffer_of(reader.u32()?);
        let in_port = reader.u32()?;
        let actions_len = reader.u16()?;
        reader.skip(6)?;
        let actions = reader.part(actions_len.into(), BadAction::BadLen)?;
        Ok(Self {
            buffer,
            in_port,
            actions: action::decode_list(actions)?,
            data: reader.take_rest().to_vec(),
        })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_buffer(self.buffer, out);
        out.put_u32(self.in_port);
        let at = out.len();
        out.put_u16(0);
        out.put_zeros(6);
        let start = out.len();
        action::encode_list(&self.actions, out);
        out.put_length(at, start);
        out.extend(&self.data);
    }
}
