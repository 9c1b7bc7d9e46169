//! Errors as the protocol tells them (section 7.4.4).

mod codes;

use alloc::vec::Vec;
use core::fmt;

pub use codes::{
    BadAction, BadInstruction, BadMatch, BadRequest, FlowModFailed, GroupModFailed, HelloFailed,
    MeterModFailed, PortModFailed, QueueOpFailed, RoleRequestFailed, SwitchConfigFailed,
    TableFeaturesFailed, TableModFailed,
};

use crate::message::{Body, Message};
use crate::reader::Reader;
use crate::writer::Put;

/// Bytes of the failed request that an error carries at least, or the whole request.
const REQUEST_BYTES: usize = 64;

/// The number of the type of an experimenter's error.
const EXPERIMENTER: u16 = 0xffff;

/// Declares the types of error with their numbers.
macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident = $number:literal,)+) => {
        /// Type and code of an error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorKind {
            $($(#[$about])* $kind($kind),)+
            /// An error of an experimenter.
            Experimenter {
                /// The experimenter's own type.
                exp_type: u16,
                /// The experimenter id.
                experimenter: u32,
            },
            /// A type or a code that the specification does not have.
            Unknown {
                /// The type.
                kind: u16,
                /// The code.
                code: u16,
            },
        }

        impl ErrorKind {
            /// The type and the code on the wire; an experimenter's own type is its code.
            pub const fn numbers(self) -> (u16, u16) {
                match self {
                    $(Self::$kind(code) => ($number, code.number()),)+
                    Self::Experimenter { exp_type, .. } => (EXPERIMENTER, exp_type),
                    Self::Unknown { kind, code } => (kind, code),
                }
            }

            /// The error of a type other than an experimenter's.
            fn of(kind: u16, code: u16) -> Self {
                let known = match kind {
                    $($number => $kind::of(code).map(Self::$kind),)+
                    _ => None,
                };
                known.unwrap_or(Self::Unknown { kind, code })
            }
        }

        $(impl From<$kind> for ErrorKind {
            fn from(code: $kind) -> Self {
                Self::$kind(code)
            }
        })+
    };
}

kinds! {
    /// The hello protocol failed.
    HelloFailed = 0,
    /// The request was not understood.
    BadRequest = 1,
    /// Error in the description of an action.
    BadAction = 2,
    /// Error in the list of instructions.
    BadInstruction = 3,
    /// Error in the match.
    BadMatch = 4,
    /// Problem with modifying flow entries.
    FlowModFailed = 5,
    /// Problem with modifying group entries.
    GroupModFailed = 6,
    /// A port modification failed.
    PortModFailed = 7,
    /// A table modification failed.
    TableModFailed = 8,
    /// A queue operation failed.
    QueueOpFailed = 9,
    /// A switch configuration request failed.
    SwitchConfigFailed = 10,
    /// A role request failed.
    RoleRequestFailed = 11,
    /// Error in a meter.
    MeterModFailed = 12,
    /// Setting table features failed.
    TableFeaturesFailed = 13,
}

/// An error message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorMessage {
    /// Type and code.
    pub kind: ErrorKind,
    /// The beginning of the failed request, or text for people where the hello failed.
    pub data: Vec<u8>,
}

impl ErrorMessage {
    pub(crate) fn decode(mut reader: Reader<'_>) -> Result<Self, ErrorKind> {
        let kind = match (reader.u16()?, reader.u16()?) {
            (EXPERIMENTER, exp_type) => ErrorKind::Experimenter {
                exp_type,
                experimenter: reader.u32()?,
            },
            (kind, code) => ErrorKind::of(kind, code),
        };
        let data = reader.take_rest().to_vec();
        Ok(Self { kind, data })
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let (kind, code) = self.kind.numbers();
        out.put_u16(kind);
        out.put_u16(code);
        if let ErrorKind::Experimenter { experimenter, .. } = self.kind {
            out.put_u32(experimenter);
        }
        out.extend(&self.data);
    }
}

/// The reason why bytes are no message, as the receiver is to tell its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The transaction id of the message; 0 where it has no whole header.
    pub xid: u32,
    /// Type and code.
    pub kind: ErrorKind,
}

impl DecodeError {
    /// The error message that answers a request.
    pub fn answer(self, request: &[u8]) -> Message {
        answer(self.xid, self.kind, request)
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no message of OpenFlow 1.3: {:?}", self.kind)
    }
}

impl core::error::Error for DecodeError {}

/// The error message that answers a request: with its transaction id and its first 64 bytes.
pub fn answer(xid: u32, kind: impl Into<ErrorKind>, request: &[u8]) -> Message {
    let data = request[..request.len().min(REQUEST_BYTES)].to_vec();
    let kind = kind.into();
    Message {
        xid,
        body: Body::Error(ErrorMessage { kind, data }),
    }
}
