//! Statistics, configurations and features of meters (sections 7.3.5.12 to 7.3.5.14).

use alloc::vec::Vec;

use crate::elapsed::Elapsed;
use crate::error::{BadRequest, ErrorKind};
use crate::meter::{MeterBand, MeterFlags};
use crate::reader::Reader;
use crate::writer::Put;

/// Packets that a band took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeterBandStats {
    /// Packets.
    pub packet_count: u64,
    /// Bytes.
    pub byte_count: u64,
}

/// Statistics of a meter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeterStats {
    /// The meter.
    pub meter: u32,
    /// Flow entries that apply it.
    pub flow_count: u32,
    /// Packets that came.
    pub packet_in_count: u64,
    /// Bytes of them.
    pub byte_in_count: u64,
    /// Time that the meter has been there.
    pub duration: Elapsed,
    /// One account for each band.
    pub bands: Vec<MeterBandStats>,
}

impl MeterStats {
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let meter = reader.u32()?;
        let length = usize::from(reader.u16()?);
        let rest = length.checked_sub(6).ok_or(BadRequest::BadLen)?;
        let mut body = reader.part(rest, BadRequest::BadLen)?;
        body.skip(6)?;
        Ok(Self {
            meter,
            flow_count: body.u32()?,
            packet_in_count: body.u64()?,
            byte_in_count: body.u64()?,
            duration: Elapsed::decode(&mut body)?,
            bands: body.all(|body| {
                Ok(MeterBandStats {
                    packet_count: body.u64()?,
                    byte_count: body.u64()?,
                })
            })?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u32(self.meter);
        out.put_u16(0);
        out.put_zeros(6);
        out.put_u32(self.flow_count);
        out.put_u64(self.packet_in_count);
        out.put_u64(self.byte_in_count);
        self.duration.encode(out);
        for band in &self.bands {
            out.put_u64(band.packet_count);
            out.put_u64(band.byte_count);
        }
        out.put_length(start + 4, start);
    }
}

/// A meter as it was set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeterConfig {
    /// Flags.
    pub flags: MeterFlags,
    /// The meter.
    pub meter: u32,
    /// Bands.
    pub bands: Vec<MeterBand>,
}

impl MeterConfig {
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let mut body = reader.entry(BadRequest::BadLen)?;
        Ok(Self {
            flags: MeterFlags::from_bits_retain(body.u16()?),
            meter: body.u32()?,
            bands: body.all(MeterBand::decode)?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u16(0);
        out.put_u16(self.flags.bits());
        out.put_u32(self.meter);
        self.bands.iter().for_each(|band| band.encode(out));
        out.put_length(start, start);
    }
}

/// Features of meters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterFeatures {
    /// Most meters.
    pub max_meter: u32,
    /// Types of bands, by bits of their numbers.
    pub band_types: u32,
    /// Flags that are supported.
    pub capabilities: u32,
    /// Most bands of a meter.
    pub max_bands: u8,
    /// Highest value of a colour.
    pub max_color: u8,
}

impl MeterFeatures {
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let read = Self {
            max_meter: reader.u32()?,
            band_types: reader.u32()?,
            capabilities: reader.u32()?,
            max_bands: reader.u8()?,
            max_color: reader.u8()?,
        };
        reader.skip(2)?;
        Ok(read)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.max_meter);
        out.put_u32(self.band_types);
        out.put_u32(self.capabilities);
        out.put_u8(self.max_bands);
        out.put_u8(self.max_color);
        out.put_zeros(2);
    }
}
