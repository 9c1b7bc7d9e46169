//! Packets that each address of a connection sent.

use std::net::IpAddr;

use super::bursts::Bursts;
use crate::prefetch::prefetch;
use crate::tables::AddressRow;
use crate::{Nanos, Segment, Side};

/// The addresses of a connection.
#[derive(Default)]
pub(crate) struct Addresses(Vec<Address>);

/// An address. What a packet changes stands together: with many connections each cache line counts.
#[repr(C)]
struct Address {
    packets: u64,
    bytes: u64,
    last: Nanos,
    bursts: Bursts,
    address: IpAddr,
    end: Side,
    first: Nanos,
}

impl Addresses {
    /// Brings the addresses into the near caches.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(&self.0);
    }

    /// Returns the index of an address, which need not have sent anything yet.
    pub(crate) fn place(&mut self, address: IpAddr, end: Side) -> usize {
        let known = |of: &Address| of.address == address && of.end == end;
        self.0.iter().position(known).unwrap_or_else(|| {
            self.0.push(Address {
                address,
                end,
                packets: 0,
                bytes: 0,
                first: 0,
                last: 0,
                bursts: Bursts::default(),
            });
            self.0.len() - 1
        })
    }

    /// Counts a packet that the address at `place` sent.
    pub(crate) fn take(&mut self, place: usize, segment: &Segment) {
        let address = &mut self.0[place];
        if address.packets == 0 {
            address.first = segment.at;
        }
        address.packets += 1;
        address.bytes += u64::from(segment.packet_bytes);
        address.last = segment.at;
        address.bursts.take(segment.at);
    }

    /// Iterates over the rows of the addresses that sent anything.
    pub(crate) fn rows(self, connection: u32) -> impl Iterator<Item = AddressRow> {
        let mut sums = [0; 2];
        for address in &self.0 {
            sums[address.end as usize] += address.packets;
        }
        let sent = self.0.into_iter().filter(|address| address.packets > 0);
        sent.map(move |address| {
            let packets = address.packets as f64;
            let ms = (address.last - address.first) as f64 / 1e6;
            let (burst_packets_per_ms, burst_start_ns) = address.bursts.most(address.first);
            AddressRow {
                connection,
                address: address.address,
                end: address.end,
                packets: address.packets,
                bytes: address.bytes,
                share: packets / sums[address.end as usize] as f64,
                first_ns: address.first,
                last_ns: address.last,
                packets_per_ms: (ms > 0.0).then_some(packets / ms),
                burst_packets_per_ms,
                burst_start_ns,
            }
        })
    }
}
