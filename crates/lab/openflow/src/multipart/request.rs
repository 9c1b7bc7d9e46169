//! Requests of several parts.

use alloc::vec::Vec;

use super::{
    AGGREGATE, DESC, EXPERIMENTER, FLOW, FlowStatsRequest, GROUP, GROUP_DESC, GROUP_FEATURES,
    METER, METER_CONFIG, METER_FEATURES, PORT_DESC, PORT_STATS, QUEUE, TABLE, TABLE_FEATURES,
    TableFeatures,
};
use crate::error::{BadRequest, ErrorKind};
use crate::message::Experimenter;
use crate::reader::Reader;
use crate::writer::Put;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// The description of the switch.
    Desc,
    /// Statistics of single flow entries.
    Flow(FlowStatsRequest),
    /// The sum of statistics of flow entries.
    Aggregate(FlowStatsRequest),
    /// Statistics of tables.
    Table,
    /// Statistics of a port; ANY: of all.
    PortStats(u32),
    /// Statistics of queues.
    Queue {
        /// The port; ANY: all.
        port: u32,
        /// The queue, or all.
        queue: u32,
    },
    /// Statistics of a group, or of all.
    Group(u32),
    /// Descriptions of all groups.
    GroupDesc,
    /// Features of groups.
    GroupFeatures,
    /// Statistics of a meter, or of all.
    Meter(u32),
    /// Configurations of a meter, or of all.
    MeterConfig(u32),
    /// Features of meters.
    MeterFeatures,
    /// Features of tables: with a content they are set, without one asked for.
    TableFeatures(Vec<TableFeatures>),
    /// Descriptions of all ports.
    PortDesc,
    /// An experimenter's request.
    Experimenter(Experimenter),
}

impl Request {
    pub(super) fn number(&self) -> u16 {
        match self {
            Self::Desc => DESC,
            Self::Flow(_) => FLOW,
            Self::Aggregate(_) => AGGREGATE,
            Self::Table => TABLE,
            Self::PortStats(_) => PORT_STATS,
            Self::Queue { .. } => QUEUE,
            Self::Group(_) => GROUP,
            Self::GroupDesc => GROUP_DESC,
            Self::GroupFeatures => GROUP_FEATURES,
            Self::Meter(_) => METER,
            Self::MeterConfig(_) => METER_CONFIG,
            Self::MeterFeatures => METER_FEATURES,
            Self::TableFeatures(_) => TABLE_FEATURES,
            Self::PortDesc => PORT_DESC,
            Self::Experimenter(_) => EXPERIMENTER,
        }
    }

    pub(super) fn decode(number: u16, mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let request = match number {
            DESC => Self::Desc,
            FLOW => Self::Flow(FlowStatsRequest::decode(&mut reader)?),
            AGGREGATE => Self::Aggregate(FlowStatsRequest::decode(&mut reader)?),
            TABLE => Self::Table,
            PORT_STATS => Self::PortStats(read_padded(&mut reader)?),
            QUEUE => Self::Queue {
                port: reader.u32()?,
                queue: reader.u32()?,
            },
            GROUP => Self::Group(read_padded(&mut reader)?),
            GROUP_DESC => Self::GroupDesc,
            GROUP_FEATURES => Self::GroupFeatures,
            METER => Self::Meter(read_padded(&mut reader)?),
            METER_CONFIG => Self::MeterConfig(read_padded(&mut reader)?),
            METER_FEATURES => Self::MeterFeatures,
            TABLE_FEATURES => {
                return reader.all(TableFeatures::decode).map(Self::TableFeatures);
            }
            PORT_DESC => Self::PortDesc,
            EXPERIMENTER => return Experimenter::decode(reader).map(Self::Experimenter),
            _ => return Err(BadRequest::BadMultipart.into()),
        };
        reader.end()?;
        Ok(request)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Flow(request) | Self::Aggregate(request) => request.encode(out),
            Self::PortStats(number)
            | Self::Group(number)
            | Self::Meter(number)
            | Self::MeterConfig(number) => {
                out.put_u32(*number);
                out.put_zeros(4);
            }
            Self::Queue { port, queue } => {
                out.put_u32(*port);
                out.put_u32(*queue);
            }
            Self::TableFeatures(tables) => tables.iter().for_each(|table| table.encode(out)),
            Self::Experimenter(part) => part.encode(out),
            Self::Desc
            | Self::Table
            | Self::GroupDesc
            | Self::GroupFeatures
            | Self::MeterFeatures
            | Self::PortDesc => {}
        }
    }
}

fn read_padded(reader: &mut Reader<'_>) -> Result<u32, ErrorKind> {
    let number = reader.u32()?;
    reader.skip(4)?;
    Ok(number)
}
