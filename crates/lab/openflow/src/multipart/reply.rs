//! Replies of several parts.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{
    AGGREGATE, AggregateStats, DESC, EXPERIMENTER, FLOW, FlowStats, GROUP, GROUP_DESC,
    GROUP_FEATURES, GroupDesc, GroupFeatures, GroupStats, METER, METER_CONFIG, METER_FEATURES,
    MeterConfig, MeterFeatures, MeterStats, PORT_DESC, PORT_STATS, PortStats, QUEUE, QueueStats,
    TABLE, TABLE_FEATURES, TableFeatures, TableStats,
};
use crate::error::{BadRequest, ErrorKind};
use crate::message::Experimenter;
use crate::port::Port;
use crate::reader::Reader;
use crate::text::Text;

/// The description of a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Desc {
    /// The manufacturer.
    pub manufacturer: Text<256>,
    /// The hardware.
    pub hardware: Text<256>,
    /// The software.
    pub software: Text<256>,
    /// The serial number.
    pub serial: Text<32>,
    /// The datapath, for people.
    pub datapath: Text<256>,
}

impl Desc {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        Ok(Self {
            manufacturer: Text::read(reader.take(256)?),
            hardware: Text::read(reader.take(256)?),
            software: Text::read(reader.take(256)?),
            serial: Text::read(reader.take(32)?),
            datapath: Text::read(reader.take(256)?),
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.manufacturer.bytes());
        out.extend(self.hardware.bytes());
        out.extend(self.software.bytes());
        out.extend(self.serial.bytes());
        out.extend(self.datapath.bytes());
    }
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The description of the switch.
    Desc(Box<Desc>),
    /// Statistics of single flow entries.
    Flow(Vec<FlowStats>),
    /// The sum of statistics of flow entries.
    Aggregate(AggregateStats),
    /// Statistics of tables.
    Table(Vec<TableStats>),
    /// Statistics of ports.
    PortStats(Vec<PortStats>),
    /// Statistics of queues.
    Queue(Vec<QueueStats>),
    /// Statistics of groups.
    Group(Vec<GroupStats>),
    /// Descriptions of groups.
    GroupDesc(Vec<GroupDesc>),
    /// Features of groups.
    GroupFeatures(GroupFeatures),
    /// Statistics of meters.
    Meter(Vec<MeterStats>),
    /// Configurations of meters.
    MeterConfig(Vec<MeterConfig>),
    /// Features of meters.
    MeterFeatures(MeterFeatures),
    /// Features of tables.
    TableFeatures(Vec<TableFeatures>),
    /// Descriptions of ports.
    PortDesc(Vec<Port>),
    /// An experimenter's reply.
    Experimenter(Experimenter),
}

impl Reply {
    pub(super) fn number(&self) -> u16 {
        match self {
            Self::Desc(_) => DESC,
            Self::Flow(_) => FLOW,
            Self::Aggregate(_) => AGGREGATE,
            Self::Table(_) => TABLE,
            Self::PortStats(_) => PORT_STATS,
            Self::Queue(_) => QUEUE,
            Self::Group(_) => GROUP,
            Self::GroupDesc(_) => GROUP_DESC,
            Self::GroupFeatures(_) => GROUP_FEATURES,
            Self::Meter(_) => METER,
            Self::MeterConfig(_) => METER_CONFIG,
            Self::MeterFeatures(_) => METER_FEATURES,
            Self::TableFeatures(_) => TABLE_FEATURES,
            Self::PortDesc(_) => PORT_DESC,
            Self::Experimenter(_) => EXPERIMENTER,
        }
    }

    pub(super) fn decode(number: u16, mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let reply = match number {
            DESC => Self::Desc(Box::new(Desc::decode(&mut reader)?)),
            FLOW => return reader.all(FlowStats::decode).map(Self::Flow),
            AGGREGATE => Self::Aggregate(AggregateStats::decode(&mut reader)?),
            TABLE => return reader.all(TableStats::decode).map(Self::Table),
            PORT_STATS => return reader.all(PortStats::decode).map(Self::PortStats),
            QUEUE => return reader.all(QueueStats::decode).map(Self::Queue),
            GROUP => return reader.all(GroupStats::decode).map(Self::Group),
            GROUP_DESC => return reader.all(GroupDesc::decode).map(Self::GroupDesc),
            GROUP_FEATURES => Self::GroupFeatures(GroupFeatures::decode(&mut reader)?),
            METER => return reader.all(MeterStats::decode).map(Self::Meter),
            METER_CONFIG => return reader.all(MeterConfig::decode).map(Self::MeterConfig),
            METER_FEATURES => Self::MeterFeatures(MeterFeatures::decode(&mut reader)?),
            TABLE_FEATURES => {
                return reader.all(TableFeatures::decode).map(Self::TableFeatures);
            }
            PORT_DESC => return reader.all(Port::decode).map(Self::PortDesc),
            EXPERIMENTER => return Experimenter::decode(reader).map(Self::Experimenter),
            _ => return Err(BadRequest::BadMultipart.into()),
        };
        reader.end()?;
        Ok(reply)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Desc(desc) => desc.encode(out),
            Self::Flow(flows) => flows.iter().for_each(|one| one.encode(out)),
            Self::Aggregate(sum) => sum.encode(out),
            Self::Table(tables) => tables.iter().for_each(|one| one.encode(out)),
            Self::PortStats(ports) => ports.iter().for_each(|one| one.encode(out)),
            Self::Queue(queues) => queues.iter().for_each(|one| one.encode(out)),
            Self::Group(groups) => groups.iter().for_each(|one| one.encode(out)),
            Self::GroupDesc(groups) => groups.iter().for_each(|one| one.encode(out)),
            Self::GroupFeatures(features) => features.encode(out),
            Self::Meter(meters) => meters.iter().for_each(|one| one.encode(out)),
            Self::MeterConfig(meters) => meters.iter().for_each(|one| one.encode(out)),
            Self::MeterFeatures(features) => features.encode(out),
            Self::TableFeatures(tables) => tables.iter().for_each(|one| one.encode(out)),
            Self::PortDesc(ports) => ports.iter().for_each(|one| one.encode(out)),
            Self::Experimenter(part) => part.encode(out),
        }
    }
}
