//! The output of both engines: rows of the recording's tables, a JSON line each, and captures
//! (`docs/recording.md`).

#![forbid(unsafe_code)]

mod line;
mod pcapng;
mod rows;

pub use line::write_line;
pub use pcapng::{PacketDirection, PcapngWriter};
pub use rows::{
    ConnectionSample, Counter, Delivery, Done, Event, FlowEntry, Frame, InterfaceSample, Join,
    Latency, LinkSample, Output, ProgramRun, Ready, Row, SubflowSample, Transfer, Warning,
};
