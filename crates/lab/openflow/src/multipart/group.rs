//! Statistics, descriptions and features of groups (sections 7.3.5.9 to 7.3.5.11).

use alloc::vec::Vec;

use bitflags::bitflags;

use crate::elapsed::Elapsed;
use crate::error::{BadRequest, ErrorKind, GroupModFailed};
use crate::group::{Bucket, GroupType};
use crate::reader::Reader;
use crate::writer::Put;

/// Packets that went through a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BucketCounter {
    /// Packets.
    pub packet_count: u64,
    /// Bytes.
    pub byte_count: u64,
}

/// Statistics of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupStats {
    /// The group.
    pub group: u32,
    /// Flow entries and groups that forward to it.
    pub ref_count: u32,
    /// Packets.
    pub packet_count: u64,
    /// Bytes.
    pub byte_count: u64,
    /// Time that the group has been there.
    pub duration: Elapsed,
    /// One counter for each bucket.
    pub buckets: Vec<BucketCounter>,
}

impl GroupStats {
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let mut body = reader.entry(BadRequest::BadLen)?;
        body.skip(2)?;
        let group = body.u32()?;
        let ref_count = body.u32()?;
        body.skip(4)?;
        Ok(Self {
            group,
            ref_count,
            packet_count: body.u64()?,
            byte_count: body.u64()?,
            duration: Elapsed::decode(&mut body)?,
            buckets: body.all(|body| {
                Ok(BucketCounter {
                    packet_count: body.u64()?,
                    byte_count: body.u64()?,
                })
            })?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u16(0);
        out.put_zeros(2);
        out.put_u32(self.group);
        out.put_u32(self.ref_count);
        out.put_zeros(4);
        out.put_u64(self.packet_count);
        out.put_u64(self.byte_count);
        self.duration.encode(out);
        for bucket in &self.buckets {
            out.put_u64(bucket.packet_count);
            out.put_u64(bucket.byte_count);
        }
        out.put_length(start, start);
    }
}

/// A group as it was set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDesc {
    /// The type.
    pub group_type: GroupType,
    /// The group.
    pub group: u32,
    /// Buckets.
    pub buckets: Vec<Bucket>,
}

impl GroupDesc {
    /// Bytes of the group in a reply.
    pub fn encoded_len(&self) -> usize {
        let mut out = Vec::new();
        self.encode(&mut out);
        out.len()
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let mut body = reader.entry(BadRequest::BadLen)?;
        let group_type = GroupType::of(body.u8()?).ok_or(GroupModFailed::BadType)?;
        body.skip(1)?;
        Ok(Self {
            group_type,
            group: body.u32()?,
            buckets: body.all(Bucket::decode)?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u16(0);
        out.put_u8(self.group_type.number());
        out.put_zeros(1);
        out.put_u32(self.group);
        self.buckets.iter().for_each(|bucket| bucket.encode(out));
        out.put_length(start, start);
    }
}

bitflags! {
    /// Capabilities of groups (OFPGFC).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct GroupCapabilities: u32 {
        /// Weights of buckets.
        const SELECT_WEIGHT = 1 << 0;
        /// Liveness of the buckets of a group of the type select.
        const SELECT_LIVENESS = 1 << 1;
        /// Groups that forward to groups.
        const CHAINING = 1 << 2;
        /// Loops are refused.
        const CHAINING_CHECKS = 1 << 3;
        const _ = !0;
    }
}

/// Features of groups; arrays are by type of group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupFeatures {
    /// Types, one bit each.
    pub types: u32,
    /// Capabilities.
    pub capabilities: GroupCapabilities,
    /// Most groups of each type.
    pub max_groups: [u32; 4],
    /// Actions, by bits of their numbers.
    pub actions: [u32; 4],
}

impl GroupFeatures {
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let types = reader.u32()?;
        let capabilities = GroupCapabilities::from_bits_retain(reader.u32()?);
        let mut four = || -> Result<[u32; 4], ErrorKind> {
            Ok([reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?])
        };
        Ok(Self {
            types,
            capabilities,
            max_groups: four()?,
            actions: four()?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.types);
        out.put_u32(self.capabilities.bits());
        for numbers in [self.max_groups, self.actions] {
            numbers.iter().for_each(|number| out.put_u32(*number));
        }
    }
}
