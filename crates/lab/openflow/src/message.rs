//! Messages: the header, and the body of each type (section 7.1).

use alloc::vec::Vec;

use crate::VERSION;
use crate::error::{BadRequest, DecodeError, ErrorKind, ErrorMessage};
use crate::flow::{FlowMod, FlowRemoved};
use crate::group::GroupMod;
use crate::hello::Hello;
use crate::meter::MeterMod;
use crate::multipart::{Part, Reply, Request};
use crate::packet::{PacketIn, PacketOut};
use crate::port::{PortMod, PortStatus};
use crate::queue::QueueConfig;
use crate::reader::Reader;
use crate::setup::{AsyncConfig, Features, RoleMessage, SwitchConfig, TableMod};
use crate::writer::Put;

/// Bytes of the header.
pub const HEADER_BYTES: usize = 8;

/// The number of the type of a hello, which alone may have another version.
const HELLO: u8 = 0;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The transaction id: that of the request in an answer.
    pub xid: u32,
    /// The content.
    pub body: Body,
}

/// A message, a request or a reply of another experimenter, not looked into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Experimenter {
    /// The experimenter id.
    pub experimenter: u32,
    /// The experimenter's own type.
    pub exp_type: u32,
    /// The rest.
    pub data: Vec<u8>,
}

/// The content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Opens the connection.
    Hello(Hello),
    /// Tells that a request failed.
    Error(ErrorMessage),
    /// Asks for an answer with the same data.
    EchoRequest(Vec<u8>),
    /// Answers an echo request.
    EchoReply(Vec<u8>),
    /// A message of an experimenter.
    Experimenter(Experimenter),
    /// Asks for the features of the switch.
    FeaturesRequest,
    /// The features of the switch.
    FeaturesReply(Features),
    /// Asks for the configuration of the switch.
    GetConfigRequest,
    /// The configuration of the switch.
    GetConfigReply(SwitchConfig),
    /// Sets the configuration of the switch.
    SetConfig(SwitchConfig),
    /// A packet to the controller.
    PacketIn(PacketIn),
    /// Tells that a flow entry was removed.
    FlowRemoved(FlowRemoved),
    /// Tells that a port has changed.
    PortStatus(PortStatus),
    /// A packet of the controller.
    PacketOut(PacketOut),
    /// Changes a flow table.
    FlowMod(FlowMod),
    /// Changes the group table.
    GroupMod(GroupMod),
    /// Changes a port.
    PortMod(PortMod),
    /// Changes a table.
    TableMod(TableMod),
    /// Asks for a description or for statistics.
    MultipartRequest(Part<Request>),
    /// A part of a description or of statistics.
    MultipartReply(Part<Reply>),
    /// Asks for all that came before to be done first.
    BarrierRequest,
    /// All that came before the barrier is done.
    BarrierReply,
    /// Asks for the queues of a port; ANY: of all.
    QueueGetConfigRequest(u32),
    /// The queues of a port.
    QueueGetConfigReply(QueueConfig),
    /// Asks for a role.
    RoleRequest(RoleMessage),
    /// The role.
    RoleReply(RoleMessage),
    /// Asks for the asynchronous messages that the controller gets.
    GetAsyncRequest,
    /// The asynchronous messages that the controller gets.
    GetAsyncReply(AsyncConfig),
    /// Sets the asynchronous messages that the controller gets.
    SetAsync(AsyncConfig),
    /// Changes the meter table.
    MeterMod(MeterMod),
}

