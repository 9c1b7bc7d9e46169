//! Ports: description, status and modification (sections 7.2.1, 7.3.4.3, 7.4.3).

use alloc::vec::Vec;

use bitflags::bitflags;

use crate::error::{BadRequest, ErrorKind};
use crate::number::numbers;
use crate::reader::Reader;
use crate::text::Text;
use crate::writer::Put;

/// A hardware address.
pub type MacAddress = [u8; 6];

/// Reserved numbers of ports (section 4.5).
pub mod number {
    /// The highest number of a physical or logical port.
    pub const MAX: u32 = 0xffff_ff00;
    /// The port by which the packet came in.
    pub const IN_PORT: u32 = 0xffff_fff8;
    /// The first flow table; only in packet-out messages.
    pub const TABLE: u32 = 0xffff_fff9;
    /// Forwarding that is not by OpenFlow.
    pub const NORMAL: u32 = 0xffff_fffa;
    /// All ports but the ingress port and those that are not to be flooded.
    pub const FLOOD: u32 = 0xffff_fffb;
    /// All ports but the ingress port.
    pub const ALL: u32 = 0xffff_fffc;
    /// The controller.
    pub const CONTROLLER: u32 = 0xffff_fffd;
    /// The switch's own network stack.
    pub const LOCAL: u32 = 0xffff_fffe;
    /// No port in particular; not for output.
    pub const ANY: u32 = 0xffff_ffff;
}

bitflags! {
    /// Configuration of a port (OFPPC).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct PortConfig: u32 {
        /// The port is administratively down.
        const PORT_DOWN = 1 << 0;
        /// Packets that come in are dropped.
        const NO_RECV = 1 << 2;
        /// Packets that would go out are dropped.
        const NO_FWD = 1 << 5;
        /// No packet-in messages are sent for the port.
        const NO_PACKET_IN = 1 << 6;
        const _ = !0;
    }
}

bitflags! {
    /// State of a port (OFPPS).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct PortState: u32 {
        /// There is no physical link.
        const LINK_DOWN = 1 << 0;
        /// A protocol outside of OpenFlow keeps the port from being used.
        const BLOCKED = 1 << 1;
        /// The port is live for fast failover groups.
        const LIVE = 1 << 2;
        const _ = !0;
    }
}

/// A port's description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Port {
    /// The number.
    pub port: u32,
    /// The hardware address.
    pub hw_addr: MacAddress,
    /// The name.
    pub name: Text<16>,
    /// The configuration.
    pub config: PortConfig,
    /// The state.
    pub state: PortState,
    /// Current features (OFPPF bits).
    pub curr: u32,
    /// Features that are advertised.
    pub advertised: u32,
    /// Features that are supported.
    pub supported: u32,
    /// Features that the peer advertises.
    pub peer: u32,
    /// Current rate, kbit/s.
    pub curr_speed: u32,
    /// Highest rate, kbit/s.
    pub max_speed: u32,
}

impl Port {
    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let port = reader.u32()?;
        reader.skip(4)?;
        let hw_addr = reader.array()?;
        reader.skip(2)?;
        Ok(Self {
            port,
            hw_addr,
            name: Text::read(reader.take(16)?),
            config: PortConfig::from_bits_retain(reader.u32()?),
            state: PortState::from_bits_retain(reader.u32()?),
            curr: reader.u32()?,
            advertised: reader.u32()?,
            supported: reader.u32()?,
            peer: reader.u32()?,
            curr_speed: reader.u32()?,
            max_speed: reader.u32()?,
        })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.port);
        out.put_zeros(4);
        out.extend(self.hw_addr);
        out.put_zeros(2);
        out.extend(self.name.bytes());
        let numbers = [
            self.config.bits(),
            self.state.bits(),
            self.curr,
            self.advertised,
            self.supported,
            self.peer,
            self.curr_speed,
            self.max_speed,
        ];
        numbers.iter().for_each(|number| out.put_u32(*number));
    }
}

numbers! {
    /// The reason of a port status message.
    PortReason: u8 {
        /// The port was added.
        Add = 0,
        /// The port was removed.
        Delete = 1,
        /// The port has changed.
        Modify = 2,
    }
}

/// A change of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortStatus {
    /// The kind of change.
    pub reason: PortReason,
    /// The port after the change.
    pub port: Port,
}

impl PortStatus {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let reason = PortReason::of(reader.u8()?).ok_or(BadRequest::BadType)?;
        reader.skip(7)?;
        let port = Port::decode(&mut reader)?;
        reader.end()?;
        Ok(Self { reason, port })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(self.reason.number());
        out.put_zeros(7);
        self.port.encode(out);
    }
}

/// A request to change the behaviour of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortMod {
    /// The port.
    pub port: u32,
    /// Its hardware address, for certainty.
    pub hw_addr: MacAddress,
    /// Bits of the configuration.
    pub config: PortConfig,
    /// Bits of the configuration that are to be changed.
    pub mask: PortConfig,
    /// Features that are to be advertised; 0: as they are.
    pub advertise: u32,
}

impl PortMod {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let port = reader.u32()?;
        reader.skip(4)?;
        let hw_addr = reader.array()?;
        reader.skip(2)?;
        let read = Self {
            port,
            hw_addr,
            config: PortConfig::from_bits_retain(reader.u32()?),
            mask: PortConfig::from_bits_retain(reader.u32()?),
            advertise: reader.u32()?,
        };
        reader.skip(4)?;
        reader.end()?;
        Ok(read)
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.port);
        out.put_zeros(4);
        out.extend(self.hw_addr);
        out.put_zeros(2);
        out.put_u32(self.config.bits());
        out.put_u32(self.mask.bits());
        out.put_u32(self.advertise);
        out.put_zeros(4);
    }
}
