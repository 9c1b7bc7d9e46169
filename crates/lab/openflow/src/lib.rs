//! OpenFlow 1.3 (wire version 4, specification 1.3.5) as bytes and as fields, without I/O and
//! without a clock. Sections that comments name are those of the specification.
//!
//! [`Message`] is one message; [`Framer`] cuts a stream of bytes into them. [`matching`] has the
//! fields that packets are matched by. Bytes may be hostile: reading never panics, and takes no
//! more memory than the length of a message justifies. Bytes that are no message give the
//! [error](DecodeError) that a switch is to answer with.
//!
//! Reading is exact about lengths and numbers; rules between the parts of a message that a switch
//! must hold to, such as [prerequisites](Match::check), are asked for by the switch.
//!
//! ```
//! use mptcplab_openflow::{Body, Framer, Hello, Message};
//!
//! let mut bytes = Vec::new();
//! Message::new(7, Body::Hello(Hello::ours())).encode(&mut bytes)?;
//! let mut framer = Framer::new(u16::MAX);
//! framer.feed(&bytes[..5]);
//! assert_eq!(framer.next_frame(), Ok(None));
//! framer.feed(&bytes[5..]);
//! let frame = framer.next_frame().unwrap().unwrap();
//! assert_eq!(frame.message.unwrap().xid, 7);
//! # Ok::<(), mptcplab_openflow::TooLong>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod action;
mod elapsed;
pub mod error;
pub mod flow;
mod framer;
pub mod group;
mod hello;
pub mod instruction;
pub mod matching;
mod message;
pub mod meter;
pub mod multipart;
mod number;
pub mod packet;
pub mod port;
pub mod queue;
mod reader;
pub mod setup;
mod text;
mod writer;

pub use action::Action;
pub use elapsed::Elapsed;
pub use error::{DecodeError, ErrorKind, ErrorMessage, answer};
pub use framer::{Frame, Framer};
pub use hello::Hello;
pub use instruction::Instruction;
pub use matching::{Field, Match, Oxm};
pub use message::{Body, Experimenter, HEADER_BYTES, Message, TooLong};
pub use text::Text;

/// The version of the protocol on the wire.
pub const VERSION: u8 = 4;
