//! Flow entries: modification and removal (sections 7.3.4.2 and 7.4.2).

use alloc::vec::Vec;

use bitflags::bitflags;

use crate::elapsed::Elapsed;
use crate::error::{BadRequest, ErrorKind, FlowModFailed};
use crate::instruction::{self, Instruction};
use crate::matching::Match;
use crate::number::numbers;
use crate::packet::{buffer_of, put_buffer};
use crate::reader::Reader;
use crate::writer::Put;

/// All tables, in requests to delete and for statistics (OFPTT_ALL).
pub const ALL_TABLES: u8 = 0xff;

/// The highest number of a table (OFPTT_MAX).
pub const MAX_TABLE: u8 = 0xfe;

numbers! {
    /// A command of a flow modification.
    FlowCommand: u8 {
        /// Adds an entry.
        Add = 0,
        /// Modifies all entries that the match covers.
        Modify = 1,
        /// Modifies the entry with this match and priority.
        ModifyStrict = 2,
        /// Deletes all entries that the match covers.
        Delete = 3,
        /// Deletes the entry with this match and priority.
        DeleteStrict = 4,
    }
}

bitflags! {
    /// Flags of a flow entry (OFPFF).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct FlowFlags: u16 {
        /// A message says when the entry is removed.
        const SEND_FLOW_REM = 1 << 0;
        /// The entry is refused where it overlaps with another of the same priority.
        const CHECK_OVERLAP = 1 << 1;
        /// Counters begin anew.
        const RESET_COUNTS = 1 << 2;
        /// Packets need not be counted.
        const NO_PKT_COUNTS = 1 << 3;
        /// Bytes need not be counted.
        const NO_BYT_COUNTS = 1 << 4;
        const _ = !0;
    }
}

/// A request to change a flow table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowMod {
    /// The cookie of an added entry; in other commands the cookie that entries must have, where
    /// the mask has bits.
    pub cookie: u64,
    /// Bits of the cookie that count.
    pub cookie_mask: u64,
    /// The table; [`ALL_TABLES`] to delete in all.
    pub table: u8,
    /// The command.
    pub command: FlowCommand,
    /// Seconds without a packet until the entry is removed; 0: never.
    pub idle_timeout: u16,
    /// Seconds until the entry is removed; 0: never.
    pub hard_timeout: u16,
    /// The priority.
    pub priority: u16,
    /// A buffer whose packet is then processed; `None`: none. Never 2³² − 1.
    pub buffer: Option<u32>,
    /// Port that deleted entries must have an output to; ANY: none.
    pub out_port: u32,
    /// Group that deleted entries must have; ANY: none.
    pub out_group: u32,
    /// Flags.
    pub flags: FlowFlags,
    /// The match.
    pub fields: Match,
    /// Instructions.
    pub instructions: Vec<Instruction>,
}

impl FlowMod {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        Ok(Self {
            cookie: reader.u64()?,
            cookie_mask: reader.u64()?,
            table: reader.u8()?,
            command: FlowCommand::of(reader.u8()?).ok_or(FlowModFailed::BadCommand)?,
            idle_timeout: reader.u16()?,
            hard_timeout: reader.u16()?,
            priority: reader.u16()?,
            buffer: buffer_of(reader.u32()?),
            out_port: reader.u32()?,
            out_group: reader.u32()?,
            flags: read_flags(&mut reader)?,
            fields: Match::decode(&mut reader)?,
            instructions: instruction::decode_list(&mut reader)?,
        })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.cookie);
        out.put_u64(self.cookie_mask);
        out.put_u8(self.table);
        out.put_u8(self.command.number());
        out.put_u16(self.idle_timeout);
        out.put_u16(self.hard_timeout);
        out.put_u16(self.priority);
        put_buffer(self.buffer, out);
        out.put_u32(self.out_port);
        out.put_u32(self.out_group);
        out.put_u16(self.flags.bits());
        out.put_zeros(2);
        self.fields.encode(out);
        instruction::encode_list(&self.instructions, out);
    }
}

fn read_flags(reader: &mut Reader<'_>) -> Result<FlowFlags, ErrorKind> {
    let flags = FlowFlags::from_bits_retain(reader.u16()?);
    reader.skip(2)?;
    Ok(flags)
}

numbers! {
    /// The reason why a flow entry was removed.
    FlowRemovedReason: u8 {
        /// No packet came for the idle timeout.
        IdleTimeout = 0,
        /// The hard timeout is over.
        HardTimeout = 1,
        /// A flow modification deleted it.
        Delete = 2,
        /// Its group was deleted.
        GroupDelete = 3,
    }
}

/// Tells that a flow entry was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowRemoved {
    /// The cookie.
    pub cookie: u64,
    /// The priority.
    pub priority: u16,
    /// The reason.
    pub reason: FlowRemovedReason,
    /// The table.
    pub table: u8,
    /// Time that the entry was there.
    pub duration: Elapsed,
    /// The idle timeout, s.
    pub idle_timeout: u16,
    /// The hard timeout, s.
    pub hard_timeout: u16,
    /// Packets that it matched.
    pub packet_count: u64,
    /// Bytes of them.
    pub byte_count: u64,
    /// The match.
    pub fields: Match,
}

impl FlowRemoved {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let removed = Self {
            cookie: reader.u64()?,
            priority: reader.u16()?,
            reason: FlowRemovedReason::of(reader.u8()?).ok_or(BadRequest::BadType)?,
            table: reader.u8()?,
            duration: Elapsed::decode(&mut reader)?,
            idle_timeout: reader.u16()?,
            hard_timeout: reader.u16()?,
            packet_count: reader.u64()?,
            byte_count: reader.u64()?,
            fields: Match::decode(&mut reader)?,
        };
        reader.end()?;
        Ok(removed)
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.cookie);
        out.put_u16(self.priority);
        out.put_u8(self.reason.number());
        out.put_u8(self.table);
        self.duration.encode(out);
        out.put_u16(self.idle_timeout);
        out.put_u16(self.hard_timeout);
        out.put_u64(self.packet_count);
        out.put_u64(self.byte_count);
        self.fields.encode(out);
    }
}
