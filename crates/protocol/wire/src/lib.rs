//! The content of a packet: IP and TCP headers and the options of Multipath TCP, as bytes and as
//! fields.
//!
//! [`Packet`] is what travels: the headers are bytes as on the wire, the payload is shared and
//! never copied on its way. [`Segment`] is what a host reads and writes: the fields of one TCP
//! segment with its addresses. [`ethernet`] has the header of frames, ARP and neighbour discovery.
//! [`option`] has the options of MPTCP, version 1 (RFC 8684) read and written, version 0 (RFC 6824)
//! read. [`keys`] computes the tokens and HMACs that stand in them. [`summary`] tells a packet in a line.
//!
//! The crate is `no_std`: it has no clock, no thread and no socket to ask.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod buffer;
pub mod checksum;
mod ecn;
pub mod ethernet;
pub mod keys;
mod layout;
pub mod option;
mod packet;
mod segment;
pub mod summary;

pub use buffer::MAX_HEADER_BYTES;
pub use ecn::Ecn;
pub use packet::{Echo, EchoKind, Packet, ReadError, Unreachable};
pub use segment::{
    Flags, MAX_MPTCP_OPTIONS, MAX_OPTION_BYTES, Options, ParseError, SackBlock, Segment, Timestamps,
};
