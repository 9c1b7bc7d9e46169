//! One subflow, as the peer has it.

use std::net::SocketAddr;

use bytes::Bytes;
use mptcplab_wire::option::MptcpOption;
use mptcplab_wire::{Flags, Options, Segment};

use super::{host_address, peer_address};

/// One subflow, as the peer has it.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    pub peer: SocketAddr,
    pub host: SocketAddr,
    /// Initial sequence numbers.
    pub peer_initial: u32,
    pub host_initial: u32,
}

impl Flow {
    pub fn new(index: u8, peer_port: u16, host_port: u16) -> Self {
        Self {
            peer: SocketAddr::new(peer_address(index), peer_port),
            host: SocketAddr::new(host_address(index), host_port),
            peer_initial: 1000,
            host_initial: 0,
        }
    }

    /// A segment of the peer: flags as letters (`S`, `F`, `R`, `.`), relative numbers.
    pub fn segment(&self, flags: &str, sequence: u32, acknowledgement: u32) -> Segment {
        Segment {
            source: self.peer,
            destination: self.host,
            sequence: self.peer_initial.wrapping_add(sequence),
            acknowledgement: self.host_initial.wrapping_add(acknowledgement),
            flags: Flags {
                syn: flags.contains('S'),
                fin: flags.contains('F'),
                rst: flags.contains('R'),
                ack: flags.contains('.'),
                ..Flags::default()
            },
            window: 30_000,
            urgent: 0,
            options: Options::default(),
            ecn: Default::default(),
            payload: Bytes::new(),
        }
    }

    pub fn with(&self, flags: &str, sequence: u32, ack: u32, option: MptcpOption) -> Segment {
        let mut segment = self.segment(flags, sequence, ack);
        segment.options.mptcp.push(option);
        segment
    }

    pub fn syn(&self, option: Option<MptcpOption>) -> Segment {
        let mut segment = self.segment("S", 0, 0);
        segment.options.max_segment_bytes = Some(1460);
        segment.options.mptcp.extend(option);
        segment
    }

    pub fn sequence_of(&self, segment: &Segment) -> u32 {
        segment.sequence.wrapping_sub(self.host_initial)
    }

    pub fn acknowledgement_of(&self, segment: &Segment) -> u32 {
        segment.acknowledgement.wrapping_sub(self.peer_initial)
    }
}