impl Body {
    /// The number of the type (OFPT).
    pub fn number(&self) -> u8 {
        match self {
            Self::Hello(_) => 0,
            Self::Error(_) => 1,
            Self::EchoRequest(_) => 2,
            Self::EchoReply(_) => 3,
            Self::Experimenter(_) => 4,
            Self::FeaturesRequest => 5,
            Self::FeaturesReply(_) => 6,
            Self::GetConfigRequest => 7,
            Self::GetConfigReply(_) => 8,
            Self::SetConfig(_) => 9,
            Self::PacketIn(_) => 10,
            Self::FlowRemoved(_) => 11,
            Self::PortStatus(_) => 12,
            Self::PacketOut(_) => 13,
            Self::FlowMod(_) => 14,
            Self::GroupMod(_) => 15,
            Self::PortMod(_) => 16,
            Self::TableMod(_) => 17,
            Self::MultipartRequest(_) => 18,
            Self::MultipartReply(_) => 19,
            Self::BarrierRequest => 20,
            Self::BarrierReply => 21,
            Self::QueueGetConfigRequest(_) => 22,
            Self::QueueGetConfigReply(_) => 23,
            Self::RoleRequest(_) => 24,
            Self::RoleReply(_) => 25,
            Self::GetAsyncRequest => 26,
            Self::GetAsyncReply(_) => 27,
            Self::SetAsync(_) => 28,
            Self::MeterMod(_) => 29,
        }
    }

    fn decode(number: u8, version: u8, mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        Ok(match number {
            0 => Self::Hello(Hello::decode(version, reader)?),
            1 => Self::Error(ErrorMessage::decode(reader)?),
            2 => Self::EchoRequest(reader.take_rest().to_vec()),
            3 => Self::EchoReply(reader.take_rest().to_vec()),
            4 => Self::Experimenter(Experimenter::decode(reader)?),
            5 => empty(Self::FeaturesRequest, reader)?,
            6 => Self::FeaturesReply(Features::decode(reader)?),
            7 => empty(Self::GetConfigRequest, reader)?,
            8 => Self::GetConfigReply(SwitchConfig::decode(reader)?),
            9 => Self::SetConfig(SwitchConfig::decode(reader)?),
            10 => Self::PacketIn(PacketIn::decode(reader)?),
            11 => Self::FlowRemoved(FlowRemoved::decode(reader)?),
            12 => Self::PortStatus(PortStatus::decode(reader)?),
            13 => Self::PacketOut(PacketOut::decode(reader)?),
            14 => Self::FlowMod(FlowMod::decode(reader)?),
            15 => Self::GroupMod(GroupMod::decode(reader)?),
            16 => Self::PortMod(PortMod::decode(reader)?),
            17 => Self::TableMod(TableMod::decode(reader)?),
            18 => Self::MultipartRequest(Part::<Request>::decode(reader)?),
            19 => Self::MultipartReply(Part::<Reply>::decode(reader)?),
            20 => empty(Self::BarrierRequest, reader)?,
            21 => empty(Self::BarrierReply, reader)?,
            22 => Self::QueueGetConfigRequest(read_padded(reader)?),
            23 => Self::QueueGetConfigReply(QueueConfig::decode(reader)?),
            24 => Self::RoleRequest(RoleMessage::decode(reader)?),
            25 => Self::RoleReply(RoleMessage::decode(reader)?),
            26 => empty(Self::GetAsyncRequest, reader)?,
            27 => Self::GetAsyncReply(AsyncConfig::decode(reader)?),
            28 => Self::SetAsync(AsyncConfig::decode(reader)?),
            29 => Self::MeterMod(MeterMod::decode(reader)?),
            _ => return Err(BadRequest::BadType.into()),
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Hello(content) => content.encode(out),
            Self::Error(content) => content.encode(out),
            Self::EchoRequest(data) | Self::EchoReply(data) => out.extend(data),
            Self::Experimenter(content) => content.encode(out),
            Self::FeaturesReply(content) => content.encode(out),
            Self::GetConfigReply(content) => content.encode(out),
            Self::SetConfig(content) => content.encode(out),
            Self::PacketIn(content) => content.encode(out),
            Self::FlowRemoved(content) => content.encode(out),
            Self::PortStatus(content) => content.encode(out),
            Self::PacketOut(content) => content.encode(out),
            Self::FlowMod(content) => content.encode(out),
            Self::GroupMod(content) => content.encode(out),
            Self::PortMod(content) => content.encode(out),
            Self::TableMod(content) => content.encode(out),
            Self::MultipartRequest(content) => content.encode(out),
            Self::MultipartReply(content) => content.encode(out),
            Self::QueueGetConfigRequest(port) => {
                out.put_u32(*port);
                out.put_zeros(4);
            }
            Self::QueueGetConfigReply(content) => content.encode(out),
            Self::RoleRequest(content) => content.encode(out),
            Self::RoleReply(content) => content.encode(out),
            Self::GetAsyncReply(content) => content.encode(out),
            Self::SetAsync(content) => content.encode(out),
            Self::MeterMod(content) => content.encode(out),
            Self::FeaturesRequest
            | Self::GetConfigRequest
            | Self::BarrierRequest
            | Self::BarrierReply
            | Self::GetAsyncRequest => {}
        }
    }
}

impl Experimenter {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        Ok(Self {
            experimenter: reader.u32()?,
            exp_type: reader.u32()?,
            data: reader.take_rest().to_vec(),
        })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.experimenter);
        out.put_u32(self.exp_type);
        out.extend(&self.data);
    }
}

