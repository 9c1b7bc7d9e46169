//! Queues of ports (sections 7.2.2 and 7.3.6).

use alloc::vec::Vec;

use crate::error::{BadRequest, ErrorKind};
use crate::reader::Reader;
use crate::writer::Put;

/// All queues of a port, in requests (OFPQ_ALL).
pub const ALL_QUEUES: u32 = 0xffff_ffff;

const MIN_RATE: u16 = 1;
const MAX_RATE: u16 = 2;
const QUEUE_BYTES: usize = 16;
const PROPERTY_BYTES: usize = 8;

/// A queue of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketQueue {
    /// The number.
    pub queue: u32,
    /// The port.
    pub port: u32,
    /// Properties.
    pub properties: Vec<QueueProperty>,
}

/// A property of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueProperty {
    /// The rate that is guaranteed, in thousandths of the port's; more than 1000: not enforced.
    MinRate(u16),
    /// The highest rate, in thousandths of the port's; more than 1000: not enforced.
    MaxRate(u16),
    /// A property that the specification leaves to others.
    Other {
        /// The number of the type.
        number: u16,
        /// The bytes after the header.
        data: Vec<u8>,
    },
}

/// The queues of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// The port.
    pub port: u32,
    /// Its queues.
    pub queues: Vec<PacketQueue>,
}

impl QueueConfig {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let port = reader.u32()?;
        reader.skip(4)?;
        Ok(Self {
            port,
            queues: reader.all(PacketQueue::decode)?,
        })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.port);
        out.put_zeros(4);
        self.queues.iter().for_each(|queue| queue.encode(out));
    }
}

impl PacketQueue {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let queue = reader.u32()?;
        let port = reader.u32()?;
        let length = usize::from(reader.u16()?);
        reader.skip(6)?;
        let properties = length.checked_sub(QUEUE_BYTES).ok_or(BadRequest::BadLen)?;
        Ok(Self {
            queue,
            port,
            properties: reader
                .part(properties, BadRequest::BadLen)?
                .all(QueueProperty::decode)?,
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u32(self.queue);
        out.put_u32(self.port);
        out.put_u16(0);
        out.put_zeros(6);
        self.properties.iter().for_each(|one| one.encode(out));
        out.put_length(start + 8, start);
    }
}

impl QueueProperty {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let number = reader.u16()?;
        let length = usize::from(reader.u16()?);
        reader.skip(4)?;
        let content = length
            .checked_sub(PROPERTY_BYTES)
            .ok_or(BadRequest::BadLen)?;
        let mut body = reader.part(content, BadRequest::BadLen)?;
        Ok(match number {
            MIN_RATE => Self::MinRate(body.u16()?),
            MAX_RATE => Self::MaxRate(body.u16()?),
            _ => Self::Other {
                number,
                data: body.take_rest().to_vec(),
            },
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u16(match self {
            Self::MinRate(_) => MIN_RATE,
            Self::MaxRate(_) => MAX_RATE,
            Self::Other { number, .. } => *number,
        });
        out.put_u16(0);
        out.put_zeros(4);
        match self {
            Self::MinRate(rate) | Self::MaxRate(rate) => {
                out.put_u16(*rate);
                out.put_zeros(6);
            }
            Self::Other { data, .. } => out.extend(data),
        }
        out.put_length(start + 2, start);
    }
}
