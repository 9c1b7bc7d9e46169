//! Groups (section 7.3.4.4).

use alloc::vec::Vec;

use crate::action::{self, Action};
use crate::error::{BadAction, ErrorKind, GroupModFailed};
use crate::number::numbers;
use crate::reader::Reader;
use crate::writer::Put;

/// Bytes of a bucket without its actions.
const BUCKET_BYTES: usize = 16;

/// Reserved numbers of groups.
pub mod number {
    /// The highest number of a group.
    pub const MAX: u32 = 0xffff_ff00;
    /// All groups, to delete them.
    pub const ALL: u32 = 0xffff_fffc;
    /// No group in particular.
    pub const ANY: u32 = 0xffff_ffff;
}

numbers! {
    /// A command of a group modification.
    GroupCommand: u16 {
        /// Adds a group.
        Add = 0,
        /// Replaces type and buckets of a group.
        Modify = 1,
        /// Deletes a group, or all.
        Delete = 2,
    }
}

numbers! {
    /// A type of group.
    GroupType: u8 {
        /// Every bucket gets a copy of the packet.
        All = 0,
        /// One bucket, chosen by the switch.
        Select = 1,
        /// The only bucket.
        Indirect = 2,
        /// The first bucket that is live.
        FastFailover = 3,
    }
}

/// A bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The share of packets in a group of the type select.
    pub weight: u16,
    /// The port that decides whether the bucket is live; ANY: none.
    pub watch_port: u32,
    /// The group that decides whether the bucket is live; ANY: none.
    pub watch_group: u32,
    /// Actions, as a set.
    pub actions: Vec<Action>,
}

impl Bucket {
    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let length: usize = reader.u16()?.into();
        if length < BUCKET_BYTES || !length.is_multiple_of(8) {
            return Err(GroupModFailed::BadBucket.into());
        }
        let mut body = reader.part(length - 2, GroupModFailed::BadBucket)?;
        let weight = body.u16()?;
        let watch_port = body.u32()?;
        let watch_group = body.u32()?;
        body.skip(4)?;
        Ok(Self {
            weight,
            watch_port,
            watch_group,
            actions: action::decode_list(Reader::new(body.take_rest(), BadAction::BadLen))?,
        })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u16(0);
        out.put_u16(self.weight);
        out.put_u32(self.watch_port);
        out.put_u32(self.watch_group);
        out.put_zeros(4);
        action::encode_list(&self.actions, out);
        out.put_length(start, start);
    }
}

/// A request to change the group table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMod {
    /// The command.
    pub command: GroupCommand,
    /// The type.
    pub group_type: GroupType,
    /// The number.
    pub group: u32,
    /// Buckets.
    pub buckets: Vec<Bucket>,
}

impl GroupMod {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let command = GroupCommand::of(reader.u16()?).ok_or(GroupModFailed::BadCommand)?;
        let group_type = GroupType::of(reader.u8()?).ok_or(GroupModFailed::BadType)?;
        reader.skip(1)?;
        Ok(Self {
            command,
            group_type,
            group: reader.u32()?,
            buckets: Reader::new(reader.take_rest(), GroupModFailed::BadBucket)
                .all(Bucket::decode)?,
        })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16(self.command.number());
        out.put_u8(self.group_type.number());
        out.put_zeros(1);
        out.put_u32(self.group);
        self.buckets.iter().for_each(|bucket| bucket.encode(out));
    }
}