fn empty(body: Body, reader: Reader<'_>) -> Result<Body, ErrorKind> {
    reader.end().map(|()| body)
}

fn read_padded(mut reader: Reader<'_>) -> Result<u32, ErrorKind> {
    let number = reader.u32()?;
    reader.skip(4)?;
    reader.end()?;
    Ok(number)
}

/// A message that is longer than the 65,535 bytes that its header can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl core::fmt::Display for TooLong {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("an OpenFlow message has at most 65535 bytes")
    }
}

impl core::error::Error for TooLong {}

impl Message {
    /// A message with a transaction id.
    pub fn new(xid: u32, body: Body) -> Self {
        Self { xid, body }
    }

    /// Reads a message of exactly these bytes.
    ///
    /// # Errors
    ///
    /// The error that a switch answers with where the bytes are no message of the protocol: a
    /// wrong version (of any message but a hello) or type, a length that does not fit, a value
    /// that the specification does not have.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let xid = bytes.get(4..HEADER_BYTES).map_or(0, |xid| {
            xid.iter().fold(0, |xid, byte| xid << 8 | u32::from(*byte))
        });
        let fails = |kind| DecodeError { xid, kind };
        let mut reader = Reader::new(bytes, BadRequest::BadLen);
        let (version, number, length) = read_header(&mut reader).map_err(fails)?;
        if usize::from(length) != bytes.len() {
            return Err(fails(BadRequest::BadLen.into()));
        }
        if version != VERSION && number != HELLO {
            return Err(fails(BadRequest::BadVersion.into()));
        }
        let body = Body::decode(number, version, reader).map_err(fails)?;
        Ok(Self { xid, body })
    }

    /// Appends the message to `out`, which stays as it is if the message is too long.
    ///
    /// # Errors
    ///
    /// If the message is longer than its header can say.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), TooLong> {
        let start = out.len();
        out.put_u8(match &self.body {
            Body::Hello(hello) => hello.version,
            _ => VERSION,
        });
        out.put_u8(self.body.number());
        out.put_u16(0);
        out.put_u32(self.xid);
        self.body.encode(out);
        if out.len() - start > u16::MAX.into() {
            out.truncate(start);
            return Err(TooLong);
        }
        out.put_length(start + 2, start);
        Ok(())
    }
}

/// Version, type and length; the transaction id is read past.
fn read_header(reader: &mut Reader<'_>) -> Result<(u8, u8, u16), ErrorKind> {
    let header = (reader.u8()?, reader.u8()?, reader.u16()?);
    reader.skip(4)?;
    Ok(header)
}
