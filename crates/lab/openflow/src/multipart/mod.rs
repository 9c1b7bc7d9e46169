//! Requests and replies of several parts: descriptions and statistics (section 7.3.5).

mod flow;
mod group;
mod meter;
mod port;
mod reply;
mod request;
mod table;
mod table_features;

use alloc::vec::Vec;

pub use flow::{AggregateStats, FlowStats, FlowStatsRequest};
pub use group::{BucketCounter, GroupCapabilities, GroupDesc, GroupFeatures, GroupStats};
pub use meter::{MeterBandStats, MeterConfig, MeterFeatures, MeterStats};
pub use port::{PortStats, QueueStats};
pub use reply::{Desc, Reply};
pub use request::Request;
pub use table::TableStats;
pub use table_features::{FeatureId, OxmId, TableFeatures, TableProperty};

use crate::error::ErrorKind;
use crate::reader::Reader;
use crate::writer::Put;

/// The flag that says that more parts follow.
const MORE: u16 = 1;

const DESC: u16 = 0;
const FLOW: u16 = 1;
const AGGREGATE: u16 = 2;
const TABLE: u16 = 3;
const PORT_STATS: u16 = 4;
const QUEUE: u16 = 5;
const GROUP: u16 = 6;
const GROUP_DESC: u16 = 7;
const GROUP_FEATURES: u16 = 8;
const METER: u16 = 9;
const METER_CONFIG: u16 = 10;
const METER_FEATURES: u16 = 11;
const TABLE_FEATURES: u16 = 12;
const PORT_DESC: u16 = 13;
const EXPERIMENTER: u16 = 0xffff;

/// A part of a request or a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<T> {
    /// Whether more parts with the same transaction id follow.
    pub more: bool,
    /// The content.
    pub content: T,
}

impl Part<Request> {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let (number, more) = read_head(&mut reader)?;
        let content = Request::decode(number, reader)?;
        Ok(Self { more, content })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_head(self.content.number(), self.more, out);
        self.content.encode(out);
    }
}

impl Part<Reply> {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let (number, more) = read_head(&mut reader)?;
        let content = Reply::decode(number, reader)?;
        Ok(Self { more, content })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_head(self.content.number(), self.more, out);
        self.content.encode(out);
    }
}

fn read_head(reader: &mut Reader<'_>) -> Result<(u16, bool), ErrorKind> {
    let number = reader.u16()?;
    let flags = reader.u16()?;
    reader.skip(4)?;
    Ok((number, flags & MORE != 0))
}

fn put_head(number: u16, more: bool, out: &mut Vec<u8>) {
    out.put_u16(number);
    out.put_u16(if more { MORE } else { 0 });
    out.put_zeros(4);
}
