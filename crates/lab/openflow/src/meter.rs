//! Meters (section 7.3.4.5).

use alloc::vec::Vec;

use bitflags::bitflags;

use crate::error::{ErrorKind, MeterModFailed};
use crate::number::numbers;
use crate::reader::Reader;
use crate::writer::Put;

/// Bytes of a band without an experimenter's data.
const BAND_BYTES: usize = 16;

/// Reserved numbers of meters.
pub mod number {
    /// The highest number of a meter.
    pub const MAX: u32 = 0xffff_0000;
    /// The meter of the slow datapath.
    pub const SLOWPATH: u32 = 0xffff_fffd;
    /// The meter of the controller's connection.
    pub const CONTROLLER: u32 = 0xffff_fffe;
    /// All meters, to delete them and for statistics.
    pub const ALL: u32 = 0xffff_ffff;
}

/// Numbers of the types of bands.
pub mod band {
    /// Packets are dropped.
    pub const DROP: u16 = 1;
    /// The drop precedence of the DSCP is raised.
    pub const DSCP_REMARK: u16 = 2;
    /// An experimenter's band.
    pub const EXPERIMENTER: u16 = 0xffff;
}

numbers! {
    /// A command of a meter modification.
    MeterCommand: u16 {
        /// Adds a meter.
        Add = 0,
        /// Replaces flags and bands of a meter.
        Modify = 1,
        /// Deletes a meter, or all.
        Delete = 2,
    }
}

bitflags! {
    /// Flags of a meter (OFPMF).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct MeterFlags: u16 {
        /// Rates are in kbit/s, bursts in kbit.
        const KBPS = 1 << 0;
        /// Rates are in packets a second, bursts in packets.
        const PKTPS = 1 << 1;
        /// Bursts are as the bands say.
        const BURST = 1 << 2;
        /// Statistics are collected.
        const STATS = 1 << 3;
        const _ = !0;
    }
}

/// A band: what becomes of packets beyond a rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeterBand {
    /// The rate, in the unit of the meter's flags.
    pub rate: u32,
    /// The burst, in the unit of the meter's flags.
    pub burst_size: u32,
    /// The kind of band.
    pub kind: BandKind,
}

/// A kind of band.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BandKind {
    /// Packets are dropped.
    Drop,
    /// The drop precedence of the DSCP is raised.
    DscpRemark {
        /// Levels to raise by.
        prec_level: u8,
    },
    /// An experimenter's band.
    Experimenter {
        /// The experimenter id.
        experimenter: u32,
        /// The rest.
        data: Vec<u8>,
    },
}

impl MeterBand {
    /// The number of the type.
    pub fn number(&self) -> u16 {
        match self.kind {
            BandKind::Drop => band::DROP,
            BandKind::DscpRemark { .. } => band::DSCP_REMARK,
            BandKind::Experimenter { .. } => band::EXPERIMENTER,
        }
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let number = reader.u16()?;
        let length: usize = reader.u16()?.into();
        if length < BAND_BYTES {
            return Err(reader.short());
        }
        let mut body = reader.part(length - 4, reader.short())?;
        let rate = body.u32()?;
        let burst_size = body.u32()?;
        let kind = match number {
            band::DROP => {
                body.skip(4)?;
                BandKind::Drop
            }
            band::DSCP_REMARK => {
                let prec_level = body.u8()?;
                body.skip(3)?;
                BandKind::DscpRemark { prec_level }
            }
            band::EXPERIMENTER => BandKind::Experimenter {
                experimenter: body.u32()?,
                data: body.take_rest().to_vec(),
            },
            _ => return Err(MeterModFailed::BadBand.into()),
        };
        body.end()?;
        Ok(Self {
            rate,
            burst_size,
            kind,
        })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u16(self.number());
        out.put_u16(0);
        out.put_u32(self.rate);
        out.put_u32(self.burst_size);
        match &self.kind {
            BandKind::Drop => out.put_zeros(4),
            BandKind::DscpRemark { prec_level } => {
                out.put_u8(*prec_level);
                out.put_zeros(3);
            }
            BandKind::Experimenter { experimenter, data } => {
                out.put_u32(*experimenter);
                out.extend(data);
            }
        }
        out.put_length(start + 2, start);
    }
}

/// A request to change the meter table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeterMod {
    /// The command.
    pub command: MeterCommand,
    /// Flags.
    pub flags: MeterFlags,
    /// The number.
    pub meter: u32,
    /// Bands, in any order.
    pub bands: Vec<MeterBand>,
}

impl MeterMod {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        Ok(Self {
            command: MeterCommand::of(reader.u16()?).ok_or(MeterModFailed::BadCommand)?,
            flags: MeterFlags::from_bits_retain(reader.u16()?),
            meter: reader.u32()?,
            bands: reader.all(MeterBand::decode)?,
        })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16(self.command.number());
        out.put_u16(self.flags.bits());
        out.put_u32(self.meter);
        self.bands.iter().for_each(|band| band.encode(out));
    }
}
