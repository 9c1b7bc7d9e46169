//! Statistics of flow entries (sections 7.3.5.2 and 7.3.5.3).

use alloc::vec::Vec;

use crate::elapsed::Elapsed;
use crate::error::{BadRequest, ErrorKind};
use crate::flow::FlowFlags;
use crate::instruction::{self, Instruction};
use crate::matching::Match;
use crate::reader::Reader;
use crate::writer::Put;

/// The entries that statistics are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowStatsRequest {
    /// The table, or all.
    pub table: u8,
    /// A port that entries must have an output to; ANY: none.
    pub out_port: u32,
    /// A group that entries must have; ANY: none.
    pub out_group: u32,
    /// The cookie that entries must have.
    pub cookie: u64,
    /// Bits of the cookie that count.
    pub cookie_mask: u64,
    /// Fields that cover those of the entries.
    pub fields: Match,
}

impl FlowStatsRequest {
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let table = reader.u8()?;
        reader.skip(3)?;
        let out_port = reader.u32()?;
        let out_group = reader.u32()?;
        reader.skip(4)?;
        Ok(Self {
            table,
            out_port,
            out_group,
            cookie: reader.u64()?,
            cookie_mask: reader.u64()?,
            fields: Match::decode(reader)?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(self.table);
        out.put_zeros(3);
        out.put_u32(self.out_port);
        out.put_u32(self.out_group);
        out.put_zeros(4);
        out.put_u64(self.cookie);
        out.put_u64(self.cookie_mask);
        self.fields.encode(out);
    }
}

/// A flow entry and its statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowStats {
    /// The table.
    pub table: u8,
    /// Time that the entry has been there.
    pub duration: Elapsed,
    /// The priority.
    pub priority: u16,
    /// Seconds without a packet until the entry is removed; 0: never.
    pub idle_timeout: u16,
    /// Seconds until the entry is removed; 0: never.
    pub hard_timeout: u16,
    /// Flags.
    pub flags: FlowFlags,
    /// The cookie.
    pub cookie: u64,
    /// Packets that it matched.
    pub packet_count: u64,
    /// Bytes of them.
    pub byte_count: u64,
    /// The match.
    pub fields: Match,
    /// Instructions.
    pub instructions: Vec<Instruction>,
}

impl FlowStats {
    /// Bytes of the entry in a reply.
    pub fn encoded_len(&self) -> usize {
        let mut out = Vec::new();
        self.encode(&mut out);
        out.len()
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let mut body = reader.entry(BadRequest::BadLen)?;
        let table = body.u8()?;
        body.skip(1)?;
        let duration = Elapsed::decode(&mut body)?;
        let priority = body.u16()?;
        let idle_timeout = body.u16()?;
        let hard_timeout = body.u16()?;
        let flags = FlowFlags::from_bits_retain(body.u16()?);
        body.skip(4)?;
        Ok(Self {
            table,
            duration,
            priority,
            idle_timeout,
            hard_timeout,
            flags,
            cookie: body.u64()?,
            packet_count: body.u64()?,
            byte_count: body.u64()?,
            fields: Match::decode(&mut body)?,
            instructions: instruction::decode_list(&mut body)?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u16(0);
        out.put_u8(self.table);
        out.put_zeros(1);
        self.duration.encode(out);
        out.put_u16(self.priority);
        out.put_u16(self.idle_timeout);
        out.put_u16(self.hard_timeout);
        out.put_u16(self.flags.bits());
        out.put_zeros(4);
        out.put_u64(self.cookie);
        out.put_u64(self.packet_count);
        out.put_u64(self.byte_count);
        self.fields.encode(out);
        instruction::encode_list(&self.instructions, out);
        out.put_length(start, start);
    }
}

/// The sum of statistics of flow entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AggregateStats {
    /// Packets.
    pub packet_count: u64,
    /// Bytes.
    pub byte_count: u64,
    /// Entries.
    pub flow_count: u32,
}

impl AggregateStats {
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let read = Self {
            packet_count: reader.u64()?,
            byte_count: reader.u64()?,
            flow_count: reader.u32()?,
        };
        reader.skip(4)?;
        Ok(read)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.packet_count);
        out.put_u64(self.byte_count);
        out.put_u32(self.flow_count);
        out.put_zeros(4);
    }
}
