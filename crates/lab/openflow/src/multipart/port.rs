//! Statistics of ports and of their queues (sections 7.3.5.6 and 7.3.5.8).

use alloc::vec::Vec;

use crate::elapsed::Elapsed;
use crate::error::ErrorKind;
use crate::reader::Reader;
use crate::writer::Put;

/// Statistics of a port. A counter that is not kept is all ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortStats {
    /// The port.
    pub port: u32,
    /// Packets that came in.
    pub rx_packets: u64,
    /// Packets that went out.
    pub tx_packets: u64,
    /// Bytes that came in.
    pub rx_bytes: u64,
    /// Bytes that went out.
    pub tx_bytes: u64,
    /// Packets that came in and were dropped.
    pub rx_dropped: u64,
    /// Packets that were to go out and were dropped.
    pub tx_dropped: u64,
    /// Errors of reception.
    pub rx_errors: u64,
    /// Errors of transmission.
    pub tx_errors: u64,
    /// Errors of frame alignment.
    pub rx_frame_err: u64,
    /// Packets lost to an overrun.
    pub rx_over_err: u64,
    /// Errors of the frame check sequence.
    pub rx_crc_err: u64,
    /// Collisions.
    pub collisions: u64,
    /// Time that the port has been there.
    pub duration: Elapsed,
}

impl PortStats {
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let port = reader.u32()?;
        reader.skip(4)?;
        Ok(Self {
            port,
            rx_packets: reader.u64()?,
            tx_packets: reader.u64()?,
            rx_bytes: reader.u64()?,
            tx_bytes: reader.u64()?,
            rx_dropped: reader.u64()?,
            tx_dropped: reader.u64()?,
            rx_errors: reader.u64()?,
            tx_errors: reader.u64()?,
            rx_frame_err: reader.u64()?,
            rx_over_err: reader.u64()?,
            rx_crc_err: reader.u64()?,
            collisions: reader.u64()?,
            duration: Elapsed::decode(reader)?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.port);
        out.put_zeros(4);
        let counters = [
            self.rx_packets,
            self.tx_packets,
            self.rx_bytes,
            self.tx_bytes,
            self.rx_dropped,
            self.tx_dropped,
            self.rx_errors,
            self.tx_errors,
            self.rx_frame_err,
            self.rx_over_err,
            self.rx_crc_err,
            self.collisions,
        ];
        counters.iter().for_each(|counter| out.put_u64(*counter));
        self.duration.encode(out);
    }
}

/// Statistics of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStats {
    /// The port.
    pub port: u32,
    /// The queue.
    pub queue: u32,
    /// Bytes that went out.
    pub tx_bytes: u64,
    /// Packets that went out.
    pub tx_packets: u64,
    /// Packets that an overrun dropped.
    pub tx_errors: u64,
    /// Time that the queue has been there.
    pub duration: Elapsed,
}

impl QueueStats {
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        Ok(Self {
            port: reader.u32()?,
            queue: reader.u32()?,
            tx_bytes: reader.u64()?,
            tx_packets: reader.u64()?,
            tx_errors: reader.u64()?,
            duration: Elapsed::decode(reader)?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.port);
        out.put_u32(self.queue);
        out.put_u64(self.tx_bytes);
        out.put_u64(self.tx_packets);
        out.put_u64(self.tx_errors);
        self.duration.encode(out);
    }
}
