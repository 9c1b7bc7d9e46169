//! The switch as a whole: features, configuration, roles, asynchronous messages (sections 7.3.1,
//! 7.3.2, 7.3.3, 7.3.9, 7.3.10).

use alloc::vec::Vec;

use bitflags::bitflags;

use crate::error::{ErrorKind, RoleRequestFailed, SwitchConfigFailed};
use crate::number::numbers;
use crate::reader::Reader;
use crate::writer::Put;

bitflags! {
    /// Capabilities of a switch (OFPC).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Capabilities: u32 {
        /// Statistics of flows.
        const FLOW_STATS = 1 << 0;
        /// Statistics of tables.
        const TABLE_STATS = 1 << 1;
        /// Statistics of ports.
        const PORT_STATS = 1 << 2;
        /// Statistics of groups.
        const GROUP_STATS = 1 << 3;
        /// Reassembly of IP fragments.
        const IP_REASM = 1 << 5;
        /// Statistics of queues.
        const QUEUE_STATS = 1 << 6;
        /// Ports that would make loops are blocked.
        const PORT_BLOCKED = 1 << 8;
        const _ = !0;
    }
}

/// The features of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// The number of the datapath: a MAC address and 16 bits of the switch's choice before it.
    pub datapath_id: u64,
    /// Packets that can be buffered.
    pub n_buffers: u32,
    /// Tables.
    pub n_tables: u8,
    /// The auxiliary connection; 0: the main one.
    pub auxiliary_id: u8,
    /// Capabilities.
    pub capabilities: Capabilities,
}

impl Features {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let datapath_id = reader.u64()?;
        let n_buffers = reader.u32()?;
        let n_tables = reader.u8()?;
        let auxiliary_id = reader.u8()?;
        reader.skip(2)?;
        let capabilities = Capabilities::from_bits_retain(reader.u32()?);
        reader.skip(4)?;
        reader.end()?;
        Ok(Self {
            datapath_id,
            n_buffers,
            n_tables,
            auxiliary_id,
            capabilities,
        })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.datapath_id);
        out.put_u32(self.n_buffers);
        out.put_u8(self.n_tables);
        out.put_u8(self.auxiliary_id);
        out.put_zeros(2);
        out.put_u32(self.capabilities.bits());
        out.put_zeros(4);
    }
}

/// Flags of a switch's configuration: the treatment of IP fragments.
pub mod fragments {
    /// No special treatment.
    pub const NORMAL: u16 = 0;
    /// Fragments are dropped.
    pub const DROP: u16 = 1;
    /// Fragments are put together.
    pub const REASSEMBLE: u16 = 2;
    /// The bits of the above.
    pub const MASK: u16 = 3;
}

/// The configuration of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchConfig {
    /// The treatment of IP [`fragments`].
    pub flags: u16,
    /// Bytes of a packet that the controller gets at most on a table miss;
    /// [`NO_BUFFER_LEN`](crate::action::NO_BUFFER_LEN): all of it, without a buffer.
    pub miss_send_len: u16,
}

impl SwitchConfig {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let mut reader = Reader::new(reader.take_rest(), SwitchConfigFailed::BadLen);
        let read = Self {
            flags: reader.u16()?,
            miss_send_len: reader.u16()?,
        };
        reader.end()?;
        Ok(read)
    }

    pub(crate) fn encode(self, out: &mut Vec<u8>) {
        out.put_u16(self.flags);
        out.put_u16(self.miss_send_len);
    }
}

/// A request to change the configuration of a table: nothing of it has a meaning in 1.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableMod {
    /// The table, or all.
    pub table: u8,
    /// Deprecated bits.
    pub config: u32,
}

impl TableMod {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let table = reader.u8()?;
        reader.skip(3)?;
        let config = reader.u32()?;
        reader.end()?;
        Ok(Self { table, config })
    }

    pub(crate) fn encode(self, out: &mut Vec<u8>) {
        out.put_u8(self.table);
        out.put_zeros(3);
        out.put_u32(self.config);
    }
}

numbers! {
    /// The role of a controller.
    Role: u32 {
        /// The role stays.
        NoChange = 0,
        /// Full access, beside others.
        Equal = 1,
        /// Full access, one only.
        Master = 2,
        /// Read-only access.
        Slave = 3,
    }
}

/// A request for a role, and the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoleMessage {
    /// The role.
    pub role: Role,
    /// The generation of masters that the request belongs to.
    pub generation_id: u64,
}

impl RoleMessage {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let role = Role::of(reader.u32()?).ok_or(RoleRequestFailed::BadRole)?;
        reader.skip(4)?;
        let generation_id = reader.u64()?;
        reader.end()?;
        Ok(Self {
            role,
            generation_id,
        })
    }

    pub(crate) fn encode(self, out: &mut Vec<u8>) {
        out.put_u32(self.role.number());
        out.put_zeros(4);
        out.put_u64(self.generation_id);
    }
}

/// The asynchronous messages that a controller wants: bit `n` is the reason with number `n`. The
/// first of each pair is for the roles master and equal, the second for slaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncConfig {
    /// Reasons of packet-in messages.
    pub packet_in: [u32; 2],
    /// Reasons of port status messages.
    pub port_status: [u32; 2],
    /// Reasons of flow-removed messages.
    pub flow_removed: [u32; 2],
}

impl Default for AsyncConfig {
    /// All but packets with an invalid TTL for master and equal, port status messages for slaves:
    /// as Open vSwitch has it, for the specification leaves it open.
    fn default() -> Self {
        Self {
            packet_in: [0b011, 0],
            port_status: [0b111, 0b111],
            flow_removed: [0b1111, 0],
        }
    }
}

impl AsyncConfig {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let mut pair = || -> Result<[u32; 2], ErrorKind> { Ok([reader.u32()?, reader.u32()?]) };
        let read = Self {
            packet_in: pair()?,
            port_status: pair()?,
            flow_removed: pair()?,
        };
        reader.end()?;
        Ok(read)
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        for pair in [self.packet_in, self.port_status, self.flow_removed] {
            pair.iter().for_each(|mask| out.put_u32(*mask));
        }
    }
}
